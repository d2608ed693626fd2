"""What is wrong with a seal is told: faultwire.tape.evidence.check_seals."""

from __future__ import annotations

from faultwire.tape.evidence.check_seals import SealChecker


def test_a_note_that_is_none_is_found_and_trusts_nobody() -> None:
    found: list[tuple[str, str, int | None]] = []
    seals = SealChecker(lambda *one: found.append(one), trusted=(), demanded=False)
    seals.event(3, {"note": "no note at all", "size": 3}, b"\x00" * 32)
    (code, message, seq) = found[0]
    assert (code, seq, seals.count, seals.last) == ("seal_invalid", 3, 1, None)
    assert "the seal at event 3 is malformed" in message
    assert not seals.is_trusted
