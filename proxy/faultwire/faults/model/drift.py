"""`drift`: the model answers as another version of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from faultwire.faults._changing import AnswerFault
from faultwire.faults.model import _drift
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange

Type = Literal["json_field_rename", "verbosity_shift", "format_change", "refusal_rephrase", "tone_shift"]


class Drift(AnswerFault):
    """Tell the same answer as a newer version of the model would.

    What it does:
        Changes the form of an answer's text, whole or streamed: keys of JSON under other names
        (`json_field_rename`), more or fewer words (`verbosity_shift`, by `direction` and `factor`),
        JSON in a Markdown block or as prose and prose as bullets (`format_change`), hedges and refusals
        (`refusal_rephrase`), another voice (`tone_shift`). Tool calls stay. `severity` says how far it
        goes; a text on which a type has no hold is left alone.

    Why agents break:
        Parsers were written for the output of one version on one day. A renamed key is a `KeyError` at
        best, and at worst a default that nobody wanted.

    Real-world source:
        Model names that point to the latest version; providers that retire an old one.

    Example:
        faults:
          - drift: {type: json_field_rename, severity: moderate}
            on: {kind: llm}
            trigger: {probability: 0.3}
    """

    name: ClassVar[str] = "drift"
    did: ClassVar[str] = "answer told as another version would"

    type: Annotated[Type, Field(description="what changes")]
    severity: Annotated[_drift.Severity, Field(description="how far it goes")] = "moderate"
    direction: Annotated[
        Literal["expand", "compress"], Field(description="for `verbosity_shift`: longer or shorter")
    ] = "expand"
    factor: Annotated[float, Field(gt=1, le=20, description="for `verbosity_shift`: how many times")] = 2.0

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.type != "verbosity_shift":
            for setting in ("direction", "factor"):
                if setting in self.model_fields_set:
                    raise ValueError(f"found `{setting}`, which only `verbosity_shift` takes")
        return self

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """The words of the answer."""
        return Change(text=self.drifted)

    def drifted(self, text: str) -> str:
        """One text, reworded."""
        match self.type:
            case "json_field_rename":
                return _drift.renamed(text, self.severity)
            case "verbosity_shift":
                return _drift.reworded(text, self.direction, self.factor)
            case "format_change":
                return _drift.reformatted(text, self.severity)
            case "refusal_rephrase":
                return _drift.declined(text, self.severity)
        return _drift.retoned(text, self.severity)
