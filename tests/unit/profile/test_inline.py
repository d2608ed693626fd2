# ruff: noqa: E501 - each message stands in one line of its table
from __future__ import annotations

import pytest

from faultwire.errors import ProfileError
from faultwire.profile.entry_model import On, Trigger
from faultwire.profile.inline import inline
from faultwire.profile.load import dump


def only(text):
    profile = inline(text)
    assert (profile.name, profile.path, profile.digest) == ("inline", "<inline>", "")
    (entry,) = profile.entries
    return entry


@pytest.mark.parametrize("text", ["rate_limit", "rate_limit:", "rate_limit: {}", "{rate_limit: }"])
def test_a_fault_with_its_defaults(text):
    entry = only(text)
    assert (entry.id, entry.fault.name, entry.on, entry.trigger) == (
        "rate_limit",
        "rate_limit",
        On(),
        Trigger(),
    )


def test_settings():
    assert only("cut_stream: {after_events: 3}").fault.model_dump()["after_events"] == 3


def test_the_triggers_keys_may_stand_among_the_settings():
    entry = only("rate_limit: {retry_after_s: 2, after_calls: 2, max_times: 1}")
    assert entry.trigger == Trigger(after_calls=2, max_times=1)
    assert entry.fault.model_dump(exclude_defaults=True) == {"retry_after_s": 2}


def test_so_may_on_trigger_and_id():
    entry = only("rate_limit: {on: {model: 'gpt-4*'}, trigger: {first: 2}, probability: .5, id: mine}")
    assert (entry.id, entry.on, entry.trigger) == (
        "mine",
        On(model="gpt-4*"),
        Trigger(first=2, probability=0.5),
    )


def test_a_whole_entry_is_the_same():
    long = "{rate_limit: {retry_after_s: 2}, on: {kind: llm}, trigger: {first: 2}}"
    assert dump(inline(long)) == dump(inline("rate_limit: {retry_after_s: 2, on: {kind: llm}, first: 2}"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate_limt", "<inline>:1:1: profile.unknown_fault: found fault `rate_limt`, expected a known one"),
        ("rate_limit: {probabilty: 1}", "<inline>:1:14: profile.unknown_key: found key `probabilty`, expected a key of `rate_limit`"),
        ("rate_limit: {probability: 2}", "<inline>:1:27: profile.bad_value: found `2` for `trigger.probability`, expected a number from 0 to 1"),
        ("rate_limit: {probability: 0}", "<inline>:1:14: profile.never_fires: found no chance above 0 for `probability`, which never fires"),
        ("rate_limit: {first: 1, after_calls: 1}", "<inline>:1:14: profile.never_fires: found `first` with `after_calls`, expected one of them"),
        ("[rate_limit]", "<inline>:1:1: profile.bad_value: found a list, expected one fault"),
        ("", "<inline>:1:1: profile.bad_value: found nothing for an entry, expected a fault"),
        ("rate_limit: [", "<inline>:"),
    ],
)  # fmt: skip
def test_errors_have_their_place(text, message):
    with pytest.raises(ProfileError) as caught:
        inline(text)
    assert str(caught.value).startswith(message)
