"""The sections about a run as a whole: version, scoring, advanced, output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.config.model import AdvancedSettings, OutputSettings, ScoringSettings
from faultwire.errors import did_you_mean
from faultwire.profile.yaml import Node, shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from faultwire.config.reading import Reading

ADVANCED = {
    "output_dir": "write `output: {path: …}`",
    "min_score": "give `--min-score` to `run` or `ci`",
    "skip_rules": "nothing is skipped unless you leave it out",
}
"""Keys that Flakestorm's documentation names and nothing ever read."""
SUM, SLACK = 1.0, 0.001


def scoring(node: Node | None, columns: Collection[str], reading: Reading) -> ScoringSettings:
    """Weights that sum to 1; below `weights`, as Flakestorm's documentation has them, too. `columns` are the
    scenarios of the contract, which may have floors."""
    if node is None or node.value is None:
        return ScoringSettings()
    if isinstance(node.value, dict) and "weights" in node.value:
        nested = node.value["weights"]
        inner = nested.value if isinstance(nested.value, dict) else {}
        if not isinstance(nested.value, dict | None):
            reading.mapping(nested, "`scoring.weights`")
        reading.warn(
            nested, "`weights` is not needed: its keys are read as if they stood in `scoring` itself"
        )
        rest = {key: value for key, value in node.value.items() if key != "weights"}
        for key in inner.keys() & rest.keys():
            message = f"found {shown(key)} in `scoring` and in its `weights`, expected it once"
            reading.add(rest[key].key or rest[key], "bad_value", message)
        node = Node({**inner, **rest}, node.line, node.column, node.key)
    built = reading.flakestorm(ScoringSettings, node, "scoring")
    if built is None:
        return ScoringSettings()
    for name in built.scenarios:
        if name not in columns:
            message = (
                f"found a floor for {shown(name)} in `scoring.scenarios`, expected a scenario of the contract"
            )
            known = did_you_mean(name, columns) if columns else "the contract has no scenarios"
            reading.add(node.at(("scenarios", name)), "unknown_name", message, known)
    total = sum(built.weights.values())
    if total and abs(total - SUM) > SLACK:
        parts = ", ".join(f"{key} {value:g}" for key, value in built.weights.items())
        message = f"found weights that sum to {total:g} ({parts}), expected 1"
        reading.add(node, "bad_value", message, "what is left out has its usual weight: write it as 0")
    return built


def advanced(node: Node | None, reading: Reading) -> AdvancedSettings:
    """The `advanced` section."""
    if node is None or node.value is None:
        return AdvancedSettings()
    return reading.flakestorm(AdvancedSettings, node, "advanced", notes=ADVANCED) or AdvancedSettings()


def output(node: Node | None, reading: Reading) -> OutputSettings:
    """The `output` section; its path starts from the file's folder."""
    if node is None or node.value is None:
        return OutputSettings()
    built = reading.flakestorm(OutputSettings, node, "output") or OutputSettings()
    if built.filename_template is not None:
        message = "`filename_template` is not used: reports are called `report.html`, `report.json` and so on"
        reading.warn(node.at(("filename_template",)), message)
    if built.path is None:
        return built
    return built.model_copy(update={"path": reading.folder / built.path})


def version(node: Node | None, reading: Reading) -> None:
    """Check the version: text, or a number that nobody put into quotes."""
    known: tuple[Any, ...] = ("1.0", "2.0", "1", "2", 1.0, 2.0)
    if node is not None and node.value is not None and (node.value not in known or node.value is True):
        message = f'found {shown(node.value)} for `version`, expected `"2.0"` or `"1.0"`'
        reading.add(node, "version", message)
