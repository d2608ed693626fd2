"""A fault given on a command line: `--fault 'rate_limit: {retry_after_s: 2, after_calls: 2}'`."""

from __future__ import annotations

from faultwire.errors import ProfileError
from faultwire.faults._registry import registry
from faultwire.profile import entry, whole
from faultwire.profile.entry_model import Trigger
from faultwire.profile.model import Profile
from faultwire.profile.problems import Problems
from faultwire.profile.yaml import Node, read, shown

PATH = "<inline>"


def inline(text: str) -> Profile:
    """The profile of one fault: an entry as in a file, or with its trigger's keys and `on` among its
    settings. Raises ProfileError."""
    problems = Problems(PATH, ProfileError)
    root = read(text, PATH)
    if isinstance(root.value, list):
        problems.add(root, "bad_value", f"found {shown(root.value)}, expected one fault")
        problems.settle()
    spread = _spread(root)
    built = entry.build(spread, problems)
    whole.check([] if built is None else [(spread, built)], {}, problems)
    problems.settle()
    return Profile(name="inline", entries=(built,) if built else (), path=PATH)


def _spread(root: Node) -> Node:
    """The entry with `on` and the trigger's keys taken out of the fault's settings."""
    if not isinstance(root.value, dict):
        return root
    out = dict(root.value)
    for name, settings in root.value.items():
        if name in entry.KEYS or not isinstance(settings.value, dict):
            continue
        own = registry()[name].model_fields if name in registry() else {}
        moved = {key: node for key, node in settings.value.items() if key not in own}
        trigger = {key: node for key, node in moved.items() if key in Trigger.model_fields}
        kept = {key: node for key, node in settings.value.items() if key not in trigger}
        for key in entry.KEYS:
            if key in moved and key not in out:
                out[key] = kept.pop(key)
        out[name] = Node(kept, settings.line, settings.column, settings.key)
        if trigger:
            given = out.get("trigger", settings)
            inner = given.value if "trigger" in out and isinstance(given.value, dict) else {}
            out["trigger"] = Node({**inner, **trigger}, given.line, given.column, given.key)
    return Node(out, root.line, root.column, root.key)
