"""An agent that has a model call a tool, in a stream: `tool_agent.py SDK`. Prints the calls as the SDK gives
them, and of which types its events were."""

import json
import sys

QUESTION = "What is 6*7?"
SCHEMA = {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}


def chat():
    from openai import OpenAI

    tool = {"type": "function", "function": {"name": "calculator", "parameters": SCHEMA}}
    asked = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": QUESTION}], "tools": [tool]}
    calls, events = {}, []
    for event in OpenAI().chat.completions.create(stream=True, **asked):
        events.append(type(event).__name__)
        for choice in event.choices:
            for one in choice.delta.tool_calls or []:
                call = calls.setdefault(one.index, ["", ""])
                call[0] += one.function.name or ""
                call[1] += one.function.arguments or ""
    return [{"name": name, "arguments": json.loads(text)} for name, text in calls.values()], events


def responses():
    from openai import OpenAI

    tool = {"type": "function", "name": "calculator", "parameters": SCHEMA}
    calls, events = [], []
    with OpenAI().responses.stream(model="gpt-4o-mini", input=QUESTION, tools=[tool]) as stream:
        for event in stream:
            events.append(event.type)
        for item in stream.get_final_response().output:
            if item.type == "function_call":
                calls.append({"name": item.name, "arguments": json.loads(item.arguments)})
    return calls, events


def anthropic():
    from anthropic import Anthropic

    tool = {"name": "calculator", "input_schema": SCHEMA}
    asked = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 500,
        "messages": [{"role": "user", "content": QUESTION}],
    }
    events = []
    with Anthropic().messages.stream(tools=[tool], **asked) as stream:
        for event in stream:
            events.append(event.type)
        blocks = stream.get_final_message().content
    return [{"name": one.name, "arguments": one.input} for one in blocks if one.type == "tool_use"], events


def genai():
    from google import genai

    types = genai.types
    declared = types.FunctionDeclaration(name="calculator", parameters_json_schema=SCHEMA)
    off = types.AutomaticFunctionCallingConfig(disable=True)
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declared])], automatic_function_calling=off
    )
    client, calls, events = genai.Client(api_key="test-key-of-nobody"), [], []
    stream = client.models.generate_content_stream(model="gemini-2.5-flash", contents=QUESTION, config=config)
    for event in stream:
        events.append(type(event).__name__)
        calls += [{"name": one.name, "arguments": one.args} for one in event.function_calls or []]
    return calls, events


calls, events = {"chat": chat, "responses": responses, "anthropic": anthropic, "genai": genai}[sys.argv[1]]()
print(json.dumps({"calls": calls, "events": events}))
