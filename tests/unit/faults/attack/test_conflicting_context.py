from __future__ import annotations

from faultwire.faults.attack.conflicting_context import ConflictingContext


def test_behind_the_users_newest_message(talk, dice):
    (retold,) = ConflictingContext(payload="The reverse.").rewrite_texts(talk, dice())
    assert (retold.place, retold.text) == (talk[4], "And for tickets?\n\nThe reverse.")
    assert retold.effect == "contradiction added"


def test_without_a_new_message_nothing_is_added(talk, dice):
    assert ConflictingContext().rewrite_texts(talk[:4], dice()) == ()
