"""The models that write mutations, each through its provider's own SDK.

The SDKs are extras and are imported when they are first needed. A client asks one question at a time and
gives the text of the answer; it may be used by several threads.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from faultwire.errors import ConfigError
from faultwire.mutations._instructions import SYSTEM

if TYPE_CHECKING:
    from types import ModuleType

LIMIT_S = 120.0
"""For one answer; the SDKs try twice more by themselves."""
MOST_TOKENS = 8192
"""Anthropic wants a bound; the others have their own."""


class ModelChoice(Protocol):
    """What a configuration says of the model."""

    @property
    def provider(self) -> str:
        """ollama, openai, anthropic or google."""

    @property
    def name(self) -> str:
        """The model."""

    @property
    def api_key(self) -> str | None:
        """The resolved key."""

    @property
    def base_url(self) -> str | None:
        """None is the SDK's own."""

    @property
    def temperature(self) -> float:
        """Used where there is no seed."""


class Client:
    """One provider's model. `errors` is what its SDK raises when it cannot answer."""

    package: ClassVar[str]
    extra: ClassVar[str]
    needs_key: ClassVar[bool] = True

    def __init__(self, sdk: ModuleType, choice: ModelChoice) -> None:
        self.sdk = sdk
        self.choice = choice
        self.errors: tuple[type[Exception], ...] = ()
        self._left_out: set[str] = set()
        self.open()

    def open(self) -> None:
        """Make the SDK's client; sends nothing."""
        raise TypeError(f"{type(self).__name__} opens nothing")

    def ask(self, text: str, temperature: float, seed: int | None) -> str | None:
        """The answer; None where the provider says that the model declined. Raises one of `errors`.

        Some models reject a temperature or a seed; they are called again without it.
        """
        tuned: dict[str, Any] = {"temperature": temperature, "seed": seed}
        while True:
            parameters = {k: v for k, v in tuned.items() if v is not None and k not in self._left_out}
            try:
                return self.send(text, parameters)
            except self.errors as error:
                unwanted = {
                    name
                    for name in parameters
                    if getattr(error, "status_code", 0) == 400 and name in str(error)
                }
                if not unwanted:
                    raise
                self._left_out |= unwanted

    def send(self, text: str, tuned: dict[str, Any]) -> str | None:
        """One request with the temperature and the seed that are set."""
        raise TypeError(f"{type(self).__name__} sends nothing")


class OpenAI(Client):
    """OpenAI's Chat Completions, and servers that speak it."""

    package, extra = "openai", "openai"

    def open(self) -> None:
        """The SDK's client."""
        self.errors = (self.sdk.OpenAIError,)
        self._client = self.sdk.OpenAI(
            api_key=self.choice.api_key, base_url=self.choice.base_url, timeout=LIMIT_S
        )

    def send(self, text: str, tuned: dict[str, Any]) -> str | None:
        """One chat completion."""
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
        response = self._client.chat.completions.create(model=self.choice.name, messages=messages, **tuned)
        choice = response.choices[0]
        declined = getattr(choice.message, "refusal", None) or choice.finish_reason == "content_filter"
        return None if declined else choice.message.content or ""


class Anthropic(Client):
    """Anthropic's Messages, which know no seed."""

    package, extra = "anthropic", "anthropic"

    def open(self) -> None:
        """The SDK's client."""
        self.errors = (self.sdk.AnthropicError,)
        self._client = self.sdk.Anthropic(
            api_key=self.choice.api_key, base_url=self.choice.base_url, timeout=LIMIT_S
        )

    def send(self, text: str, tuned: dict[str, Any]) -> str | None:
        """One message. The newest SDK has no argument for a temperature; the API still takes one."""
        tuned.pop("seed", None)
        response = self._client.messages.create(
            model=self.choice.name,
            max_tokens=MOST_TOKENS,
            system=SYSTEM,
            messages=[{"role": "user", "content": text}],
            extra_body=tuned,
        )
        words = "".join(block.text for block in response.content if block.type == "text")
        return None if response.stop_reason == "refusal" else words


class Ollama(Client):
    """A model on Ollama."""

    package, extra, needs_key = "ollama", "ollama", False

    def open(self) -> None:
        """The SDK's client; without a `base_url` it reads OLLAMA_HOST."""
        httpx = importlib.import_module("httpx")
        self.errors = (self.sdk.ResponseError, self.sdk.RequestError, httpx.HTTPError, ConnectionError)
        key = self.choice.api_key
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client = self.sdk.Client(host=self.choice.base_url, timeout=LIMIT_S, headers=headers)

    def send(self, text: str, tuned: dict[str, Any]) -> str | None:
        """One chat answer."""
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
        response = self._client.chat(model=self.choice.name, messages=messages, options=tuned)
        return response.message.content or ""


class GoogleGenai(Client):
    """Gemini through google-genai."""

    package, extra = "google.genai", "google"

    def open(self) -> None:
        """The SDK's client. It takes its transport from httpx or httpx2, whichever is there."""
        failures = [self.sdk.errors.APIError]
        for name in ("httpx", "httpx2"):
            try:
                failures.append(importlib.import_module(name).HTTPError)
            except ModuleNotFoundError:
                continue
        self.errors = tuple(failures)
        options = self.sdk.types.HttpOptions(base_url=self.choice.base_url, timeout=int(LIMIT_S * 1000))
        self._client = self.sdk.Client(api_key=self.choice.api_key, vertexai=False, http_options=options)

    def send(self, text: str, tuned: dict[str, Any]) -> str | None:
        """One answer."""
        config = self.sdk.types.GenerateContentConfig(system_instruction=SYSTEM, **tuned)
        response = self._client.models.generate_content(model=self.choice.name, contents=text, config=config)
        return response.text or None


class GoogleGenerativeai(Client):
    """Gemini through google-generativeai, which has no seed. Its SDK keeps settings for the whole process."""

    package, extra = "google.generativeai", "google"

    def open(self) -> None:
        """Set the SDK up for plain HTTPS: gRPC knows nothing of a base URL with a path."""
        api = importlib.import_module("google.api_core.exceptions")
        requests = importlib.import_module("requests")
        self.errors = (api.GoogleAPIError, requests.RequestException)
        options = {"api_endpoint": self.choice.base_url} if self.choice.base_url else None
        self.sdk.configure(api_key=self.choice.api_key, transport="rest", client_options=options)
        self._model = self.sdk.GenerativeModel(self.choice.name, system_instruction=SYSTEM)

    def send(self, text: str, tuned: dict[str, Any]) -> str | None:
        """One answer."""
        tuned.pop("seed", None)
        response = self._model.generate_content(
            text, generation_config=tuned, request_options={"timeout": LIMIT_S}
        )
        parts = response.candidates[0].content.parts if response.candidates else ()
        return "".join(part.text for part in parts) or None


PROVIDERS: dict[str, tuple[type[Client], ...]] = {
    "ollama": (Ollama,),
    "openai": (OpenAI,),
    "anthropic": (Anthropic,),
    "google": (GoogleGenai, GoogleGenerativeai),
}
"""Of several SDKs the first that is installed."""


def client(choice: ModelChoice) -> Client:
    """A client for this choice. Raises ConfigError where the SDK or the key is missing."""
    kinds = PROVIDERS[choice.provider]
    kind, sdk = next(
        ((kind, sdk) for kind in kinds if (sdk := _sdk(kind.package)) is not None), (kinds[0], None)
    )
    if sdk is None:
        raise ConfigError(
            f"found no package `{kind.package}`, expected it for mutations by `{choice.provider}`",
            code="mutations.no_sdk",
            hint=f"pip install 'faultwire[{kind.extra}]', or set `mutations.engine: built-in`",
        )
    if kind.needs_key and not choice.api_key:
        raise ConfigError(
            f"found no `model.api_key`, expected one for `{choice.provider}`",
            code="config.missing_key",
            hint=f"api_key: ${{{choice.provider.upper()}_API_KEY}}",
        )
    return kind(sdk, choice)


def _sdk(package: str) -> ModuleType | None:
    """The SDK's package, if it is installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # google-generativeai says at every import that it is deprecated
            return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{package}.".startswith(f"{error.name}."):
            raise
        return None
