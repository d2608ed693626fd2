"""Witnesses that do not cosign: each refused with its reason, and no certificate without their word."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.unit.certificate.witnessed import OURS, entry, log, standalone, their_key, witness

from faultwire.certificate.cosignature import WitnessKey, cosign
from faultwire.certificate.log import CertificateLog
from faultwire.certificate.log_proof import logged
from faultwire.certificate.submission import (
    WitnessAddress,
    WitnessedLog,
    WitnessError,
    cosignature,
    token_in,
)
from faultwire.errors import FaultwireError, UsageError
from faultwire.tape.evidence.signed_note import SignerKey

SEED = SignerKey("w1", b"\x0e" * 32)
KEY = WitnessKey.of(SEED)


def refusal(made: CertificateLog, address: WitnessAddress) -> FaultwireError:
    with pytest.raises(FaultwireError) as caught:
        cosignature(made, address)
    return caught.value


class Fixed(WitnessAddress):
    """A witness that answers every request alike."""

    answer: tuple[int, str]

    def post(self, body: str) -> tuple[int, str]:
        return self.answer


def answering(status: int, text: str, key: WitnessKey = KEY) -> Fixed:
    made = Fixed("http://127.0.0.1:1", key)
    object.__setattr__(made, "answer", (status, text))
    return made


def test_a_log_that_grows_is_cosigned_each_time_and_every_proof_holds(tmp_path: Path) -> None:
    with witness(tmp_path / "w1") as one, witness(tmp_path / "w2", name="w2") as two:
        for number in range(5):
            with log(tmp_path / "log") as made:
                signed = f"certificate {number}".encode()
                found = logged(WitnessedLog(made, [one, two]).prove(signed), signed, str(OURS.verifier))
                assert (found.index, found.tree.size) == (number, number + 1)
                assert one.key.cosigned_on(found.note)
                assert two.key.cosigned_on(found.note)
                assert one.witness.key.cosigned_on(found.note)


def test_a_witness_that_saw_less_gets_the_proof_from_there(tmp_path: Path) -> None:
    """As after a kill between the witness's answer and the disk, or with a witness that is new."""
    with witness(tmp_path / "w") as near, log(tmp_path / "log") as made:
        for number in range(3):
            made.append(entry(number))
        assert cosignature(made, near), "it was asked from 0"
        made.append(entry(3))
        assert made.known(near.key) == 0
        assert near.key.cosigned(made.text, cosignature(made, near)), "its 409 named 3"


def test_a_log_that_was_rolled_back_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    with witness(tmp_path / "w") as near:
        with log(folder) as made:
            WitnessedLog(made, [near]).prove(b"0")
        shutil.copytree(folder, tmp_path / "backup")
        with log(folder) as made:
            WitnessedLog(made, [near]).prove(b"1")
            WitnessedLog(made, [near]).prove(b"2")
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "backup", folder)
        with log(folder) as made:
            made.append(entry(7))
            found = refusal(made, near)
            assert found.code == "witness.conflict"
            assert "has cosigned 3 entries of this log, which has 2 here" in found.message
            made.append(entry(8))
            found = refusal(made, near)
            assert (found.code, "another history" in found.message) == ("witness.conflict", True)
            made.append(entry(9))
            found = refusal(made, near)
            assert (found.code, "(422)" in found.message) == ("witness.conflict", True)


def test_the_control_without_a_rollback_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    with witness(tmp_path / "w") as near:
        for moved in ("a", "b"):
            with log(folder) as made:
                WitnessedLog(made, [near]).prove(moved.encode())
            shutil.copytree(folder, tmp_path / moved)
            shutil.rmtree(folder)
            shutil.copytree(tmp_path / moved, folder)
        with log(folder) as made:
            assert len(made.leaves) == 2


def test_a_witness_that_lost_its_folder_is_refused(tmp_path: Path) -> None:
    with witness(tmp_path / "w") as near, log(tmp_path / "log") as made:
        WitnessedLog(made, [near]).prove(b"0")
        WitnessedLog(made, [near]).prove(b"1")
    for state in (tmp_path / "w").glob("*.log"):
        state.unlink()
    with witness(tmp_path / "w") as near, log(tmp_path / "log") as made:
        assert made.known(near.key) == 2
        made.append(entry(2))
        found = refusal(made, near)
        assert (found.code, "it lost its folder, or is another witness" in found.message) == (
            "witness.conflict",
            True,
        )


def test_another_origin_and_another_log_key_are_refused(tmp_path: Path) -> None:
    other = SignerKey("another/certificates", OURS.seed)
    with witness(tmp_path / "w", other) as near, log(tmp_path / "log") as made:
        made.append(entry(0))
        found = refusal(made, near)
        assert f"knows no log of the origin `{OURS.name}`" in found.message
        assert found.hint is not None
        assert str(OURS.verifier) in found.hint
    with witness(tmp_path / "x", SignerKey(OURS.name, SEED.seed)) as near, log(tmp_path / "log") as made:
        assert "(403): the log's key has not signed this checkpoint" in refusal(made, near).message


def test_a_witness_of_another_key_is_refused(tmp_path: Path) -> None:
    with witness(tmp_path / "w") as near, log(tmp_path / "log") as made:
        made.append(entry(0))
        _, line = near.post(made.request(0))
        for key in (KEY, WitnessKey("w2", near.key.public)):
            found = refusal(made, answering(200, line, key))
            assert found.code == "witness.key"
            assert str(key) in found.message
            assert f"it is signed by `w1+{near.key.id.hex()}`" in found.message
        assert cosignature(made, answering(200, line, near.key)) == line, "the control"


@pytest.mark.parametrize(
    ("status", "text", "problem"),
    [
        (200, "", "without a cosignature"),
        (200, "<html>", "without a cosignature"),
        (302, "", "(302): it does not say why"),
        (401, "no\x1b[31m token", r"(401): no\x1b[31m token"),
        (409, "many\n", "answers 409 and no size"),
        (409, "1\n", "another history"),
        (409, "99\n", "has cosigned 99 entries of this log, which has 1 here"),
        (503, "disk\n", "(503): disk"),
    ],
    ids=["empty", "page", "moved", "token", "no_size", "same_size", "larger", "disk"],
)
def test_answers_that_are_no_cosignature(tmp_path: Path, status: int, text: str, problem: str) -> None:
    with log(tmp_path) as made:
        made.append(entry(0))
        assert problem in refusal(made, answering(status, text)).message


def test_a_cosignature_of_another_tree_is_refused(tmp_path: Path) -> None:
    with log(tmp_path) as made:
        made.append(entry(0))
        older = cosign(SEED, made.text, 1)
        made.append(entry(1))
        assert "without a cosignature" in refusal(made, answering(200, older)).message
        assert cosignature(made, answering(200, f"a line of another kind\n{cosign(SEED, made.text, 1)}"))


def test_of_two_witnesses_both_must_cosign(tmp_path: Path) -> None:
    with witness(tmp_path / "w") as near, log(tmp_path / "log") as made:
        with pytest.raises(WitnessError):
            WitnessedLog(made, [near, answering(503, "")]).prove(b"0")
        assert made.cosigned == 0
        assert WitnessedLog(made, [near]).prove(b"1")


@pytest.mark.parametrize(
    "url",
    ["", "w1", "ftp://a", "http://", "http://a:0", "http://a:x", "http://u@a", "http://a?b", "http://a#b"],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="found no address for `--witness`"):
        WitnessAddress.checked(url, KEY, None)


def test_a_token_is_not_sent_readable_and_its_file_is_its_user_s_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected https"):
        WitnessAddress.checked("http://far.example", KEY, "t")
    assert WitnessAddress.checked("http://far.example", KEY, None).token is None
    assert WitnessAddress.checked("https://far.example", KEY, "t").token == "t"
    path = tmp_path / "token"
    path.write_text("secret-of-somebody")
    path.chmod(0o644)
    with pytest.raises(UsageError, match="has mode 644, expected 600") as caught:
        token_in(path)
    assert "secret" not in caught.value.render()
    path.chmod(0o600)
    for text in (b"", b"a\nb", b"\xff", "ä".encode(), b"x" * 5000):
        path.write_bytes(text)
        with pytest.raises(UsageError, match=r"holds no token|cannot read"):
            token_in(path)
    with pytest.raises(UsageError, match="cannot read"):
        token_in(tmp_path / "none")


def test_each_character_of_a_cosignature_matters_to_both_verifiers(tmp_path: Path) -> None:
    script = standalone()
    with witness(tmp_path / "w") as near, log(tmp_path / "log") as made:
        proof = WitnessedLog(made, [near]).prove(b"0")
    found, theirs = logged(proof, b"0", str(OURS.verifier)), their_key(near.key)
    assert near.key.cosigned_on(found.note) == script.cosigned_at(
        script.logged(proof, b"0", str(OURS.verifier))[2:], theirs
    )
    start = proof.rindex("— w1 ")
    for at in range(start + 2, len(proof) - 1):
        if proof[at] == " ":
            continue
        bent = proof[:at] + ("A" if proof[at] != "A" else "B") + proof[at + 1 :]
        try:
            ours = near.key.cosigned_on(logged(bent, b"0", str(OURS.verifier)).note)
        except ValueError:
            ours = None
        try:
            note = script.logged(bent, b"0", str(OURS.verifier))[2:]
        except script.Unreadable:
            note = None
        assert ours is None, bent[start:]
        assert note is None or script.cosigned_at(note, theirs) is None, bent[start:]
