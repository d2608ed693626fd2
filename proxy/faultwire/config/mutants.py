"""The sections about mutations: which are made, and by which model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.config.model import ModelSettings, MutationSettings
from faultwire.errors import did_you_mean
from faultwire.mutations._registry import registry
from faultwire.mutations.custom import PLACE, Custom
from faultwire.profile.yaml import Node, shown

if TYPE_CHECKING:
    from faultwire.config.reading import Reading


def model(node: Node | None, wanted: bool, reading: Reading) -> ModelSettings | None:
    """The model that writes mutations, where mutations are made by one."""
    if node is None or node.value is None:
        return ModelSettings() if wanted else None
    fields = dict(node.value) if isinstance(node.value, dict) else {}
    if isinstance((provider := fields.get("provider", node)).value, str):
        low = Node(str(provider.value).strip().lower(), provider.line, provider.column, provider.key)
        fields["provider"] = low
        node = Node(fields, node.line, node.column, node.key)
    built = reading.flakestorm(ModelSettings, node, "model")
    if not wanted:
        message = "`model` is not used: mutations are made without one unless `mutations.engine` is `model`"
        reading.warn(node, message)
    elif built is not None and built.provider != "ollama" and not built.api_key:
        message = f"found no `api_key` in `model`, expected one for `{built.provider}`"
        reading.add(node, "missing_key", message, "write it as a variable: `api_key: ${NAME}`")
    return built


def mutations(node: Node | None, reading: Reading) -> MutationSettings:
    """The `mutations` section with its types looked up."""
    if node is None or node.value is None:
        return MutationSettings()
    _types(node, reading)
    _templates(node, reading)
    return reading.flakestorm(MutationSettings, node, "mutations") or MutationSettings()


def _types(node: Node, reading: Reading) -> None:
    """Look the types up, and the types that have weights."""
    types, weights = node.at(("types",)), node.at(("weights",))
    if types is not node and types.value == []:
        reading.add(types, "empty", "found no `types`, expected at least one type of mutation")
    for one in types.value if types is not node and isinstance(types.value, list) else ():
        if isinstance(one.value, str):
            _known(one.value, one, reading)
    for name, weight in (
        weights.value.items() if weights is not node and isinstance(weights.value, dict) else ()
    ):
        _known(name, weight.key or weight, reading)
        if isinstance(weight.value, int | float) and weight.value < 0:
            message = f"found {shown(weight.value)} for a weight, expected 0 or more"
            reading.add(weight, "bad_value", message)


def _templates(node: Node, reading: Reading) -> None:
    """Look at the user's own templates."""
    types, found = node.at(("types",)).plain(), node.at(("custom_templates",))
    wanted = isinstance(types, list) and Custom.name in types
    templates = found.value if found is not node and isinstance(found.value, dict) else {}
    for name, template in templates.items():
        if isinstance(template.value, str) and PLACE not in template.value:
            message = (
                f"found no `{PLACE}` in the template {shown(name)}, expected it where the prompt is inserted"
            )
            reading.add(template, "bad_value", message)
    if wanted and not templates:
        reading.warn(node.at(("types",)), "`custom` has no effect without `custom_templates`")
    elif templates and not wanted:
        reading.warn(found, "`custom_templates` have no effect without `custom` among `types`")


def _known(name: str, place: Node | tuple[int, int], reading: Reading) -> None:
    if name not in registry():
        message = f"found mutation {shown(name)}, expected a known one"
        reading.add(place, "unknown_mutation", message, did_you_mean(name, registry()))
