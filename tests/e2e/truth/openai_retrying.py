"""An agent on the official openai SDK that meets failures: `openai_retrying.py MANNER`.

careful leaves retries to the SDK, and exits 1 with a message where there is no answer; naive lets the SDK's
exception end it; early comes back at once; stubborn tries eight times whatever it is told; orphan drops the
result of a failed tool.
"""

import sys

from openai import APIError, OpenAI

MODEL = "gpt-4o-mini"
QUESTION = [{"role": "user", "content": "Tell me about rivers."}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}


def ask(client, messages=QUESTION):
    return client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content


def again(client, times):
    for attempt in range(times):
        try:
            return ask(client)
        except APIError as error:
            last = f"failed after {attempt + 1} attempts: {type(error).__name__}"
    return last


def main():
    manner = sys.argv[1]
    once = OpenAI(max_retries=0)
    if manner == "naive":
        print(ask(once))
    elif manner == "early":
        print(again(once, 2))
    elif manner == "stubborn":
        print(again(once, 8))
    elif manner == "orphan":
        messages = [*QUESTION, {"role": "assistant", "content": None, "tool_calls": [CALL]}, *QUESTION]
        try:
            print(ask(once, messages))
        except APIError as error:
            print(f"failed: {type(error).__name__}")
    else:
        try:
            print(ask(OpenAI()))
        except APIError as error:
            sys.exit(f"no answer: {type(error).__name__}")


main()
