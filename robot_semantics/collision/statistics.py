# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""Bounds of a probability from a count: exact binomial bounds, also for small counts."""

from __future__ import annotations

import math

RARE_HITS = 10
"""Largest count of a rare pair. Another seed may give no hit at all (probability up to e^-1 for one hit)."""


def never_bound(samples: int, confidence: float = 0.95) -> float:
    """Return the largest collision probability that 0 hits in `samples` leave possible at `confidence`.

    It is 1 - (1 - confidence)^(1 / samples), about 3 / samples at 95 % (Clopper and Pearson 1934; the rule of three).
    """
    if samples <= 0:
        return 1.0
    return -math.expm1(math.log1p(-confidence) / samples)


def rounded_up(bound: float) -> float:
    """Return a bound rounded up to two significant digits, so that the printed bound holds."""
    unit = 10.0 ** (math.floor(math.log10(bound)) - 1)
    # The rounding removes binary noise; 1e-9 keeps bounds that already have two digits.
    return float(f"{math.ceil(bound / unit - 1e-9) * unit:.2g}")


def samples_for(bound: float, confidence: float = 0.95) -> int:
    """Return the fewest samples after which 0 hits bound the probability by `bound` at `confidence`."""
    return math.ceil(math.log1p(-confidence) / math.log1p(-bound))


def is_rare(hits: int, samples: int, always_fraction: float) -> bool:
    """Return whether another seed could give another result for a pair with `hits` hits.

    A pair is rare if it has only a few hits, or if its share is within four standard deviations of the fraction from
    which a pair collides "always".
    """
    if 0 < hits <= RARE_HITS:
        return True
    spread = math.sqrt(max(samples * always_fraction * (1.0 - always_fraction), 1.0))
    return 0 < hits < samples and abs(hits - always_fraction * samples) <= 4.0 * spread


ERROR_PROBABILITY = 1e-9
"""Largest probability of a wrong result for a pair that is sampled no further."""


def is_clear(hits: int, samples: int, always_fraction: float) -> bool:
    """Return whether the result for a pair is clear: it collides, and clearly always or clearly not always.

    Chernoff's bound: the share of n samples is p, although the true share is q, with a probability of at most
    exp(-n D(p, q)). D is the relative entropy.
    """
    if hits <= RARE_HITS:
        return False
    share = hits / samples
    entropy = sum(
        seen * math.log(seen / true) if true else math.inf
        for seen, true in ((share, always_fraction), (1.0 - share, 1.0 - always_fraction))
        if seen
    )
    return samples * entropy > -math.log(ERROR_PROBABILITY)
