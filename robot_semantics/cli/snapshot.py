# Copyright 2026 robot_semantics maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0 Unless required by
# applicable law or agreed to in writing, software distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific language
# governing permissions and limitations under the License.

"""`robot_semantics snapshot`: save, restore, list and delete snapshots of a running node."""

from __future__ import annotations

import argparse
from typing import Any

from robot_semantics.base.nanoseconds import short_seconds, stamp_ns
from robot_semantics.cli.frame.argument_values import add_repeatable
from robot_semantics.cli.frame.command import NODE, Command, UsageError
from robot_semantics.cli.frame.console import console_for_output, empty_table
from robot_semantics.cli.frame.node_inputs import add_node_argument, asked_node, ros_needed
from robot_semantics.cli.frame.printing import add_json_argument, print_error, print_line, print_note, print_result


def _save_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", nargs="?", default="", help="name of the snapshot (default: made from the time)"
    )
    parser.add_argument("--comment", default="", metavar="TEXT", help="comment to save with it")
    parser.add_argument("--force", action="store_true", help="overwrite a snapshot of this name")
    _node_arguments(parser)


def _save(arguments: argparse.Namespace) -> None:
    saved = _call(arguments, "save", name=arguments.name, comment=arguments.comment, overwrite=arguments.force)
    if arguments.json:
        missing = [str(item) for item in saved.missing]
        plain = {"path": saved.answer.path, "time_ns": stamp_ns(saved.answer.stamp), "missing": missing}
        print_result({**plain, "items": [_plain(item) for item in saved.missing]})
    else:
        print_line(saved.answer.path)
        for item in saved.missing:
            print_note(f"missing: {item}")


def _restore_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="name of the snapshot, or last")
    parser.add_argument("--file", metavar="FILE.usdf", help="restore this file instead")
    add_repeatable(parser, "--model", "NAME", "restore only this model")
    parser.add_argument("--partial", action="store_true", help="restore what can be restored")
    parser.add_argument("--dry-run", action="store_true", help="print the changes; restore nothing")
    _node_arguments(parser)


def _restore(arguments: argparse.Namespace) -> int:
    if bool(arguments.name) == bool(arguments.file):
        raise UsageError("give either the name of a snapshot or --file")
    text = _text_of(arguments.file) if arguments.file else ""
    answer = _call(
        arguments,
        "restore",
        must_succeed=False,
        name=arguments.name,
        text=text,
        models=arguments.model,
        partial=arguments.partial,
        dry_run=arguments.dry_run,
    )
    if arguments.json:
        print_result(
            {
                "success": answer.success,
                "message": answer.message,
                "restored": [str(item) for item in answer.restored],
                "not_restored": [str(item) for item in answer.not_restored],
                "notes": [str(item) for item in answer.notes],
                "items": [_plain(item) for item in (*answer.restored, *answer.not_restored)],
            },
        )
    else:
        for item in answer.restored:
            print_line(item)
        tell = print_note if answer.success else print_error
        for item in answer.not_restored:
            tell(f"not restored: {item}")
        for item in answer.notes:
            print_note(f"note: {item}")
        if not answer.success:
            for line in answer.message.split("\n"):
                print_error(f"error: {line}")
    return int(not answer.success)


def _text_of(path: str) -> str:
    """Return a USDF file's text.

    Raises:
        DescriptionError: it cannot be read, or has errors; the error has the file name and the places.
    """
    from robot_semantics.usdf.reader import read_world_document

    return read_world_document(path).places.text.decode()


def _list(arguments: argparse.Namespace) -> None:
    rows = [
        {"name": info.name, "time_ns": stamp_ns(info.stamp), "comment": info.comment}
        for info in _call(arguments, "list").answer.snapshots
    ]
    if arguments.json:
        print_result({"snapshots": rows})
    elif rows:
        shown = empty_table("snapshot", "time", "comment")
        for row in rows:
            shown.add_row(str(row["name"]), short_seconds(row["time_ns"]), str(row["comment"]))
        console_for_output().print(shown)


def _delete_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the snapshot")
    _node_arguments(parser)


def _delete(arguments: argparse.Namespace) -> None:
    _call(arguments, "delete", name=arguments.name)
    if arguments.json:
        print_result({"deleted": arguments.name})


def _call(arguments: argparse.Namespace, operation: str, *, must_succeed: bool = True, **request: Any) -> Any:
    """Return the node's answer.

    Raises:
        RobotSemanticsError: ROS 2 or the node is missing, or (with `must_succeed`) the node reports a failure.

    """
    with ros_needed("talking to a node"):
        from robot_semantics.ros.tools.snapshot_client import call_snapshot_service
    node = asked_node(arguments, default=NODE)
    assert node is not None
    return call_snapshot_service(node.name, operation, node.timeout_s, must_succeed=must_succeed, **request)


def _plain(item: Any) -> dict[str, object]:
    fields = {name: getattr(item, name) for name in ("kind", "model", "name", "done", "code", "by")}
    return {**fields, "reason": item.detail}


def _node_arguments(parser: argparse.ArgumentParser) -> None:
    add_node_argument(parser, "running node")
    add_json_argument(parser)


COMMAND = Command(
    operations={
        "save": Command(
            _save_arguments,
            _save,
            "save the state of the whole world",
            examples=("robot_semantics snapshot save before_lunch --comment 'all stowed'",),
        ),
        "restore": Command(
            _restore_arguments,
            _restore,
            "put simulators and the node back into a saved state",
            examples=("robot_semantics snapshot restore before_lunch --dry-run",),
        ),
        "list": Command(
            _node_arguments,
            _list,
            "list the saved snapshots, oldest first",
            examples=("robot_semantics snapshot list",),
        ),
        "delete": Command(
            _delete_arguments, _delete, "delete a snapshot", examples=("robot_semantics snapshot delete before_lunch",)
        ),
    },
    examples=(
        "robot_semantics snapshot save before_lunch",
        "robot_semantics snapshot restore before_lunch",
    ),
)
