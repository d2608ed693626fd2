"""An agent that asks a model in a stream, over one of three protocols:
`protocol_agent.py grpc|websocket|http2 [tool]`.

Prints what it got as JSON: texts in order, calls of tools, and whether it ended as it should."""

import json
import os
import sys
import warnings

warnings.simplefilter("ignore")  # google-generativeai says at every start that it is deprecated
LIMIT_S = 100
SCHEMA = {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}
seen = {"texts": [], "calls": [], "whole": False, "version": None}


def grpc(asked, tool):
    import google.generativeai as genai

    def calculator(expression: str) -> str:
        """Evaluates an arithmetic expression."""
        return expression

    genai.configure(api_key="test-key-of-nobody", transport="grpc")
    model = genai.GenerativeModel("gemini-2.5-flash", tools=[calculator] if tool else None)
    limit = {"timeout": LIMIT_S, "retry": None}
    for event in model.generate_content(asked, stream=True, request_options=limit):
        for part in event.parts:
            if part.function_call:
                seen["calls"].append(
                    {"name": part.function_call.name, "arguments": dict(part.function_call.args)}
                )
            elif part.text:
                seen["texts"].append(part.text)


def websocket(asked, tool):
    from openai import OpenAI

    described = {"type": "function", "name": "calculator", "parameters": SCHEMA}
    with OpenAI().realtime.connect(model="gpt-realtime") as connection:
        session = {"type": "realtime", "output_modalities": ["text"], "tools": [described] if tool else []}
        connection.session.update(session=session)
        content = [{"type": "input_text", "text": asked}]
        connection.conversation.item.create(item={"type": "message", "role": "user", "content": content})
        connection.response.create()
        for event in connection:
            if event.type == "response.output_text.delta":
                seen["texts"].append(event.delta)
            elif event.type == "error":
                raise RuntimeError(event.error.message)
            elif event.type == "response.done":
                for item in event.response.output:
                    if item.type == "function_call":
                        seen["calls"].append({"name": item.name, "arguments": json.loads(item.arguments)})
                return


def http2(asked, tool):
    import httpx

    body = {"model": "gpt-4o-mini", "stream": True, "messages": [{"role": "user", "content": asked}]}
    if tool:
        body["tools"] = [{"type": "function", "function": {"name": "calculator", "parameters": SCHEMA}}]
    calls = {}
    url, head = (
        "https://api.openai.com/v1/chat/completions",
        {"authorization": "Bearer sk-test-key-of-nobody"},
    )
    with (
        httpx.Client(http2=True, timeout=LIMIT_S) as client,
        client.stream("POST", url, json=body, headers=head) as got,
    ):
        seen["version"] = got.http_version
        for line in got.iter_lines():
            data = line.removeprefix("data: ")
            if not line.startswith("data: ") or data == "[DONE]":
                continue
            for choice in json.loads(data).get("choices", []):
                if choice["delta"].get("content"):
                    seen["texts"].append(choice["delta"]["content"])
                for one in choice["delta"].get("tool_calls") or []:
                    call = calls.setdefault(one["index"], ["", ""])
                    call[0] += one["function"].get("name") or ""
                    call[1] += one["function"].get("arguments") or ""
    seen["calls"] += [{"name": name, "arguments": json.loads(text)} for name, text in calls.values()]


def main():
    tool = "tool" in sys.argv[2:]
    try:
        globals()[sys.argv[1]]("What is 6*7?" if tool else "Tell me about rivers.", tool)
        seen["whole"] = True
    finally:
        print(json.dumps(seen), flush=True)
        os._exit(0)  # gRPC waits for its threads


main()
