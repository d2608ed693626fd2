#!/usr/bin/env python3
"""Verify an exported faultwire tape with nothing but Python's standard library.

    faultwire tape export NAME --to jsonl -o tape.jsonl
    python3 verify_tape.py tape.jsonl --key 'NAME+ID+BASE64' [--key ...] [--no-signature] [--json]

Checks, from the lines alone: canonical JSON (RFC 8785), the hash of every event and its link to the
event before, the order of sessions and exchanges, every body's SHA-256, the Merkle root (RFC 6962)
under every seal, the chain of seals, and their Ed25519 signatures (RFC 8032, C2SP signed notes).

Exit 0: verified. 1: not what was recorded. 3: cannot be read. Findings have the codes that
`faultwire tape verify` gives them. This file shares no line with faultwire: read it, then trust it.
"""

import argparse
import base64
import binascii
import hashlib
import json
import re
import sys

NOTES = {
    "session_open", "exchange_open", "drop_present", "bypass_present", "body_erased",
    "seal_missing", "tail_unsealed",
}  # fmt: skip
KINDS = {
    "tape", "session_start", "session_end", "request", "forwarded", "response", "stream_chunk", "trailers",
    "message", "fault", "drop", "redaction", "end", "seal", "note", "foreign",
    "erasure",
}  # fmt: skip
SEAL = {"type", "seq", "prev", "size", "root", "note", "key"}
MAX_INT = 2**53 - 1
MAX_MS = 253_402_300_799_999
MAX_DEPTH = 127
MAX_EVENT = 64 << 20
MAX_FINDINGS = 100_000
MAX_LINE = (256 << 20) * 4 // 3 + 4096
HEAD = b'{"export":"faultwire-tape","version":1}\n'

# ---------------------------------------------------------------- Ed25519 (RFC 8032, section 5.1)

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def add(one, two):
    """The sum of two points in extended coordinates (X, Y, Z, T)."""
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = two
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(number, point):
    total = (0, 1, 1, 0)
    while number:
        if number & 1:
            total = add(total, point)
        point = add(point, point)
        number >>= 1
    return total


def packed(point):
    x, y, z, _ = point
    inverse = pow(z, P - 2, P)
    return (y * inverse % P | (x * inverse % P & 1) << 255).to_bytes(32, "little")


def unpacked(data):
    """The point of 32 bytes, or None."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = unpacked((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def signature_holds(public, text, signature):
    key = unpacked(public)
    number = int.from_bytes(signature[32:], "little")
    if key is None or len(signature) != 64 or number >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public + text).digest()
    minus_key = (P - key[0], key[1], key[2], P - key[3])
    found = add(times(number, BASE), times(int.from_bytes(digest, "little") % ORDER, minus_key))
    return packed(found) == signature[:32]


# ---------------------------------------------------------------- keys and notes (C2SP signed-note)


def strict_base64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None


def parse_key(text):
    """(name, key id, public key) of a verifier key, or None."""
    parts = text.strip().split("+", 2)
    data = strict_base64(parts[2]) if len(parts) == 3 else None
    if (
        not re.fullmatch(r"[^\s+\x00-\x1f\x7f]{1,120}", parts[0])
        or data is None
        or len(data) != 33
        or data[0] != 1
    ):
        return None
    key_id = hashlib.sha256(parts[0].encode() + b"\n" + data).digest()[:4]
    point = unpacked(data[1:])
    # Under a key of small order one signature holds for many texts, and anybody can make it.
    sound = point is not None and packed(times(8, point)) != packed((0, 1, 1, 0))
    return (parts[0], key_id, data[1:]) if parts[1] == key_id.hex() and sound else None


def key_text(key):
    """The one text of a parsed key."""
    name, key_id, public = key
    return f"{name}+{key_id.hex()}+{base64.b64encode(bytes([1]) + public).decode()}"


def parse_note(note):
    """(text, [(name, key id, signature)]) of a note, or None."""
    text, between, below = note.rpartition("\n\n")
    if not between or not below.endswith("\n") or len(note) > 65536 or "\n\n" in text:
        return None
    if any(c < " " and c != "\n" for c in text):
        return None
    lines = below[:-1].split("\n")
    signatures = []
    for line in lines:
        found = re.fullmatch(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})", line)
        data = strict_base64(found[2]) if found else None
        if data is None or len(data) != 68 or len(lines) > 16:
            return None
        signatures.append((found[1], data[:4], data[4:]))
    return text + "\n", signatures


def parse_checkpoint(text):
    """(origin, size, root, previous) of a checkpoint without other lines, or None."""
    lines = text[:-1].split("\n")
    if len(lines) not in (3, 4) or not lines[0] or not re.fullmatch(r"0|[1-9][0-9]{0,15}", lines[1]):
        return None
    root = strict_base64(lines[2])
    previous = re.fullmatch(r"previous sha256:([0-9a-f]{64})", lines[3]) if len(lines) == 4 else None
    if root is None or len(root) != 32 or (len(lines) == 4 and previous is None):
        return None
    return lines[0], int(lines[1]), root, previous[1] if previous else None


def signer(note, keys):
    text, signatures = note
    for name, key_id, public in keys:
        for named, named_id, signature in signatures:
            if (name, key_id) == (named, named_id) and signature_holds(public, text.encode(), signature):
                return name, key_id, public
    return None


# ---------------------------------------------------------------- tree (RFC 6962, section 2.1)


class Tree:
    """A Merkle tree that keeps only the roots of its full subtrees."""

    def __init__(self):
        self.size, self.peaks = 0, []

    def push(self, leaf):
        size = self.size
        while size & 1:
            leaf = hashlib.sha256(b"\1" + self.peaks.pop() + leaf).digest()
            size >>= 1
        self.peaks.append(leaf)
        self.size += 1

    def root(self):
        if not self.peaks:
            return hashlib.sha256(b"").digest()
        root = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            root = hashlib.sha256(b"\1" + peak + root).digest()
        return root


# ---------------------------------------------------------------- canonical JSON (RFC 8785)


class NotJson(ValueError):
    pass


def no_doubles(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotJson("a member comes twice")
    return found


def refuse(_text):
    raise NotJson("a number that is no integer")


def integer(text):
    if text == "-0" or len(text) > 17 or abs(int(text)) > MAX_INT:
        raise NotJson("an integer that a double does not hold")
    return int(text)


def finite(text):
    number = float(text)
    if abs(number) == float("inf"):
        raise NotJson("a number that no double holds")
    return number


def parsed(text, parse_int, parse_float):
    """The value of a text, and its canonical form. Raises ValueError or RecursionError."""
    known = {"object_pairs_hook": no_doubles, "parse_constant": refuse}
    value = json.loads(text, parse_int=parse_int, parse_float=parse_float, **known)
    return value, canonical(value).encode()


def load(line):
    """The value of a line, and whether the line is its canonical form: (None, False) where it is no JSON."""
    try:
        value, text = parsed(line.decode(), integer, refuse)
    except (ValueError, RecursionError):
        return None, False
    return value, text == line


def canonical(value, depth=0):
    """The one text of a value: members sorted by UTF-16, no blanks, the fewest escapes."""
    if isinstance(value, (dict, list)) and depth == MAX_DEPTH:
        raise NotJson("deeper than anybody reads")
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{canonical(k)}:{canonical(v, depth + 1)}" for k, v in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(one, depth + 1) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False)


# ---------------------------------------------------------------- the tape


def is_number(found, number):
    """Is it this integer? Python takes `true` for 1."""
    return type(found) is int and found == number


def named(value):
    """What may name a session, an exchange, a side or a body: text, an integer, or nothing."""
    if value is not None and type(value) not in (str, int):
        raise TypeError(f"a name that is a {type(value).__name__}")
    return value


def chunk_bytes(chunks):
    if not isinstance(chunks, list) or not all(isinstance(chunk, list) and chunk for chunk in chunks):
        raise TypeError("chunks that are no list of sizes and instants")
    if not all(type(chunk[0]) is int for chunk in chunks):
        raise TypeError("a chunk whose size is no integer")
    return sum(chunk[0] for chunk in chunks)


def is_bypass(one):
    """Is it an address past the proxy, as the end of a session names it?"""
    if not isinstance(one, dict) or sorted(one) != ["address", "host", "port", "transport"]:
        return False
    texts = one["address"], one["transport"], "" if one["host"] is None else one["host"]
    return all(isinstance(text, str) for text in texts) and type(one["port"]) is int and one["port"] >= 0


class Verifier:
    def __init__(self, keys, signatures):
        self.keys, self.signatures = keys, signatures
        self.findings = []
        self.tree, self.prev = Tree(), "0" * 64
        self.blobs, self.used = {}, set()
        self.missing, self.erasures = {}, []
        self.sessions, self.exchanges = {}, {}
        self.ended, self.done = set(), set()
        self.pieces = {}
        self.origin, self.sealed, self.previous, self.seals = "", None, None, 0

    def find(self, code, message, seq=None):
        note = code in NOTES
        if len(self.findings) < MAX_FINDINGS or not note or seq is None:
            self.findings.append({"code": code, "message": message, "seq": seq, "note": note})

    def line(self, line):
        value, right = load(line)
        if isinstance(value, dict) and "blob" in value and "type" not in value:
            return self.blob(value, right and len(value) == 3)
        return self.event(line, value, right)

    def blob(self, value, right):
        """A body. No event's hash covers its line, so the line has one text only, and nothing beside."""
        name = value.get("blob")
        data = strict_base64(value["data"]) if isinstance(value.get("data"), str) else None
        right = right and data is not None and is_number(value.get("size"), len(data))
        if not right or hashlib.sha256(data).hexdigest() != name:
            self.find("blob_mismatch", f"blob `{name}` does not have its digest")
            data = None
        can_name = name is None or type(name) in (str, int)
        self.blobs[name if can_name else ()] = None if data is None else len(data)

    def event(self, line, event, right):
        seq = self.tree.size
        before = self.tree.root() if b'"seal"' in line else b""
        leaf = hashlib.sha256(b"\0" + line).digest()
        self.tree.push(leaf)
        prev, self.prev = self.prev, leaf.hex()
        if not right or not isinstance(event, dict):
            self.find("record_malformed", f"event {seq} is not canonical JSON", seq)
        if not isinstance(event, dict):
            return
        if event.get("prev") != prev:
            self.find("chain_broken", f"event {seq} follows {event.get('prev')}, expected {prev}", seq)
        if not is_number(event.get("seq"), seq):
            self.find("sequence_gap", f"event {seq} says that it is {event.get('seq')}", seq)
        try:
            self.meaning(seq, event, before)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            self.find("record_malformed", f"event {seq} lacks what its kind must have: {error!r}", seq)

    def meaning(self, seq, event, root):
        kind = event["type"]
        if kind not in KINDS:
            self.find("record_malformed", f"event {seq} is of no kind that a tape has", seq)
        if seq == 0:
            self.first(kind, event)
        self.not_after_end(seq, event)
        if kind == "seal":
            self.seal(seq, event, root)
        elif kind == "erasure":
            self.erasure(seq, event)
        elif kind == "note" and event.get("bad") is True:
            self.find("import_finding", f"{event['code']}: {event['text']}", seq)
        elif kind == "drop":
            self.find("drop_present", f"exchange {event['exchange']} is missing: {event['reason']}", seq)
        else:
            self.order(seq, kind, event)
        if event.get("body"):
            self.body(seq, event)

    def first(self, kind, event):
        if kind != "tape":
            self.find("schema_mismatch", "the first event does not say what tape this is", 0)
        self.origin = event["origin"]
        if not isinstance(event["settings"], str) or not isinstance(
            parsed(event["settings"], finite, finite)[0], dict
        ):
            raise TypeError("`settings` is no object")

    def not_after_end(self, seq, event):
        session = named(event.get("session"))
        if session in self.ended:
            self.find("event_after_end", f"event {seq} comes after the end of session `{session}`", seq)
        elif (session, named(event.get("exchange"))) in self.done:
            self.find("event_after_end", f"event {seq} comes after the end of its exchange", seq)

    def order(self, seq, kind, event):
        """What opens and what closes."""
        if kind not in ("session_start", "session_end", "request", "end"):
            return
        session = named(event["session"])
        number = named(event["exchange"]) if kind in ("request", "end") else None
        if kind == "session_start":
            self.sessions[session] = seq
        elif kind == "session_end":
            self.sessions.pop(session, None)
            self.ended.add(session)
            self.bypasses(seq, event)
        elif kind == "request":
            self.exchanges[session, number] = seq
        elif kind == "end":
            self.done.add((session, number))
            self.exchanges.pop((session, number), None)
            for side, (size, chunks) in self.pieces.pop((session, number), {}).items():
                if size != chunks:
                    self.find("record_malformed", f"the {side} chunks before event {seq} do not add up", seq)

    def bypasses(self, seq, event):
        """Where processes of the session were seen connected past the proxy."""
        found, more = event.get("bypassed", []), event.get("bypassed_more", 0)
        right = isinstance(found, list) and type(more) is int and more >= 0
        if not right or not all(map(is_bypass, found)):
            raise ValueError("it names no addresses past the proxy")
        if found or more:
            names = ", ".join(f"{one['address']} port {one['port']}" for one in found[:5])
            count = len(found) + more
            message = f"session `{event['session']}` reached {count} addresses past the proxy: {names}"
            self.find("bypass_present", message, seq)

    def body(self, seq, event):
        body = event["body"]
        name, size = named(body["blob"]), body["size"]
        self.used.add(name)
        if name not in self.blobs:
            self.missing.setdefault(name, []).append(seq)
        elif not is_number(size, self.blobs[name]):
            self.find("blob_mismatch", f"blob `{name}` does not have {size} bytes", seq)
        if "chunks" in body:
            sides = self.pieces.setdefault((named(event["session"]), named(event["exchange"])), {})
            sums = sides.setdefault(named(event["side"]), [0, 0])
            if type(size) is not int:
                raise TypeError("a body whose size is no integer")
            sums[0] += size
            sums[1] += chunk_bytes(body["chunks"])

    def erasure(self, seq, event):
        """Which bodies were taken off the tape, when, by whom and why."""
        blobs, at, by, reason = event["blobs"], event["at_ms"], event["by"], event["reason"]
        if not isinstance(blobs, list) or not blobs:
            raise ValueError("it names no bodies")
        if not all(isinstance(blob, str) and re.fullmatch("[0-9a-f]{64}", blob) for blob in blobs):
            raise ValueError("a body that is no digest")
        if type(at) is not int or not 0 <= at <= MAX_MS or type(by) is not str or type(reason) is not str:
            raise ValueError("it does not say when, by whom and why")
        self.erasures.append((seq, set(blobs), set(blobs) <= self.used, by, reason))

    def gone(self):
        """An erasure excuses what is gone, where it is right and a seal after it signs it."""
        erased = set()
        for seq, blobs, known, by, reason in self.erasures:
            if not known or any(blob in self.blobs for blob in blobs):
                message = f"the erasure at event {seq} names a body that is not erased"
                self.find("erasure_invalid", message, seq)
            elif self.sealed is not None and seq < self.sealed:
                erased |= blobs
                self.find("body_erased", f"{len(blobs)} bodies were erased by {by}: {reason}", seq)
        for name, events in self.missing.items():
            for seq in () if name in erased else events:
                self.find("blob_missing", f"blob `{name}` is missing", seq)

    def seal(self, seq, event, root):
        self.seals += 1
        self.sealed = None
        previous, self.previous = self.previous, hashlib.sha256(event["note"].encode()).hexdigest()
        note = parse_note(event["note"])
        checkpoint = parse_checkpoint(note[0]) if note else None
        if checkpoint is None:
            return self.find("seal_invalid", f"the seal at event {seq} is malformed", seq)
        # No later event's hash covers the last seal, so it has one form only.
        if set(event) != SEAL or len(note[1]) != 1:
            return self.find("seal_invalid", f"the seal at event {seq} has other parts than a seal", seq)
        same = checkpoint == (self.origin, seq, root, previous)
        if not same or not is_number(event["size"], seq) or event["root"] != root.hex():
            return self.find("seal_invalid", f"the seal at event {seq} signs another log than this", seq)
        if not self.signatures:
            self.sealed = seq
            return None
        trusted = signer(note, self.keys)
        named = trusted or parse_key(event["key"])
        if named is None or event["key"] != key_text(named) or not (trusted or signer(note, [named])):
            return self.find("seal_invalid", f"the seal at event {seq} is not signed by its key", seq)
        if trusted:
            self.sealed = seq
            return None
        self.sealed = seq
        expected = " or ".join(f"`{key_text(key)}`" for key in self.keys[:3]) or "a trusted key, and none is"
        more = f" or another of {len(self.keys)} trusted keys" if len(self.keys) > 3 else ""
        message = f"the seal at event {seq} is signed by `{event['key']}`, expected {expected}{more}"
        return self.find("seal_untrusted", message, seq)

    def close(self):
        demanded = bool(self.keys) and self.signatures
        if not self.tree.size:
            self.find("sequence_gap", "event 0 is missing, the tape is empty", 0)
        for session, seq in self.sessions.items():
            self.find("session_open", f"session `{session}` never ended", seq)
        for (session, number), seq in self.exchanges.items():
            self.find("exchange_open", f"exchange {number} of session `{session}` never ended", seq)
        if not self.seals:
            self.find("seal_required" if demanded else "seal_missing", "the tape has no seal")
        elif self.sealed is not None and self.sealed != self.tree.size - 1:
            code = "seal_required" if demanded else "tail_unsealed"
            self.find(code, f"the events after event {self.sealed} are under no seal")
        self.gone()
        for name in self.blobs:
            if name not in self.used:
                self.find("blob_unreferenced", f"blob `{name}` belongs to no event")


def verify(lines, keys=(), signatures=True):
    """Findings over the lines (bytes) of an export; `keys` are parsed verifier keys."""
    check = Verifier(list(keys), signatures)
    for line in lines:
        check.line(line.removesuffix(b"\n"))
        if len(check.findings) > MAX_FINDINGS:
            break
    check.close()
    return check


def lines_of(source):
    """The lines of a file; only a body's may be long. Raises ValueError."""
    while line := source.readline(MAX_EVENT):
        if len(line) == MAX_EVENT and line[-1:] != b"\n" and line.startswith(b'{"blob":'):
            line += source.readline(MAX_LINE - MAX_EVENT)
        if len(line) in (MAX_EVENT, MAX_LINE) and line[-1:] != b"\n":
            raise ValueError("a line is longer than any event or body")
        yield line


def without_key(check, keys, unsigned):
    """What is proven where no key was given, and what is not; nothing where anything else is wrong."""
    bad = {finding["code"] for finding in check.findings if not finding["note"]}
    if keys or bad - {"seal_untrusted"}:
        return []
    whole = "without --key: events, bodies and their order are "
    if unsigned or not check.seals:
        why = "--no-signature leaves signatures unchecked" if check.seals else "the tape has no seal"
        return [f"{whole}in themselves consistent; not proven: who made them, and when ({why})"]
    return [
        f"{whole}as the seals say, and these are signed by the key in the file;",
        "  not proven: whose key that is. Anybody can seal a tape of their own making with their own key.",
        "  Get the key of whoever recorded it from them, not with the file: they print it with",
        "  `faultwire keys show`. Then add --key 'NAME+ID+BASE64'.",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("file")
    parser.add_argument("--key", action="append", default=[], help="verifier key, or a file that holds it")
    parser.add_argument("--no-signature", action="store_true", help="do not check signatures")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    given = parser.parse_args()
    keys = []
    try:
        for text in given.key:
            if "+" not in text:
                with open(text, encoding="utf-8") as source:
                    text = source.read()
            keys.append(parse_key(text))
        if None in keys:
            raise ValueError("a key is not `NAME+ID+BASE64`")
        with open(given.file, "rb") as source:
            if source.readline(len(HEAD)) != HEAD:
                raise ValueError("the first line is not that of an exported tape of version 1")
            check = verify(lines_of(source), keys, not given.no_signature)
    except (OSError, ValueError) as error:
        print(f"cannot verify {given.file}: {error}", file=sys.stderr)
        return 3
    good = all(finding["note"] for finding in check.findings)
    if given.json:
        root = check.tree.root().hex()
        print(json.dumps({"ok": good, "events": check.tree.size, "root": root, "findings": check.findings}))
    else:
        print(f"{'verifies' if good else 'does not verify'}: {check.tree.size} events")
        print(f"  root {check.tree.root().hex()}")
        for finding in check.findings:
            print(f"  {'note' if finding['note'] else 'bad'} {finding['code']}: {finding['message']!a}")
        for line in without_key(check, keys, given.no_signature):
            print(line)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
