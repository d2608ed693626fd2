"""An agent on one framework, as its own program: prints what it met as one JSON object.

framework_agent.py FRAMEWORK [WAY ...]      WAY: whole stream tools
"""

import asyncio
import json
import os
import sys
import warnings

warnings.simplefilter("ignore")
os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")
QUESTION = "Tell me about rivers ({})."
SUM = "What is 6*7?"
RESULTS = []


def calculator(expression: str) -> str:
    """Evaluates an arithmetic expression."""
    left, _, right = expression.partition("*")
    RESULTS.append(str(int(left) * int(right)))
    return RESULTS[-1]


FUNCTION = {
    "name": "calculator",
    "description": "Evaluates an arithmetic expression",
    "parameters": {
        "type": "object",
        "properties": {"expression": {"type": "string"}},
        "required": ["expression"],
    },
}


class LiteLLM:
    model = "openai/gpt-4o-mini"

    def __init__(self):
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        import litellm

        self.complete = litellm.completion

    def whole(self):
        answer = self.complete(model=self.model, messages=said(QUESTION.format("whole")))
        return {"text": answer.choices[0].message.content, "finish": answer.choices[0].finish_reason}

    def stream(self):
        seen = {"text": "", "finish": None}
        asked = said(QUESTION.format("stream"))
        for event in self.complete(model=self.model, messages=asked, stream=True):
            seen["text"] += event.choices[0].delta.content or ""
            seen["finish"] = event.choices[0].finish_reason or seen["finish"]
        return seen

    def tools(self):
        messages = said(SUM)
        offered = [{"type": "function", "function": FUNCTION}]
        answer = self.complete(model=self.model, messages=messages, tools=offered).choices[0].message
        messages.append(answer.model_dump(exclude_none=True))
        for call in answer.tool_calls:
            result = calculator(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        last = self.complete(model=self.model, messages=messages, tools=offered)
        return {"text": last.choices[0].message.content}


class LiteLLMAnthropic(LiteLLM):
    model = "anthropic/claude-sonnet-4-5"


class LangChain:
    def __init__(self):
        from langchain_openai import ChatOpenAI

        self.model = ChatOpenAI(model="gpt-4o-mini")

    def whole(self):
        answer = self.model.invoke(QUESTION.format("whole"))
        return {"text": text_of(answer), "finish": finish_of(answer)}

    def stream(self):
        seen = {"text": "", "finish": None}
        for event in self.model.stream(QUESTION.format("stream")):
            seen["text"] += text_of(event)
            seen["finish"] = finish_of(event) or seen["finish"]
        return seen

    def tools(self):
        from langchain_core.messages import HumanMessage, ToolMessage
        from langchain_core.tools import tool

        bound = self.model.bind_tools([tool(calculator)])
        messages = [HumanMessage(SUM)]
        messages.append(bound.invoke(messages))
        for call in messages[-1].tool_calls:
            messages.append(ToolMessage(calculator(**call["args"]), tool_call_id=call["id"]))
        return {"text": text_of(bound.invoke(messages))}


class LangChainAnthropic(LangChain):
    def __init__(self):
        from langchain_anthropic import ChatAnthropic

        self.model = ChatAnthropic(model="claude-sonnet-4-5", max_tokens=200)


class LangGraph:
    def __init__(self):
        from langchain_core.tools import tool
        from langchain_openai import ChatOpenAI
        from langgraph.prebuilt import create_react_agent

        self.agent = create_react_agent(ChatOpenAI(model="gpt-4o-mini"), [tool(calculator)])

    def whole(self):
        asked = {"messages": [("user", QUESTION.format("whole"))]}
        answer = self.agent.invoke(asked)["messages"][-1]
        return {"text": text_of(answer), "finish": finish_of(answer)}

    def stream(self):
        seen = {"text": "", "finish": None}
        asked = {"messages": [("user", QUESTION.format("stream"))]}
        for event, _ in self.agent.stream(asked, stream_mode="messages"):
            seen["text"] += text_of(event)
            seen["finish"] = finish_of(event) or seen["finish"]
        return seen

    def tools(self):
        return {"text": text_of(self.agent.invoke({"messages": [("user", SUM)]})["messages"][-1])}


class PydanticAI:
    def __init__(self):
        from pydantic_ai import Agent

        self.plain = Agent("openai-chat:gpt-4o-mini")
        self.agent = Agent("openai-chat:gpt-4o-mini", tools=[calculator])

    def whole(self):
        answer = self.plain.run_sync(QUESTION.format("whole"))
        return {"text": answer.output, "finish": answer.response.finish_reason}

    def stream(self):
        async def work():
            async with self.plain.run_stream(QUESTION.format("stream")) as answer:
                return {"text": await answer.get_output(), "finish": answer.response.finish_reason}

        return asyncio.run(work())

    def tools(self):
        return {"text": self.agent.run_sync(SUM).output}


class OpenAIAgents:
    """On OpenAI's Responses, which is this framework's default."""

    def __init__(self):
        from agents import Agent, Runner, function_tool

        self.plain = Agent(name="plain", model="gpt-4o-mini")
        self.agent = Agent(name="counting", model="gpt-4o-mini", tools=[function_tool(calculator)])
        self.runner, self.loop = Runner, asyncio.new_event_loop()  # its client belongs to one loop

    def run(self, agent, asked):
        return self.loop.run_until_complete(self.runner.run(agent, asked)).final_output

    def whole(self):
        return {"text": self.run(self.plain, QUESTION.format("whole"))}

    def stream(self):
        return self.loop.run_until_complete(self.streamed())

    async def streamed(self):
        seen = {"text": ""}
        running = self.runner.run_streamed(self.plain, QUESTION.format("stream"))
        async for event in running.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                seen["text"] += event.data.delta
        return seen

    def tools(self):
        return {"text": self.run(self.agent, SUM)}


def said(text):
    return [{"role": "user", "content": text}]


def text_of(message):
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if isinstance(block, dict))


def finish_of(message):
    told = getattr(message, "response_metadata", None) or {}
    return told.get("finish_reason") or told.get("stop_reason")


FRAMEWORKS = {
    "litellm": LiteLLM,
    "litellm-anthropic": LiteLLMAnthropic,
    "langchain-openai": LangChain,
    "langchain-anthropic": LangChainAnthropic,
    "langgraph": LangGraph,
    "pydantic-ai": PydanticAI,
    "openai-agents": OpenAIAgents,
}


def met(agent, way):
    RESULTS.clear()
    try:
        found = getattr(agent, way)()
    except Exception as error:
        return {
            "error": type(error).__name__,
            "status": getattr(error, "status_code", None),
            "message": str(error)[:300],
        }
    return {**found, "results": list(RESULTS)}


def main():
    name, *ways = sys.argv[1:]
    agent = FRAMEWORKS[name]()
    print(json.dumps({way: met(agent, way) for way in ways or ("whole", "stream", "tools")}))


main()
