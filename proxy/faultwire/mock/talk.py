"""Small talk: what the mock says where no script tells it.

Offered tools it calls those that the question is about, once per question, and then answers with
their results word for word. Otherwise it repeats the question. Where it must call a tool and one is called as
what ends an agent (`final_answer`), it answers by that, as soon as it has spoken before.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from faultwire.mock._api import Call, Reply
from faultwire.mock.question import Question, words
from faultwire.mock.schema import arguments, instance

if TYPE_CHECKING:
    from faultwire.events import RequestView, ToolResult
    from faultwire.mock._api import Conversation, Tool

_CALCULATES = frozenset(
    ("calculator", "calculate", "calc", "arithmetic", "math", "evaluate", "eval", "compute")
)
_FINDS = frozenset(("search", "lookup", "find", "weather", "query", "fetch", "get", "browse", "retrieve"))
_FILLERS = frozenset(
    (
        "a", "an", "and", "are", "at", "be", "by", "can", "do", "does", "for", "from", "get", "give", "how",
        "i", "in", "is", "it", "me", "my", "of", "on", "or", "please", "tell", "that", "the", "this", "to",
        "use", "what", "when", "where", "which", "who", "will", "with", "you", "your", "tool", "tools",
    )
)  # fmt: skip
_GREETINGS = frozenset(("hello", "hi", "hey", "thanks", "thank", "you", "bye", "goodbye", "there"))
_ENDS = frozenset(("final", "answer"))
"""Words in the name of the tool by which an agent ends that takes no text for an answer."""
_MOST_CALLS = 3
_QUOTED = 400


def reply(conversation: Conversation) -> Reply:
    """What to say next."""
    question, results = current(conversation.view)
    last = _last_call(conversation, question, results)
    if last is not None:
        return Reply(calls=(last,))
    if results:
        return Reply(text=_results_text(results))
    if conversation.tools and conversation.may_call:
        calls = _calls(conversation, question)
        if calls:
            return Reply(calls=calls)
    if conversation.answer_schema is not None:
        value = instance(conversation.answer_schema, question)
        return Reply(text=json.dumps(value, ensure_ascii=False))
    return Reply(text=_small_talk(question))


def _last_call(
    conversation: Conversation, question: Question, results: tuple[ToolResult, ...]
) -> Call | None:
    """The call that ends the agent. Some agents send a tool's result as the user's words, so that it is not
    known for one: what came behind words of the model's own is taken for it."""
    tool = next((one for one in conversation.tools if _ends(one)), None)
    spoken = any(turn.role == "assistant" for turn in conversation.view.turns)
    if tool is None or not (conversation.must_call and spoken) or conversation.only is not None:
        return None
    answer = _results_text(results) if results else question.text
    return Call(tool.name, arguments(tool.schema, Question(answer)))


def _ends(tool: Tool) -> bool:
    return words(tool.name) >= _ENDS


def current(view: RequestView) -> tuple[Question, tuple[ToolResult, ...]]:
    """The last thing that the user asked, and the tool results that have come since."""
    asked = [
        index
        for index, turn in enumerate(view.turns)
        if turn.role == "user" and turn.text and not turn.tool_results
    ]
    start = asked[-1] if asked else 0
    text = view.turns[start].text if asked else ""
    results = tuple(result for turn in view.turns[start:] for result in turn.tool_results)
    return Question(text), results


def _results_text(results: tuple[ToolResult, ...]) -> str:
    if len(results) == 1:
        return f"Here is what `{results[0].name or 'the tool'}` says: {results[0].text}"
    lines = (f"- `{result.name or 'the tool'}`: {result.text}" for result in results)
    return "Here is what the tools say:\n" + "\n".join(lines)


def _small_talk(question: Question) -> str:
    if not question.text:
        return "I am a mock model. Ask me something."
    return f"I am a mock model, so I can only repeat this: {question.text[:_QUOTED]}"


def _calls(conversation: Conversation, question: Question) -> tuple[Call, ...]:
    tools = conversation.tools
    if conversation.only is not None:
        chosen = [tool for tool in tools if tool.name == conversation.only]
    else:
        chosen = _chosen(tools, question, must=conversation.must_call)
    most = _MOST_CALLS if conversation.parallel else 1
    return tuple(Call(tool.name, arguments(tool.schema, question)) for tool in chosen[:most])


def _chosen(tools: tuple[Tool, ...], question: Question, *, must: bool) -> list[Tool]:
    """The tools that the question is about; else one that looks things up; else the first."""
    chosen = []
    tools = tuple(tool for tool in tools if not _ends(tool)) or tools
    for tool in tools:
        if _is_calculator(tool):
            about = question.expression is not None
        else:
            about = bool((words(tool.name) - _FILLERS) & question.words())
        if about:
            chosen.append(tool)
    if chosen or (question.words() <= _GREETINGS and not must):
        return chosen
    others = [tool for tool in tools if not _is_calculator(tool)]
    finders = [tool for tool in others if words(tool.name) & _FINDS]
    return (finders or others or (list(tools) if must else []))[:1]


def _is_calculator(tool: Tool) -> bool:
    return bool(words(tool.name) & _CALCULATES)
