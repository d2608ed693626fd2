"""An agent on the official openai or anthropic SDK that prints what it has read when it stops reading.

leaving_early.py SDK enough    It closes the stream by itself after a few words.
leaving_early.py SDK silence   It reads on, and takes what it has when nothing came for a second and a half.
"""

import sys

PROMPT = [{"role": "user", "content": "Name some rivers."}]
WAITS_S = 1.5
"""Between two reads."""


def openai_words():
    from openai import OpenAI

    client = OpenAI(max_retries=0, timeout=WAITS_S)
    with client.chat.completions.create(model="gpt-4o", messages=PROMPT, stream=True) as stream:
        for event in stream:
            yield event.choices[0].delta.content or "" if event.choices else ""


def anthropic_words():
    from anthropic import Anthropic

    client = Anthropic(max_retries=0, timeout=WAITS_S)
    with client.messages.stream(model="claude-sonnet-4-5", max_tokens=99, messages=PROMPT) as stream:
        yield from stream.text_stream


def main():
    words = {"openai": openai_words, "anthropic": anthropic_words}[sys.argv[1]]()
    text = ""
    try:
        for word in words:
            text += word
            if sys.argv[2] == "enough" and len(text.split()) > 3:
                words.close()
                break
    except Exception as error:  # each SDK lets out another library's
        if "Timeout" not in type(error).__name__:
            raise
    print(text.strip())


main()
