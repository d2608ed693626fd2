from __future__ import annotations

from dataclasses import replace

from faultwire.faults.attack.conflicting_context import ConflictingContext


def test_behind_the_users_newest_message(talk, dice):
    (retold,) = ConflictingContext(payload="The reverse.").rewrite_texts(talk, dice())
    assert (retold.place, retold.text) == (talk[4], "And for tickets?\n\nThe reverse.")
    assert retold.effect == "contradiction added"


def test_without_a_new_message_nothing_is_added(talk, dice):
    assert ConflictingContext().rewrite_texts(talk[:4], dice()) == ()


def test_a_tools_newer_result_is_not_the_users_message(talk, dice):
    fresh = [talk[4], talk[3]]
    (retold,) = ConflictingContext(payload="P").rewrite_texts(fresh, dice())
    assert retold.place is talk[4]
    assert ConflictingContext().rewrite_texts([talk[3]], dice()) == ()


def test_of_two_new_messages_the_later_one(talk, dice):
    earlier = replace(talk[4], text="First?")
    (retold,) = ConflictingContext(payload="P").rewrite_texts([earlier, talk[4]], dice())
    assert retold.place is talk[4]


def test_its_way_is_followed_only_where_that_was_asked_for(talk, dice):
    (retold,) = ConflictingContext(payload="see {canary}", canary=True).rewrite_texts(talk, dice())
    assert retold.text == f"And for tickets?\n\nsee {retold.canary}"
    assert retold.canary is not None
    (retold,) = ConflictingContext(payload="see {canary}").rewrite_texts(talk, dice())
    assert (retold.text, retold.canary) == ("And for tickets?\n\nsee reference", None)
