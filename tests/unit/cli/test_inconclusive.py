import pytest

from faultwire.cli._inconclusive import left_out

FULL = {"refusing": "database or disk is full"}


@pytest.mark.parametrize(
    ("exchanges", "refused", "said"),
    [
        (0, 0, ()),
        (1, 0, ("1 exchange passed and is not on the tape",)),
        (2, 0, ("2 exchanges passed and are not on the tape",)),
        (0, 1, ("1 call was answered 503 by the proxy, since what cannot be recorded does not pass",)),
        (0, 9, ("9 calls were answered 503 by the proxy, since what cannot be recorded does not pass",)),
    ],
)
def test_what_a_tape_that_failed_does_not_hold_is_counted(exchanges, refused, said):
    assert left_out({**FULL, "voided": refused}, exchanges) == said
    assert left_out({"refusing": "", "voided": refused}, exchanges) == ()
