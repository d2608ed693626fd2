import json
from base64 import b64decode

from faultwire.events import Request
from faultwire.mock import tokenizer
from faultwire.mock.answering import Answerer
from faultwire.mock.hosts import routes


def ask(host="tiktoken.pages.dev", method="GET"):
    return Request(method, "https", host, 443, "/js/gpt2.json", (), b"")


def test_every_text_has_tokens():
    answer = Answerer()(ask())
    assert answer.status == 200
    document = json.loads(answer.body)
    (line,) = document["bpe_ranks"].split("\n")
    mark, first, *tokens = line.split(" ")
    assert (mark, first) == ("!", "0")
    assert {bytes([value]) for value in range(256)} < {b64decode(token) for token in tokens}
    assert len(set(tokens)) == len(tokens) == document["special_tokens"]["<|endoftext|>"] == 256 + 26 * 26


def test_only_the_hosts_of_tokenizers_serve_one():
    assert tokenizer.answer(ask("TIKTOKEN.pages.dev.")) is not None
    assert tokenizer.answer(ask("tiktoken.example")) is None
    assert tokenizer.answer(ask(method="POST")) is None
    assert "tiktoken.pages.dev" in routes(1)
