#!/usr/bin/env python3
"""Verify a faultwire certificate with nothing but Python's standard library.

    python3 verify_certificate.py CERTIFICATE --key KEY [--key ...] [--witness-key KEY ...]
                                  [--tape FILE ...] [--json]

KEY is a verifier key (`NAME+ID+BASE64`, as `faultwire keys show` prints it), a file that holds one, or a
public key in PEM (Ed25519, or ECDSA on P-256). A witness's key has the same form, `NAME+ID+BASE64`.

Checks: the DSSE v1 envelope in its one canonical form, that every signature in it holds under a given key
(RFC 8032, or FIPS 186-5 with SHA-256), that the payload is an in-toto Statement v1 with a predicate of
version 1 and none of its members missing, and that the files that are named with --tape (tapes or reports)
have the digests that it names. Where a statement names a log: that the certificate is in it (C2SP tlog-proof,
RFC 9162 section 2.1.3), that the log's key has signed the checkpoint, and that each witness of --witness-key
has cosigned that (C2SP tlog-cosignature); with --witness-key, what has no cosignature is refused.

What a certificate states about verdicts is its issuer's word: verify the tapes themselves with
`verify_tape.py`.

Exit 0: holds. 1: does not. 3: cannot be read.

This file shares no line with faultwire: read it, then trust it.
"""

import argparse
import base64
import binascii
import datetime
import hashlib
import json
import os
import re
import sys

KIND = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://github.com/faultwire/faultwire/resilience/v1"
MEMBERS = {"issuedOn", "tool", "run", "verdict", "phases", "notTested", "evidence", "log"}
LARGEST = 16 << 20
NOT_COMPARED = "no tape or report was compared (--tape)"
NO_WITNESS = "no witness was asked (--witness-key): that the log has one history is its issuer's word"


class Unreadable(Exception):
    """Not a certificate, or not a key."""


def strict_base64(text):
    try:
        data = base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except (binascii.Error, ValueError):
        data = None
    if data is None or base64.b64encode(data).decode() != text:
        raise Unreadable("found Base64 that is not in its canonical form")
    return data


# ---------------------------------------------------------------- Ed25519 (RFC 8032, section 5.1)

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def ed_add(one, two):
    a, b = (one[1] - one[0]) * (two[1] - two[0]) % P, (one[1] + one[0]) * (two[1] + two[0]) % P
    c, d = 2 * one[3] * two[3] * D % P, 2 * one[2] * two[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def ed_times(number, point):
    total = (0, 1, 1, 0)
    while number:
        total = ed_add(total, point) if number & 1 else total
        point, number = ed_add(point, point), number >> 1
    return total


def ed_bytes(point):
    inverse = pow(point[2], P - 2, P)
    return (point[1] * inverse % P | (point[0] * inverse % P & 1) << 255).to_bytes(32, "little")


def ed_point(data):
    """The point of 32 bytes, None where they are no point's, or a point's of small order."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    point = (x, y, 1, x * y % P)
    return None if ed_bytes(ed_times(8, point)) == ed_bytes((0, 1, 1, 0)) else point


def ed_holds(public, text, signature):
    key = ed_point(public)
    if key is None or len(signature) != 64:
        return False
    number = int.from_bytes(signature[32:], "little")
    base = ed_point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    digest = int.from_bytes(hashlib.sha512(signature[:32] + public + text).digest(), "little") % ORDER
    minus = (P - key[0], key[1], key[2], P - key[3])
    return (
        number < ORDER and ed_bytes(ed_add(ed_times(number, base), ed_times(digest, minus))) == signature[:32]
    )


# ---------------------------------------------------------------- ECDSA on P-256 (FIPS 186-5, SP 800-186)

Q = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def ec_add(one, two):
    if one is None or two is None:
        return two if one is None else one
    if one[0] == two[0] and (one[1] + two[1]) % Q == 0:
        return None
    if one == two:
        slope = (3 * one[0] * one[0] - 3) * pow(2 * one[1], -1, Q) % Q
    else:
        slope = (two[1] - one[1]) * pow(two[0] - one[0], -1, Q) % Q
    x = (slope * slope - one[0] - two[0]) % Q
    return x, (slope * (one[0] - x) - one[1]) % Q


def ec_times(number, point):
    total = None
    while number:
        total = ec_add(total, point) if number & 1 else total
        point, number = ec_add(point, point), number >> 1
    return total


def der_numbers(data):
    """The two integers of an ECDSA signature in DER, None for anything else."""
    found, at = [], 2
    if len(data) < 8 or data[0] != 0x30 or data[1] != len(data) - 2 or data[1] >= 128:
        return None
    for _ in range(2):
        if at + 2 > len(data) or data[at] != 2:
            return None
        size = data[at + 1]
        piece = data[at + 2 : at + 2 + size]
        if (
            len(piece) != size
            or not size
            or piece[0] & 128
            or (size > 1 and not piece[0] and not piece[1] & 128)
        ):
            return None
        found.append(int.from_bytes(piece, "big"))
        at += 2 + size
    return found if at == len(data) else None


def ec_holds(point, text, signature):
    numbers = der_numbers(signature)
    if numbers is None or not all(0 < one < N for one in numbers):
        return False
    r, s = numbers
    digest, inverse = int.from_bytes(hashlib.sha256(text).digest(), "big"), pow(s, -1, N)
    found = ec_add(ec_times(digest * inverse % N, G), ec_times(r * inverse % N, point))
    return found is not None and found[0] % N == r


# ---------------------------------------------------------------- keys

KINDS = {1: "a verifier key", 4: "a witness's key"}
OF_ED25519 = bytes.fromhex("302a300506032b6570032100")
OF_P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")


def line_key(text, kind):
    """Name, id and point of a key `NAME+ID+BASE64`; `kind` is 1 for signers of notes, 4 for witnesses."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    found = (
        re.fullmatch(r"([^\s+]{1,120})\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})", lines[0])
        if len(lines) == 1
        else None
    )
    data = strict_base64(found[3]) if found else b""
    if not found or len(data) != 33 or data[0] != kind:  # a private key is never quoted
        secret = "it is a private one, " if "PRIVATE" in text else ""
        raise Unreadable(f"{secret}expected {KINDS[kind]}, `NAME+ID+BASE64`")
    key_id = hashlib.sha256(found[1].encode() + b"\n" + data).digest()[:4]
    if key_id.hex() != found[2] or ed_point(data[1:]) is None:
        raise Unreadable(f"the key `{found[1]}` is not what its id names, or everybody can sign under it")
    return found[1], key_id, data[1:]


def given_key(option, text, parse):
    """What `parse` makes of a key, or of the file that holds it. Unreadable names the option."""
    named = f"{option} {text}" if os.path.isfile(text) else f"the key of {option}"
    try:
        if os.path.isfile(text):
            with open(text, encoding="utf-8", errors="replace") as file:
                text = file.read(65536)
        return parse(text)
    except OSError as error:
        raise Unreadable(f"{named}: {error.strerror}") from None
    except Unreadable as error:
        raise Unreadable(f"{named}: {error}") from None


def key_of(text):
    """The name that envelopes give a key, and what judges a signature."""
    if "-----BEGIN PUBLIC KEY-----" in text:
        body = text.split("-----BEGIN PUBLIC KEY-----", 1)[1].split("-----END", 1)[0]
        der = strict_base64("".join(body.split()))
        name = "sha256:" + hashlib.sha256(der).hexdigest()
        if der.startswith(OF_ED25519) and len(der) == 44:
            return name, lambda data, signature: ed_holds(der[12:], data, signature)
        x, y = int.from_bytes(der[27:59], "big"), int.from_bytes(der[59:], "big")
        if (
            not der.startswith(OF_P256)
            or len(der) != 91
            or (y * y - x * x * x + 3 * x - B) % Q
            or x >= Q
            or y >= Q
        ):
            raise Unreadable("found no public key of Ed25519 or P-256")
        return name, lambda data, signature: ec_holds((x, y), data, signature)
    name, key_id, public = line_key(text, 1)
    return f"{name}+{key_id.hex()}", lambda data, signature: ed_holds(public, data, signature)


# ---------------------------------------------------------------- the log and its witnesses


def note_of(text):
    """The text of a signed note, and (name, key id, signature) of each signature (C2SP signed-note)."""
    body, between, below = text.rpartition("\n\n")
    lines = below[:-1].split("\n")
    if not between or not below.endswith("\n") or "\n\n" in body or len(lines) > 16:
        raise Unreadable("found no signed note in the proof")
    if any(c < " " and c != "\n" for c in body):
        raise Unreadable("found no signed note in the proof")
    signatures = []
    for line in lines:
        found = re.fullmatch(r"\u2014 ([^\s+]+) ([A-Za-z0-9+/]+={0,2})", line)
        data = strict_base64(found[2]) if found else b""
        if len(data) < 5:
            raise Unreadable("found no signed note in the proof")
        signatures.append((found[1], data[:4], data[4:]))
    return body + "\n", signatures


def decimal(text):
    if not re.fullmatch(r"0|[1-9][0-9]{0,18}", text) or int(text) >= 1 << 63:
        raise Unreadable("found no decimal number in the proof")
    return int(text)


def hash_of(text):
    data = strict_base64(text)
    if len(data) != 32:
        raise Unreadable("found no hash of 32 bytes in the proof")
    return data


def root_from(entry, index, size, path):
    """The root to which an inclusion proof leads (RFC 9162, section 2.1.3.2), None where it leads to none."""
    at, last, root = index, size - 1, hashlib.sha256(b"\0" + entry).digest()
    for one in path:
        if not last:
            return None
        if at & 1 or at == last:
            root = hashlib.sha256(b"\1" + one + root).digest()
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            root = hashlib.sha256(b"\1" + root + one).digest()
        at, last = at >> 1, last >> 1
    return None if last else root


def logged(proof, signed, key):
    """The note of the log in which a certificate is. Raises Unreadable where the proof does not hold."""
    head, between, below = proof.partition("\n\n")
    lines = head.split("\n")
    if len(proof) > 131072 or not between or len(lines) < 2 or lines[0] != "c2sp.org/tlog-proof@v1":
        raise Unreadable("it is no c2sp.org/tlog-proof@v1")
    if not lines[1].startswith("index ") or len(lines) > 65:
        raise Unreadable("it has no index, or too many hashes")
    index, path = decimal(lines[1][6:]), [hash_of(line) for line in lines[2:]]
    name, key_id, public = line_key(key, 1)
    text, signatures = note_of(below)
    parts = text.split("\n")
    if len(parts) < 4 or parts[0] != name:
        raise Unreadable("its checkpoint is of another log than the certificate names")
    size, root = decimal(parts[1]), hash_of(parts[2])
    ours = [one for named, its, one in signatures if (named, its) == (name, key_id)]
    if not ours or not all(ed_holds(public, text.encode(), one) for one in ours):
        raise Unreadable("the log that the certificate names has not signed its checkpoint")
    entry = hashlib.sha256(signed).digest()
    if index >= size or root_from(entry, index, size, path) != root:
        raise Unreadable("its hashes do not lead from this certificate to the checkpoint's root")
    return index, size, text, signatures


def cosigned_at(note, witness):
    """When a witness cosigned the note of a log, in seconds since 1970; None where it has not."""
    text, signatures = note
    name, key_id, public = witness
    times = []
    for one in (data for named, its, data in signatures if (named, its) == (name, key_id)):
        seconds = int.from_bytes(one[:8], "big")
        message = f"cosignature/v1\ntime {seconds}\n{text}".encode()
        if len(one) != 72 or seconds > 253402300799 or not ed_holds(public, message, one[8:]):
            return None
        times.append(seconds)
    return times[0] if times else None


def check_log(log, proof, signed, witnesses):
    """What is wrong with the log that a certificate names, and what to say of it where nothing is."""
    if log is None:
        bad = [] if proof is None else ["proof_invalid: it has a proof of a log, and names none"]
        bad += [
            f"cosignature_missing: it is in no log that `{one[0]}` could have cosigned" for one in witnesses
        ]
        return bad, ["in no log"]
    if proof is None:
        return ["proof_missing: the proof that it is in the log that it names was taken away"], []
    try:
        index, size, *note = logged(proof, signed, log if isinstance(log, str) else "")
    except Unreadable as error:
        return [f"proof_invalid: the proof of the log does not hold: {error}"], []
    lines, bad = [f"entry {index} of the log {log.partition('+')[0]}, as it was with {size} entries"], []
    for one in witnesses:
        seconds = cosigned_at(note, one)
        if seconds is None:
            bad.append(f"cosignature_missing: `{one[0]}+{one[1].hex()}` has not cosigned its checkpoint")
        else:
            at = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
            lines.append(f"cosigned by {one[0]}+{one[1].hex()} on {at.strftime('%Y-%m-%dT%H:%M:%SZ')}")
    if not witnesses:
        lines.append(
            "no witness was asked (--witness-key): that the log has one history is its issuer's word"
        )
    return bad, lines


# ---------------------------------------------------------------- the certificate


def envelope_of(data):
    """Payload, signatures, and the proof of a log or None. Raises Unreadable."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise Unreadable("found no JSON") from None
    members = {"payload", "payloadType", "signatures"}
    if not isinstance(found, dict) or set(found) - {"tlogProof"} != members:
        raise Unreadable("found no DSSE envelope")
    signatures = found["signatures"]
    if found["payloadType"] != KIND or not isinstance(signatures, list) or not 0 < len(signatures) <= 16:
        raise Unreadable("found no signed in-toto statement")
    for one in signatures:
        if not isinstance(one, dict) or set(one) != {"keyid", "sig"} or not isinstance(one["keyid"], str):
            raise Unreadable("found a signature without `keyid` and `sig`")
    if not isinstance(found.get("tlogProof", ""), str):
        raise Unreadable("found a proof that is no text")
    made = [(one["keyid"], strict_base64(one["sig"])) for one in signatures]
    return strict_base64(found["payload"]), made, found.get("tlogProof")


def read(path):
    """The bytes of a certificate."""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from None
    if len(data) > LARGEST:
        raise Unreadable(f"{path}: found more than 16 MB")
    try:
        envelope_of(data)
    except Unreadable as error:
        raise Unreadable(f"{path}: {error}") from None
    return data


def judge(data, keys, witnesses=()):
    """The statement, if it holds, what is wrong, and what to say where nothing is."""
    payload, signatures, proof = envelope_of(data)
    signed = b"DSSEv1 %d %s %d %s" % (len(KIND), KIND.encode(), len(payload), payload)
    bad = []
    for name, signature in signatures:
        if name not in keys:
            bad.append(f"signature_untrusted: no given key is called `{name[:200]}`")
        elif not keys[name](signed, signature):
            bad.append(f"signature_invalid: the signature does not hold under `{name}`")
    if bad:
        return None, bad, []
    try:
        made = json.loads(payload)
        predicate = made["predicate"]
        whole = set(made) == {"_type", "subject", "predicateType", "predicate"} and set(predicate) == MEMBERS
        sound = made["_type"] == STATEMENT and made["predicateType"] == PREDICATE and made["subject"]
        predicate["evidence"]["ledger"], predicate["run"]["id"], predicate["phases"][0]["verdict"]
    except (ValueError, RecursionError, TypeError, LookupError):
        whole = sound = False
    if not whole or not sound:
        return None, ["statement_malformed: it is no statement of version 1 with all of its members"], []
    bad, lines = check_log(predicate["log"], proof, signed, witnesses)
    lines.insert(0, f"signed by {', '.join(name for name, _ in signatures)}")
    return None if bad else made, bad, lines


def compare(made, paths):
    """What is wrong with files that lie beside a certificate."""
    evidence = made["predicate"]["evidence"]
    named = {one["name"]: one["sha256"] for kind in ("reports", "tapes") for one in evidence[kind]}
    for path in paths:
        name = os.path.basename(path)
        digest = hashlib.sha256()
        try:
            with open(path, "rb") as file:
                while piece := file.read(1 << 20):
                    digest.update(piece)
        except OSError as error:
            raise Unreadable(f"--tape {path}: {error.strerror}") from None
        if name not in named:
            yield f"evidence_mismatch: the certificate names no file `{name}`"
        elif digest.hexdigest() != named[name]:
            yield f"evidence_mismatch: `{name}` has SHA-256 {digest.hexdigest()}, it names {named[name]}"


def printable(text):
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("certificate")
    parser.add_argument("--key", action="append", required=True, help="a key that you trust (repeatable)")
    parser.add_argument(
        "--witness-key", action="append", default=[], help="a witness that must have cosigned (repeatable)"
    )
    parser.add_argument(
        "--tape", action="append", default=[], help="a tape or report to compare (repeatable)"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    given = parser.parse_args()
    try:
        keys = dict(given_key("--key", text, key_of) for text in given.key)
        witnesses = [
            given_key("--witness-key", text, lambda line: line_key(line, 4)) for text in given.witness_key
        ]
        made, bad, lines = judge(read(given.certificate), keys, witnesses)
        bad += compare(made, given.tape) if made else []
    except Unreadable as error:
        print(printable(f"nothing was verified: {error}"), file=sys.stderr)
        return 3
    if given.json:
        print(
            json.dumps(
                {"ok": not bad, "findings": bad, "notes": lines, "statement": made if not bad else None}
            )
        )
    elif bad:
        print(printable(f"{given.certificate}: does not hold"), *map(printable, bad), sep="\n  ")
    else:
        what = made["predicate"]
        print(printable(f"{given.certificate}: holds"))
        print(printable(f"  run {what['run']['id']}: {what['verdict']}, issued {what['issuedOn']}"))
        print("  " + ("the files of --tape are those that it names" if given.tape else NOT_COMPARED))
        for text in lines:
            print(printable(f"  {text}"))
        for text in what["notTested"]:
            print(printable(f"  not tested: {text}"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
