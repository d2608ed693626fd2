"""Invariants as they stand in a configuration: our own checks, and Flakestorm's shape of its twelve.

`{type: contains, value: Paris}`, or short `{contains: Paris}`, or only `output_not_empty`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.checks._api import Check
from faultwire.checks._registry import registry
from faultwire.config.reading import described, listed
from faultwire.errors import did_you_mean
from faultwire.profile.yaml import Node, shown

if TYPE_CHECKING:
    from faultwire.config.reading import Reading

FLAKESTORM = (
    "contains", "contains_any", "regex", "excludes_pattern", "latency", "valid_json", "output_not_empty",
    "completes", "similarity", "behavior_unchanged", "excludes_pii", "refusal_check",
)  # fmt: skip
"""The checks that Flakestorm has, too: there, an unknown key is a warning."""
KEYS = (
    "value", "values", "max_ms", "pattern", "patterns", "expected", "threshold", "dangerous_prompts",
    "baseline", "similarity_threshold",
)  # fmt: skip
"""What Flakestorm's invariants may hold besides what every check takes."""
COMMON = tuple(Check.model_fields)

Found = tuple[Node, Check]


def invariants(node: Node | None, what: str, reading: Reading) -> tuple[Check, ...]:
    """The checks of a list, each with a name of its own; problems are noted."""
    found = [pair for item in listed(node, what, reading) for pair in _checks(item, reading)]
    return named(found, reading)


def expected(node: Node | None, taken: set[str], reading: Reading) -> tuple[Check, ...]:
    """The checks of a prompt's `expect`: one, or a list. Their names begin with `expect_` where the
    file gives none, so that they collide with none of `taken`."""
    if node is None or node.value is None:
        return ()
    items = node.value if isinstance(node.value, list) else [node]
    if isinstance(node.value, str) and node.value not in registry():
        message = f"found {shown(node.value)} for `expect`, expected a check"
        reading.add(node, "bad_value", message, "to search for a text, write `{contains: …}`")
        return ()
    found = [pair for item in items for pair in _checks(item, reading)]
    return named(found, reading, prefix="expect_", taken=taken)


def named(
    found: list[Found], reading: Reading, *, prefix: str = "", taken: set[str] | None = None
) -> tuple[Check, ...]:
    """The checks, those without an id of their own numbered where two would be called alike. An id that
    stands twice is noted."""
    used = set(taken or ())
    first: dict[str, int] = {}
    for node, check in found:
        place = node.at(("id",))
        if check.id and (check.id in first or check.id in used):
            line = f" (first on line {first[check.id]})" if check.id in first else ""
            message = f"found the id {shown(check.id)} again, expected it once{line}"
            reading.add(place, "duplicate_id", message)
        elif check.id:
            first[check.id] = place.line
    used |= set(first)
    counts: dict[str, int] = {}
    out: list[Check] = []
    for _, check in found:
        made = check
        if not check.id:
            label = f"{prefix}{check.label}"
            while True:
                count = counts[label] = counts.get(label, 0) + 1
                unique = label if count == 1 else f"{label}#{count}"
                if unique not in used:
                    break
            used.add(unique)
            made = check if unique == check.label else check.model_copy(update={"id": unique})
        out.append(made)
    return tuple(out)


def _checks(node: Node, reading: Reading) -> list[Found]:
    """The checks of one entry: one, or those of a short form."""
    if isinstance(node.value, str):
        fields: dict[str, Node] = {"type": node}
    elif isinstance(node.value, dict) and node.value:
        fields = dict(node.value)
    else:
        reading.add(node, "bad_value", f"found {shown(node.value)} for an invariant, expected a mapping")
        return []
    if "sometimes" in fields and "type" not in fields:
        inner = fields.pop("sometimes")
        if isinstance(inner.value, str):
            inner = Node({"type": inner}, inner.line, inner.column, inner.key)
        fields |= {"type": Node("sometimes", node.line, node.column, node.key), "check": inner}
    if "type" in fields:
        made = _full(node, fields, reading)
        return [(node, made)] if made is not None else []
    return _short(node, fields, reading)


def _short(node: Node, fields: dict[str, Node], reading: Reading) -> list[Found]:
    """`{contains: Paris, severity: high}`: each key that is no setting of every check names one."""
    known = registry()
    shared = {key: value for key, value in fields.items() if key in COMMON}
    names = [key for key in fields if key not in COMMON]
    if not names:
        reading.add(node, "bad_value", "found an invariant without a `type`, expected the name of a check")
    found: list[Found] = []
    for name in names:
        value = fields[name]
        place = value.key or (value.line, value.column)
        if name not in known:
            if name in KEYS:
                message = "found an invariant without a `type`, expected the name of a check"
                reading.add(node, "bad_value", message)
                return []
            _unknown(name, place, reading)
            continue
        settings = _main(known[name], value, reading)
        if settings is not None:
            inner = {**shared, **settings, "type": Node(name, *place, place)}
            made = _full(node, inner, reading)
            found += [(node, made)] if made is not None else []
    return found


def _main(kind: type[Check], value: Node, reading: Reading) -> dict[str, Node] | None:
    """The settings that a short form means: a mapping of them, or the value of the one that must be there."""
    if isinstance(value.value, dict):
        return value.value
    must = [name for name, field in kind.model_fields.items() if field.is_required()]
    if value.value is None or (value.value is True and not must):
        return {}
    if len(must) == 1:
        if described(kind)[must[0]].get("type") == "array" and not isinstance(value.value, list):
            value = Node([value], value.line, value.column, value.key)
        return {must[0]: value}
    message = f"found {shown(value.value)} for `{kind.name}`, expected a mapping of its settings"
    reading.add(value, "bad_value", message)
    return None


def _full(node: Node, fields: dict[str, Node], reading: Reading) -> Check | None:
    """A check with its settings, or None where that failed, which is noted."""
    named = fields["type"]
    if not isinstance(named.value, str):
        found = f"found {shown(named.value)} for `type`, expected the name of a check"
        reading.add(named, "bad_value", found)
        return None
    kind = registry().get(named.value)
    if kind is None:
        _unknown(named.value, named, reading)
        return None
    settings = {key: value for key, value in fields.items() if key != "type"}
    if "probes" in settings and isinstance(settings["probes"].value, str):
        probe = settings["probes"]
        settings["probes"] = Node([probe], probe.line, probe.column, probe.key)
    given = settings["probes"].value if "probes" in settings else None
    empty = [one for one in given if one.value == ""] if isinstance(given, list) else []
    for probe in empty:
        reading.add(probe, "bad_value", "found an empty text for `probes`, expected text")
    if empty:
        return None
    if kind.name not in FLAKESTORM:
        return reading.build(kind, Node(settings, node.line, node.column, node.key), kind.name)
    return reading.flakestorm(
        kind,
        Node(_translated(kind.name, settings), node.line, node.column, node.key),
        kind.name,
        elsewhere=KEYS,
        notes={"prompt_filter": "give single prompts an `expect` in `golden_prompts`"},
    )


def _translated(name: str, settings: dict[str, Node]) -> dict[str, Node]:
    """Flakestorm's keys under our names; those that are only there to say nothing are left out."""
    out = {k: v for k, v in settings.items() if v.value is not None or k not in (*KEYS, *COMMON)}
    if name == "excludes_pattern" and "pattern" in out and "patterns" not in out:
        out["patterns"] = out.pop("pattern")
    for key in ("patterns", "values"):
        if key in out and isinstance(out[key].value, str):
            one = out[key]
            out[key] = Node([one], one.line, one.column, one.key)
    return out


def _unknown(name: str, place: Node | tuple[int, int], reading: Reading) -> None:
    message = f"found check {shown(name)}, expected a known one"
    reading.add(place, "unknown_check", message, did_you_mean(name, registry()))
