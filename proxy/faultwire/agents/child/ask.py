"""Asks an object of the user's, in the user's interpreter: `python ask.py FD`, its orders as JSON on stdin.

Nothing but the standard library, from Python 3.8 on. What comes of it is one JSON object on the descriptor
FD, because the agent may print whatever it likes:

    {"answer": TEXT}    it answered
    {"failed": TEXT}    it raised, or returned what is no answer; the traceback is on stderr
    {"absent": TEXT}    there is no such module or object, or it cannot be asked

Orders: {"endpoint": "module:attr", "turns": [TEXT…], "langchain": BOOL, "key": TEXT, "session": TEXT}, or
{"function": "module:attr"} to call a function and nothing else.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import sys
import traceback
from typing import Any


class Absent(Exception):
    """There is nothing to ask."""


class NoAnswer(Exception):
    """What came back is no answer."""


def find(endpoint: str) -> Any:
    """The object that `module:attr` names, made where it is a class."""
    module, _, name = endpoint.partition(":")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module + ".").startswith(error.name + "."):
            raise  # it is there, and lacks something itself
        raise Absent(f"found no module `{module}`, expected it in `{os.getcwd()}` or installed") from None
    for part in name.split("."):
        if not hasattr(found, part):
            raise Absent(f"found no `{name}` in `{module}`")
        found = getattr(found, part)
    return found() if inspect.isclass(found) else found


def settled(value: Any) -> Any:
    """What an awaitable comes to; any other value is itself."""
    if not inspect.isawaitable(value):
        return value

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


# ---------------------------------------------------------------- asking


class Plain:
    """A callable, or an object with `invoke` or `ainvoke`, that takes the text."""

    def __init__(self, target: Any) -> None:
        names = ("invoke", "ainvoke", "run", "arun")
        methods = [getattr(target, name, None) for name in names]
        self.call = next((method for method in methods if callable(method)), target)
        if not callable(self.call):
            raise Absent(f"found a `{type(target).__name__}`, expected a callable or an object with `invoke`")

    def ask(self, turn: str) -> Any:
        """What it returns to one turn."""
        return settled(self.call(turn))


class Langchain:
    """A runnable: it takes a text, a mapping or messages, as its schema of inputs says."""

    def __init__(self, target: Any, key: str, session: str) -> None:
        self.target = target
        self.key = key
        self.config = {"configurable": {"thread_id": session, "session_id": session}}
        self.shape = shape(target, key)
        self.keeps = bool(getattr(target, "checkpointer", None))
        self.messages: list[Any] = []

    def ask(self, turn: str) -> Any:
        """What it returns to one turn."""
        if self.shape == "messages":
            return self.talk(turn)
        return self.call(turn if self.shape == "text" else {self.shape[1:]: turn})

    def talk(self, turn: str) -> Any:
        """Messages: all of them, unless it keeps them itself."""
        new = {"role": "user", "content": turn}
        result = self.call({"messages": [new] if self.keeps else [*self.messages, new]})
        kept = result.get("messages") if isinstance(result, dict) else None
        reply = {"role": "assistant", "content": text(result)}
        self.messages = list(kept) if kept else [*self.messages, new, reply]
        return result

    def call(self, asked: Any) -> Any:
        """Call the first method of it that there is; only a runnable takes the session's name."""
        for name in ("invoke", "ainvoke"):
            method = getattr(self.target, name, None)
            if callable(method):
                return settled(method(asked, self.config))
        for name in ("run", "arun", "__call__"):
            method = getattr(self.target, name, None)
            if callable(method):
                return settled(method(asked))
        raise Absent(f"found a `{type(self.target).__name__}`, expected a runnable with `invoke`")


def shape(target: Any, key: str) -> str:
    """What a runnable takes: `text`, `messages`, or `.KEY` for a mapping with that key."""
    read = getattr(target, "get_input_jsonschema", None)
    try:
        schema = read() if callable(read) else None
    except Exception:  # noqa: BLE001 - a schema is a convenience: without one, the usual shape is tried
        schema = None
    if not isinstance(schema, dict):
        return f".{key}"
    members = schema.get("properties") or {}
    if key in members:
        return f".{key}"
    if "messages" in members:
        return "messages"
    if len(members) == 1:
        return f".{next(iter(members))}"
    kinds = [schema, *(kind for kind in schema.get("anyOf", ()) if isinstance(kind, dict))]
    is_text = not members and any(kind.get("type") == "string" for kind in kinds)
    return "text" if is_text else f".{key}"


# ---------------------------------------------------------------- what came back


def text(value: Any) -> str:
    """The answer in what an agent returned; NoAnswer where it is none."""
    if isinstance(value, str):
        return value
    if value is None:
        raise NoAnswer("it returned None, expected an answer")
    if isinstance(value, dict):
        for name in ("output", "text", "answer"):
            if value.get(name) is not None:
                return text(value[name])
        if value.get("messages"):
            return text(value["messages"][-1])
        if "content" in value and "role" in value:
            return text(value["content"])
        return encoded(value)
    content = getattr(value, "content", None)
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return parts(content)
    return parts(value) if isinstance(value, list) and value and all(map(is_part, value)) else encoded(value)


def is_part(value: Any) -> bool:
    """Is it a part of a message with a text?"""
    return isinstance(value, dict) and isinstance(value.get("text"), str)


def parts(content: list[Any]) -> str:
    """The texts among the parts of a message."""
    return "".join(part if isinstance(part, str) else part["text"] for part in content
                   if isinstance(part, str) or is_part(part))  # fmt: skip


def encoded(value: Any) -> str:
    """A JSON value as an answer; NoAnswer for any other object."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise NoAnswer(
            f"it returned a `{type(value).__name__}`, expected a text, a mapping or a message"
        ) from None


# ---------------------------------------------------------------- the process


def perform(orders: dict[str, Any]) -> tuple[str, str]:
    """Do what is asked; the word for it and a text."""
    if "function" in orders:
        function = find(orders["function"])
        if not callable(function):
            raise Absent(f"found a `{type(function).__name__}`, expected a function")
        settled(function())
        return "answer", ""
    target = find(orders["endpoint"])
    asking = Langchain(target, orders["key"], orders["session"]) if orders["langchain"] else Plain(target)
    answer = ""
    for turn in orders["turns"]:
        answer = text(asking.ask(turn))
    return "answer", answer


def main(descriptor: int) -> None:
    """Take the orders, carry them out, and say what came of it."""
    os.set_inheritable(descriptor, False)
    orders = json.loads(sys.stdin.buffer.read())
    sys.stdin = open(os.devnull)  # noqa: SIM115 - it stays open as long as the agent runs
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [os.getcwd(), *(path for path in sys.path if os.path.realpath(path or ".") != here)]
    sys.argv = [orders.get("endpoint") or orders["function"]]
    code = 1
    try:
        word, detail = perform(orders)
        code = 0
    except Absent as error:
        word, detail = "absent", str(error)
    except NoAnswer as error:
        word, detail = "failed", str(error)
        sys.stderr.write(f"faultwire: no answer: {error}\n")
    except Exception as error:  # noqa: BLE001 - whatever the agent raises is its result
        traceback.print_exc()
        word, detail = "failed", type(error).__name__
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass") as file:
        json.dump({word: detail}, file)
    sys.exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]))
