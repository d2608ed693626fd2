"""An agent on OpenAI's official SDK over WebSockets, as its own program: prints what it met as JSON.

realtime_agent.py [WAY ...]      WAY: realtime beta responses azure
"""

import json
import sys

from openai import AzureOpenAI, OpenAI

TOOL = {
    "type": "function",
    "name": "calculator",
    "description": "Evaluates an arithmetic expression",
    "parameters": {
        "type": "object",
        "properties": {"expression": {"type": "string"}},
        "required": ["expression"],
    },
}
QUESTION = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is 6*7?"}]}


def result(seen, call):
    seen["results"].append("42")
    return {"type": "function_call_output", "call_id": call.call_id, "output": "42"}


def converse(seen, connection, session, closing):
    connection.session.update(session=session)
    connection.conversation.item.create(item=QUESTION)
    connection.response.create()
    for event in connection:
        seen["types"].append(event.type)
        if event.type == "error":
            seen["errors"].append(event.error.message)
        elif event.type in ("response.output_text.delta", "response.text.delta"):
            seen["text"] += event.delta
        elif event.type == closing:
            answer = event.response
            seen["finish"] = getattr(answer.status_details, "reason", None) or answer.status
            seen["usage"].append(answer.usage.output_tokens if answer.usage else None)
            calls = [item for item in answer.output if item.type == "function_call"]
            if not calls:
                return
            for call in calls:
                connection.conversation.item.create(item=result(seen, call))
            connection.response.create()


def realtime(seen):
    with OpenAI().realtime.connect(model="gpt-realtime") as connection:
        session = {"type": "realtime", "output_modalities": ["text"], "tools": [TOOL]}
        converse(seen, connection, session, "response.done")


def azure(seen):
    client = AzureOpenAI(
        api_key="key-of-nobody",
        api_version="2025-04-01-preview",
        azure_endpoint="https://me.openai.azure.com",
    )
    with client.realtime.connect(model="gpt-realtime") as connection:
        session = {"type": "realtime", "output_modalities": ["text"], "tools": [TOOL]}
        converse(seen, connection, session, "response.done")


def beta(seen):
    with OpenAI().beta.realtime.connect(model="gpt-4o-realtime-preview") as connection:
        converse(seen, connection, {"modalities": ["text"], "tools": [TOOL]}, "response.done")


def responses(seen):
    with OpenAI().responses.connect() as connection:
        connection.response.create(model="gpt-5-mini", input="What is 6*7?", tools=[TOOL])
        for event in connection:
            seen["types"].append(event.type)
            if event.type == "error":
                seen["errors"].append(event.error.message if getattr(event, "error", None) else event.message)
            elif event.type == "response.output_text.delta":
                seen["text"] += event.delta
            elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                answer = event.response
                why = answer.incomplete_details
                seen["finish"] = why.reason if why else answer.status
                seen["usage"].append(answer.usage.output_tokens)
                calls = [item for item in answer.output if item.type == "function_call"]
                if not calls:
                    return
                connection.response.create(
                    model="gpt-5-mini",
                    previous_response_id=answer.id,
                    input=[result(seen, call) for call in calls],
                    tools=[TOOL],
                )


met = {}
for way in sys.argv[1:] or ["realtime", "responses"]:
    seen = {"text": "", "finish": None, "results": [], "errors": [], "types": [], "usage": []}
    try:
        globals()[way](seen)
    except Exception as error:
        code = getattr(getattr(error, "rcvd", None), "code", None)
        seen |= {"error": type(error).__name__, "code": code, "status": str(error)[-3:]}
    met[way] = seen
print(json.dumps(met))
