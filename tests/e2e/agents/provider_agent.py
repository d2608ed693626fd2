"""An agent on one provider's official SDK, as its own program: prints what it met as one JSON object.

provider_agent.py SDK [WAY ...]      WAY: whole stream tools
"""

import json
import sys

QUESTION = "Tell me about rivers ({})."
SUM = "What is 6*7?"
SCHEMA = {
    "type": "object",
    "properties": {"expression": {"type": "string"}},
    "required": ["expression"],
}
FUNCTION = {"name": "calculator", "description": "Evaluates an arithmetic expression", "parameters": SCHEMA}
RESULTS = []


def calculator(expression: str) -> str:
    """Evaluates an arithmetic expression."""
    left, _, right = expression.partition("*")
    RESULTS.append(str(int(left) * int(right)))
    return RESULTS[-1]


def gathered(events, text_of, finish_of):
    """What a stream said, also where it broke."""
    seen = {"text": "", "finish": None, "events": 0}
    try:
        for event in events:
            seen["events"] += 1
            seen["text"] += text_of(event) or ""
            seen["finish"] = finish_of(event) or seen["finish"]
    except BaseException as error:
        error.partial = seen
        raise
    return seen


class Gemini:
    def __init__(self):
        from google import genai

        self.types = genai.types
        self.client = genai.Client(api_key="test-key-of-nobody")
        self.asked = {"model": "gemini-2.5-flash"}

    def whole(self):
        answer = self.client.models.generate_content(contents=QUESTION.format("whole"), **self.asked)
        return {"text": answer.text, "finish": answer.candidates[0].finish_reason.value}

    def stream(self):
        events = self.client.models.generate_content_stream(contents=QUESTION.format("stream"), **self.asked)
        return gathered(
            events,
            lambda e: e.text,
            lambda e: e.candidates and e.candidates[0].finish_reason and e.candidates[0].finish_reason.value,
        )

    def tools(self):
        config = self.types.GenerateContentConfig(tools=[calculator])
        answer = self.client.models.generate_content(contents=SUM, config=config, **self.asked)
        return {"text": answer.text}


class Interactions(Gemini):
    """The same client; the loop names the earlier interaction and sends nothing else again."""

    def whole(self):
        answer = self.client.interactions.create(input=QUESTION.format("whole"), **self.asked)
        return {"text": answer.output_text, "finish": answer.status}

    def stream(self):
        events = self.client.interactions.create(input=QUESTION.format("stream"), stream=True, **self.asked)
        return gathered(
            events,
            lambda e: e.delta.text if e.event_type == "step.delta" else "",
            lambda e: e.interaction.status if e.event_type == "interaction.completed" else None,
        )

    def tools(self):
        offered = [{"type": "function", **FUNCTION}]
        asked, previous = SUM, None
        for _ in range(3):
            answer = self.client.interactions.create(
                input=asked, tools=offered, previous_interaction_id=previous, **self.asked
            )
            calls = [step for step in answer.steps if step.type == "function_call"]
            if not calls:
                return {"text": answer.output_text}
            previous = answer.id
            asked = [
                {
                    "type": "function_result",
                    "call_id": call.id,
                    "name": call.name,
                    "result": calculator(**call.arguments),
                }
                for call in calls
            ]
        raise AssertionError("the model never answered")


class Ollama:
    def __init__(self):
        import ollama

        self.client = ollama.Client(host="https://ollama.com")

    def asked(self, way):
        return {"model": "llama3", "messages": [{"role": "user", "content": QUESTION.format(way)}]}

    def whole(self):
        answer = self.client.chat(**self.asked("whole"))
        return {"text": answer.message.content, "finish": answer.done_reason}

    def stream(self):
        events = self.client.chat(stream=True, **self.asked("stream"))
        return gathered(events, lambda e: e.message.content, lambda e: e.done_reason)

    def tools(self):
        messages = [{"role": "user", "content": SUM}]
        for _ in range(3):
            answer = self.client.chat(model="llama3", messages=messages, tools=[calculator])
            messages.append(answer.message)
            for call in answer.message.tool_calls or ():
                result = calculator(**call.function.arguments)
                messages.append({"role": "tool", "tool_name": call.function.name, "content": result})
            if not answer.message.tool_calls:
                return {"text": answer.message.content}
        raise AssertionError("the model never answered")


class ChatLike:
    """SDKs whose requests and answers have OpenAI's shape."""

    model = "m"

    def ask(self, **asked):
        raise NotImplementedError

    def ask_stream(self, **asked):
        raise NotImplementedError

    def asked(self, way):
        return {"model": self.model, "messages": [{"role": "user", "content": QUESTION.format(way)}]}

    def whole(self):
        choice = self.ask(**self.asked("whole")).choices[0]
        return {"text": choice.message.content, "finish": choice.finish_reason}

    def stream(self):
        return gathered(
            self.ask_stream(**self.asked("stream")),
            lambda e: e.choices and e.choices[0].delta.content,
            lambda e: e.choices and e.choices[0].finish_reason,
        )

    def tools(self):
        messages = [{"role": "user", "content": SUM}]
        offered = [{"type": "function", "function": FUNCTION}]
        for _ in range(3):
            answer = self.ask(model=self.model, messages=messages, tools=offered).choices[0].message
            messages.append(answer.model_dump(exclude_none=True))
            for call in answer.tool_calls or ():
                result = calculator(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
            if not answer.tool_calls:
                return {"text": answer.content}
        raise AssertionError("the model never answered")


class Groq(ChatLike):
    def __init__(self):
        import groq

        create = groq.Groq(api_key="gsk_test_key_of_nobody").chat.completions.create
        self.ask = create
        self.ask_stream = lambda **asked: create(stream=True, **asked)


class Mistral(ChatLike):
    def __init__(self):
        from mistralai.client import Mistral as Client

        chat = Client(api_key="test-key-of-nobody").chat
        self.ask = chat.complete
        self.ask_stream = lambda **asked: (event.data for event in chat.stream(**asked))


class Cohere:
    def __init__(self):
        import cohere

        self.client = cohere.ClientV2(api_key="test-key-of-nobody")

    def asked(self, way):
        return {"model": "command-a-03-2025", "messages": [{"role": "user", "content": QUESTION.format(way)}]}

    def whole(self):
        answer = self.client.chat(**self.asked("whole"))
        return {"text": answer.message.content[0].text, "finish": str(answer.finish_reason)}

    def stream(self):
        return gathered(
            self.client.chat_stream(**self.asked("stream")),
            lambda e: e.delta.message.content.text if e.type == "content-delta" else "",
            lambda e: str(e.delta.finish_reason) if e.type == "message-end" else None,
        )

    def tools(self):
        messages = [{"role": "user", "content": SUM}]
        offered = [{"type": "function", "function": FUNCTION}]
        for _ in range(3):
            answer = self.client.chat(model="command-a-03-2025", messages=messages, tools=offered).message
            messages.append(answer)
            for call in answer.tool_calls or ():
                result = calculator(**json.loads(call.function.arguments))
                content = [{"type": "document", "document": {"data": {"answer": result}}}]
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
            if not answer.tool_calls:
                return {"text": answer.content[0].text}
        raise AssertionError("the model never answered")


class Bedrock:
    """Requests are signed, unless AWS_BEARER_TOKEN_BEDROCK is set."""

    def __init__(self):
        import boto3

        self.client = boto3.client(
            "bedrock-runtime",
            region_name="us-east-1",
            aws_access_key_id="AKIAIOSFODNN7EXAMPLE",
            aws_secret_access_key="nobody",
        )

    def asked(self, way):
        return {"modelId": "anthropic.claude", "messages": [said("user", {"text": QUESTION.format(way)})]}

    def whole(self):
        answer = self.client.converse(**self.asked("whole"))
        return {"text": answer["output"]["message"]["content"][0]["text"], "finish": answer["stopReason"]}

    def stream(self):
        return gathered(
            self.client.converse_stream(**self.asked("stream"))["stream"],
            lambda e: e.get("contentBlockDelta", {}).get("delta", {}).get("text"),
            lambda e: e.get("messageStop", {}).get("stopReason"),
        )

    def tools(self):
        messages = [said("user", {"text": SUM})]
        spec = {"name": "calculator", "description": "Evaluates", "inputSchema": {"json": SCHEMA}}
        for _ in range(3):
            answer = self.client.converse(
                modelId="anthropic.claude",
                messages=messages,
                toolConfig={"tools": [{"toolSpec": spec}]},
            )
            message = answer["output"]["message"]
            messages.append(message)
            uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
            results = [
                {
                    "toolResult": {
                        "toolUseId": use["toolUseId"],
                        "content": [{"text": calculator(**use["input"])}],
                    }
                }
                for use in uses
            ]
            if not uses:
                return {"text": message["content"][0]["text"]}
            messages.append(said("user", *results))
        raise AssertionError("the model never answered")


def said(role, *content):
    return {"role": role, "content": list(content)}


class BedrockInvoke(Bedrock):
    """The same client, with the model's own messages."""

    def body(self, way):
        asked = {
            "anthropic_version": "bedrock-2023-05-31",
            "max_tokens": 200,
            "messages": [{"role": "user", "content": QUESTION.format(way)}],
        }
        return {"modelId": "anthropic.claude", "body": json.dumps(asked)}

    def whole(self):
        answer = json.loads(self.client.invoke_model(**self.body("whole"))["body"].read())
        return {"text": answer["content"][0]["text"], "finish": answer["stop_reason"]}

    def stream(self):
        events = self.client.invoke_model_with_response_stream(**self.body("stream"))["body"]
        return gathered(
            (json.loads(event["chunk"]["bytes"]) for event in events),
            lambda e: e.get("delta", {}).get("text"),
            lambda e: e.get("delta", {}).get("stop_reason"),
        )


class Responses:
    """OpenAI's Responses; the loop names the earlier response and sends nothing else again."""

    def __init__(self):
        from openai import OpenAI

        self.client = OpenAI()

    def whole(self):
        answer = self.client.responses.create(model="gpt-4o-mini", input=QUESTION.format("whole"))
        return {"text": answer.output_text, "finish": finish(answer)}

    def stream(self):
        events = self.client.responses.create(
            model="gpt-4o-mini", input=QUESTION.format("stream"), stream=True
        )
        return gathered(
            events,
            lambda e: e.delta if e.type == "response.output_text.delta" else "",
            lambda e: finish(e.response) if e.type in ("response.completed", "response.incomplete") else None,
        )

    def tools(self):
        offered = [{"type": "function", "strict": False, **FUNCTION}]
        asked, previous = SUM, None
        for _ in range(3):
            answer = self.client.responses.create(
                model="gpt-4o-mini", input=asked, tools=offered, previous_response_id=previous
            )
            calls = [item for item in answer.output if item.type == "function_call"]
            if not calls:
                return {"text": answer.output_text}
            previous = answer.id
            asked = [
                {
                    "type": "function_call_output",
                    "call_id": call.call_id,
                    "output": calculator(**json.loads(call.arguments)),
                }
                for call in calls
            ]
        raise AssertionError("the model never answered")


def finish(response):
    return response.incomplete_details.reason if response.incomplete_details else response.status


SDKS = {
    "google-genai": Gemini,
    "google-interactions": Interactions,
    "ollama": Ollama,
    "groq": Groq,
    "mistralai": Mistral,
    "cohere": Cohere,
    "bedrock": Bedrock,
    "bedrock-invoke": BedrockInvoke,
    "openai-responses": Responses,
}


def met(agent, way):
    RESULTS.clear()
    try:
        found = getattr(agent, way)()
    except Exception as error:
        status = getattr(error, "status_code", None) or getattr(error, "code", None)
        response = getattr(error, "response", None)
        if isinstance(response, dict):  # boto3
            status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return {
            "error": type(error).__name__,
            "status": status if isinstance(status, int) else None,
            "message": str(error)[:300],
            **getattr(error, "partial", {}),
        }
    return {**found, "results": list(RESULTS)}


def main():
    sdk, *ways = sys.argv[1:]
    agent = SDKS[sdk]()
    print(json.dumps({way: met(agent, way) for way in ways or ("whole", "stream")}))


main()
