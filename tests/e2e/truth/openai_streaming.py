"""An agent on the official openai SDK that streams, with one tool.

openai_streaming.py MANNER [PROMPT]    What it does with an answer that has no finish reason, or ended at its
limit: careless executes and prints it, careful asks again, honest says that it was cut short.
"""

import json
import sys

from openai import OpenAI

TOOL = {
    "type": "function",
    "function": {
        "name": "calculator",
        "description": "Evaluates an arithmetic expression",
        "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}},
    },
}
CLOSINGS = ("", "}", '"}', '""}', ': ""}', '": ""}')
NOTICE = "The model's answer was cut short; please try again."


def ask(client, messages):
    text, calls, reason = "", [], None
    for event in client.chat.completions.create(
        model="gpt-4o-mini", messages=messages, tools=[TOOL], stream=True
    ):
        choice = event.choices[0]
        text += choice.delta.content or ""
        reason = choice.finish_reason or reason
        for part in choice.delta.tool_calls or ():
            if part.index == len(calls):
                calls.append({"id": part.id, "name": part.function.name, "arguments": ""})
            calls[part.index]["arguments"] += part.function.arguments or ""
    return text, calls, reason


def closed(arguments):
    """Half JSON as JSON, as lenient agents do."""
    for closing in CLOSINGS:
        try:
            return json.loads(arguments + closing)
        except ValueError:
            continue
    return {}


def main():
    manner, prompt = sys.argv[1], (sys.argv[2:] or ["What is 6*7?"])[-1]
    client, messages = OpenAI(max_retries=0), [{"role": "user", "content": prompt}]
    for _ in range(6):
        text, calls, reason = ask(client, messages)
        if reason not in ("stop", "tool_calls") and manner != "careless":
            if manner == "careful":
                continue
            print(NOTICE)
            return
        if not calls:
            print(text)
            return
        said = [
            {
                "id": one["id"],
                "type": "function",
                "function": {"name": one["name"], "arguments": json.dumps(closed(one["arguments"]))},
            }
            for one in calls
        ]
        messages.append({"role": "assistant", "content": text or None, "tool_calls": said})
        for one in said:
            messages.append({"role": "tool", "tool_call_id": one["id"], "content": '{"value": 42}'})


main()
