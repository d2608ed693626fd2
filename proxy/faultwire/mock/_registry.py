"""The dialects that the mock speaks."""

from __future__ import annotations

from faultwire.mock.anthropic import AnthropicDialect
from faultwire.mock.bedrock import BedrockDialect, BedrockInvokeDialect
from faultwire.mock.cohere import CohereDialect
from faultwire.mock.embeddings import EmbeddingsDialect
from faultwire.mock.gemini import GeminiDialect
from faultwire.mock.ollama import OllamaDialect
from faultwire.mock.openai_chat import OpenAIChatDialect
from faultwire.mock.openai_responses import OpenAIResponsesDialect

BUILTIN = (
    OpenAIChatDialect(),
    AnthropicDialect(),
    OpenAIResponsesDialect(),
    EmbeddingsDialect(),
    GeminiDialect(),
    OllamaDialect(),
    CohereDialect(),
    BedrockDialect(),
    BedrockInvokeDialect(),
)
