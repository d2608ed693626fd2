"""A missing body is excused by a sealed erasure of it, and by nothing else."""

from __future__ import annotations

import pytest

from faultwire.tape.evidence.erasures import Erasures

ONE, TWO = "1" * 64, "2" * 64


def erasure(*blobs: str, **other: object) -> dict[str, object]:
    said = {"blobs": list(blobs), "at_ms": 1_795_000_000_000, "by": "dpo@example.com", "reason": "Art. 17"}
    return {"type": "erasure", **said, **other}


def codes(erasures: Erasures, sealed: int | None, there: set[str] = frozenset()) -> list[str]:  # type: ignore[assignment]
    return [code for code, _, _ in erasures.close(sealed, there)]


def missing_one() -> Erasures:
    erasures = Erasures()
    erasures.missing(ONE, 3)
    return erasures


def test_a_sealed_erasure_excuses_its_body_and_no_other() -> None:
    erasures = missing_one()
    erasures.missing(TWO, 4)
    erasures.event(5, erasure(ONE), {ONE, TWO})
    found = list(erasures.close(6, set()))
    assert [(code, seq) for code, _, seq in found] == [("body_erased", 5), ("blob_missing", 4)]
    assert "1 body was erased on" in found[0][1]
    assert "by dpo@example.com: Art. 17" in found[0][1]


@pytest.mark.parametrize("sealed", [None, 4, 5])
def test_one_that_no_later_seal_signs_excuses_nothing(sealed: int | None) -> None:
    erasures = missing_one()
    erasures.event(5, erasure(ONE), {ONE})
    assert codes(erasures, sealed) == ["blob_missing"]


def test_one_of_a_body_that_is_there_or_was_never_named_is_invalid() -> None:
    erasures = Erasures()
    erasures.event(5, erasure(ONE), {ONE})
    assert codes(erasures, 6, {ONE}) == ["erasure_invalid"]
    erasures = Erasures()
    erasures.event(5, erasure(ONE), set())
    assert codes(erasures, 6) == ["erasure_invalid"]


@pytest.mark.parametrize(
    "event",
    [
        erasure(),
        erasure("no digest"),
        {**erasure(ONE), "blobs": ONE},
        erasure(ONE, at_ms="today"),
        erasure(ONE, by=1),
        erasure(ONE, reason=None),
    ],
)
def test_what_is_no_erasure_is_refused(event: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"blobs|erasure"):
        Erasures().event(5, event, {ONE})  # type: ignore[arg-type]
