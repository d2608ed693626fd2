"""The dialects that the mock speaks."""

from __future__ import annotations

from faultwire.mock.anthropic import AnthropicDialect
from faultwire.mock.bedrock import BedrockDialect, BedrockInvokeDialect
from faultwire.mock.cohere import CohereDialect
from faultwire.mock.completions import CompletionsDialect
from faultwire.mock.embeddings import EmbeddingsDialect
from faultwire.mock.gemini import GeminiDialect
from faultwire.mock.gemini_grpc import GeminiGrpcDialect
from faultwire.mock.interactions import InteractionsDialect
from faultwire.mock.ollama import OllamaDialect
from faultwire.mock.openai_chat import OpenAIChatDialect
from faultwire.mock.openai_responses import OpenAIResponsesDialect

BUILTIN = (
    OpenAIChatDialect(),
    AnthropicDialect(),
    OpenAIResponsesDialect(),
    CompletionsDialect(),
    EmbeddingsDialect(),
    GeminiDialect(),
    GeminiGrpcDialect(),
    InteractionsDialect(),
    OllamaDialect(),
    CohereDialect(),
    BedrockDialect(),
    BedrockInvokeDialect(),
)
