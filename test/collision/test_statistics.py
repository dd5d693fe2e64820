# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""The bounds are the exact binomial ones, as scipy computes them."""

from __future__ import annotations

import pytest
from scipy.stats import binom, binomtest

from robot_semantics.collision.statistics import (
    ERROR_PROBABILITY,
    is_clear,
    is_rare,
    never_bound,
    rounded_up,
    samples_for,
)


@pytest.mark.parametrize("samples", [1, 10, 300, 10_000, 1_000_000])
def test_the_bound_of_a_never_pair_is_the_one_sided_clopper_pearson_bound(samples: int) -> None:
    interval = binomtest(0, samples, alternative="less").proportion_ci(confidence_level=0.95, method="exact")
    assert never_bound(samples) == pytest.approx(interval.high, rel=1e-9)


@pytest.mark.parametrize("bound", [0.3, 0.01, 3e-4, 1e-6])
def test_as_many_samples_as_needed_and_not_one_more(bound: float) -> None:
    samples = samples_for(bound)
    assert never_bound(samples) <= bound < never_bound(samples - 1)


def test_pairs_seen_a_few_times_or_near_the_always_fraction_are_rare() -> None:
    assert [is_rare(hits, 10_000, 0.95) for hits in (0, 1, 10, 11, 9_000, 9_480, 9_520, 9_900, 10_000)] == [
        False, True, True, False, False, True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("hits", "samples", "always", "rare"),
    [
        # Four standard deviations are 40 hits here.
        *((200 + away, 400, 0.5, away <= 40) for away in (39, 40, 41)),
        *((200 - away, 400, 0.5, away <= 40) for away in (39, 40, 41)),
        # One that is less than one hit counts as one.
        (46, 50, 0.99, True),
        (45, 50, 0.99, False),
        # Never and always are not rare, however near.
        (0, 3, 0.95, False),
        (100, 100, 0.999, False),
    ],
)
def test_near_the_always_fraction_is_four_standard_deviations(
    hits: int, samples: int, always: float, rare: bool
) -> None:
    assert is_rare(hits, samples, always) is rare


def test_without_samples_every_probability_is_possible() -> None:
    assert never_bound(0) == 1.0


@pytest.mark.parametrize("samples", [1, 2, 3, 17, 200, 9_999, 10_000, 12_345_678])
def test_a_printed_bound_is_never_below_the_bound(samples: int) -> None:
    bound = never_bound(samples)
    assert bound <= float(f"{rounded_up(bound):.6g}") <= bound * 1.1


def test_a_bound_of_two_digits_is_printed_as_it_is() -> None:
    assert [rounded_up(bound) for bound in (0.95, 0.3, 0.00031, 1.0)] == [0.95, 0.3, 0.00031, 1.0]


@pytest.mark.parametrize("samples", [500, 1_000, 10_000])
@pytest.mark.parametrize("fraction", [0.5, 0.95])
def test_a_settled_share_is_on_its_side_of_the_always_fraction_beyond_doubt(samples: int, fraction: float) -> None:
    settled = [hits for hits in range(samples + 1) if is_clear(hits, samples, fraction)]
    assert samples in settled
    for hits in settled:
        # The chance of such a share where the true one is the fraction itself.
        tail = (
            binom.cdf(hits, samples, fraction) if hits < fraction * samples else binom.sf(hits - 1, samples, fraction)
        )
        assert hits > 10
        assert tail <= ERROR_PROBABILITY
    assert not any(is_clear(hits, samples, fraction) for hits in range(11))


def test_where_always_means_every_time_one_miss_settles_it() -> None:
    assert [is_clear(hits, 1_000, 1.0) for hits in (0, 10, 11, 999, 1_000)] == [False, False, True, True, False]
