"""What is mutated, and which tests must notice. A new room is a row here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CoreRoom:
    """Sources of the core, and the words that its tests have in their names."""

    name: str
    sources: tuple[str, ...]
    """Globs below the project."""
    tests: tuple[str, ...]
    modules: tuple[str, ...]
    """What is left of the core while its mutants are built: the room and what that needs."""
    programs: tuple[str, ...] = ()
    """Test programs of `core_rs/tests` that are built for it, beside the tests in the sources."""


@dataclass(frozen=True)
class PythonRoom:
    """Sources of the package, and the tests that run against each of their mutants."""

    name: str
    sources: tuple[str, ...]
    """Globs below `proxy/`."""
    tests: tuple[str, ...]
    """Files and folders below the project."""
    ignored: tuple[str, ...] = ()
    """Of those, the ones that take too long to run against every mutant, and the ones that measure time. They
    may only be missing here: what they alone would notice counts as a survivor."""


TAPE = ("digest", "error", "json", "proof", "tape")
STATISTICS = ("error", "score", "stats")
VECTORS = ("digest", "error", "eventstream", "grpc", "json", "line", "proof", "score", "sse", "stats", "tape")
CORE = (
    CoreRoom("tape", ("core_rs/src/tape/*.rs",), ("tape",), TAPE, ("tapes",)),
    CoreRoom("stats", ("core_rs/src/stats/*.rs",), ("stats",), STATISTICS, ("statistics",)),
    CoreRoom("score", ("core_rs/src/score.rs",), ("score", "stats"), STATISTICS, ("statistics",)),
    CoreRoom("proof", ("core_rs/src/proof.rs",), ("proof",), ("digest", "error", "proof")),
    CoreRoom("digest", ("core_rs/src/digest.rs",), ("digest", "merkle"), VECTORS, ("vectors",)),
    CoreRoom("matching", ("core_rs/src/matching.rs",), ("matching",), ("error", "matching")),
)

EXCHANGE = ("tests/unit/exchange",)
EVIDENCE = (
    "tests/unit/tape/evidence",
    "tests/unit/tape/test_parts.py",
    "tests/unit/cli/test_tape_evidence.py",
)
REDACTION = ("tests/unit/tape/redact", "tests/unit/tape/files/test_copy.py")
COST = ("tests/unit/tape/redact/test_text_cost.py",)
"""What measures CPU time fails now and then on a machine with other work, and a mutant that nothing noticed
would count as noticed."""
SLOW = (
    *COST,
    *(
        f"tests/unit/tape/redact/test_{name}.py"
        for name in ("clean_carriers", "encoded_values", "known_keys")
    ),
)
"""Every kind of secret in every place: five sixths of what the tests of redaction take."""


def redaction(*names: str) -> tuple[str, ...]:
    return tuple(f"faultwire/tape/redact/{name}.py" for name in names)


def replay(*names: str) -> tuple[str, ...]:
    return tuple(f"faultwire/replay/{name}.py" for name in names)


PYTHON = (
    PythonRoom(
        "contract",
        ("faultwire/contract/*.py",),
        ("tests/unit/contract",),
        ignored=("tests/unit/contract/test_simulation.py",),
    ),
    PythonRoom("dice", ("faultwire/dice.py",), ("tests/unit/test_dice.py",)),
    PythonRoom(
        "session",
        ("faultwire/exchange/session_state.py",),
        ("tests/unit/exchange/test_session_state.py", "tests/unit/exchange/test_session_lookups.py"),
    ),
    PythonRoom(
        "matching",
        ("faultwire/profile/match.py", "faultwire/profile/candidates.py", "faultwire/profile/jsonpath.py"),
        (
            "tests/unit/profile/test_match.py",
            "tests/unit/profile/test_candidates.py",
            "tests/unit/profile/test_jsonpath.py",
        ),
    ),
    PythonRoom(
        "plan",
        ("faultwire/exchange/plan.py", "faultwire/exchange/trigger.py"),
        (
            "tests/unit/exchange/test_plan.py",
            "tests/unit/exchange/test_plan_lines.py",
            "tests/unit/exchange/test_trigger.py",
        ),
    ),
    # Evidence of tapes.
    PythonRoom(
        "seals",
        ("faultwire/tape/evidence/check_seals.py", "faultwire/tape/evidence/sealer.py"),
        ("tests/unit/tape/evidence/test_check_seals.py", "tests/unit/tape/evidence/test_seal_tape.py"),
    ),
    PythonRoom(
        "verification",
        (
            "faultwire/tape/evidence/erasures.py",
            "faultwire/tape/evidence/findings.py",
            "faultwire/tape/evidence/verify.py",
        ),
        EVIDENCE,
    ),
    PythonRoom(
        "proofs",
        ("faultwire/tape/evidence/inclusion_proof.py", "faultwire/tape/format/hash_chain.py"),
        EVIDENCE,
    ),
    PythonRoom("salvage", ("faultwire/tape/evidence/salvage.py",), EVIDENCE),
    PythonRoom(
        "notes",
        tuple(
            f"faultwire/tape/evidence/{name}.py"
            for name in ("body_keys", "checkpoint", "keyring", "signed_note", "standalone")
        ),
        EVIDENCE,
    ),
    PythonRoom(
        "chain",
        (
            "faultwire/exchange/fault_chain.py",
            "faultwire/exchange/relay.py",
            "faultwire/exchange/active_fault.py",
        ),
        EXCHANGE,
    ),
    PythonRoom(
        "pipeline",
        tuple(
            f"faultwire/exchange/{name}.py"
            for name in ("faults", "observers", "pipeline", "request_out", "stage", "stages", "understanding")
        ),
        EXCHANGE,
    ),
    PythonRoom(
        "results",
        tuple(
            f"faultwire/exchange/{name}.py"
            for name in ("deferred_replies", "result_decisions", "tool_results", "websocket_requests")
        ),
        EXCHANGE,
    ),
    PythonRoom(
        "tunnels",
        ("faultwire/exchange/agent_cards.py", "faultwire/exchange/tunnel.py"),
        ("tests/unit/exchange/test_agent_cards.py", "tests/unit/exchange/test_tunnel.py"),
    ),
    # The hash of a run's ledger, and what belongs to one conversation.
    PythonRoom(
        "ledger",
        ("faultwire/tape/read/fault_ledger.py",),
        ("tests/unit/tape/read", "tests/unit/tape/test_parts.py"),
        ignored=("tests/unit/tape/read/test_reader.py",),  # measures CPU time
    ),
    PythonRoom(
        "conversation",
        ("faultwire/exchange/conversation.py",),
        ("tests/unit/exchange/test_conversation.py",),
    ),
    # Redaction, what a replay answers, attacks on what an agent reads, and the gate's figures.
    PythonRoom("redaction names", redaction("edit", "headers", "names", "url"), REDACTION, COST),
    PythonRoom(
        "redaction text", redaction("known_keys", "packed", "search", "text", "values"), REDACTION, SLOW
    ),
    PythonRoom("redaction streams", redaction("eventstream", "messages", "stream"), REDACTION, SLOW),
    PythonRoom("redaction bodies", redaction("content_coding", "header_fields", "redactor"), REDACTION, SLOW),
    PythonRoom("redaction rules", redaction("rules", "taped_rules", "user_matches"), REDACTION, SLOW),
    PythonRoom("redaction scans", redaction("rekey", "scan"), REDACTION, SLOW),
    PythonRoom(
        "replay matching",
        replay("mask", "match", "request_key", "shingles", "volatile_values"),
        ("tests/unit/replay",),
    ),
    PythonRoom("replay rebinding", replay("rebind"), ("tests/unit/replay",)),
    PythonRoom("replay answers", replay("answer", "player", "script"), ("tests/unit/replay",)),
    PythonRoom(
        "attacks",
        ("faultwire/faults/attack/*.py",),
        (
            "tests/unit/faults/attack",
            "tests/unit/faults/test_carrier.py",
            "tests/unit/faults/test_carrier_texts.py",
            "tests/unit/faults/test_payloads.py",
        ),
    ),
    PythonRoom(
        "fuzzing",
        tuple(f"faultwire/fuzz/{name}.py" for name in ("crash", "minimise", "novelty", "schemas", "search")),
        tuple(
            f"tests/unit/fuzz/test_{name}.py"
            for name in ("crash", "minimise", "novelty", "schemas", "search")
        ),
    ),
    PythonRoom(
        "gate",
        tuple(f"faultwire/runner/{name}.py" for name in ("gate", "run_identity", "scored")),
        (
            "tests/unit/runner/test_gate.py",
            "tests/unit/runner/test_gate_words.py",
            "tests/unit/runner/test_run_identity.py",
            "tests/unit/runner/test_play_phase.py",
        ),
    ),
)
