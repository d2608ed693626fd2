"""The mock's answer to frameworks that fetch a tokenizer before their first request.

LangChain.js counts tokens by a file of js-tiktoken, and where it gets none asks again for minutes, whatever
the status. This one has every byte and every pair of lower-case letters, so that a token is shorter than a
model's: counts made with it are too high, by about two.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from itertools import product
from string import ascii_lowercase

import orjson

from faultwire.events import Request
from faultwire.mock._api import Answer

HOSTS = ("tiktoken.pages.dev",)
"""Hosts that serve nothing else."""
PIECES = r"\p{L}+|\p{N}|\s+|[^\s\p{L}\p{N}]"
"""What is split first, as a regular expression of ECMAScript."""


def answer(request: Request) -> Answer | None:
    """The tokenizer in the form of js-tiktoken 1; None where the request is something else."""
    if request.method != "GET" or request.host.lower().rstrip(".") not in HOSTS:
        return None
    return Answer(200, (("content-type", "application/json"),), _ranks())


@cache
def _ranks() -> bytes:
    tokens = [bytes([value]) for value in range(256)]
    tokens += ["".join(pair).encode() for pair in product(ascii_lowercase, repeat=2)]
    ranks = "! 0 " + " ".join(b64encode(token).decode() for token in tokens)
    special = {"<|endoftext|>": len(tokens)}
    return orjson.dumps({"pat_str": PIECES, "special_tokens": special, "bpe_ranks": ranks})
