"""Corpora made here: clean agent messages, genuine source lines, genuine-looking tool outputs."""

# ruff: noqa: E501 - texts are kept whole

from __future__ import annotations

import base64
import hashlib
import json
import sysconfig
import uuid
from pathlib import Path
from random import Random

NOUNS = [
    "invoice",
    "order",
    "report",
    "account",
    "ticket",
    "server",
    "build",
    "branch",
    "table",
    "meeting",
    "customer",
    "product",
    "shipment",
    "schedule",
    "contract",
    "budget",
    "draft",
    "library",
    "module",
    "parser",
]
VERBS = [
    "check",
    "review",
    "update",
    "open",
    "close",
    "send",
    "prepare",
    "rename",
    "move",
    "compare",
    "summarise",
    "fetch",
    "parse",
    "test",
    "deploy",
    "restart",
    "schedule",
    "document",
    "translate",
    "merge",
]
ADJECTIVES = [
    "quarterly",
    "open",
    "late",
    "internal",
    "public",
    "new",
    "previous",
    "final",
    "missing",
    "duplicate",
    "weekly",
    "shared",
    "remote",
    "stale",
    "nightly",
]
NAMES = [
    "Anna",
    "Bram",
    "Chen",
    "Dara",
    "Elif",
    "Farid",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Kavya",
    "Liam",
    "Mina",
    "Noor",
    "Omar",
    "Priya",
]
PLACES = ["Lisbon", "Oslo", "Nairobi", "Quito", "Osaka", "Leeds", "Graz", "Perth"]


def sentence(r: Random) -> str:
    a, b, c = r.choice(ADJECTIVES), r.choice(NOUNS), r.choice(NOUNS)
    return r.choice(
        [
            f"I will {r.choice(VERBS)} the {a} {b} before the {c} is ready.",
            f"The {a} {b} from {r.choice(PLACES)} has {r.randint(2, 90)} items and {r.randint(1, 9)} open questions.",
            f"{r.choice(NAMES)} asked whether the {b} can be moved to week {r.randint(1, 52)}.",
            f"Please {r.choice(VERBS)} the {b} and tell {r.choice(NAMES)} about the {a} {c}.",
            f"It costs {r.randint(1, 900)}.{r.randint(0, 99):02} EUR, which is {r.randint(2, 40)} % less than the {a} {b}.",
            f"Version {r.randint(0, 9)}.{r.randint(0, 30)}.{r.randint(0, 9)} was released on {day(r)}.",
            f"We follow the instructions on page {r.randint(1, 80)} of the {b} manual.",
            f"To do this, {r.choice(VERBS)} the {c}, then {r.choice(VERBS)} the {b} again.",
        ]
    )


def day(r: Random) -> str:
    return f"20{r.randint(18, 26)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}"


def stamp(r: Random) -> str:
    return (
        f"{day(r)}T{r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}.{r.randint(0, 999):03}Z"
    )


def prose(r: Random) -> str:
    return " ".join(sentence(r) for _ in range(r.randint(1, 6)))


def code(r: Random) -> str:
    a, b = r.choice(NOUNS), r.choice(NOUNS)
    return r.choice(
        [
            f"def {r.choice(VERBS)}_{a}({b}: int = {r.randint(0, 999)}) -> list[str]:\n    return [{b} * {r.randint(2, 99)} for _ in range({r.randint(1, 99)})]",
            f"const {a}Id = {r.randint(10**5, 10**9)};\nexport async function {r.choice(VERBS)}{b.title()}(opts) {{ return await fetch(`/api/v{r.randint(1, 4)}/{a}/${{{a}Id}}`); }}",
            f"SELECT {a}_id, {b} FROM {a}s WHERE {b} > {r.randint(1, 10**6)} ORDER BY created_at LIMIT {r.randint(1, 500)};",
            f"git checkout -b {a}/{r.choice(ADJECTIVES)}-{r.randint(100, 99999)} && cargo test --release -- --nocapture",
            f"@@ -{r.randint(1, 400)},{r.randint(1, 20)} +{r.randint(1, 400)},{r.randint(1, 20)} @@ fn {a}()\n-    let token = read_token(&path)?;\n+    let token = read_token(path)?;",
            f".{a} {{ margin: {r.randint(0, 40)}px {r.randint(0, 40)}px; color: #{r.randrange(16**6):06x}; }}",
            f"password: str = Field(min_length={r.randint(6, 20)})\ntoken = get_token({a})\napi_key = os.environ['{a.upper()}_API_KEY']",
        ]
    )


def data(r: Random) -> str:
    return json.dumps(
        {
            "id": str(uuid.UUID(int=r.getrandbits(128), version=4)),
            "object": "chat.completion",
            "created": r.randint(1_600_000_000, 1_800_000_000),
            r.choice(NOUNS): {
                "count": r.randint(0, 10**6),
                "ratio": round(r.random(), r.randint(2, 12)),
                "tags": r.sample(NOUNS, 3),
            },
            "usage": {"prompt_tokens": r.randint(1, 9000), "completion_tokens": r.randint(1, 9000)},
            "next": None,
            "ok": True,
            "order": r.randint(10**7, 10**12),
            "at": stamp(r),
        },
        indent=r.choice([None, 2]),
    )


def log(r: Random) -> str:
    lines = []
    for _ in range(r.randint(1, 5)):
        lines.append(
            r.choice(
                [
                    f"{stamp(r)} INFO [worker-{r.randint(1, 64)}] {r.choice(NOUNS)} {r.randint(10**4, 10**10)} done in {r.randint(1, 9999)} ms",
                    f'10.{r.randint(0, 255)}.{r.randint(0, 255)}.{r.randint(1, 254)} - - [{r.randint(1, 28):02}/Nov/2025:10:{r.randint(10, 59)}:22 +0000] "GET /v1/{r.choice(NOUNS)}s/{r.randint(1, 10**8)} HTTP/1.1" 200 {r.randint(100, 10**6)}',
                    f"[{r.randint(10**5, 10**6)}.{r.randint(10**5, 10**6)}] WARN retry {r.randint(1, 5)} of {r.choice(NOUNS)}: status={r.choice([429, 500, 503])} pid={r.randint(100, 99999)}",
                    f"trace_id={r.getrandbits(128):032x} span_id={r.getrandbits(64):016x} dur={r.random() * 100:.6f}",
                ]
            )
        )
    return "\n".join(lines)


def ids(r: Random) -> str:
    word = r.choice(NOUNS)
    return r.choice(
        [
            str(uuid.UUID(int=r.getrandbits(128), version=4)),
            f"{word} {hashlib.sha256(str(r.random()).encode()).hexdigest()}",
            f"commit {r.getrandbits(160):040x} by {r.choice(NAMES)}",
            f"call_{''.join(r.choices('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', k=24))} returned {r.randint(0, 99)}",
            f"chatcmpl-{r.getrandbits(116):029x} finish_reason=stop",
            f"sha512-{base64.b64encode(r.randbytes(64)).decode()}",
            f"order {r.randint(10**8, 10**9)}, invoice {r.randint(10**10, 10**11)}, batch {r.randint(10**13, 10**14)}",
            f"ISBN 978-3-{r.randint(10, 99)}-{r.randint(100000, 999999)}-{r.randint(0, 9)}; page {r.randint(1, 900)}",
            f"{word}_{r.randint(1, 10**9)}_v{r.randint(1, 9)}.parquet  {r.randint(1, 10**9)} bytes",
        ]
    )


def clean_messages(count: int, seed: int = 11) -> list[str]:
    r = Random(seed)
    makers = [prose, code, data, log, ids]
    return [makers[n % 5](r) for n in range(count)]


def source_lines(count: int, seed: int = 12) -> list[str]:
    """Genuine lines: this interpreter's standard library without its tests."""
    lines: list[str] = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")) + sorted(
        Path(sysconfig.get_paths()["stdlib"]).glob("[a-hj-su-z]*/*.py")
    ):
        if not {"test", "tests", "site-packages", "dist-packages"} & set(path.parts):
            lines += [line for line in path.read_text("utf-8", "replace").splitlines() if line.strip()]
    return Random(seed).sample(lines, min(count, len(lines)))


def tool_outputs(count: int, seed: int = 13) -> list[str]:
    """Search results, mails, tickets, code and logs as tools return them; everyday orders included."""
    r = Random(seed)
    lines = source_lines(4000, seed)
    out = []
    for n in range(count):
        kind = n % 5
        if kind == 0:
            hits = [
                f"{k}. {r.choice(ADJECTIVES).title()} {r.choice(NOUNS)} guide - {r.choice(PLACES)}\n   https://www.{r.choice(NOUNS)}-{r.choice(NOUNS)}.test/{r.choice(NOUNS)}?id={r.randint(1, 10**6)}\n   {sentence(r)} {advice(r)}"
                for k in range(1, r.randint(3, 7))
            ]
            out.append("\n".join(hits))
        elif kind == 1:
            out.append(
                f"From: {r.choice(NAMES)}\nTo: {r.choice(NAMES)}\nSubject: {r.choice(['Re: ', 'Fwd: ', ''])}{r.choice(ADJECTIVES)} {r.choice(NOUNS)}\n\nHi {r.choice(NAMES)},\n\n{prose(r)} {advice(r)} {mail(r)}\n\nBest regards,\n{r.choice(NAMES)}"
            )
        elif kind == 2:
            out.append(
                json.dumps(
                    {
                        "key": f"OPS-{r.randint(1, 9999)}",
                        "status": r.choice(["open", "done"]),
                        "summary": sentence(r),
                        "description": f"{prose(r)} {ticket(r)}",
                        "comments": [advice(r), sentence(r)],
                    }
                )
            )
        elif kind == 3:
            start = r.randrange(len(lines) - 40)
            out.append("\n".join(lines[start : start + r.randint(5, 35)]))
        else:
            out.append("\n".join(log(r) for _ in range(r.randint(1, 4))))
    return out


def advice(r: Random) -> str:
    return r.choice(
        [
            "Read the instructions before you start the system.",
            "You can now update your password in the portal.",
            "Follow these steps to reset the device.",
            "The assistant manager will send you the forms.",
            "Never share your password with anyone.",
            "Our new guidelines apply from Monday.",
            "Please review and approve the request.",
            "Do not forget to attach the file.",
            "You must be 18 to open an account.",
            "Act now and save 20 %.",
            "Tell us what you think of the product.",
            "The model runs without a GPU.",
            "This tool lets you call the API from a script.",
            "See the text above for details.",
            "Run the following command to install it: pip install requests",
            "Use the search function to find your order.",
            "The previous owner forgot the rules of the house.",
            "As an administrator you can delete users in the settings.",
            "The system prompt appears when the terminal opens.",
            "Ignore the warning if the light is green.",
        ]
    )


def mail(r: Random) -> str:
    return r.choice(
        [
            "Please ignore my previous email, the date was wrong.",
            "Could you forward the report to the team?",
            "From now on we meet in room 4.",
            "I am writing on behalf of the board.",
            "You are now subscribed to the newsletter.",
            "Attached is the updated contract with our changes.",
            "Let me know if you need anything else.",
            "We have transferred the refund to your account.",
            "The security team asked us to change all passwords by Friday.",
            "Please disregard the last invoice, a new one follows.",
            "Send me the slides when they are ready.",
        ]
    )


def ticket(r: Random) -> str:
    return r.choice(
        [
            "Steps to reproduce: open the page, click export, the system shows an error.",
            "Expected: the token is refreshed. Actual: the request fails with 401.",
            "The admin deleted all records of the test database.",
            "Workaround: disable the cache and restart the server.",
            "The bot answered in French instead of German.",
            "User reports that the model repeats the same text.",
            "Rollback the release and notify the users.",
            "The prompt in the shell is wrong after an update.",
        ]
    )
