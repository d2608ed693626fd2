"""An agent on the official OpenAI SDK that ends or goes on in one of several manners.

ending_agent.py MANNER    MANNER: a function below

Lines that begin with `TRUTH ` say on stderr what it got and did.
"""

import json
import os
import sys

from openai import APIStatusError, OpenAI

CLIENT = OpenAI(max_retries=0)
QUESTION = {"role": "user", "content": "Tell me of the river Seine and its bridges, in one long sentence."}


def log(**line):
    print("TRUTH", json.dumps(line), file=sys.stderr, flush=True)


def streamed(*messages):
    """A streamed answer, and its finish reason; None where the stream just stops."""
    text, reason = "", None
    for event in CLIENT.chat.completions.create(model="gpt-4o-mini", messages=messages, stream=True):
        if event.choices:
            text += event.choices[0].delta.content or ""
            reason = event.choices[0].finish_reason or reason
    log(text=text, reason=reason)
    return text, reason


def asked(**more):
    answer = CLIENT.chat.completions.create(model="gpt-4o-mini", messages=[QUESTION], **more)
    return answer.choices[0].message.content


def once():
    print(streamed(QUESTION)[0])


def going_on():
    """Takes what came for the answer, and goes on with the conversation."""
    text, _ = streamed(QUESTION)
    said = {"role": "assistant", "content": text}
    print(streamed(QUESTION, said, {"role": "user", "content": "And who built them?"})[0])


def finishing():
    """Has an answer without a finish reason finished by the model."""
    text, reason = streamed(QUESTION)
    if reason is None:
        said = {"role": "assistant", "content": text}
        text += streamed(QUESTION, said, {"role": "user", "content": "You were cut off. Please continue."})[0]
    print(text)


def reporting(code):
    try:
        print(asked())
    except APIStatusError as error:
        log(status=error.status_code)
        print("The model is not available.", file=sys.stderr)
        sys.exit(code)


def crashing():
    try:
        print(asked())
    except APIStatusError:
        os.abort()


def refused():
    """Asks once what the provider's API does not have, and once what it has."""
    try:
        CLIENT.post("/no/such/thing", body={"model": "gpt-4o-mini"}, cast_to=object)
    except APIStatusError as error:
        log(status=error.status_code)
    print(asked())


MANNERS = {
    "once": once,
    "going_on": going_on,
    "finishing": finishing,
    "exits_2": lambda: reporting(2),
    "exits_0": lambda: reporting(0),
    "crashing": crashing,
    "refused": refused,
}
MANNERS[sys.argv[1]]()
