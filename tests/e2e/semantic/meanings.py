"""Run inside the environment of the extra: pairs of texts as JSON on stdin, comparisons as JSON on stdout."""

import json
import socket
import sys


def refuse(*_: object) -> None:
    raise ConnectionRefusedError("the model is local; nothing may be fetched")


def main() -> None:
    socket.socket.connect = socket.socket.connect_ex = refuse  # type: ignore[method-assign, assignment]
    from faultwire.patterns import compare

    found = [compare(a, b, engine="semantic") for a, b in json.load(sys.stdin)]
    print(json.dumps([[one.similarity, one.same, list(one.reasons)] for one in found]))


if __name__ == "__main__":
    main()
