from __future__ import annotations

import pytest

from faultwire.faults.attack.memory_poisoning import MemoryPoisoning


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("prepend", "I rule.\n\nWhat is our refund policy?"),
        ("append", "What is our refund policy?\n\nI rule."),
        ("replace", "I rule."),
    ],
)
def test_the_oldest_message_of_the_user(talk, dice, strategy, expected):
    (retold,) = MemoryPoisoning(payload="I rule.", strategy=strategy).rewrite_texts(talk, dice())
    assert (retold.place, retold.text) == (talk[1], expected)
    assert retold.effect == f"oldest user message poisoned ({strategy})"
    assert retold.canary is None


def test_another_role_and_a_canary(talk, dice):
    (retold,) = MemoryPoisoning(role="system", canary=True).rewrite_texts(talk, dice())
    assert retold.place is talk[0]
    assert retold.canary in retold.text


def test_a_conversation_without_that_role_is_left_alone(talk, dice):
    assert MemoryPoisoning(role="assistant").rewrite_texts(talk[:2], dice()) == ()


def test_a_canary_stands_in_the_payload_where_it_is_asked_for(talk, dice):
    (retold,) = MemoryPoisoning(payload="see {canary}", strategy="replace", canary=True).rewrite_texts(
        talk, dice()
    )
    assert retold.text == f"see {retold.canary}"
    assert retold.canary is not None
    (retold,) = MemoryPoisoning(payload="see {canary}", strategy="replace").rewrite_texts(talk, dice())
    assert (retold.text, retold.canary) == ("see reference", None)


def test_of_two_messages_of_the_role_the_oldest(talk, dice):
    (retold,) = MemoryPoisoning(payload="P", strategy="replace").rewrite_texts(talk[1:], dice())
    assert retold.place is talk[1]
