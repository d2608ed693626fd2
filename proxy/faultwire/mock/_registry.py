"""The dialects that the mock speaks."""

from __future__ import annotations

from faultwire.mock.anthropic import AnthropicDialect
from faultwire.mock.openai_chat import OpenAIChatDialect

BUILTIN = (OpenAIChatDialect(), AnthropicDialect())
