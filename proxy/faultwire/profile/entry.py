"""One entry of a profile: a fault with its settings, what it is on, and its trigger."""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed
from typing import TYPE_CHECKING

from faultwire.errors import did_you_mean, printable
from faultwire.faults._api import Fault, RequestFault, ResultFault
from faultwire.faults._registry import registry
from faultwire.profile import jsonpath
from faultwire.profile.entry_model import ARROW, Entry, On, Trigger
from faultwire.profile.yaml import Node, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.profile.entry_model import Globs
    from faultwire.profile.problems import Problems

KEYS = ("id", "on", "trigger")
"""What an entry may hold beside its fault."""

ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_NOT_AT = {"http": ("llm", "agent", "other"), "mcp": ("llm", "agent"), "result": ("tool", "agent", "other")}
"""Kinds of exchange that are never at a site of tools."""
_METHODS = frozenset(("get", "put", "head", "post", "patch", "trace", "delete", "connect", "options"))


def build(node: Node, problems: Problems) -> Entry | None:
    """The entry in a node, or None where something is wrong with it, which is noted."""
    before = len(problems)
    fields = _fields(node, problems)
    if fields is None:
        return None
    name = _fault_name(fields, node, problems)
    on = problems.build(On, fields["on"], "on") if "on" in fields else On()
    trigger = problems.build(Trigger, fields["trigger"], "trigger") if "trigger" in fields else Trigger()
    given = _given_id(fields, name, problems)
    if name is None:
        return None
    place = fields[name]
    fault = problems.build(registry()[name], place, name)
    if fault is None or on is None or trigger is None:
        return None
    for key, why in _contradictions(fault, on, trigger):
        problems.add(_place(fields, key, place), "never_fires", why)
    if len(problems) > before:
        return None
    line = place.key[0] if place.key else place.line
    return Entry(id=given or name, fault=fault, on=on, trigger=trigger, line=line)


def numbered(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Entries with ids that are each used once: the second `latency` is `latency#2`.

    Ids that were given stay as they are, unless one came before (in another profile).
    """
    used: set[str] = set()
    kinds: dict[str, int] = {}
    for entry in entries:
        kind = entry.fault.name
        kinds[kind] = kinds.get(kind, 0) + 1
        base, count = entry.id.partition("#")[0], kinds[kind] if entry.id == kind else 1
        unique = entry.id if count == 1 else f"{base}#{count}"
        while unique in used:
            count += 1
            unique = f"{base}#{count}"
        used.add(unique)
        yield entry if entry.id == unique else entry.model_copy(update={"id": unique})


def _fields(node: Node, problems: Problems) -> dict[str, Node] | None:
    if isinstance(node.value, str):  # a fault without settings
        return {node.value: Node(None, node.line, node.column, (node.line, node.column))}
    if isinstance(node.value, dict) and node.value:
        return node.value
    problems.add(node, "bad_value", f"found {shown(node.value)} for an entry, expected a fault")
    return None


def _fault_name(fields: dict[str, Node], node: Node, problems: Problems) -> str | None:
    """The one fault among an entry's keys; every other key that is none of ours is noted."""
    known = registry()
    others = [key for key in fields if key not in KEYS]
    faults = [key for key in others if key in known]
    if not others:
        message = "found an entry without a fault, expected one"
        problems.add(node, "bad_value", message, did_you_mean("", known))
        return None
    if not faults:
        place = fields[others[0]].key or (node.line, node.column)
        message = f"found fault {shown(others[0])}, expected a known one"
        problems.add(place, "unknown_fault", message, did_you_mean(others[0], known))
        others = others[1:]
    for key in faults[1:]:
        place = fields[key].key or (node.line, node.column)
        message = f"found fault `{key}` beside `{faults[0]}`, expected one in each entry"
        problems.add(place, "bad_value", message, "start each entry with `-`")
    for key in others:
        if key not in known:
            problems.unknown(fields[key], key, "an entry", list(KEYS))
    return faults[0] if faults else None


def _given_id(fields: dict[str, Node], fault: str | None, problems: Problems) -> str | None:
    node = fields.get("id")
    if node is None:
        return None
    if isinstance(node.value, str) and ID.fullmatch(node.value):
        if node.value != fault and node.value in registry():
            message = f"found {shown(node.value)} for `id`, which is another fault's name"
            problems.add(node, "bad_value", message)
        return node.value
    expected = "1 to 64 letters, digits, `.`, `_` or `-`"
    problems.add(node, "bad_value", f"found {shown(node.value)} for `id`, expected {expected}")
    return None


def place(node: Node, key: str, fault: str) -> tuple[int, int]:
    """Where `on.agent` or another key of an entry stands."""
    fields = node.value if isinstance(node.value, dict) else {}
    return _place(fields, key, fields.get(fault, node))


def _place(fields: dict[str, Node], key: str, fault: Node) -> tuple[int, int]:
    holder, _, inner = key.partition(".")
    if holder not in fields:
        return fault.key or (fault.line, fault.column)
    node = fields[holder].at((inner,))
    return node.key or (node.line, node.column)


# ---------------------------------------------------------------- what can never fire


def _contradictions(fault: Fault, on: On, trigger: Trigger) -> Iterator[tuple[str, str]]:
    """Key and reason of everything that makes an entry pointless."""
    yield from _against_itself(trigger)
    if trigger.no_sdk_retry and not fault.answers:
        yield (
            "trigger.no_sdk_retry",
            f"found `no_sdk_retry` for `{fault.name}`, which gives no answer of its own",
        )
    yield from _against_fault(fault, on)
    yield from _against_kind(fault, on)
    yield from _odd_globs(on)
    yield from _odd_places(on)
    yield from _nothing(on)


def _against_itself(trigger: Trigger) -> Iterator[tuple[str, str]]:
    """Triggers whose parts contradict each other, or let nothing through."""
    exclusive = (("first", "after_calls"), ("calls", "first"), ("calls", "after_calls"), ("calls", "every"))
    for key, other in (*exclusive, ("stages", "probability")):
        if getattr(trigger, key) is not None and getattr(trigger, other) is not None:
            yield f"trigger.{key}", f"found `{key}` with `{other}`, expected one of them"
    for key in ("calls", "stages"):
        if getattr(trigger, key) == ():
            yield f"trigger.{key}", f"found an empty list for `{key}`, which never fires"
    between, recovery = trigger.between_s, trigger.recover_after
    if between is not None and not between[0] < between[1]:
        yield (
            "trigger.between_s",
            f"found {between[0]:g} to {between[1]:g} for `between_s`, expected a span of time",
        )
    if recovery is not None and (recovery.calls is None) == (recovery.s is None):
        yield "trigger.recover_after", "found neither or both of `calls` and `s`, expected one"
    if any(stage.for_calls is None for stage in (trigger.stages or ())[:-1]):
        yield "trigger.stages", "found a stage without `for_calls` before the last, expected its length"


def _against_fault(fault: Fault, on: On) -> Iterator[tuple[str, str]]:
    if fault.kinds and on.kind is not None and on.kind not in fault.kinds:
        kinds = "` or `".join(fault.kinds)
        yield "on.kind", f"found `kind: {on.kind}` for `{fault.name}`, which acts on `{kinds}` only"
    if on.site == "result" and not isinstance(fault, ResultFault):
        yield "on.site", f"found `site: result` for `{fault.name}`, which does not act on results"
    tool = next((key for key in ("tool", "site") if getattr(on, key) is not None), None)
    if fault.kinds and tool is not None and "tool" not in fault.kinds:
        kinds = "` or `".join(fault.kinds)
        yield f"on.{tool}", f"found `{tool}` for `{fault.name}`, which acts on `{kinds}` only"
    agent = next((key for key in ("agent", "edge") if getattr(on, key) is not None), None)
    if fault.kinds and agent is not None and "agent" not in fault.kinds:
        kinds = "` or `".join(fault.kinds)
        yield f"on.{agent}", f"found `{agent}` for `{fault.name}`, which acts on `{kinds}` only"
    if isinstance(fault, ResultFault | RequestFault) and _is_signed(on):
        yield (
            "on.provider",
            f"found `provider: aws` for `{fault.name}`, which changes requests: theirs are signed (SigV4), "
            "and a changed one would be refused; with bearer tokens add "
            '`header: {authorization: "Bearer *"}`',
        )
    if isinstance(fault, ResultFault | RequestFault) and on.status is not None:
        yield "on.status", f"found `status` for `{fault.name}`, which acts before there is an answer"
    if fault.site == "stream" and on.stream is False:
        yield "on.stream", f"found `stream: false` for `{fault.name}`, which acts on streams"


def _against_kind(fault: Fault, on: On) -> Iterator[tuple[str, str]]:
    of_model = [key for key in ("provider", "model") if getattr(on, key) is not None]
    of_talk = [key for key in ("stream", "turn", "text") if getattr(on, key) is not None]
    of_agent = [key for key in ("agent", "edge") if getattr(on, key) is not None]
    of_tool = on.tool is not None and not isinstance(fault, ResultFault)
    if of_model and on.kind is not None and on.kind != "llm":
        key = of_model[0]
        yield f"on.{key}", f"found `{key}` with `kind: {on.kind}`, which only `llm` exchanges have"
    elif of_talk and on.kind is not None and on.kind not in ("llm", "agent"):
        key = of_talk[0]
        yield (
            f"on.{key}",
            f"found `{key}` with `kind: {on.kind}`, which only `llm` and `agent` exchanges have",
        )
    elif of_tool and (of_model or of_talk or of_agent):
        other = (of_model or of_talk or of_agent)[0]
        yield "on.tool", f"found `tool` with `{other}`, which no exchange has together"
    if of_agent and on.kind is not None and on.kind != "agent":
        key = of_agent[0]
        yield f"on.{key}", f"found `{key}` with `kind: {on.kind}`, which only `agent` exchanges have"
    elif of_agent and of_model:
        yield (
            f"on.{of_agent[0]}",
            f"found `{of_agent[0]}` with `{of_model[0]}`, which no exchange has together",
        )
    if of_tool and on.kind is not None and on.kind != "tool":
        yield "on.tool", f"found `tool` with `kind: {on.kind}`, which only `tool` exchanges have"
    elif on.site is not None and on.kind in _NOT_AT[on.site]:
        yield "on.site", f"found `site: {on.site}` with `kind: {on.kind}`, which no exchange has together"


def _odd_globs(on: On) -> Iterator[tuple[str, str]]:
    for glob in each(on.host):
        if "/" in glob:
            yield "on.host", f"found {shown(glob)} for `host`, expected a name without scheme or path"
    for glob in each(on.path):
        if glob[:1] not in ("/", "*", "?"):
            yield "on.path", f"found {shown(glob)} for `path`, expected it to start with `/` or `*`"
    for edge in each(on.edge):
        if edge.count(ARROW) != 1 or not all(end.strip() for end in edge.split(ARROW)):
            yield "on.edge", f"found {shown(edge)} for `edge`, expected two names, as in `planner->writer`"
    for glob in each(on.method):
        if glob.lower() in _METHODS and not glob.isupper():
            yield "on.method", f"found {shown(glob)} for `method`, expected `{glob.upper()}`"


def _nothing(on: On) -> Iterator[tuple[str, str]]:
    for key in (
        "provider",
        "model",
        "host",
        "method",
        "path",
        "url",
        "tool",
        "agent",
        "edge",
        "session",
        "status",
        "text",
        "turn",
    ):
        if getattr(on, key) == ():
            yield f"on.{key}", f"found an empty list for `{key}`, which never matches"
    for status in (on.status,) if isinstance(on.status, int) else on.status or ():
        if not 100 <= status <= 599:
            yield "on.status", f"found `{status}` for `status`, expected 100 to 599"


def _odd_places(on: On) -> Iterator[tuple[str, str]]:
    for path in on.body or {}:
        try:
            jsonpath.compile_path(path)
        except ValueError as error:
            yield "on.body", f"in path {shown(path)}: {printable(str(error))}"
    for turn in (on.turn,) if isinstance(on.turn, int) else on.turn or ():
        if turn < 1:
            yield "on.turn", f"found `{turn}` for `turn`, expected 1 or more"


def each(globs: Globs | None) -> tuple[str, ...]:
    """The globs of a key, none where it is not there."""
    return (globs,) if isinstance(globs, str) else globs or ()


def _is_signed(on: On) -> bool:
    """Is every request that this matches one of AWS's, and none of them declared to carry a bearer token?"""
    authorization = next(
        (glob for name, glob in (on.header or {}).items() if name.lower() == "authorization"), None
    )
    return each(on.provider) == ("aws",) and (
        authorization is None or not authorization.lower().startswith("bearer")
    )
