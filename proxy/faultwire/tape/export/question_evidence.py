"""What a tape shows, piece by piece: each with its state, a sentence, and references into the bundle.

No sentence says more than the bundle it was made from; of a tape that does not verify none says anything.
References are `exchange SESSION/N`, `event N`, and `gap N` and `finding N`, places in the bundle's lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SHOWN, IN_PART, NOT = "shown", "shown in part", "no evidence on this tape"
Json = dict[str, Any]


def evidence(made: Mapping[str, Any]) -> dict[str, Json]:
    """Every piece by name."""
    if not made["evidence"]["verifies"]:
        bad = [f"finding {n}" for n, _ in enumerate(made["findings"])]
        nothing = {"state": NOT, "says": "The tape does not verify, so it shows nothing.", "references": bad}
        return {name: {"name": name, **nothing} for name in _PIECES}
    return {name: {"name": name, **piece(made)} for name, piece in _PIECES.items()}


def _piece(state: str, text: str, references: list[str]) -> Json:
    return {"state": state, "says": text, "references": references}


def _exchanges(made: Mapping[str, Any]) -> list[str]:
    return [f"exchange {one['session']}/{one['exchange']}" for one in made["exchanges"]]


def _seals(made: Mapping[str, Any]) -> list[str]:
    return [f"event {one['event']}" for one in made["custody"] if one["what"] == "sealed"]


def _codes(made: Mapping[str, Any]) -> set[str]:
    return {one["code"] for one in made["findings"]}


def _findings(made: Mapping[str, Any], *codes: str) -> list[str]:
    return [f"finding {n}" for n, one in enumerate(made["findings"]) if one["code"] in codes]


def _recorded(made: Mapping[str, Any]) -> Json:
    if made["evidence"]["class"] == "NON_AUTHORITATIVE":
        return _piece(NOT, f"The proxy did not record this: {made['evidence']['reasons'][0]}.", ["event 0"])
    if not made["exchanges"]:
        return _piece(NOT, "No exchange is on the tape.", ["event 0"])
    count = counted(len(made["exchanges"]), "exchange")
    if made["custody"][0]["what"] != "recorded":
        text = f"{count} on this tape come from other tapes, which its first event names."
        return _piece(IN_PART, text, ["event 0", *_exchanges(made)])
    return _piece(SHOWN, f"The proxy recorded {count} on the wire as they happened.", _exchanges(made))


def _times(made: Mapping[str, Any]) -> Json:
    if not made["exchanges"]:
        return _piece(NOT, "No exchange is on the tape.", ["event 0"])
    open_ = [one["session"] for one in made["sessions"] if one["ended"] is None]
    if open_ or made["evidence"]["class"] == "NON_AUTHORITATIVE":
        text = "Exchanges have instants, which are not all the proxy's or lack the end of a session."
        return _piece(IN_PART, text, _exchanges(made))
    text = "Each session has its start and end and each exchange its start, by the recording machine's clock."
    return _piece(SHOWN, text, _exchanges(made))


def _participants(made: Mapping[str, Any]) -> Json:
    if not made["exchanges"]:
        return _piece(NOT, "No exchange is on the tape.", ["event 0"])
    text = "Sessions name the agent, exchanges the host that was called. No natural person is identified."
    return _piece(IN_PART, text, _exchanges(made))


def _integrity(made: Mapping[str, Any]) -> Json:
    codes = _codes(made)
    if codes & {"seal_missing", "tail_unsealed"}:
        text = "The events fit one another, but not all are under a seal: the file could be made anew."
        return _piece(IN_PART, text, _findings(made, "seal_missing", "tail_unsealed"))
    if "body_erased" in codes:
        text = "All events and the bodies that are left are as they were sealed; the others were erased."
        return _piece(IN_PART, text, [*_seals(made), *_findings(made, "body_erased")])
    return _piece(SHOWN, "All events and bodies are as they were sealed by a trusted key.", _seals(made))


def _completeness(made: Mapping[str, Any]) -> Json:
    if made["evidence"]["class"] == "AUTHORITATIVE" and not made["gaps"] and made["exchanges"]:
        text = "No missing exchange and no connection past the proxy is known."
        return _piece(SHOWN, text, _seals(made))
    if made["evidence"]["class"] == "NON_AUTHORITATIVE" or not made["exchanges"]:
        return _piece(NOT, "What is missing from this tape is not known.", ["event 0"])
    gaps = [f"gap {n}" for n, _ in enumerate(made["gaps"])]
    known = counted(len(gaps), "gap is known", "gaps are known")
    text = f"The tape is not complete evidence; {known}."
    return _piece(IN_PART, text, gaps + [f"finding {n}" for n, _ in enumerate(made["findings"])])


def _faults(made: Mapping[str, Any]) -> Json:
    hit = [one for one in made["exchanges"] if one["faults"]]
    if not hit:
        return _piece(NOT, "No fault was injected while this tape was recorded.", [])
    text = f"Faults were injected into {counted(len(hit), 'exchange')}; verdicts are in the run's report."
    return _piece(IN_PART, text, [f"exchange {one['session']}/{one['exchange']}" for one in hit])


def _secrets(made: Mapping[str, Any]) -> Json:
    if made["evidence"]["class"] == "NON_AUTHORITATIVE" and not made["redactions"]:
        return _piece(NOT, "No redaction is recorded on this tape.", [])
    count = sum(one["count"] for one in made["redactions"])
    places = [f"exchange {one['session']}/{one['exchange']}" for one in made["redactions"]]
    text = f"{counted(count, 'value')} {'was' if count == 1 else 'were'} replaced before storage."
    return _piece(IN_PART, text, list(dict.fromkeys(places)))


def _not_looked_at(count: int) -> str:
    if not count:
        return ""
    return f" {counted(count, 'body', 'bodies')} could not be looked at."


def _personal_data(made: Mapping[str, Any]) -> Json:
    about = made["personal_data"]
    places = [place for one in about["found"] for place in one["places"]]
    events = list(dict.fromkeys(f"event {place['event']}" for place in places))
    setting = "on" if about["redacted"] else "off"
    more = _not_looked_at(len(about["not_text"]) + len(about["absent"]))
    if not about["texts"]:
        return _piece(NOT, f"No text could be looked at.{more}", [])
    if events:
        kinds = ", ".join(f"{one['kind']} ({one['severity']}, {one['count']})" for one in about["found"])
        return _piece(
            IN_PART, f"Detectors found {kinds}; redaction of personal data was {setting}.{more}", events
        )
    text = f"Detectors found no personal data; redaction of personal data was {setting}.{more}"
    return _piece(IN_PART, text, [])


def _retention(made: Mapping[str, Any]) -> Json:
    if not made["erasures"]:
        return _piece(NOT, "No retention or erasure is noted on this tape.", [])
    count = sum(len(one["bodies"]) for one in made["erasures"])
    text = f"{counted(count, 'body was', 'bodies were')} erased from this file; copies are not covered."
    return _piece(IN_PART, text, [f"event {one['event']}" for one in made["erasures"]])


_PIECES: dict[str, Callable[[Mapping[str, Any]], Json]] = {
    "recorded": _recorded,
    "times": _times,
    "participants": _participants,
    "integrity": _integrity,
    "completeness": _completeness,
    "faults": _faults,
    "secrets": _secrets,
    "personal_data": _personal_data,
    "retention": _retention,
}
