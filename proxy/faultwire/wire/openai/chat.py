"""OpenAI Chat Completions, and every server that imitates it.

Shapes: OpenAI's API reference, as the official SDKs send and parse it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.events import RequestView, ResponseView, ToolCall, ToolResult, Turn, Usage
from faultwire.wire import json_bytes
from faultwire.wire.conversation_history import NOTHING, ConversationStart
from faultwire.wire.editing import tool_content
from faultwire.wire.framing import sse
from faultwire.wire.openai import chat_stream as openai_chat_stream, errors as openai_errors
from faultwire.wire.openai.chat_edits import OpenAIEditor
from faultwire.wire.openai.usage import chat_usage
from faultwire.wire.protocol import Protocol
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import BaseUrl, Page

if TYPE_CHECKING:
    from faultwire.events import Request
    from faultwire.wire.conversation_history import ConversationHistory
    from faultwire.wire.types import Rewrite, StreamEditor, StreamReader

_SYSTEM_ROLES = ("system", "developer")


class OpenAIChat(Protocol):
    """`POST …/chat/completions`."""

    name = "openai_chat"
    signs = Signs(frozenset(("choices",)), ("chat.completion",))
    edits = OpenAIEditor()
    hosts = (
        ("api.openai.com", "openai"),
        ("openai.azure.com", "azure"),
        ("services.ai.azure.com", "azure"),
        ("cognitiveservices.azure.com", "azure"),
        ("api.groq.com", "groq"),
        ("mistral.ai", "mistral"),
        ("openrouter.ai", "openrouter"),
        ("api.together.xyz", "together"),
        ("api.fireworks.ai", "fireworks"),
        ("api.deepseek.com", "deepseek"),
        ("api.x.ai", "xai"),
        ("api.cerebras.ai", "cerebras"),
        ("api.perplexity.ai", "perplexity"),
    )
    request_ids = openai_errors.REQUEST_IDS
    settled = ("/chat/completions", "/apply-template", "/detokenize", "/tokenize")
    text_members = frozenset(
        ("content", "reasoning", "reasoning_content", "refusal", "arguments", "input", "transcript")
    )
    errors = staticmethod(openai_errors.error)
    errors_by = openai_errors.BY_PROVIDER
    dialect = "faultwire.mock.openai_chat:OpenAIChatDialect"
    mocked = (
        "api.openai.com",
        "us.api.openai.com",
        "eu.api.openai.com",
        "api.groq.com",
        "api.mistral.ai",
        "api.deepseek.com",
        "api.together.xyz",
        "api.fireworks.ai",
        "api.cerebras.ai",
        "api.x.ai",
        "openrouter.ai",
        "api.perplexity.ai",
        "*.api.openai.com",
        "*.openai.azure.com",
        "*.services.ai.azure.com",
        "*.cognitiveservices.azure.com",
        "api.*.mistral.ai",
    )
    base_urls = (
        BaseUrl("openai", "https://api.openai.com", ("OPENAI_BASE_URL", "OPENAI_API_BASE"), "/v1"),
        BaseUrl("groq", "https://api.groq.com", ("GROQ_BASE_URL",)),
        BaseUrl("azure", "", ("AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE")),
    )
    keys = (
        ("OPENAI_API_KEY",),
        ("GROQ_API_KEY",),
        ("MISTRAL_API_KEY",),
        ("DEEPSEEK_API_KEY",),
        ("TOGETHER_API_KEY",),
        ("FIREWORKS_API_KEY",),
        ("CEREBRAS_API_KEY",),
        ("XAI_API_KEY",),
        ("OPENROUTER_API_KEY",),
        ("PERPLEXITY_API_KEY",),
    )
    page = Page(
        "`POST …/chat/completions`; elsewhere by a JSON body with `model` and a conversation in `messages`",
        "`openai`",
        "conversation, calls, results, answer, usage; server-sent events",
        "all",
        "errors by provider, an error event",
    )

    def recognise(self, request: Request) -> bool:
        """By path; elsewhere by a body with a model and a conversation that is not Anthropic's."""
        if request.method != "POST":
            return False
        path = request.path.partition("?")[0].rstrip("/")  # as `bare_path`, which is asked for most calls
        if path.endswith("/chat/completions"):
            return True
        if request.body is None or recognition.is_settled(path):
            return False
        document = recognition.conversation(request.body)
        if document is None or not isinstance(document.get("model"), str):
            return False
        return not recognition.speaks_anthropic(document)

    def provider(self, request: Request) -> str:
        """By host; `openai` for hosts that nobody is known to run."""
        return recognition.provider_of(request.host) or "openai"

    def request_view(self, body: bytes) -> RequestView:
        """The conversation. Raises WireError without an array of `messages`."""
        return _view(body, None)

    def transcript_after(self, request: Request, earlier: ConversationHistory) -> RequestView | None:
        """What earlier requests held of the conversation is not read again."""
        if type(self) is not OpenAIChat:  # one that is made of it may read its requests in its own way
            return self.transcript(request)
        body = request.body or b""
        view = earlier.again(self.name, body)
        if view is None:
            view = _view(body, earlier)
            earlier.read(self.name, body, view)
        return view

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """The first choice; `error` where the answer is one, whatever its status."""
        document = json_bytes.load_object(body)
        error = openai_chat_stream.error_text(document)
        if error is None and status >= 400:
            error = json_bytes.string(document.get("message")) or f"status {status}"
        choices = json_bytes.objects(document.get("choices"))
        choice = choices[0][1] if choices else {}
        message = choice.get("message")
        answer = message if isinstance(message, dict) else {}
        return ResponseView(
            model=json_bytes.string(document.get("model")),
            text=tool_content.text_of(answer.get("content"), glue="")
            or json_bytes.string(answer.get("refusal")),
            finish_reason=json_bytes.string(choice.get("finish_reason")) or None,
            tool_calls=_tool_calls(answer),
            usage=usage_of(document),
            error=error,
            request_id=openai_chat_stream.groq_id(document),
        )

    def reader(self) -> StreamReader:
        """Complete with `data: [DONE]`."""
        return openai_chat_stream.Reader()

    def is_terminal(self, event: bytes) -> bool:
        """`data: [DONE]`, matched by prefix as the SDKs do."""
        fields = sse.fields(event)
        return fields is not None and openai_chat_stream.is_done(fields.data)

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `content` of one `role: tool` message; the protocol has no flag for errors."""
        place = result.path[:-1]
        found = json_bytes.span(body, place)
        message = json_bytes.load(body[slice(*found)]) if found else None
        if json_bytes.member(message, "tool_call_id") != result.call_id:
            raise WireError(f"found no result of call `{result.call_id}` at {list(place)}")
        old = json_bytes.span(body, result.path)
        content = b"null" if old is None else body[slice(*old)]
        return json_bytes.put(body, result.path, tool_content.rewritten(content, rewrite, empty_block=True))

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """Every choice cut, `finish_reason` `length`; unchanged where nothing is too long."""
        return openai_chat_stream.cut_body(body, max_tokens)

    def truncator(self, max_tokens: int) -> StreamEditor:
        """Cuts tool-call arguments where the budget ends, as the provider does."""
        return openai_chat_stream.Truncator(max_tokens)


def usage_of(document: json_bytes.Object) -> Usage | None:
    """What `usage` counts, None where it is missing or null."""
    return chat_usage(document.get("usage"))


def _view(body: bytes, earlier: ConversationHistory | None) -> RequestView:
    document = json_bytes.load_object(body)
    messages = document.get("messages")
    if not isinstance(messages, list):
        raise WireError("found no array `messages`, expected the conversation")
    start = NOTHING if earlier is None else earlier.start(OpenAIChat.name, messages)
    first = len(start.items)
    last = _last_word(messages, first)
    turns, system, calls = list(start.turns), list(start.system), start.calls.copy()
    for index in range(first, len(messages)):
        message = messages[index]
        if not isinstance(message, dict):
            continue
        turn = _turn(index, message, calls, new=index > last)
        if turn.role in _SYSTEM_ROLES:
            system.append(turn.text)
        else:
            turns.append(turn)
        for call in turn.tool_calls:
            calls[call.id] = call
        if index == last and earlier is not None:
            conversation_start = ConversationStart(
                messages[: last + 1], tuple(turns), tuple(system), calls.copy()
            )
            earlier.keep(OpenAIChat.name, conversation_start, start)
    return RequestView(
        model=json_bytes.string(document.get("model")),
        stream=document.get("stream") is True,
        system="\n".join(system),
        turns=tuple(turns),
        tools=_tools(document),
    )


def _last_word(messages: list[Any], first: int) -> int:
    """Where the model spoke last; before `first`, where it does not behind that."""
    for at in range(len(messages) - 1, first - 1, -1):
        message = messages[at]
        if isinstance(message, dict) and message.get("role") == "assistant":
            return at
    return first - 1


def _turn(index: int, message: json_bytes.Object, calls: dict[str, ToolCall], *, new: bool) -> Turn:
    role, content = json_bytes.string(message.get("role")), message.get("content")
    text = content if isinstance(content, str) else tool_content.text_of(content)
    if role != "tool":
        return Turn(role, text, _tool_calls(message))
    call_id = json_bytes.string(message.get("tool_call_id"))
    call = calls.get(call_id)
    name = (call.name if call else json_bytes.string(message.get("name"))) or None
    arguments = call.arguments if call else ""
    path = ("messages", index, "content")
    return Turn(role, text, (), (ToolResult(call_id, name, arguments, text, False, path, new),))


def _tool_calls(message: json_bytes.Object) -> tuple[ToolCall, ...]:
    calls = message.get("tool_calls")
    if not calls:
        return ()
    found = []
    for _, call in json_bytes.objects(calls):
        name, arguments = openai_chat_stream.call_parts(call)
        found.append(ToolCall(json_bytes.string(call.get("id")), name, arguments))
    return tuple(found)


def _tools(document: json_bytes.Object) -> tuple[str, ...]:
    if not document.get("tools"):
        return ()
    names = (
        json_bytes.member(tool, json_bytes.string(tool.get("type")) or "function", "name")
        for _, tool in json_bytes.objects(document.get("tools"))
    )
    return tuple(name for name in names if isinstance(name, str))
