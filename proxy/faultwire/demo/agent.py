"""A small agent on the official OpenAI SDK: `python agent.py "What is 17 * 23?"`.

It stands for somebody else's program: it imports nothing of faultwire and knows nothing of it. Like
most agents it does something right and something wrong:

- right: it leaves retries to the SDK, and asks again when nothing came or a tool call arrived broken
- wrong: when a stream breaks off, it takes the words that came for the whole answer
"""

import ast
import json
import operator
import sys
from collections.abc import Callable
from typing import Any

from openai import APIConnectionError, OpenAI

TRIES = 3
FACTS = {
    "capital of australia": "Canberra",
    "height of the eiffel tower": "330 m",
    "boiling point of water": "100 degrees Celsius at sea level",
}
OPERATORS: dict[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}


def calculator(expression: str) -> str:
    """Work out `+ - * /` and brackets."""

    def value(node: ast.AST) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp):
            return OPERATORS[type(node.op)](value(node.operand))
        raise ValueError(f"cannot calculate {expression!r}")

    return f"{value(ast.parse(expression, mode='eval').body):g}"


def lookup(topic: str) -> str:
    """Find a fact in a tiny encyclopedia."""
    return FACTS.get(topic.lower().removeprefix("the "), f"nothing is known about {topic!r}")


TOOLS: dict[str, tuple[Callable[[str], str], str, str]] = {
    "calculator": (calculator, "expression", "An arithmetic expression such as 17 * 23"),
    "lookup": (lookup, "topic", "A topic such as: capital of Australia"),
}
OFFERED = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": run.__doc__,
            "parameters": {
                "type": "object",
                "properties": {argument: {"type": "string", "description": description}},
                "required": [argument],
            },
        },
    }
    for name, (run, argument, description) in TOOLS.items()
]


def ask(client: OpenAI, messages: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """One answer of the model, streamed: its words, and the tool calls it wants."""
    words: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    stream = client.chat.completions.create(
        model="gpt-4o-mini", messages=messages, tools=OFFERED, stream=True
    )
    try:
        for chunk in stream:
            for choice in chunk.choices:
                words.append(choice.delta.content or "")
                for piece in choice.delta.tool_calls or ():
                    call = calls.setdefault(piece.index, {"id": piece.id, "name": "", "arguments": ""})
                    call["name"] += piece.function.name or ""
                    call["arguments"] += piece.function.arguments or ""
    except APIConnectionError:
        pass  # this is the bug: whatever came until here counts as the answer
    return "".join(words), list(calls.values())


def ask_until_usable(client: OpenAI, messages: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """Ask again while nothing came, or a tool call is broken."""
    for _ in range(TRIES):
        words, calls = ask(client, messages)
        try:
            for call in calls:
                call["parsed"] = json.loads(call["arguments"])
        except ValueError:
            continue
        if words or calls:
            return words, calls
    raise SystemExit(f"the model gave no usable answer in {TRIES} tries")


def answer(prompt: str) -> str:
    """Talk with the model, and run the tools it asks for, until it answers in words."""
    client = OpenAI()
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Use the tools. Answer in one or two sentences."},
        {"role": "user", "content": prompt},
    ]
    while True:
        words, calls = ask_until_usable(client, messages)
        if not calls:
            return words
        messages.append(
            {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": call["id"],
                        "type": "function",
                        "function": {"name": call["name"], "arguments": call["arguments"]},
                    }
                    for call in calls
                ],
            }
        )
        for call in calls:
            run, argument, _ = TOOLS[call["name"]]
            result = run(call["parsed"][argument])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


if __name__ == "__main__":
    print(answer(sys.argv[1]))
