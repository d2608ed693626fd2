"""Clean messages of 18 kinds, in every carrier under every encoding, stay as they are on a tape."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

if str(CORPORA := Path(__file__).parents[2] / "patterns") not in sys.path:
    sys.path.append(str(CORPORA))

from egress_carriers import CARRIERS, ENCODINGS
from pattern_clean import KINDS, clean

from faultwire.patterns import scan
from faultwire.tape.record.body import Body
from faultwire.tape.redact.messages import WaitingMessages
from faultwire.tape.redact.redactor import Redactor
from faultwire.tape.redact.rules import Rules
from faultwire.wire.framing.readings import of_path, readings

REDACTOR = Redactor(b"k" * 32, Rules(pii=True))
PLACES = list(product(CARRIERS, ENCODINGS))


def recorded(carrier: str, text: str) -> bool:
    """Does it stay as it is in this carrier?"""
    made = CARRIERS[carrier](text)
    path, data = made.get("path", "/v1"), made.get("body", b"{}")
    head = REDACTOR.head(made.get("headers", (("content-type", "application/json"),)), {})
    body = Body(REDACTOR, head, {})
    body.add(((0, data),))
    waiting = WaitingMessages(REDACTOR, {})
    for message in made.get("messages", ()):
        waiting.add(message)
    kept = [(one, one.data) for one in made.get("messages", ())]
    left = REDACTOR.checked({"path": REDACTOR.path(path, {}, "tools.test")}, {})["path"]
    return (left, body.release(final=True)[0], waiting.release(final=True)) == (path, data, kept)


def test_clean_messages_are_not_touched_in_any_carrier() -> None:
    assert len(KINDS) == 18
    messages = clean(5000)
    touched = [
        (carrier, encoding, text)
        for number, (_, text) in enumerate(messages)
        for carrier, encoding in [PLACES[number % len(PLACES)]]
        if not recorded(carrier, ENCODINGS[encoding](text))
    ]
    print(f"{len(touched)} of {len(messages)} clean messages in {len(PLACES)} places touched")
    assert len(touched) <= 0.01 * len(messages), touched[:5]


def test_a_value_in_such_a_message_is_touched() -> None:
    """The control: the same messages with an address in them."""
    for number, (_, text) in enumerate(clean(len(PLACES))):
        carrier, encoding = PLACES[number]
        assert not recorded(carrier, ENCODINGS[encoding](f"{text} jane.doe@firm.org")), (carrier, encoding)


def test_no_reading_of_a_clean_message_holds_personal_data() -> None:
    found = []
    for number, (_, text) in enumerate(clean(2500)):
        carrier, encoding = PLACES[number % len(PLACES)]
        made = CARRIERS[carrier](ENCODINGS[encoding](text))
        said = (
            readings(made.get("body", b""), made.get("headers", ())).texts
            + of_path(made.get("path", "/")).texts
        )
        found += [(carrier, encoding, one) for one in said if scan(one, kinds=["pii"])][:1]
    assert len(found) <= 25, found[:5]
