"""Mutants of a prompt of several fields: another value in one of the lines that the request is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.mutations._api import Mutant

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.mutations._api import Maker
    from faultwire.mutations._lines import Form, Line

LOST = 30
"""Texts in a row that cannot stand in their line before it counts as exhausted; a model is asked for each."""


class Fielded:
    """Makes mutants of one type, field by field, each by a maker of its own for the field's value."""

    def __init__(self, prompt: str, form: Form, type_: str, make: Callable[[str], Maker]) -> None:
        self._prompt = prompt
        self._form = form
        self._type = type_
        fields = form.fields(prompt)
        self._open = [
            _Field(line, prompt[line.start : line.end], make) for line in _turned(fields, type_, prompt)
        ]
        self._all = tuple(self._open)
        missing = form.missing(prompt)
        self.note = ""
        if missing is not None:
            self.note = f"`{type_}` cannot be applied: {lacks(missing)}"

    def take(self, count: int, seen: set[str]) -> list[Mutant]:
        """Up to `count` mutants that are not in `seen`, to which they are added."""
        found: list[Mutant] = []
        while len(found) < count and self._open:
            share = -(-(count - len(found)) // len(self._open))
            for field in tuple(self._open):
                wanted = min(share, count - len(found))
                found += self._take(field, wanted, seen) if wanted else ()
        self._set_note()
        return found

    def _take(self, field: _Field, count: int, seen: set[str]) -> list[Mutant]:
        """What becomes of so many new values of one field, which goes behind the others or is done with."""
        made = field.maker.take(count, field.seen)
        placed = [self._placed(one, field) for one in made]
        found = [mutant for mutant in placed if mutant is not None and mutant.text not in seen]
        seen.update(mutant.text for mutant in found)
        field.lost = 0 if found else field.lost + len(made)
        self._open.remove(field)
        if len(made) == count and field.lost < LOST:
            self._open.append(field)
        return found

    def _placed(self, one: Mutant, field: _Field) -> Mutant | None:
        """A mutant of a value as one of the whole prompt; None where it cannot stand in its line."""
        if one.request is not None:
            return Mutant(one.type, self._prompt, one.text, one.how, one.weight, one.request)
        text = self._form.with_value(self._prompt, field.line, one.text)
        if text is None:
            field.broken += 1
            return None
        return Mutant(one.type, self._prompt, text, f"{one.how}, in `{field.line.key}`", one.weight)

    def _set_note(self) -> None:
        if self._open or not self._all:
            return
        broken = sum(field.broken for field in self._all)
        own = list(dict.fromkeys(field.maker.note for field in self._all if field.maker.note))
        why = f"{broken} texts would not have been read as the value of their line" if broken else ""
        self.note = "; ".join(filter(None, (*own, f"`{self._type}`: {why}" if why else "")))


class _Field:
    """A line, and what is made of its value."""

    def __init__(self, line: Line, value: str, make: Callable[[str], Maker]) -> None:
        self.line = line
        self.maker = make(value)
        self.seen = {value}
        self.lost = 0
        self.broken = 0


def lacks(name: str) -> str:
    """What is wrong with a prompt that has no line for a name."""
    return f"the prompt has no `{name}`, which the request's template names"


def _turned(fields: tuple[Line, ...], type_: str, prompt: str) -> list[Line]:
    """The fields; which one is first depends on the type, so that a few mutants cover all of them."""
    if not fields:
        return []
    data = f"{type_}\x00{prompt}".encode("utf-8", "surrogatepass")
    first = int(_core.sha256_hex(data)[:8], 16) % len(fields)
    return [*fields[first:], *fields[:first]]
