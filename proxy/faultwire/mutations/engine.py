"""The built-in engine: mutants by seed, exact in number and each different, without model and network.

Sharing out among types, and making up for what one of them cannot give, is the same for both engines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.dice import Dice
from faultwire.errors import ConfigError
from faultwire.mutations._api import Maker, Mutant
from faultwire.mutations._fielded import Fielded
from faultwire.mutations._network import NETWORK
from faultwire.mutations._registry import find
from faultwire.mutations.custom import Custom

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from faultwire.mutations._api import Draft, Mutation
    from faultwire.mutations._lines import Form

TRIES = 60
"""Throws in a row that bring nothing new before a type counts as exhausted."""


@dataclass(frozen=True, slots=True)
class Mutated:
    """The mutants of one prompt; `notes` says in words which type gave fewer than its share, and why."""

    mutants: tuple[Mutant, ...]
    notes: tuple[str, ...] = ()


def mutate(
    prompt: str,
    types: Sequence[str],
    count: int,
    *,
    seed: int,
    weights: Mapping[str, float] | None = None,
    templates: Mapping[str, str] | None = None,
    form: Form | None = None,
) -> Mutated:
    """`count` different mutants of a prompt, shared evenly among `types`, the first ones getting the rest.

    What one type cannot give, the others make up for; only where none has more to give are there fewer,
    and `notes` says so. `weights` overrides the default weight of the types that it names. With a `form`
    only values in the lines of the prompt are changed, so that its request can still be made. Raises
    ConfigError for unknown or no types, and for templates that are none.
    """
    return mutate_by(
        prompt,
        types,
        count,
        seed=seed,
        weights=weights,
        templates=templates,
        form=form,
        maker=lambda _type, _text: None,
    )


def mutate_by(
    prompt: str,
    types: Sequence[str],
    count: int,
    *,
    seed: int,
    maker: Callable[[Mutation, str], Maker | None],
    weights: Mapping[str, float] | None = None,
    templates: Mapping[str, str] | None = None,
    form: Form | None = None,
) -> Mutated:
    """`mutate`, with the types for which `maker` gives one (of a text) made by it. Raises what makers raise
    besides."""
    names = list(dict.fromkeys(types))
    if not names:
        raise ConfigError("found no type of mutation, expected at least one", code="config.empty")
    mutations = [Custom(templates) if name == Custom.name else find(name)() for name in names]

    def make(mutation: Mutation, text: str) -> Maker:
        return maker(mutation, text) or _BuiltIn(text, mutation, seed, weights or {})

    makers: list[Maker] = [
        make(one, prompt)
        if form is None or isinstance(one, NETWORK)
        else Fielded(prompt, form, one.name, partial(make, one))
        for one in mutations
    ]
    made: list[list[Mutant]] = [[] for _ in makers]
    seen = {prompt}
    for at, one in enumerate(makers):
        share = count // len(makers) + (at < count % len(makers))
        made[at] += one.take(share, seen)
    _make_up(makers, made, count, seen)
    notes = [one.note for one in makers if one.note]
    mutants = tuple(mutant for of_type in made for mutant in of_type)
    if len(mutants) < count:
        notes.append(f"{len(mutants)} of {count} mutants could be made")
    return Mutated(mutants, tuple(notes))


def _make_up(makers: list[Maker], made: list[list[Mutant]], count: int, seen: set[str]) -> None:
    """One more of each type in turn, until there are enough or nobody has more."""
    while missing := count - sum(map(len, made)):
        gained = 0
        for at, maker in enumerate(makers):
            if gained < missing:
                more = maker.take(1, seen)
                made[at] += more
                gained += len(more)
        if not gained:
            return


class _BuiltIn:
    """Makes mutants of one type by the dice."""

    def __init__(self, prompt: str, mutation: Mutation, seed: int, weights: Mapping[str, float]) -> None:
        self._prompt = prompt
        self._mutation = mutation
        self._weight = weights.get(mutation.name, mutation.weight)
        self._dice = Dice(seed, "mutations")
        self._key = _core.sha256_hex(prompt.encode("utf-8", "surrogatepass"))
        self._throw = 0
        self._why = mutation.cannot(prompt)
        self.note = f"`{mutation.name}` cannot be applied: {self._why}" if self._why else ""

    def take(self, count: int, seen: set[str]) -> list[Mutant]:
        """Up to `count` mutants that are not in `seen`, to which they are added."""
        found: list[Mutant] = []
        vain = 0
        while len(found) < count and self._why is None:
            draft = self._mutation.draft(
                self._prompt, self._dice.held(self._mutation.name, self._key, self._throw)
            )
            self._throw += 1
            sent = _sent(draft)
            if (
                draft is None
                or {sent, draft.text} & seen
                or not (draft.text.strip() or self._mutation.may_be_blank)
            ):
                vain += 1
                if vain >= TRIES:
                    self._why = f"{TRIES} throws in a row brought nothing new"
                    self.note = f"`{self._mutation.name}` is exhausted after {self._throw} throws"
                continue
            vain = 0
            seen.update((sent, draft.text))
            found.append(
                Mutant(self._mutation.name, self._prompt, draft.text, draft.how, self._weight, draft.request)
            )
        return found


def _sent(draft: Draft | None) -> str:
    """What tells a draft from others: on the wire two may differ that read the same."""
    if draft is None or draft.request is None:
        return draft.text if draft is not None else ""
    return f"{draft.request!r}"
