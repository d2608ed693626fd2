"""A `faultwire.yaml` as a `Config`: one pass that tells everything that is wrong, each with its place.

`load(path)` is the way in. What Flakestorm's files hold is understood; what means nothing in them is a
warning. Our own sections are strict.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.config import sections
from faultwire.config.agent import agent
from faultwire.config.fields import needed
from faultwire.config.invariants import invariants
from faultwire.config.model import Config, ContractSettings
from faultwire.config.mutants import model, mutations
from faultwire.config.opened import opened, taken
from faultwire.config.prompts import prompts
from faultwire.config.reading import Reading, text
from faultwire.config.replays import replays
from faultwire.config.scenarios import chaos, scenarios
from faultwire.config.wire import proxy, tools
from faultwire.errors import ConfigError, Location, did_you_mean, printable
from faultwire.patterns import read_patterns
from faultwire.profile.yaml import Node, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.checks._api import Check
    from faultwire.profile.model import ToolSite

NAME = "faultwire.yaml"
KEYS = (
    "version", "agent", "proxy", "tools", "golden_prompts", "invariants", "contract", "chaos", "chaos_matrix",
    "mutations", "model", "replays", "scoring", "advanced", "output", "redact", "patterns",
)  # fmt: skip
"""What a configuration may hold."""


def load(path: Path | str = NAME, *, environ: Mapping[str, str] | None = None) -> Config:
    """The configuration in a file. `environ` is the environment, by default this process's; what it does
    not hold, `.env` beside the file may.

    Raises ConfigError, whose `also` holds the other problems of the file.
    """
    return parse(taken(Path(path), "a configuration"), Path(path), environ=environ)


def parse(data: bytes, path: Path, *, environ: Mapping[str, str] | None = None) -> Config:
    """The configuration in the bytes of a file at `path`. Raises ConfigError."""
    root, reading = opened(data, path, environ=environ, needed=_needed)
    made = _config(root, path, reading)
    reading.settle()
    if made is None:  # an error was noted, so this is never reached
        raise ConfigError("cannot be understood", where=Location(printable(str(path))))
    return replace(made, digest=_core.sha256_hex(data), warnings=reading.warnings)


def _needed(root: Node, place: tuple[str, ...]) -> bool:
    """What the model's section asks of the environment is needed only where mutations are made by one."""
    return place[:1] != ("model",) or root.at(("mutations", "engine")).value == "model"


def _config(root: Node, path: Path, reading: Reading) -> Config | None:
    fields = reading.mapping(root, "a configuration")
    if fields is None:
        return None
    reading.strays(fields, KEYS, "a configuration")
    sections.version(fields.get("version"), reading)
    driven = agent(fields.get("agent"), root, reading)
    found_tools = tools(fields.get("tools"), reading)
    own = invariants(fields.get("invariants"), "invariants", reading)
    contract = _contract(fields, found_tools, reading)
    taken = {check.label for check in (*own, *(contract.invariants if contract else ()))}
    asked = prompts(fields.get("golden_prompts"), root, taken, reading)
    if driven is not None and not driven.takes_turns and any(prompt.turns for prompt in asked):
        _one_turn(fields["golden_prompts"], reading)
    if driven is not None:
        needed(driven, fields, reading)
    mutated = mutations(fields.get("mutations"), reading)
    _patterns(fields.get("patterns"), reading)
    columns = [column.name for column in contract.scenarios] if contract else []
    made = {
        "proxy": proxy(fields.get("proxy"), fields.get("redact"), reading),
        "model": model(fields.get("model"), mutated.engine == "model", reading),
        "chaos": chaos(fields.get("chaos"), found_tools, reading),
        "replays": replays(fields.get("replays"), reading),
        "scoring": sections.scoring(fields.get("scoring"), columns, reading),
        "advanced": sections.advanced(fields.get("advanced"), reading),
        "output": sections.output(fields.get("output"), reading),
    }
    if driven is None:
        return None
    return Config(
        path=path,
        folder=reading.folder,
        digest="",
        agent=driven,
        prompts=asked,
        invariants=own,
        tools=found_tools,
        mutations=mutated,
        mutates=(section := fields.get("mutations")) is not None and section.value is not None,
        contract=contract,
        **made,  # type: ignore[arg-type]
    )


def _one_turn(node: Node, reading: Reading) -> None:
    """An agent that takes one prompt cannot be sent a conversation."""
    message = "found a conversation in `golden_prompts`, expected an agent that takes one"
    hint = "write `{turns}` or `{turns_file}` in `agent.command`, or set `stdin: turns`"
    reading.add(node.key or node, "no_turns", message, hint)


def _contract(
    fields: Mapping[str, Node], sites: Mapping[str, ToolSite], reading: Reading
) -> ContractSettings | None:
    """The contract; its scenarios may stand at the top level too, as Flakestorm has them."""
    node, apart = fields.get("contract"), fields.get("chaos_matrix")
    if node is None or node.value is None:
        if apart is not None and apart.value is not None:
            reading.warn(apart, "`chaos_matrix` is ignored without a `contract`")
        return None
    inner = reading.mapping(node, "`contract`")
    if inner is None:
        return None
    known = ("name", "description", "invariants", "chaos_matrix")
    reading.strays(inner, known, "`contract`")
    matrix = inner.get("chaos_matrix")
    if matrix is None or matrix.value is None:
        matrix = apart
    elif apart is not None and apart.value is not None:
        message = "found `chaos_matrix` beside `contract.chaos_matrix`, expected one of them"
        reading.add(apart.key or apart, "bad_value", message)
    checks = _some(inner, node, invariants(inner.get("invariants"), "invariants", reading), reading)
    columns = scenarios(matrix, sites, reading)
    _columns_named(inner.get("invariants"), [column.name for column in columns], reading)
    if matrix is None or matrix.value in (None, []):
        message = "found no scenario in the contract, expected at least one"
        reading.add(matrix or node, "empty", message, "`chaos_matrix: [{name: calm}]` has no faults")
    name = text(inner.get("name"), "name", reading, default="default")
    return ContractSettings(name, checks, columns, text(inner.get("description"), "description", reading))


def _columns_named(node: Node | None, known: Sequence[str], reading: Reading) -> None:
    """The `scenarios` of invariants must be columns, or the invariant would never be judged."""
    for item in node.value if node is not None and isinstance(node.value, list) else ():
        given = item.value.get("scenarios") if isinstance(item.value, dict) else None
        for one in given.value if given is not None and isinstance(given.value, list) else ():
            if isinstance(one.value, str) and one.value not in known:
                message = f"found the scenario {shown(one.value)}, expected one of `chaos_matrix`"
                reading.add(one, "unknown_scenario", message, did_you_mean(one.value, known))


def _some(
    inner: Mapping[str, Node], node: Node, checks: tuple[Check, ...], reading: Reading
) -> tuple[Check, ...]:
    given = inner.get("invariants")
    if given is None or given.value in (None, []):
        message = "found no invariant in the contract, expected at least one"
        reading.add(given or node, "empty", message, "`faultwire checks list` names them")
    return checks


def _patterns(node: Node | None, reading: Reading) -> None:
    """`patterns` belong to `faultwire scan`; here it is only looked whether they can be read."""
    if node is None or node.value is None:
        return
    try:
        read_patterns(node.plain())
    except ConfigError as error:
        reading.within(node, "`patterns`", error)
