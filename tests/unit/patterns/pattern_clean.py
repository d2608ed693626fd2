"""Clean messages of 18 kinds, full of numbers that are nobody's, and the same with a value planted.

Nothing here reads the engine's data. Every third message holds a word that stands near telephone numbers
("phone", "mobile", "call", "contact") beside dates, counters and identifiers.
"""

# ruff: noqa: E501 - messages are kept whole

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from random import Random

NOUNS = ["invoice", "order", "report", "ticket", "server", "build", "shipment", "contract", "budget", "job"]
WORDS = ["phone", "mobile", "call", "contact", "cell", "telephone", "fax", "sms", "tel", "whatsapp"]


def moment(r: Random) -> datetime:
    return datetime.fromtimestamp(r.randint(1_400_000_000, 1_900_000_000), UTC)


def day(r: Random) -> str:
    return moment(r).strftime(
        r.choice(["%Y-%m-%d", "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%Y%m%d"])
    )


def stamp(r: Random) -> str:
    form = r.choice(
        ["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.123+00:00", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"]
    )
    return moment(r).strftime(form)


def number(r: Random, digits: int) -> int:
    return r.randint(10 ** (digits - 1), 10**digits - 1)


def order_json(r: Random) -> str:
    return json.dumps(
        {
            "order_id": number(r, r.randint(6, 12)),
            "channel": r.choice(["phone", "web", "mobile", "call center"]),
            "created_at": stamp(r),
            "updated_at": stamp(r),
            "total": round(r.uniform(1, 9000), 2),
            "items": [{"sku": f"{r.choice('ABCD')}{number(r, 5)}", "qty": r.randint(1, 9)} for _ in range(2)],
            "phone_verified": r.choice([True, False]),
        }
    )


def log_lines(r: Random) -> str:
    return "\n".join(
        f"{stamp(r)} {r.choice(['INFO', 'WARN'])} [{r.choice(NOUNS)}-{r.randint(1, 64)}] "
        f"{r.choice(WORDS)} {r.choice(NOUNS)} {number(r, r.randint(3, 8))} took {r.randint(1, 9999)} ms pid={number(r, 5)}"
        for _ in range(r.randint(1, 5))
    )


def csv_rows(r: Random) -> str:
    rows = [f"id,{r.choice(WORDS)}_model,date,amount"]
    rows += [
        f"{number(r, 6)},X{number(r, 3)},{day(r)},{r.uniform(1, 999):.2f}" for _ in range(r.randint(2, 6))
    ]
    return "\n".join(rows)


def table(r: Random) -> str:
    rows = ["| date | calls | mobile share | total |", "|---|---|---|---|"]
    rows += [
        f"| {day(r)} | {number(r, 4)} | {r.uniform(0, 100):.1f} % | {number(r, 6):,} |"
        for _ in range(r.randint(2, 5))
    ]
    return "\n".join(rows)


def chat(r: Random) -> str:
    return r.choice(
        [
            f"The call with the supplier is on {day(r)} at {r.randint(8, 18)}:30.",
            f"I ordered a new mobile on {day(r)}, it costs {number(r, 3)}.99 EUR.",
            f"Please contact support before {stamp(r)}; the {r.choice(NOUNS)} has {r.randint(2, 99)} items.",
            f"Our phone plan runs from {day(r)} to {day(r)} with {r.randint(10, 900)} minutes.",
            f"Room {number(r, 3)}, table {r.randint(1, 30)}, {r.randint(2, 12)} people, {day(r)}.",
        ]
    )


def code(r: Random) -> str:
    return r.choice(
        [
            f"def call_{r.choice(NOUNS)}(limit: int = {number(r, 4)}) -> None:\n    # since {day(r)}\n    run({number(r, 7)})",
            f"const phoneMask = /^\\d{{3}}-\\d{{4}}$/; // changed {day(r)}",
            f"UPDATE devices SET mobile = 1 WHERE id = {number(r, 8)} AND seen < '{stamp(r)}';",
            f"@@ -{number(r, 3)},{r.randint(1, 20)} +{number(r, 3)},{r.randint(1, 20)} @@ fn call()",
        ]
    )


def iso_times(r: Random) -> str:
    return f"{r.choice(WORDS)} {r.choice(['at', 'since', 'updated', 'on', '-'])} {stamp(r)} until {stamp(r)}"


def mail_times(r: Random) -> str:
    return f"Date: {format_datetime(moment(r))}\nSubject: {r.choice(WORDS)} {r.choice(NOUNS)} of {day(r)}"


def epochs(r: Random) -> str:
    seconds = int(moment(r).timestamp())
    return json.dumps(
        {f"{r.choice(WORDS)}_seen": seconds, "ms": seconds * 1000 + r.randint(0, 999), "exp": seconds + 60}
    )


def uuids(r: Random) -> str:
    return f"{r.choice(WORDS)} session {uuid.UUID(int=r.getrandbits(128), version=4)} started {stamp(r)}"


def hashes(r: Random) -> str:
    return r.choice(
        [
            f"sha256:{r.getrandbits(256):064x}  {r.choice(WORDS)}-app.apk",
            f"commit {r.getrandbits(160):040x} ({day(r)}) fix {r.choice(WORDS)} screen",
            f"integrity sha512-{base64.b64encode(r.randbytes(64)).decode()}",
        ]
    )


def versions(r: Random) -> str:
    return (
        f"{r.choice(WORDS)}-sdk {r.randint(0, 30)}.{r.randint(0, 99)}.{r.randint(0, 999)} "
        f"(build {day(r)}.{r.randint(1, 9)}), needs >= {r.randint(1, 9)}.{r.randint(0, 20)}"
    )


def money(r: Random) -> str:
    return r.choice(
        [
            f"Mobile revenue: EUR {number(r, 3)}.{number(r, 3)}.{number(r, 3)},{r.randint(10, 99)} in {r.randint(2015, 2026)}",
            f"The call option costs ${number(r, 2)},{number(r, 3)},{number(r, 3)}.00 (was ${number(r, 6)}).",
            f"phone budget {number(r, 3)} {number(r, 3)} EUR, spent {number(r, 5)}.{r.randint(10, 99)}",
        ]
    )


def coordinates(r: Random) -> str:
    return (
        f'{{"type": "Point", "mobile": true, "xy": [{r.uniform(-180, 180):.6f}, {r.uniform(-90, 90):.6f}]}}'
    )


def isbns(r: Random) -> str:
    return f"ISBN 978-3-{number(r, 2)}-{number(r, 6)}-{r.randint(0, 9)}; call number QA76.{number(r, 2)}, page {number(r, 3)}"


def tracking(r: Random) -> str:
    return r.choice(
        [
            f"Parcel {number(r, 12)} left the depot on {day(r)}.",
            f"Tracking 1Z{number(r, 6)}{number(r, 8)} of {stamp(r)}",
            f"order {number(r, 9)}, invoice {number(r, 11)}, batch {number(r, 14)}",
        ]
    )


def addresses(r: Random) -> str:
    return f"10.{r.randint(0, 255)}.{r.randint(0, 255)}.{r.randint(1, 254)} - mobile [{moment(r):%d/%b/%Y:%H:%M:%S} +0000] {number(r, 5)}"


def phone_dates(r: Random) -> str:
    word = r.choice(WORDS)
    return r.choice(
        [
            json.dumps({"phone": None, "created_at": stamp(r)}),
            json.dumps({word: "", "date": day(r), "updated_at": day(r)}),
            f"{word}: {day(r)}",
            f"{word} last changed {day(r)} {r.randint(0, 23):02}:15",
            f"Telefon am {day(r)} bestellt, Handy seit {day(r)}",
        ]
    )


KINDS: dict[str, Callable[[Random], str]] = {
    maker.__name__: maker
    for maker in (
        *(order_json, log_lines, csv_rows, table, chat, code, iso_times, mail_times, epochs, uuids, hashes),
        *(versions, money, coordinates, isbns, tracking, addresses, phone_dates),
    )
}

PLANTED: dict[str, Callable[[Random], str]] = {
    "email": lambda r: f"write to ann{number(r, 3)}@firm.org",
    "phone-international": lambda r: f"+49 30 {number(r, 6)}",
    "us-phone": lambda r: (
        f"phone: ({r.randint(2, 9)}{r.randint(20, 99)}) {r.randint(2, 9)}{r.randint(20, 99)}-{number(r, 4)}"
    ),
    "phone-labelled": lambda r: f"Tel. 0{number(r, 4)} {number(r, 6)}",
    "card": lambda r: luhn(f"4{number(r, 14)}"),
}


def luhn(body: str) -> str:
    """The card number of 15 digits with its check digit (ISO/IEC 7812-1)."""
    doubled = [int(c) * (2 if place % 2 == 0 else 1) for place, c in enumerate(reversed(body))]
    return body + str(-sum(value - 9 if value > 9 else value for value in doubled) % 10)


def clean(count: int, seed: int = 31) -> list[tuple[str, str]]:
    """(kind, message), the kinds in turn."""
    r = Random(seed)
    names = list(KINDS)
    return [(name, KINDS[name](r)) for name in (names[n % len(names)] for n in range(count))]


def planted(count: int, seed: int = 32) -> list[tuple[str, str, str]]:
    """(entry, value, message): a clean message with a value on a line of its own at its end."""
    r = Random(seed)
    names = list(PLANTED)
    found = []
    for n, (_, message) in enumerate(clean(count, seed)):
        value = PLANTED[names[n % len(names)]](r)
        found.append((names[n % len(names)], value, f"{message}\n{value}"))
    return found
