"""What became of mutants, and which of the survivors are known to be equivalent."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["core", "python"]
Status = Literal["killed", "timeout", "survived", "unviable", "left"]
LISTED = Path(__file__).parent / "equivalents.toml"


@dataclass(frozen=True)
class Mutant:
    """A change to one line, named by the text of the line and not by its number, which moves."""

    file: str
    line: str
    change: str
    status: Status = "survived"
    place: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.file, self.line, self.change


@dataclass(frozen=True)
class Equivalent:
    """A mutant that no test can kill, because it behaves like the original; `reason` says why."""

    file: str
    line: str
    change: str
    reason: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.file, self.line, self.change


def equivalents(kind: Kind, path: Path = LISTED) -> tuple[Equivalent, ...]:
    """Those that are listed. Raises TypeError for a row without a reason, ValueError for an empty one."""
    rows = tuple(Equivalent(**row) for row in tomllib.loads(path.read_text()).get(kind, ()))
    for row in rows:
        if not row.reason.strip():
            raise ValueError(f"{path.name}: found no reason for `{row.change}` in {row.file}, expected one")
    return rows


@dataclass(frozen=True)
class Verdict:
    """The figures of a room, and what is wrong with it."""

    room: str
    counts: Counter[str]
    unlisted: tuple[Mutant, ...]
    """Survivors that nobody has explained."""
    stale: tuple[Equivalent, ...]
    """Rows of the list that are no survivor any more: a test kills them, or the line is gone."""

    @property
    def score(self) -> float:
        """Killed mutants of those that are not equivalent."""
        killed = self.counts["killed"] + self.counts["timeout"]
        judged = killed + len(self.unlisted)
        return killed / judged if judged else 0.0

    @property
    def holds(self) -> bool:
        """An empty room does not: a pattern that matches no file must not pass."""
        return not self.unlisted and not self.stale and not self.counts["left"] and self.score > 0

    def lines(self) -> list[str]:
        """The room as a row of a table, then whatever is wrong, a line each."""
        counts = self.counts
        found = [
            f"| {self.room} | {counts.total()} | {counts['killed'] + counts['timeout']} "
            f"| {counts['unviable']} | {counts['survived'] - len(self.unlisted)} "
            f"| {len(self.unlisted)} | {self.score:.1%} |"
        ]
        found += [f"survived: {one.file}{one.place}: {one.change}\n    {one.line}" for one in self.unlisted]
        if counts["left"]:
            found.append(f"not run: {counts['left']} mutants of {self.room}, for want of time")
        found += [
            f"listed as equivalent, but no survivor: {one.file}: {one.change}\n    {one.line}"
            for one in self.stale
        ]
        return found


HEAD = "| room | mutants | killed | unviable | equivalent | survived | score |\n|---|---|---|---|---|---|---|"


def judge(room: str, mutants: list[Mutant], listed: tuple[Equivalent, ...], *, whole: bool = True) -> Verdict:
    """Hold survivors against the list. Rows about files of other rooms are left out; with `whole` every
    other row must be a survivor. One row stands for as many mutants as have its file, line and change."""
    known = {row.key: row for row in listed}
    survivors = [one for one in mutants if one.status == "survived"]
    alive = {one.key for one in survivors}
    files = {one.file for one in mutants}
    return Verdict(
        room,
        Counter(one.status for one in mutants),
        tuple(one for one in survivors if one.key not in known),
        tuple(row for row in listed if whole and row.file in files and row.key not in alive),
    )
