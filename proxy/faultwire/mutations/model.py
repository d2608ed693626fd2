"""The model engine: mutants that a model writes, exact in number, each different, and kept.

A variant is asked for by its number alone, so the same configuration asks the same questions, and answers
that were kept make a run repeatable without the model. What declines, repeats itself or says nothing is
asked for its next numbers, in rounds; a model that cannot be reached, or only declines, ends it.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.errors import FaultwireError
from faultwire.mutations._answers import cleaned, refuses, usable
from faultwire.mutations._api import Mutant
from faultwire.mutations._instructions import INSTRUCTIONS, SYSTEM, request
from faultwire.mutations.clients import client
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from faultwire.mutations._api import Mutation
    from faultwire.mutations._kept import Kept
    from faultwire.mutations.clients import Client, ModelChoice

ROUNDS = 4
"""Rounds in a row that bring nothing new before a type counts as exhausted."""
AT_ONCE = 4
"""Questions that are open at a time."""
DECLINED = "\x00declined"
"""What is kept where the provider reported that the model declined."""


class Writer:
    """A model that is asked, with its memory. `seed` None asks at the configured temperature."""

    def __init__(
        self,
        choice: ModelChoice,
        kept: Kept,
        seed: int | None,
        make: Callable[[ModelChoice], Client] = client,
    ) -> None:
        self._choice = choice
        self._kept = kept
        self._seed = seed
        self._make = make
        self._client: Client | None = None
        self._failed: FaultwireError | None = None
        self._lock = Lock()
        self._temperature = choice.temperature if seed is None else 0.0

    @property
    def label(self) -> str:
        """The model in words."""
        return f"{self._choice.provider} ({self._choice.name})"

    def written(self, type_: str, prompt: str, numbers: range) -> list[str]:
        """What it wrote for these variants, in their order. Raises FaultwireError or ConfigError."""
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="mutation") as pool:
            asked = [pool.submit(self._one, type_, prompt, number) for number in numbers]
            try:
                return [future.result() for future in asked]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _one(self, type_: str, prompt: str, number: int) -> str:
        asked = self._asked(type_, prompt, number)
        known = self._kept.get(asked)
        if known is not None:
            return known
        answer = self._answer(asked["request"], asked["seed"])
        self._kept.put(asked, answer)
        return answer

    def _asked(self, type_: str, prompt: str, number: int) -> dict[str, Any]:
        return {
            "provider": self._choice.provider,
            "model": self._choice.name,
            "base_url": self._choice.base_url,
            "temperature": self._temperature,
            "type": type_,
            "prompt": prompt,
            "seed": None if self._seed is None else (self._seed + number) & 0x7FFFFFFF,
            "number": number,
            "system": SYSTEM,
            "request": request(type_, prompt, number),
        }

    def _answer(self, text: str, seed: int | None) -> str:
        with self._lock:
            if self._failed is not None:  # nothing is asked after the first failure
                raise self._failed
            if self._client is None:
                self._client = self._make(self._choice)
        try:
            answer = self._client.ask(text, self._temperature, seed)
        except self._client.errors as error:
            self._failed = FaultwireError(
                f"{self.label} failed to write a mutation: {self._without_secrets(error)}",
                code="mutations.model_failed",
                hint="what it wrote until here is kept, and the next run goes on from there; or set "
                "`mutations.engine: built-in`, which needs no model",
            )
            raise self._failed from None
        return DECLINED if answer is None else answer

    def _without_secrets(self, error: Exception) -> str:
        """An error in words, without any secret: SDKs quote the server's message, and it may quote a key."""
        text = str(error)
        if self._choice.api_key:
            text = text.replace(self._choice.api_key, "[key]")
        data = text.encode("utf-8", "replace")
        for start, end, what in sorted(_core.secret_spans(data), reverse=True):
            data = data[:start] + f"[{what}]".encode() + data[end:]
        return f"{type(error).__name__}: {safe(data.decode('utf-8', 'replace')[:300])}"


class ModelMaker:
    """Makes mutants of one type by a model, one after another, and remembers where it is."""

    def __init__(self, prompt: str, mutation: Mutation, writer: Writer, weights: Mapping[str, float]) -> None:
        self._prompt = prompt
        self._mutation = mutation
        self._writer = writer
        self._weight = weights.get(mutation.name, mutation.weight)
        self._number = 0
        self._declined = 0
        self._over = False
        self._why = mutation.cannot(prompt)
        self.note = f"`{mutation.name}` cannot be applied: {self._why}" if self._why else ""

    def take(self, count: int, seen: set[str]) -> list[Mutant]:
        """Up to `count` mutants that are not in `seen`, to which they are added. Raises FaultwireError."""
        found: list[Mutant] = []
        vain = 0
        while len(found) < count and self._why is None and not self._over:
            numbers = range(self._number + 1, self._number + 1 + count - len(found))
            self._number = numbers[-1]
            before = len(found)
            for number, answer in zip(
                numbers, self._writer.written(self._mutation.name, self._prompt, numbers), strict=True
            ):
                text = cleaned(answer)
                if answer == DECLINED or refuses(text, self._prompt):
                    self._declined += 1
                elif usable(text) and text not in seen:
                    seen.add(text)
                    how = f"variant {number} by {self._writer.label}"
                    found.append(Mutant(self._mutation.name, self._prompt, text, how, self._weight))
            vain = vain + 1 if len(found) == before else 0
            self._over = vain >= ROUNDS
        self._set_note()
        return found

    def _set_note(self) -> None:
        name, by = self._mutation.name, self._writer.label
        if self._over and self._declined:
            raise FaultwireError(
                f"{by} declined to write `{name}` {self._declined} times of {self._number}",
                code="mutations.model_declined",
                hint=f"take another model or `mutations.engine: built-in`, or leave out `{name}`",
            )
        if self._over:
            self.note = f"`{name}` is exhausted after {self._number} answers of {by}"
        elif self._declined:
            self.note = f"{by} declined {self._declined} of {self._number} variants of `{name}`"


def writes(name: str) -> bool:
    """Is this type one that a model writes? The others are done to the request, or by templates."""
    return name in INSTRUCTIONS
