"""Chance: the same for the same purpose, and independent of everything else."""

from __future__ import annotations

import hashlib

import pytest

from faultwire.dice import Dice, token, unit


def test_a_roll_is_a_keyed_hash_of_what_it_is_for():
    parts = ("faultwire-dice-v1", "7", "session", "latency", "key", "2", "fire")
    text = "".join(f"{len(part.encode())}:{part}" for part in parts).encode()
    expected = (int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 11) / 2**53
    assert unit(7, "session", "latency", "key", 2) == expected


def test_every_part_matters():
    rolls = {
        unit(1, "s", "f", "k", 0),
        unit(2, "s", "f", "k", 0),
        unit(1, "t", "f", "k", 0),
        unit(1, "s", "g", "k", 0),
        unit(1, "s", "f", "l", 0),
        unit(1, "s", "f", "k", 1),
        unit(1, "s", "f", "k", 0, "delay"),
    }
    assert len(rolls) == 7


def test_parts_cannot_run_into_each_other():
    assert unit(1, "ab", "c", "k", 0) != unit(1, "a", "bc", "k", 0)
    assert unit(1, "s", "f", "k1", 1) != unit(1, "s", "f", "k", 11)
    assert unit(1, "s\u00e9", "f", "k", 0) != unit(1, "s", "\u00e9f", "k", 0)


def test_rolls_are_even():
    rolls = [unit(seed, "s", "f", "k", 0) for seed in range(5000)]
    assert 0 <= min(rolls) < 0.01
    assert 0.99 < max(rolls) < 1
    assert sum(rolls) / len(rolls) == pytest.approx(0.5, abs=0.02)


def test_held_dice_name_only_the_purpose():
    held = Dice(3, "s").held("f", "k", 1)
    assert held.unit("delay") == unit(3, "s", "f", "k", 1, "delay")
    assert held.unit("delay") == held.unit("delay")
    assert 5 <= held.uniform(5, 6, "x") < 6
    assert {Dice(seed, "s").held("f", "k", 0).choice("abc", "pick") for seed in range(50)} == set("abc")


def test_a_roll_without_a_purpose_decides_whether_to_fire():
    assert Dice(3, "s").roll("f", "k", 1) == unit(3, "s", "f", "k", 1) == unit(3, "s", "f", "k", 1, "fire")


def test_tokens_are_fresh():
    assert len({token() for _ in range(100)}) == 100
    assert len(token()) == 16, "two hex digits a byte"
    assert len(token(4)) == 8
