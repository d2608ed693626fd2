"""Gemini's messages in Protocol Buffers, as far as a conversation needs them.

Source: `google/ai/generativelanguage/v1beta/*.proto`, and what the descriptors of Google's own packages say.
Names are those of the JSON form, so that what reads Gemini's JSON reads these, too.
"""

from __future__ import annotations

from faultwire.wire.grpc.protobuf import Field, Message


def _many(number: int, of: Message) -> Field:
    return Field(number, "message", repeated=True, of=of)


def _one(number: int, of: Message) -> Field:
    return Field(number, "message", of=of)


_TYPES = ("TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_MODES = ("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED")
_FINISH = (
    "FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "LANGUAGE",
    "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL",
    "IMAGE_SAFETY", "UNEXPECTED_TOOL_CALL",
)  # fmt: skip
_BLOCKED = (
    "BLOCK_REASON_UNSPECIFIED", "SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY",
)  # fmt: skip

PART = Message(
    text=Field(2, "string"),
    inlineData=_one(3, Message(mimeType=Field(1, "string"), data=Field(2, "bytes"))),
    functionCall=_one(4, Message(name=Field(1, "string"), args=Field(2, "struct"), id=Field(3, "string"))),
    functionResponse=_one(
        5, Message(name=Field(1, "string"), response=Field(2, "struct"), id=Field(3, "string"))
    ),
    fileData=_one(6, Message(mimeType=Field(1, "string"), fileUri=Field(2, "string"))),
    thought=Field(11, "bool"),
    thoughtSignature=Field(13, "bytes"),
)
CONTENT = Message(parts=_many(1, PART), role=Field(2, "string"))

SCHEMA = Message(
    type=Field(1, "enum", words=_TYPES),
    format=Field(2, "string"),
    description=Field(3, "string"),
    nullable=Field(4, "bool"),
    enum=Field(5, "string", repeated=True),
    required=Field(8, "string", repeated=True),
)
SCHEMA.add("items", _one(6, SCHEMA))
SCHEMA.add("properties", Field(7, "map", of=SCHEMA))

_FUNCTION = Message(
    name=Field(1, "string"),
    description=Field(2, "string"),
    parameters=_one(3, SCHEMA),
    response=_one(4, SCHEMA),
)
_EMPTY = Message()
_TOOL = Message(
    functionDeclarations=_many(1, _FUNCTION),
    googleSearchRetrieval=_one(2, _EMPTY),
    codeExecution=_one(3, _EMPTY),
    googleSearch=_one(4, _EMPTY),
)
_CALLING = Message(
    mode=Field(1, "enum", words=_MODES), allowedFunctionNames=Field(2, "string", repeated=True)
)
_SETTINGS = Message(
    candidateCount=Field(1, "int"),
    stopSequences=Field(2, "string", repeated=True),
    maxOutputTokens=Field(4, "int"),
    temperature=Field(5, "float"),
    topP=Field(6, "float"),
    topK=Field(7, "int"),
    responseMimeType=Field(13, "string"),
    responseSchema=_one(14, SCHEMA),
)

REQUEST = Message(
    model=Field(1, "string"),
    contents=_many(2, CONTENT),
    generationConfig=_one(4, _SETTINGS),
    tools=_many(5, _TOOL),
    toolConfig=_one(7, Message(functionCallingConfig=_one(1, _CALLING))),
    systemInstruction=_one(8, CONTENT),
    cachedContent=Field(9, "string"),
)
"""GenerateContentRequest."""

_CANDIDATE = Message(
    content=_one(1, CONTENT),
    finishReason=Field(2, "enum", words=_FINISH),
    index=Field(3, "int"),
    tokenCount=Field(7, "int"),
)
_USAGE = Message(
    promptTokenCount=Field(1, "int"),
    candidatesTokenCount=Field(2, "int"),
    totalTokenCount=Field(3, "int"),
    cachedContentTokenCount=Field(4, "int"),
    thoughtsTokenCount=Field(10, "int"),
)
RESPONSE = Message(
    candidates=_many(1, _CANDIDATE),
    promptFeedback=_one(2, Message(blockReason=Field(1, "enum", words=_BLOCKED))),
    usageMetadata=_one(3, _USAGE),
    modelVersion=Field(4, "string"),
    responseId=Field(5, "string"),
)
"""GenerateContentResponse."""

_EMBED = Message(
    model=Field(1, "string"), content=_one(2, CONTENT), title=Field(4, "string"),
    outputDimensionality=Field(5, "int"),
)  # fmt: skip
_VECTOR = Message(values=Field(1, "float", repeated=True))
EMBED = {
    "EmbedContent": (_EMBED, Message(embedding=_one(1, _VECTOR))),
    "BatchEmbedContents": (
        Message(model=Field(1, "string"), requests=_many(2, _EMBED)),
        Message(embeddings=_many(1, _VECTOR)),
    ),
}
"""Requests and responses of the methods that embed."""
