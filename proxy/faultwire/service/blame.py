"""What `faultwire blame` found of a run, beside the run: checked when it comes, in words when it is shown."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from faultwire.errors import UsageError, printable
from faultwire.report._blame_shape import Document
from faultwire.report.explained import found_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.store.blamed import Blame

MOST_STEPS = 10_000


def checked(document: Mapping[str, Any], run: str) -> dict[str, Any]:
    """A `blame.json` that is one, and that is of this run: its tape is in the run's folder.

    Raises UsageError.
    """
    try:
        found = Document.model_validate(document).model_dump(mode="json")
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"found no result of `faultwire blame`: `{printable(where)[:100]}`: {first['msg']}",
            code="service.blame",
        ) from None
    parts = len(found["parts"])
    if any(at >= parts for at in found["blamed"]) or len(found["steps"]) > MOST_STEPS:
        raise UsageError(
            "found no result of `faultwire blame`: it blames a part that it does not have",
            code="service.blame",
        )
    folder = PurePosixPath(found["run"]["tape"]).parent
    if run not in (folder.name, folder.parent.name):
        raise UsageError(
            f"found what was blamed in `{printable(found['run']['tape'])[:200]}`, expected a tape of the run "
            f"`{printable(run)[:64]}`",
            code="service.blame",
            hint="`faultwire blame RUN …` examines the tape in the run's folder",
        )
    return found


def by_session(found: Sequence[Blame]) -> dict[str, list[dict[str, str]]]:
    """What is shown of each result, by the session that was examined, which is the invocation's name."""
    made: dict[str, list[dict[str, str]]] = {}
    for one in found:
        row = {"words": found_words(one.document), "by": one.pushed_by, "at": one.pushed_at}
        row["oracle"] = str(one.document["run"]["oracle"])
        made.setdefault(str(one.document["run"]["session"]), []).append(row)
    return made
