"""What a configuration says of an agent: one frozen model for each type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from faultwire.agents._answer import AnswerPath
from faultwire.agents._template import FORM, PLACES, Template
from faultwire.profile.entry_model import Frozen

RESERVED = ("model", "messages", "input", "stream")
"""Members of a request to an OpenAI-compatible agent that are not the user's to set."""
Timeout = Annotated[int, Field(ge=1, le=3_600_000)]
Variables = Mapping[str, str]


def _fields(headers: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in headers.items():
        if not name or not name.isascii() or set(name) & set('\r\n\0 \t:()<>@,;\\"/[]?={}'):
            raise ValueError(f"found `{name!r}`, expected the name of a header field (RFC 9110 §5.1)")
        if set(value) & set("\r\n\0"):
            raise ValueError(f"found a line end in the value of `{name}`, expected one line")
    return headers


def _named(variables: Mapping[str, str]) -> Mapping[str, str]:
    for name in variables:
        if not name or set(name) & set("=\0"):
            raise ValueError(f"found `{name}`, expected the name of a variable: not empty, and without `=`")
    return variables


def _path(text: str) -> str:
    AnswerPath(text)
    return text


def _free(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in RESERVED:
        if name in parameters:
            raise ValueError(f"found `{name}` in `parameters`, expected members that faultwire does not set")
    return parameters


Environment = Annotated[Variables, AfterValidator(_named)]
Fields = Annotated[Variables, AfterValidator(_fields)]
JsonPath = Annotated[str, AfterValidator(_path)]
Command = Annotated[tuple[str, ...], Field(min_length=1)]


class Reset(Frozen):
    """What is done before each cell so that an agent forgets; at most one of them."""

    reset_endpoint: str | None = None
    """A URL, or a path on the agent's own server, that is posted to and must answer 2xx."""
    reset_function: str | None = None
    """`module:function`, called in the agent's interpreter (`python`, else the first `python3` of PATH)."""
    reset_command: Command | None = None

    @property
    def takes_turns(self) -> bool:
        """Can it be asked a conversation of several turns?"""
        return True

    @property
    def reads(self) -> frozenset[str]:
        """The names of lines that every prompt must have, so that the agent can be asked at all."""
        return frozenset()


class Start(Frozen):
    """A server that we start, behind the proxy, and wait for."""

    command: Command
    ready_url: str
    """Asked until somebody answers there, with anything but a 5xx."""
    cwd: str | None = None
    env: Environment = Field(default_factory=dict)
    timeout: Timeout = 30_000
    restart_between_turns: bool = False
    """Is it killed and started again before each later turn of a conversation?"""


class CommandSettings(Reset):
    """One process per invocation. The answer is stdout, a JSON path in it, or a file."""

    type: Literal["command"] = "command"
    command: Command
    """Run by no shell. `{prompt}` is the (last) turn, `{turns}` a JSON list of all of them; `{prompt_file}`
    and `{turns_file}` are files that hold these, and `{session}` is a word for the invocation."""
    stdin: bool | Literal["turns"] = False
    """Does the prompt go to its stdin? `turns`: a JSON list of all turns does."""
    prompt_file: bool = False
    """Says that `{prompt_file}` is in the command; it is filled in any case."""
    answer_path: JsonPath | None = None
    """A JSONPath in what it printed."""
    answer_file: str | None = None
    """A file that it writes, relative to its working directory; `{session}` in it is the invocation's."""
    cwd: str | None = None
    env: Environment = Field(default_factory=dict)
    timeout: Timeout = 30_000

    @property
    def takes_turns(self) -> bool:
        """Only where the command has a place for all of them."""
        return self.stdin == "turns" or self._names("{turns}", "{turns_file}")

    @property
    def takes_prompt(self) -> bool:
        """Does the agent see what it is asked?"""
        return bool(self.stdin) or self.takes_turns or self._names("{prompt}", "{prompt_file}")

    def _names(self, *places: str) -> bool:
        return any(place in part for part in self.command for place in places)


class HttpSettings(Reset):
    """A server that is asked by HTTP and runs behind the proxy itself."""

    type: Literal["http"] = "http"
    endpoint: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: Fields = Field(default_factory=dict)
    query_params: Variables = Field(default_factory=dict)
    request_template: str | None = None
    """The body with `{prompt}`, `{turns}`, `{session}` and the keys of a structured prompt in it."""
    response_path: JsonPath | None = None
    parse_structured_input: bool = True
    timeout: Timeout = 30_000
    start: Start | None = None
    pause_between_turns: Annotated[int, Field(ge=0, le=3_600_000)] = 0
    """How long the user waits before each later turn of a conversation, in ms; no time of the agent's."""
    user: ModelUserSettings | None = None
    propagates: bool = False
    """Does it hand `traceparent` and `baggage` on to what it calls? Then chaos may run concurrently."""

    @property
    def reads(self) -> frozenset[str]:
        """The names in its template, header fields and query that mean lines of the prompt."""
        values = (*self.headers.values(), *self.query_params.values())
        body = self.request_template
        found = frozenset[str]().union(*(Template(value, plain=True).names for value in values))
        return (found | (Template(body).names if body is not None else frozenset())) - PLACES

    @model_validator(mode="after")
    def _readable_template(self) -> Self:
        if self.request_template is not None:
            kind = next((v for k, v in self.headers.items() if k.lower() == "content-type"), "")
            Template(self.request_template, form=FORM in kind.lower())
        for value in (*self.headers.values(), *self.query_params.values()):
            Template(value, plain=True)
        return self

    @model_validator(mode="after")
    def _has_something_between_turns(self) -> Self:
        restarts = self.start is not None and self.start.restart_between_turns
        if self.request_template is None or not (restarts or self.pause_between_turns or self.user):
            return self
        kind = next((v for k, v in self.headers.items() if k.lower() == "content-type"), "")
        if "turns" in Template(self.request_template, form=FORM in kind.lower()).names:
            paused = "pause_between_turns" if self.pause_between_turns else "user"
            name = "start.restart_between_turns" if restarts else paused
            raise ValueError(f"found `{name}` with `{{turns}}`, which sends all turns at once")
        return self


class ModelUserSettings(Frozen):
    """A model that writes the user's turns after the scripted ones. Off unless it is there."""

    endpoint: str
    """The base URL of an API that speaks OpenAI's Chat Completions."""
    model: str
    goal: Annotated[str, Field(min_length=1)]
    """What the user wants, in words for the model."""
    api_key: Annotated[str | None, Field(repr=False)] = None
    turns: Annotated[int, Field(ge=1, le=50)] = 4
    """The most turns that it writes in one conversation."""
    calls: Annotated[int, Field(ge=1, le=100_000)] = 100
    """The most questions that it is asked in one run."""
    parameters: Annotated[Mapping[str, Any], AfterValidator(_free)] = Field(default_factory=dict)
    """Further members of its requests, such as `seed`."""


class OpenAISettings(Reset):
    """Any OpenAI-compatible endpoint as the agent."""

    type: Literal["openai"] = "openai"
    endpoint: str
    """The base URL, as SDKs take it (`https://api.openai.com/v1`), or the whole address of the API."""
    api: Literal["chat", "responses"] = "chat"
    model: str
    api_key: Annotated[str | None, Field(repr=False)] = None
    system: str | None = None
    headers: Fields = Field(default_factory=dict)
    parameters: Annotated[Mapping[str, Any], AfterValidator(_free)] = Field(default_factory=dict)
    """Further members of the request, such as `temperature`."""
    timeout: Timeout = 30_000
    start: Start | None = None
    propagates: bool = False

    @model_validator(mode="after")
    def _keeps_its_server(self) -> Self:
        if self.start is not None and self.start.restart_between_turns:
            raise ValueError("found `start.restart_between_turns`, expected it only with `type: http`")
        return self


class PythonSettings(Reset):
    """A callable (or an object with `invoke`) in a child interpreter, never in ours."""

    type: Literal["python"] = "python"
    endpoint: str
    """`module:attr`"""
    python: str | None = None
    """The interpreter; None takes the first `python3` of PATH."""
    cwd: str | None = None
    env: Environment = Field(default_factory=dict)
    timeout: Timeout = 30_000


class LangchainSettings(PythonSettings):
    """A LangChain runnable, chain or agent in a child interpreter."""

    type: Literal["langchain"] = "langchain"  # type: ignore[assignment]

    input_key: str = "input"
    """The member of the input that holds the prompt."""


AgentSettings = Annotated[
    CommandSettings | HttpSettings | OpenAISettings | PythonSettings | LangchainSettings,
    Field(discriminator="type"),
]
