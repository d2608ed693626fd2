"""What the search for secrets costs: `python -m tests.bench.redaction_speed`, processor time of all threads.

To compare two commits, run it in turn with the `proxy` folder of each at the front of `PYTHONPATH`.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from faultwire.tape.redact import stream, text

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = (
    "the model answers a question about weather in Paris, session of token usage and keys; please call "
    "function get_weather with arguments as described above 42 times"
)
WORDS = TEXT.split()


def conversation(random: Random, messages: int, words: int, end: str) -> bytes:
    """A request without secrets; `end` is the end of each message."""
    texts = (" ".join(random.choices(WORDS, k=words)) + end for _ in range(messages))
    return json.dumps({"messages": [{"role": "user", "content": one} for one in texts]}).encode()


def events(random: Random, count: int) -> bytes:
    """A stream that says a word in each event."""
    said = (
        {"choices": [{"index": 0, "delta": {"content": f"{random.choice(WORDS)} "}}]} for _ in range(count)
    )
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in said)


def look(data: bytes) -> None:
    """What the recorder asks of a stream that goes on."""
    whole = data.decode("latin-1")
    texts = stream.texts_by_member(whole)
    stream.is_suspect(whole, texts)
    stream.open_from(whole, texts)


def line(name: str, work: Callable[[], object], rounds: int) -> None:
    work()
    spent = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    middle = sorted(spent)[len(spent) // 2]
    print(f"{name:44} {middle * 1e6:10.1f} µs  (least {min(spent) * 1e6:.1f})")


def main() -> None:
    random, rounds = Random(1), int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for name, data in (
        ("2 KB", conversation(random, 8, 30, "")),
        ("1 MB", conversation(random, 750, 200, '\n"quoted"')),
        ("1 MB with HTML and percent-encoding", conversation(random, 750, 200, '\n"quoted" &amp; a%20b')),
    ):
        whole = data.decode("latin-1")
        line(f"{name}: suspect?", partial(text.suspects, whole), rounds)
        line(f"{name}: looked through", partial(text.edits, whole), rounds)
    data = events(random, 200)
    line("SSE, 200 events: a look", lambda: look(data), rounds)
    line("SSE, 200 events: the end", lambda: stream.last_edits(data.decode("latin-1")), rounds)


if __name__ == "__main__":
    main()
