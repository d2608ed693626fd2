"""Clients and frameworks of Python as programs of their own: `agent.py SDK WAY/CASE…`.

WAY is `whole` or `stream`. Prints one JSON object: for each case what came, or what was raised. All cases
are asked at once, each by a client of its own.
"""

import asyncio
import json
import os
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

warnings.simplefilter("ignore")
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
MODEL = "gpt-4o-mini"
URL = "https://api.openai.com/v1/chat/completions"
KEY = "sk-test-key-of-nobody"
HEADERS = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}


def said(question):
    return [{"role": "user", "content": question}]


def body(question, stream):
    return json.dumps({"model": MODEL, "messages": said(question), "stream": stream})


def read(status, text):
    return {"text": text} if status == 200 else {"error": f"HTTP {status}"}


def gathered(events, text_of, finish_of):
    seen = {"text": "", "finish": None}
    for event in events:
        seen["text"] += text_of(event) or ""
        seen["finish"] = finish_of(event) or seen["finish"]
    return seen


def aiohttp_defaults():
    import aiohttp

    async def asked(question, stream):
        async with (
            aiohttp.ClientSession() as session,
            session.post(URL, data=body(question, stream), headers=HEADERS) as answer,
        ):
            return read(answer.status, await answer.text())

    return lambda question, stream: asyncio.run(asked(question, stream))


def urllib3_defaults():
    import urllib3

    def ask(question, stream):
        answer = urllib3.PoolManager().request("POST", URL, body=body(question, stream), headers=HEADERS)
        return read(answer.status, answer.data.decode())

    return ask


def together():
    from together import Together

    def ask(question, stream):
        create = Together(api_key=KEY, base_url="https://api.together.xyz/v1").chat.completions.create
        asked = {"model": "meta-llama/Llama-3.3-70B-Instruct-Turbo", "messages": said(question)}
        if stream:
            return gathered(
                create(stream=True, **asked),
                lambda e: e.choices and e.choices[0].delta.content,
                lambda e: e.choices and e.choices[0].finish_reason,
            )
        choice = create(**asked).choices[0]
        return {"text": choice.message.content, "finish": choice.finish_reason}

    return ask


def smolagents():
    from smolagents import OpenAIServerModel

    def ask(question, stream):
        model = OpenAIServerModel(model_id=MODEL, api_key=KEY, retry=False)  # else minutes between attempts
        if stream:
            return gathered(model.generate_stream(said(question)), lambda e: e.content, lambda e: None)
        return {"text": model.generate(said(question)).content}

    return ask


def dspy():
    import dspy as framework

    def ask(question, stream):
        answer = framework.LM(f"openai/{MODEL}", api_key=KEY, cache=False)(question)[0]
        return {"text": answer if isinstance(answer, str) else json.dumps(answer)}

    return ask


def instructor():
    import instructor as framework
    from openai import OpenAI
    from pydantic import BaseModel

    class River(BaseModel):
        name: str

    def ask(question, stream):
        completions = framework.from_openai(OpenAI(api_key=KEY)).chat.completions
        asked = {"model": MODEL, "messages": said(question), "response_model": River}
        if stream:
            return {"text": str(list(completions.create_partial(**asked))[-1].name)}
        return {"text": completions.create(**asked).name}

    return ask


def llama_index():
    from llama_index.llms.openai import OpenAI

    def ask(question, stream):
        model = OpenAI(model=MODEL, api_key=KEY)
        if stream:
            return gathered(model.stream_complete(question), lambda e: e.delta, lambda e: None)
        return {"text": model.complete(question).text}

    return ask


SDKS = {
    "aiohttp": aiohttp_defaults,
    "urllib3": urllib3_defaults,
    "together": together,
    "smolagents": smolagents,
    "dspy": dspy,
    "instructor": instructor,
    "llama-index": llama_index,
}


def met(ask, case):
    try:
        return ask(f"Tell me about rivers ({case}).", case.startswith("stream/"))
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)[:200]}


def main():
    sdk, *cases = sys.argv[1:]
    ask = SDKS[sdk]()
    with ThreadPoolExecutor(len(cases)) as pool:
        found = list(pool.map(lambda case: met(ask, case), cases))
    print(json.dumps(dict(zip(cases, found, strict=True))), flush=True)


main()
