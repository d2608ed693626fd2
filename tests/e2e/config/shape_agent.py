"""A callable and a chain for Flakestorm's types `python` and `langchain`: each asks a model once."""

import json
import os
import urllib.request

URL = "https://api.openai.com/v1/chat/completions"


def ask(messages, tools=None):
    body = {"model": "gpt-4o-mini", "messages": messages}
    if tools:
        body["tools"] = tools
    headers = {"Content-Type": "application/json", "Authorization": "Bearer any"}
    request = urllib.request.Request(URL, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)["choices"][0]["message"]


def say(prompt):
    return ask([{"role": "user", "content": prompt}])["content"]


def answer(prompt):
    return f"a river, they say: {say(prompt)}"


class Chain:
    """What a LangChain runnable looks like from outside."""

    def invoke(self, asked, config=None):
        text = asked["input"] if isinstance(asked, dict) else asked
        return {"output": f"{os.getpid()}: {say(text)}"}


chain = Chain()
