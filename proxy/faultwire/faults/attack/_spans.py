"""The settings that faults share which replace spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, model_validator

from faultwire.faults.attack._payloads import FAMILIES, Family, Text, marked, pick
from faultwire.faults.attack._replace import CannotCarry, replaced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.dice import FaultDice


class SpanSettings(BaseModel):
    """What is looked for, and what takes its place."""

    find: Annotated[Text | None, Field(description="the text that is replaced, wherever it stands")] = None
    payload: Annotated[Text | None, Field(description="a text of your own; `{canary}` is filled in")] = None
    spans: Annotated[
        dict[Text, Text], Field(max_length=1_000, description="several texts, each with its payload")
    ] = {}
    families: Annotated[
        tuple[Family, ...], Field(min_length=1, description="else: which families of the library")
    ] = FAMILIES
    canary: Annotated[bool, Field(description="whether its way is followed")] = True

    @model_validator(mode="after")
    def _one_of_both(self) -> SpanSettings:
        if (self.find is None) == (not self.spans):
            raise ValueError("expected either `find` or `spans`")
        if self.find is None and self.payload is not None:
            raise ValueError("a `payload` belongs to `find`; each of `spans` names its own")
        return self

    def replaced(self, text: str, dice: FaultDice) -> tuple[str | None, str | None]:
        """The text with its spans replaced, and the canary in it; None twice where nothing is to be done."""
        spans, canary = self._chosen(dice)
        try:
            made = replaced(text, spans)
        except CannotCarry:
            return None, None
        return made, canary if made is not None else None

    def _chosen(self, dice: FaultDice) -> tuple[Mapping[str, str], str | None]:
        if self.find is None:
            return self.spans, None
        mine = (self.payload,) if self.payload else None
        payload = marked(pick(mine, self.families, dice), dice, canary=self.canary)
        return {self.find: payload.text}, payload.canary
