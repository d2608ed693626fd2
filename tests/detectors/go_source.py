"""String values of Go source: enough of the language to read other people's table tests without running them.

Read are literals, `+`, `fmt.Sprintf`, names bound to such values, `[]string{...}`, `append`, and functions
that the caller gives. What cannot be read has the value `UNKNOWN`.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

UNKNOWN = object()
TOKEN = re.compile(
    r'`[^`]*`|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])*\'|//[^\n]*|/\*.*?\*/|\.\.\.|:=|\w[\w.]*|\S', re.DOTALL
)
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)", re.DOTALL)
VERB = re.compile(r"%(?:%|[-+ 0]*\d*(?:\.\d+)?[a-zA-Z])")
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
Values = dict[str, Any]
Functions = dict[str, Callable[..., Any]]


def tokens(source: str) -> list[str]:
    """The tokens of a source, without comments."""
    return [one for one in TOKEN.findall(source) if not one.startswith(("//", "/*"))]


def literal(token: str) -> str:
    """The value of a string literal."""
    if token.startswith("`"):
        return token[1:-1].replace("\r", "")

    def plain(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] in "xuU":
            return chr(int(code[1:], 16))
        return chr(int(code, 8)) if len(code) == 3 else LETTERS.get(code, code)

    return ESCAPE.sub(plain, token[1:-1])


class Reader:
    """Reads expressions from a list of tokens; `at` is where the next one begins."""

    def __init__(self, source: list[str], values: Values, functions: Functions) -> None:
        self.source, self.values, self.functions = source, values, functions
        self.at = 0

    def peek(self) -> str:
        return self.source[self.at] if self.at < len(self.source) else ""

    def expression(self) -> Any:
        """A sum of terms: strings are joined, anything else is unknown."""
        value = self.term()
        while self.peek() == "+":
            self.at += 1
            right = self.term()
            value = value + right if isinstance(value, str) and isinstance(right, str) else UNKNOWN
        return value

    def term(self) -> Any:
        token = self.peek()
        self.at += 1
        if token[:1] in ('"', "`"):
            return literal(token)
        if token == "(":
            value = self.expression()
            self.at += 1
            return value
        if token == "[":
            return self.slice()
        if token == "nil":
            return []
        if not re.match(r"\w", token):
            return UNKNOWN
        if self.peek() == "(":
            return self.call(token)
        if self.peek() in ("[", "{"):
            self.skip()
            return UNKNOWN
        return int(token) if token.isdigit() else self.values.get(token, UNKNOWN)

    def slice(self) -> Any:
        """`[]string{...}`, or any other type, whose items are then unknown."""
        while self.peek() not in ("{", "(", ""):
            self.at += 1
        if self.peek() == "(":  # `[]byte("...")`
            return self.call("bytes")
        return list(self.items("}"))

    def items(self, end: str) -> Iterator[Any]:
        """Expressions between commas, `end` included."""
        self.at += 1
        while self.peek() not in (end, ""):
            start = self.at
            yield self.expression()
            if self.peek() == "...":
                self.at += 1
            while self.peek() not in (",", end, ""):  # what could not be read
                self.at += 1 if self.peek() not in ("(", "{", "[") else 0
                if self.peek() in ("(", "{", "["):
                    self.skip()
            self.at += self.peek() == ","
            assert self.at > start
        self.at += 1

    def skip(self) -> None:
        """Past a bracket and its counterpart."""
        depth = 0
        while self.at < len(self.source):
            depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(self.peek(), 0)
            self.at += 1
            if depth == 0:
                return

    def call(self, name: str) -> Any:
        given = list(self.items(")"))
        if name in ("append", "slices.Concat"):
            flat = [one for part in given for one in (part if isinstance(part, list) else [part])]
            return flat
        if name in ("fmt.Sprintf",):
            return formatted(given)
        if name in ("string", "bytes"):
            return given[0] if len(given) == 1 else UNKNOWN
        known = self.functions.get(name)
        if known is None or any(one is UNKNOWN for one in given):
            return UNKNOWN
        return known(*given)


def formatted(given: list[Any]) -> Any:
    """`fmt.Sprintf` with strings and whole numbers."""
    if not given or any(one is UNKNOWN or isinstance(one, list) for one in given):
        return UNKNOWN
    rest = iter(given[1:])
    try:
        return VERB.sub(lambda verb: "%" if verb[0] == "%%" else str(next(rest)), given[0])
    except (StopIteration, RuntimeError):
        return UNKNOWN


def assignments(source: list[str], functions: Functions) -> Values:
    """The last value of each name that is bound by `=` or `:=`, in the order of the source."""
    values: Values = {}
    for at, token in enumerate(source):
        if token not in ("=", ":=") or at == 0 or source[at - 1] in ("=", "!", "<", ">", ":"):
            continue
        name = source[at - 1]
        if name == "string" and at > 1:  # `var name string = "..."`
            name = source[at - 2]
        reader = Reader(source, values, functions)
        reader.at = at + 1
        value = reader.expression()
        if value is not UNKNOWN:
            values[name] = value
    return values
