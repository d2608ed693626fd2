"""faultwire.wire.classify and faultwire.wire.recognition.recognise."""

from __future__ import annotations

import pytest
from tests.unit.wire.shapes import CHAT, MESSAGES, post

from faultwire import wire
from faultwire.events import Request
from faultwire.profile.model import ToolSite

ASKED = {"model": "m", "input": "hi"}
ASK = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
V = "2023-06-01"

MODEL = {
    "legacy completions": (
        post("https://api.openai.com/v1/completions", {"prompt": "x", "model": "m"}),
        "completions",
        "openai",
    ),
    "llama.cpp's completions": (
        post("http://localhost:8080/v1/completions", {"prompt": ["x"]}),
        "completions",
        "openai",
    ),
    "interactions": (
        post("https://generativelanguage.googleapis.com/v1beta/interactions"),
        "interactions",
        "google",
    ),
    "interactions behind a gateway": (
        post("https://gw.corp/v1/interactions", {"previous_interaction_id": "i1", "agent": "deep-research"}),
        "interactions",
        "google",
    ),
    # OpenAI Chat, wherever it is served
    "openai": (post("https://api.openai.com/v1/chat/completions"), "openai_chat", "openai"),
    "openai eu": (post("https://eu.api.openai.com/v1/chat/completions"), "openai_chat", "openai"),
    "upper-case host": (post("https://API.OpenAI.com/v1/chat/completions"), "openai_chat", "openai"),
    "query": (post("https://api.openai.com/v1/chat/completions?x=1"), "openai_chat", "openai"),
    "trailing slash": (post("https://api.openai.com/v1/chat/completions/"), "openai_chat", "openai"),
    "azure deployment": (
        post("https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21"),
        "openai_chat",
        "azure",
    ),
    "azure v1": (
        post("https://me.services.ai.azure.com/openai/v1/chat/completions"),
        "openai_chat",
        "azure",
    ),
    "groq": (post("https://api.groq.com/openai/v1/chat/completions"), "openai_chat", "groq"),
    "mistral": (post("https://api.mistral.ai/v1/chat/completions"), "openai_chat", "mistral"),
    "mistral eu": (post("https://api.eu.mistral.ai/v1/chat/completions"), "openai_chat", "mistral"),
    "openrouter": (post("https://openrouter.ai/api/v1/chat/completions"), "openai_chat", "openrouter"),
    "deepseek": (post("https://api.deepseek.com/chat/completions"), "openai_chat", "deepseek"),
    "cohere's imitation": (
        post("https://api.cohere.com/compatibility/v1/chat/completions"),
        "openai_chat",
        "cohere",
    ),
    "gemini's imitation": (
        post("https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"),
        "openai_chat",
        "google",
    ),
    "ollama": (post("http://localhost:11434/v1/chat/completions"), "openai_chat", "openai"),
    "vllm": (post("http://10.0.0.7:8000/v1/chat/completions"), "openai_chat", "openai"),
    "lm studio": (post("http://127.0.0.1:1234/v1/chat/completions"), "openai_chat", "openai"),
    "litellm": (post("http://gateway.corp:4000/chat/completions"), "openai_chat", "openai"),
    "cloudflare gateway": (
        post("https://gateway.ai.cloudflare.com/v1/acc/gw/openai/chat/completions"),
        "openai_chat",
        "openai",
    ),
    "no content type": (
        post("https://api.openai.com/v1/chat/completions", json_type=False),
        "openai_chat",
        "openai",
    ),
    "broken body": (post("https://api.openai.com/v1/chat/completions", b"{"), "openai_chat", "openai"),
    "body elsewhere": (post("https://corp.example/llm/ask", ASK), "openai_chat", "openai"),
    "tool loop elsewhere": (post("https://corp.example/llm/ask", CHAT), "openai_chat", "openai"),
    # Anthropic Messages
    "anthropic": (post("https://api.anthropic.com/v1/messages"), "anthropic", "anthropic"),
    "anthropic beta": (post("https://api.anthropic.com/v1/messages?beta=true"), "anthropic", "anthropic"),
    "anthropic on google": (post("https://claude.googleapis.com/v1/messages"), "anthropic", "anthropic"),
    "anthropic in azure": (
        post("https://me.services.ai.azure.com/anthropic/v1/messages", anthropic_version=V),
        "anthropic",
        "azure",
    ),
    "anthropic in aws": (
        post("https://bedrock-mantle.us-east-1.api.aws/anthropic/v1/messages", anthropic_version=V),
        "anthropic",
        "aws",
    ),
    "ai sdk without v1": (post("http://gw:9000/messages", anthropic_version=V), "anthropic", "anthropic"),
    "ollama speaks it": (post("http://localhost:11434/v1/messages", MESSAGES), "anthropic", "anthropic"),
    "gateway, by body": (post("http://gw.corp/claude/v1/messages", MESSAGES), "anthropic", "anthropic"),
    "its body elsewhere": (post("https://corp.example/llm/ask", MESSAGES), "anthropic", "anthropic"),
    "vertex claude": (
        post(
            "https://us-aiplatform.googleapis.com/v1/projects/p/publishers/anthropic/models/c:streamRawPredict",
            MESSAGES,
        ),
        "anthropic",
        "google",
    ),
    # OpenAI Responses
    "responses": (post("https://api.openai.com/v1/responses", ASKED), "openai_responses", "openai"),
    "responses in azure": (
        post("https://me.openai.azure.com/openai/responses?api-version=1"),
        "openai_responses",
        "azure",
    ),
    "responses in aws": (
        post("https://bedrock-mantle.us-east-1.api.aws/openai/v1/responses"),
        "openai_responses",
        "aws",
    ),
    "a fetched response": (
        post("https://api.openai.com/v1/responses/resp_1?stream=true&starting_after=4", method="GET"),
        "openai_responses",
        "openai",
    ),
    "a fetched response, by id": (
        post("http://localhost:8000/v1/responses/resp_1", method="GET"),
        "openai_responses",
        "openai",
    ),
    "responses, by body": (post("http://localhost:8000/v1/responses", ASKED), "openai_responses", "openai"),
    "only a delta": (
        post("http://gw/v1/responses", {"model": "m", "previous_response_id": "r"}),
        "openai_responses",
        "openai",
    ),
    # Embeddings
    "embeddings": (post("https://api.openai.com/v1/embeddings", ASKED), "embeddings", "openai"),
    "azure embeddings": (
        post("https://me.openai.azure.com/openai/deployments/e/embeddings?api-version=1"),
        "embeddings",
        "azure",
    ),
    "vllm embeddings": (post("http://10.0.0.7:8000/v1/embeddings", ASKED), "embeddings", "openai"),
    # Gemini
    "gemini": (
        post("https://generativelanguage.googleapis.com/v1/models/g:generateContent", {"contents": []}),
        "gemini",
        "google",
    ),
    "gemini stream": (
        post("https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent?alt=sse"),
        "gemini",
        "google",
    ),
    "gemini, escaped colon": (post("http://gw/v1beta/models/g%3AgenerateContent"), "gemini", "google"),
    "vertex gemini": (
        post("https://us-aiplatform.googleapis.com/v1/p/publishers/google/models/g:generateContent"),
        "gemini",
        "google",
    ),
    "gemini embeddings": (
        post("https://generativelanguage.googleapis.com/v1beta/models/e:batchEmbedContents"),
        "gemini",
        "google",
    ),
    "gemini's body elsewhere": (
        post("https://corp.example/llm", {"contents": [{"parts": [{"text": "hi"}]}]}),
        "gemini",
        "google",
    ),
    # Ollama
    "ollama chat": (post("http://localhost:11434/api/chat", ASK), "ollama", "ollama"),
    "ollama elsewhere": (
        post("http://gpu.corp/api/generate", {"model": "m", "prompt": "hi"}),
        "ollama",
        "ollama",
    ),
    "ollama embed": (post("http://gpu.corp/api/embed", ASKED), "ollama", "ollama"),
    # Cohere
    "cohere": (post("https://api.cohere.com/v2/chat", ASK), "cohere", "cohere"),
    "cohere behind a gateway": (post("http://gw/cohere/v2/chat", ASK), "cohere", "cohere"),
    # Bedrock
    "bedrock converse": (
        post("https://bedrock-runtime.us-east-1.amazonaws.com/model/c/converse", ASK),
        "bedrock",
        "aws",
    ),
    "bedrock converse by arn": (
        post("https://bedrock-runtime.us-east-1.amazonaws.com/model/arn%3Aaws%3Ax%2Fy/converse-stream"),
        "bedrock",
        "aws",
    ),
    "bedrock invoke": (
        post("https://bedrock-runtime.us-east-1.amazonaws.com/model/c/invoke", MESSAGES),
        "bedrock_invoke",
        "aws",
    ),
    "bedrock invoke stream": (
        post("https://bedrock-runtime.eu-west-1.amazonaws.com/model/c/invoke-with-response-stream"),
        "bedrock_invoke",
        "aws",
    ),
}

OTHER = {
    "openai models": post("https://api.openai.com/v1/models", method="GET"),
    "openai model": post("https://api.openai.com/v1/models/gpt-x", method="GET"),
    "stored completions": post("https://api.openai.com/v1/chat/completions", method="GET"),
    "one stored completion": post("https://api.openai.com/v1/chat/completions/chatcmpl-1", {"metadata": {}}),
    "openai files": post("https://api.openai.com/v1/files", json_type=False),
    "openai batches": post("https://api.openai.com/v1/batches", {"endpoint": "/v1/chat/completions"}),
    "openai moderation": post("https://api.openai.com/v1/moderations", {"input": "x"}),
    "assistants message": post(
        "https://api.openai.com/v1/threads/t/messages", {"role": "user", "content": "x"}
    ),
    "assistants run": post("https://api.openai.com/v1/threads/t/runs", {"assistant_id": "a", **ASK}),
    "agents tracing": post("https://api.openai.com/v1/traces/ingest", {"data": [{"messages": []}]}),
    "responses, input tokens": post("https://api.openai.com/v1/responses/input_tokens", ASK),
    "anthropic count": post("https://api.anthropic.com/v1/messages/count_tokens?beta=true", MESSAGES),
    "anthropic batches": post("https://api.anthropic.com/v1/messages/batches", {"requests": [ASK]}),
    "anthropic models": post("https://api.anthropic.com/v1/models", method="GET"),
    "preflight": post("https://api.openai.com/v1/chat/completions", method="OPTIONS"),
    "gemini count": post("https://generativelanguage.googleapis.com/v1/models/g:countTokens", ASK),
    "vllm tokenize": post("http://10.0.0.7:8000/tokenize", ASK),
    "llama.cpp template": post("http://127.0.0.1:8080/apply-template", ASK),
    "langsmith multipart": post("https://api.smith.langchain.com/runs/multipart", json_type=False),
    "langsmith batch": post("https://api.smith.langchain.com/runs/batch", {"post": [{"inputs": ASK}]}),
    "langsmith batch, bare": post("https://api.smith.langchain.com/runs/batch", ASK),
    "langsmith info": post("https://api.smith.langchain.com/info", method="GET"),
    "langfuse": post("https://cloud.langfuse.com/api/public/ingestion", {"batch": [{"body": ASK}]}),
    "otlp traces": post("http://collector:4318/v1/traces", b"\x0a", json_type=False),
    "otlp json": post("http://collector:4318/v1/traces", {"resourceSpans": []}),
    "otlp logs": post("http://collector:4318/v1/logs", {"resourceLogs": []}),
    "crewai telemetry": post("https://telemetry.crewai.com:4319/v1/traces", b"\x0a", json_type=False),
    "posthog": post("https://us.i.posthog.com/capture", ASK),
    "litellm prices": post(
        "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json",
        method="GET",
    ),
    "tiktoken": post("https://openaipublic.blob.core.windows.net/encodings/o200k.tiktoken", method="GET"),
    "instance metadata": post("http://169.254.169.254/latest/api/token", method="PUT"),
    "sts": post("https://sts.amazonaws.com/", b"Action=GetCallerIdentity", json_type=False),
    "oauth": post("https://oauth2.googleapis.com/token", b"grant_type=x", json_type=False),
    "slack": post("https://slack.com/api/chat.postMessage", {"channel": "c", "text": "hi"}),
    "discord": post("https://discord.com/api/v10/channels/1/messages", {"content": "hi"}),
    "vonage messages": post("https://api.nexmo.com/v1/messages", {"to": "1", "text": "hi", "channel": "sms"}),
    "a chat app": post("https://chat.example/messages", {"messages": [{"role": "user", "content": "x"}]}),
    "a search tool": post("https://api.search.example/v1/search", {"q": "x"}),
    "graphql": post("https://shop.example/graphql", {"query": "{messages{role}}"}),
    "a survey's responses": post("https://survey.example/v1/responses", {"answers": [1]}),
    "a responses app": post("https://survey.example/responses", {"input": "x"}),
    "a web page's chat": post("https://shop.example/api/chat", {"messages": [{"role": "user"}]}),
    "a lambda": post("https://lambda.us-east-1.amazonaws.com/2015-03-31/functions/f/invocations", {}),
    "an agent's invoke": post("https://agents.example/threads/1/invoke", ASK),
    "gemini models": post("https://generativelanguage.googleapis.com/v1/models", method="GET"),
    "gemini cache": post("https://generativelanguage.googleapis.com/v1/cachedContents", {"x": 1}),
    "vertex predict": post("https://us-aiplatform.googleapis.com/v1/endpoints/1:predict", {"instances": []}),
    "ollama pull": post("http://localhost:11434/api/pull", {"model": "m"}),
    "ollama tags": post("http://localhost:11434/api/tags", method="GET"),
    "cohere rerank": post("https://api.cohere.com/v2/rerank", {"query": "x"}),
    "cohere tokenize": post("https://api.cohere.com/v1/tokenize", {"text": "x"}),
    "bedrock guardrail": post(
        "https://bedrock-runtime.us-east-1.amazonaws.com/guardrail/g/version/1/apply", {}
    ),
    "bedrock models": post("https://bedrock.us-east-1.amazonaws.com/foundation-models", method="GET"),
    "bedrock tokens": post("https://bedrock-runtime.us-east-1.amazonaws.com/model/c/count-tokens", {}),
    "langfuse otel": post("https://cloud.langfuse.com/api/public/otel/v1/traces", ASK),
    "langsmith feedback": post("https://api.smith.langchain.com/feedback", {"key": "x", **ASK}),
    "langsmith otel": post("https://api.smith.langchain.com/otel/v1/traces", ASK),
    "arize phoenix": post("http://phoenix:6006/v1/traces", b"\x0a", json_type=False),
    "traceloop": post("https://api.traceloop.com/v1/traces", ASK),
    "helicone": post("https://api.worker.helicone.ai/custom/v1/log", ASK),
    "wandb weave": post("https://trace.wandb.ai/call/upsert_batch", {"batch": [{"req": ASK}]}),
    "weave call": post("https://trace.wandb.ai/call/start", {"start": {"inputs": ASK}}),
    "braintrust": post("https://api.braintrust.dev/logs3", {"rows": [ASK]}),
    "opik": post("https://www.comet.com/opik/api/v1/private/traces/batch", {"traces": [ASK]}),
    "mlflow": post("http://mlflow:5000/api/2.0/mlflow/traces", ASK),
    "lunary": post("https://api.lunary.ai/v1/runs/ingest", {"events": [ASK]}),
    "portkey logs": post("https://api.portkey.ai/v1/logs", {"request": ASK}),
    "agentops": post("https://api.agentops.ai/v2/create_events", {"events": [ASK]}),
    "datadog llm observability": post(
        "https://api.datadoghq.com/api/intake/llm-obs/v1/trace/spans", {"data": {"attributes": ASK}}
    ),
    "sentry": post("https://o1.ingest.sentry.io/api/1/envelope/", b'{"dsn":"x"}\n{}', json_type=False),
    "segment": post("https://api.segment.io/v1/track", {"properties": ASK}),
    "segment batch": post("https://api.segment.io/v1/batch", {"batch": [{"properties": ASK}]}),
    "mixpanel": post("https://api.mixpanel.com/track", [{"properties": ASK}]),
    "amplitude": post("https://api2.amplitude.com/2/httpapi", {"events": [ASK]}),
    "statsig": post("https://statsigapi.net/v1/log_event", {"events": []}),
    "datadog logs": post("https://http-intake.logs.datadoghq.com/api/v2/logs", [ASK]),
    "loki": post("http://loki:3100/loki/api/v1/push", {"streams": []}),
    "otlp metrics": post("http://collector:4318/v1/metrics", {"resourceMetrics": []}),
    "openai upload": post("https://api.openai.com/v1/uploads", {"purpose": "fine-tune"}),
    "openai vector search": post("https://api.openai.com/v1/vector_stores/v/search", {"query": "x"}),
    "openai images": post("https://api.openai.com/v1/images/generations", {"model": "m", "prompt": "x"}),
    "openai speech": post("https://api.openai.com/v1/audio/speech", {"model": "m", "input": "x"}),
    "openai transcription": post("https://api.openai.com/v1/audio/transcriptions", json_type=False),
    "openai fine-tuning": post("https://api.openai.com/v1/fine_tuning/jobs", {"model": "m"}),
    "openai session": post("https://api.openai.com/v1/realtime/client_secrets", {"session": {"model": "m"}}),
    "the input of a kept response": post(
        "https://api.openai.com/v1/responses/resp_1/input_items", method="GET"
    ),
    "somebody's response": post("https://survey.example/v1/responses/17", method="GET"),
    "no response": post("https://api.openai.com/v1/responses", method="GET"),
    "a cancelled response": post("https://api.openai.com/v1/responses/resp_1/cancel"),
    "a deleted response": post("https://api.openai.com/v1/responses/resp_1", method="DELETE"),
    "anthropic files": post("https://api.anthropic.com/v1/files", json_type=False, anthropic_version=V),
    "claude code telemetry": post("https://api.anthropic.com/api/event_logging/batch", {"events": [{}]}),
    "claude code metrics": post("https://api.anthropic.com/api/claude_code/metrics", {"metrics": []}),
    "claude code oauth": post("https://console.anthropic.com/v1/oauth/token", {"grant_type": "x"}),
    "gemini upload": post("https://generativelanguage.googleapis.com/upload/v1beta/files", {"file": {}}),
    "gemini tuning": post("https://generativelanguage.googleapis.com/v1beta/tunedModels", {"x": 1}),
    "vertex count": post(
        "https://us-aiplatform.googleapis.com/v1/p/publishers/google/models/g:countTokens", {"contents": []}
    ),
    "google token": post("https://iamcredentials.googleapis.com/v1/p/x:generateAccessToken", {"scope": []}),
    "azure token": post(
        "https://login.microsoftonline.com/t/oauth2/v2.0/token", b"grant_type=x", json_type=False
    ),
    "azure models": post("https://me.openai.azure.com/openai/models?api-version=1", method="GET"),
    "ollama show": post("http://localhost:11434/api/show", {"model": "m"}),
    "ollama version": post("http://localhost:11434/api/version", method="GET"),
    "cohere classify": post("https://api.cohere.com/v1/classify", {"model": "m", "inputs": ["x"]}),
    "voyage rerank": post("https://api.voyageai.com/v1/rerank", {"model": "m", "query": "x"}),
    "pinecone": post("https://i.svc.pinecone.io/query", {"vector": [0.1], "topK": 1}),
    "qdrant": post("http://qdrant:6333/collections/c/points/search", {"vector": [0.1]}),
    "chroma": post("http://chroma:8000/api/v2/tenants/t/databases/d/collections/c/query", {}),
    "mem0": post("https://api.mem0.ai/v1/memories/", {"messages": [{"content": "x"}]}),
    "vllm health": post("http://10.0.0.7:8000/health", method="GET"),
    "vllm detokenize": post("http://10.0.0.7:8000/detokenize", {"model": "m", "tokens": [1]}),
    "litellm key": post("http://gateway.corp:4000/key/generate", {"models": ["m"]}),
    "hugging face": post("https://huggingface.co/api/models/m", method="GET"),
    "teams": post("https://graph.microsoft.com/v1.0/chats/1/messages", {"body": {"content": "hi"}}),
    "twilio": post("https://api.twilio.com/2010-04-01/Accounts/A/Messages.json", b"Body=hi", json_type=False),
    "no roles": post("https://corp.example/ask", {"model": "m", "messages": ["hi"]}),
    "no model": post("https://corp.example/ask", {"messages": [{"role": "user"}]}),
    "a form": post("https://corp.example/ask", b"model=m&messages=x", json_type=False),
}


def test_the_tables_are_big_enough() -> None:
    assert len(MODEL) >= 50
    assert len(OTHER) >= 100


@pytest.mark.parametrize("name", MODEL)
def test_model_traffic(name: str) -> None:
    request, protocol, provider = MODEL[name]
    found = wire.classify(request)
    assert (found.kind, found.protocol and found.protocol.name) == ("llm", protocol)
    assert found.provider == provider


@pytest.mark.parametrize("name", OTHER)
def test_other_traffic(name: str) -> None:
    assert wire.classify(OTHER[name]) == wire.Classified("other")


@pytest.mark.parametrize("name", OTHER)
def test_the_head_alone_never_takes_other_traffic_for_a_model_s(name: str) -> None:
    request = OTHER[name]
    head = Request(request.method, request.scheme, request.host, request.port, request.path, request.headers)
    assert wire.classify(head).kind == "other"


@pytest.mark.parametrize("name", MODEL)
def test_the_head_alone_decides_or_states_that_the_body_may(name: str) -> None:
    request, protocol, _ = MODEL[name]
    head = Request(request.method, request.scheme, request.host, request.port, request.path, request.headers)
    found = wire.classify(head)
    if found.protocol is None:
        assert wire.may_be_model(head)
    else:
        assert found.protocol.name == protocol


@pytest.mark.parametrize(
    ("request_", "may"),
    [
        (post("https://corp.example/ask"), True),
        (post("http://gw.corp/v1/messages"), True),
        (post("https://corp.example/ask", json_type=False), False),
        (post("https://corp.example/ask", method="GET"), False),
        (post("http://collector:4318/v1/traces"), False),
        (post("https://api.openai.com/v1/embeddings"), False),
    ],
)
def test_what_the_body_may_still_change(request_: Request, may: bool) -> None:
    assert wire.may_be_model(request_) is may


def test_tools_go_first_and_match_with_and_without_the_query() -> None:
    tools = {
        "search": ToolSite(url=("https://api.search.example/v1/search",)),
        "judge": ToolSite(url="https://api.openai.com/*"),
        "nowhere": ToolSite(),
    }
    search = wire.classify(post("https://api.search.example/v1/search?q=1", method="GET"), tools)
    assert search == wire.Classified("tool", tool="search")
    assert wire.classify(post("https://api.openai.com/v1/chat/completions", ASK), tools).tool == "judge"
    assert wire.classify(post("https://api.search.example/v1/other"), tools).kind == "other"
