"""Do the prompts have what the agent's request is made of? A prompt that lacks it could never be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.agents.settings import HttpSettings
from faultwire.mutations._lines import Form
from faultwire.profile.yaml import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.agents.settings import AgentSettings
    from faultwire.config.reading import Reading
    from faultwire.profile.yaml import Node


def needed(driven: AgentSettings, fields: Mapping[str, Node], reading: Reading) -> None:
    """Note every golden prompt and probe without a line that the request's template names."""
    if not isinstance(driven, HttpSettings) or not driven.reads:
        return
    if not driven.parse_structured_input:
        _unread(driven, fields["agent"], reading)
        return
    form = Form(driven.reads)
    for node in (*_golden(fields.get("golden_prompts")), *_probes(fields)):
        missing = form.missing(str(node.value))
        if missing is not None:
            message = f"found no line {shown(missing)} in the prompt, expected what the agent's request names"
            reading.add(node, "no_field", message, f"write the prompt in lines, as in `{missing}: …`")


def _unread(driven: HttpSettings, node: Node, reading: Reading) -> None:
    name = min(driven.reads)
    message = (
        f"found {shown('{' + name + '}')} in the agent's request, expected `{{prompt}}`, `{{turns}}` or "
        "`{session}`: no prompt is read in lines"
    )
    reading.add(node.at(("request_template",)), "no_field", message, "set `parse_structured_input: true`")


def _golden(node: Node | None) -> Iterator[Node]:
    """The texts of golden prompts, turn by turn; invalid ones are reported elsewhere."""
    for item in _items(node):
        if not isinstance(item.value, dict):
            yield from _text(item)
        elif "turns" in item.value:
            for turn in _items(item.value["turns"]):
                yield from _text(turn)
        else:
            yield from _text(item.value.get("prompt"))


def _probes(fields: Mapping[str, Node]) -> Iterator[Node]:
    contract = fields.get("contract")
    inner = contract.value.get("invariants") if contract and isinstance(contract.value, dict) else None
    for check in (*_items(fields.get("invariants")), *_items(inner)):
        if isinstance(check.value, dict):
            for probe in _items(check.value.get("probes")):
                yield from _text(probe)


def _items(node: Node | None) -> list[Node]:
    return node.value if node is not None and isinstance(node.value, list) else []


def _text(node: Node | None) -> Iterator[Node]:
    if node is not None and isinstance(node.value, str) and node.value.strip():
        yield node
