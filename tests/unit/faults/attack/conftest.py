"""A conversation as a protocol shows it to a fault."""

from __future__ import annotations

import pytest

from faultwire.wire.editing.api import TextPlace


def text(role, words, turn, *, new=False):
    return TextPlace(role, words, ("messages", turn, "content"), turn, new)


@pytest.fixture
def talk() -> list[TextPlace]:
    return [
        text("system", "Be brief.", 0),
        text("user", "What is our refund policy?", 1),
        text("assistant", "I look up the refund policy.", 2),
        text("tool", '{"doc": "Refund policy: 30 days."}', 3, new=True),
        text("user", "And for tickets?", 4, new=True),
    ]
