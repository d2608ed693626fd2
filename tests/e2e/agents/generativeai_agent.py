"""An agent on google-generativeai, which speaks gRPC unless it is told otherwise.

generativeai_agent.py grpc|rest [WAY ...]      WAY: whole stream tools
"""

import json
import sys
import warnings

warnings.simplefilter("ignore")  # it says at every start that it is deprecated

import google.generativeai as genai  # noqa: E402

QUESTION = "Tell me about rivers ({})."
LIMIT = {"timeout": 5}
RESULTS = []


def calculator(expression: str) -> str:
    """Evaluates an arithmetic expression."""
    left, _, right = expression.partition("*")
    RESULTS.append(str(int(left) * int(right)))
    return RESULTS[-1]


def whole():
    answer = genai.GenerativeModel("gemini-2.5-flash").generate_content(
        QUESTION.format("whole"), request_options=LIMIT
    )
    return {"text": answer.text, "finish": answer.candidates[0].finish_reason.name}


def stream():
    seen = {"text": "", "finish": None, "events": 0}
    try:
        events = genai.GenerativeModel("gemini-2.5-flash").generate_content(
            QUESTION.format("stream"), stream=True, request_options=LIMIT
        )
        for event in events:
            seen["events"] += 1
            seen["text"] += "".join(part.text for part in event.parts)
            seen["finish"] = event.candidates[0].finish_reason.name
    except BaseException as error:
        error.partial = seen
        raise
    return seen


def tools():
    model = genai.GenerativeModel("gemini-2.5-flash", tools=[calculator])
    chat = model.start_chat(enable_automatic_function_calling=True)
    return {"text": chat.send_message("What is 6*7?").text, "results": RESULTS}


def main() -> None:
    genai.configure(api_key="test-key-of-nobody", transport=sys.argv[1])
    met = {}
    for way in sys.argv[2:] or ("whole", "stream", "tools"):
        try:
            met[way] = {"whole": whole, "stream": stream, "tools": tools}[way]()
        except Exception as error:
            told = {"error": type(error).__name__, "message": str(error)[:300]}
            met[way] = {**getattr(error, "partial", {}), **told, "code": getattr(error, "code", None)}
    print(json.dumps(met))


main()
