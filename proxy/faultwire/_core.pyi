"""Typed face of the Rust core.

Everything here is pure: same bytes in, same answer out; no clock, no chance, no files. Bad input
raises `ValueError`, whose message names the byte offset or the offending word. Text arguments with
lone surrogates raise `UnicodeEncodeError` (a `ValueError`), unless stated otherwise. Offsets and
lengths are bytes for `bytes` arguments and characters for `str` arguments. Work on more than 64 KiB
runs without the GIL.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, Self, TypeAlias, final

__all__ = [
    "ArraySplitter",
    "EntryGate",
    "EventStreamSplitter",
    "Frontier",
    "GrpcSplitter",
    "JsonMask",
    "LineSplitter",
    "PatternStream",
    "Placeholders",
    "Regex",
    "RequestCounter",
    "SecretSearch",
    "SseSplitter",
    "TapeLog",
    "TapeStore",
    "TapeVerdict",
    "TapeVerifier",
    "Terms",
    "TriggerCounts",
    "Tunnel",
    "UserPatterns",
    "WaitingEntries",
    "__version__",
    "benjamini_hochberg",
    "boschloo_test",
    "chain_hash",
    "client_hello",
    "clopper_pearson_interval",
    "compare_texts",
    "confidence_sequence",
    "consistency_proof",
    "eventstream_parse",
    "eventstream_with_payload",
    "eventstream_write",
    "find_leak",
    "form_edits",
    "glob_match",
    "grpc_parse",
    "grpc_write",
    "has_secret_path",
    "header_class",
    "holds_compressed",
    "holds_packed",
    "holm",
    "http1_request_flaw",
    "http1_response_flaw",
    "http2_request_flaw",
    "http2_response_flaw",
    "inclusion_proof",
    "is_encoding",
    "is_packed",
    "is_verifier_key",
    "jcs",
    "jeffreys_interval",
    "json_children",
    "json_fingerprint",
    "json_marks",
    "json_marks_in_texts",
    "json_member_span",
    "json_span",
    "json_splice",
    "judge_refusal",
    "kept_scheme",
    "key_offered",
    "known_edits",
    "leaf_hash",
    "ln_evidence",
    "mcnemar",
    "merkle_root",
    "newcombe_interval",
    "newcombe_paired_interval",
    "node_hash",
    "open_tail",
    "packed_stretches",
    "pair_class",
    "pass_bound",
    "pass_hat",
    "pattern_catalog",
    "query_class",
    "query_edits",
    "record_holds_secret",
    "resilience_score",
    "scan_text",
    "secret_spans",
    "secret_suspected",
    "secret_suspected_in_record",
    "sha256_hex",
    "shaped_values",
    "share_sqlite",
    "sprt",
    "sse_parse",
    "trailers_flaw",
    "unescape_json",
    "unit",
    "unquote_word",
    "unwrap_markup",
    "verify_consistency",
    "verify_inclusion",
    "wilson_interval",
]

__version__: Final[str]

_JsonPath: TypeAlias = Sequence[str | int]
"""Steps from the root: `str` for a member, `int` (from 0) for an element; no steps is the root."""

# --- digests and dice ---------------------------------------------------------------------------

def sha256_hex(data: bytes, /) -> str:
    """SHA-256 as 64 lower-case hex digits (FIPS 180-4)."""

def leaf_hash(record: bytes, /) -> bytes:
    """SHA-256(0x00 ‖ record), 32 bytes (RFC 6962 §2.1)."""

def node_hash(left: bytes, right: bytes, /) -> bytes:
    """SHA-256(0x01 ‖ left ‖ right), 32 bytes (RFC 6962 §2.1).

    Raises ValueError unless both sides are 32 bytes.
    """

def merkle_root(leaves: list[bytes], /) -> bytes:
    """Tree head over leaf hashes (RFC 6962 §2.1); without leaves, SHA-256 of nothing.

    Raises ValueError unless every leaf is 32 bytes.
    """

@final
class TapeVerdict:
    """What an exported tape is found to be."""

    @property
    def events(self) -> int: ...
    @property
    def root(self) -> str:
        """The RFC 6962 tree head over the events, in hex."""

    @property
    def origin(self) -> str | None:
        """What the first event calls the log."""

    @property
    def settings(self) -> str | None:
        """The JSON object of the first event's settings; none where it has no such."""

    @property
    def sessions(self) -> int: ...
    @property
    def exchanges(self) -> int: ...
    @property
    def blobs(self) -> int: ...
    @property
    def key(self) -> str | None:
        """The verifier key of the last seal."""

    @property
    def trusted(self) -> bool:
        """Is it one of the keys that were given?"""

    @property
    def findings(self) -> list[tuple[str, str, int | None]]:
        """Each as code, message, and the event that it is about."""

@final
class TapeVerifier:
    """Takes the lines of an exported tape, without its first, one after the other.

    It trusts the seals of `keys` (`NAME+ID+BASE64`); `demanded` says that the tape must be sealed to its
    end. Raises ValueError for a key that is none.
    """

    def __new__(cls, keys: list[str], demanded: bool, /) -> TapeVerifier: ...
    def line(self, line: bytes, /) -> int:
        """Judge one line, with or without its line feed; the number of findings so far.

        Raises ValueError once closed.
        """

    def close(self) -> TapeVerdict:
        """What is found once all lines were given. Raises ValueError once closed."""

def is_verifier_key(text: str, /) -> bool:
    """Is this `NAME+ID+BASE64`, with the ID of the key, which is a point as RFC 8032 writes it?"""

@final
class Frontier:
    """An RFC 6962 tree that grows by one leaf hash at a time; it holds about log2(size) hashes."""

    def __new__(cls) -> Frontier: ...
    def push(self, leaf: bytes, /) -> None:
        """Add a leaf hash. Raises ValueError unless it is 32 bytes."""

    @property
    def size(self) -> int:
        """How many leaves it has."""

    def root(self) -> bytes:
        """The tree head, as `merkle_root` gives it for the same leaves."""

def inclusion_proof(leaves: list[bytes], index: int, /) -> list[bytes]:
    """The hashes that lead from a leaf to the tree head, the leaf's sibling first (RFC 6962 §2.1.1).

    Raises ValueError where there is no such leaf, or one is not 32 bytes.
    """

def verify_inclusion(leaf: bytes, index: int, size: int, proof: list[bytes], root: bytes, /) -> bool:
    """Is this leaf hash number `index` of the tree of `size` leaves (RFC 9162 §2.1.3.2)?

    Raises ValueError for hashes that are not 32 bytes and for negative numbers.
    """

def consistency_proof(leaves: list[bytes], first: int, /) -> list[bytes]:
    """The hashes that show that a tree grew out of its first leaves (RFC 6962 §2.1.2).

    Raises ValueError unless `first` is 1 to the number of leaves, or where one is not 32 bytes.
    """

def verify_consistency(
    first: int, second: int, proof: list[bytes], first_root: bytes, second_root: bytes, /
) -> bool:
    """Did the tree of `second` leaves grow out of the one of `first` leaves (RFC 9162 §2.1.4.2)?

    Raises ValueError for hashes that are not 32 bytes and for negative numbers.
    """

def chain_hash(previous: bytes, record: bytes, /) -> bytes:
    """SHA-256(0x02 ‖ previous ‖ leaf_hash(record)), 32 bytes.

    Raises ValueError unless `previous` is 32 bytes. What stands before the first record is the
    tape's to choose.
    """

def unit(key: bytes, /) -> float:
    """Draw of keyed-hash dice: the first 53 bits of SHA-256(key) over 2^53, in [0, 1)."""

# --- JSON as bytes ------------------------------------------------------------------------------

def jcs(data: bytes, /) -> bytes:
    """Canonical JSON (RFC 8785) of one UTF-8 document.

    Numbers are doubles: `1.0` becomes `1`, and integers beyond 2^53 are rounded as the RFC says.

    Raises ValueError on invalid JSON (a BOM and `NaN` included), duplicate keys, lone surrogates,
    numbers that overflow a double, and more than 127 levels.
    """

def json_fingerprint(body: bytes, mask: Sequence[str], /) -> bytes:
    """SHA-256 (32 bytes) of the canonical body with the members named in `mask` set to null.

    A mask reaches every depth and replaces whole values. Key order, spacing and escapes make no
    difference. Two rules beyond RFC 8785: of duplicate keys the last one counts, and integers
    between 2^53 and 2^64 keep their digits, so that long ids stay apart. What `jcs` would refuse
    for other reasons is hashed as SHA-256("raw:" ‖ body).
    """

@final
class JsonMask:
    """The mask of `json_fingerprint`, read once."""

    def __new__(cls, paths: Sequence[str], /) -> JsonMask: ...
    def fingerprint(self, body: bytes, /) -> str:
        """The same digest in lower-case hex. A body that stands in its canonical form but for blanks and the
        order of its members is read in one pass."""

def json_marks(body: bytes, /) -> int:
    """How many of the bytes `,`, `[`, `{` and `:` it has: about its values, more where texts hold some."""

def json_marks_in_texts(body: bytes, longer: int, most: int, /) -> int:
    """How many of them stand in strings of more than `longer` bytes (with their quotes); 0 where there are
    more than `most` strings, or one never ends."""

def json_span(body: bytes, path: _JsonPath, /) -> tuple[int, int] | None:
    """`(start, end)` of the value at `path`: `body[start:end]` is its text, quotes included.

    None when the path leads nowhere. Of duplicate keys the last one counts, as for Python's
    `json`. The whole body is read once, so malformed JSON anywhere is noticed. Escaped keys match
    by what they mean; a leading BOM is allowed.

    Raises ValueError on anything but RFC 8259 JSON in UTF-8, on more than 256 levels, and on a
    negative index.
    """

def json_member_span(body: bytes, path: _JsonPath, /) -> tuple[int, int] | None:
    """`(start, end)` to cut so that the member (`"key": value`) or element at `path` is gone.

    One adjoining comma is included, with the space up to the next member, so what is left is valid
    JSON. None for the root and for a path that leads nowhere. Cut one member at a time: the spans
    of two neighbours may share a comma. Removing the last of duplicate keys uncovers the one
    before. Raises ValueError as `json_span` does.
    """

def json_children(body: bytes, path: _JsonPath, /) -> list[tuple[str | int, int, int]]:
    """`(key or index, start, end)` of each value in the container at `path`, in order.

    Duplicate keys are all listed. Empty for a scalar and for a path that leads nowhere. Raises
    ValueError as `json_span` does, and on a key that is no Unicode text.
    """

def json_splice(body: bytes, edits: Sequence[tuple[int, int, bytes]], /) -> bytes:
    """Replace spans `(start, end, new bytes)` and leave every other byte as it is.

    Spans refer to the body as given and may come in any order; an empty one inserts, and insertions
    at one place keep their order. The result is not checked for being JSON.

    Raises ValueError when spans overlap or leave the body.
    """

# --- framing ------------------------------------------------------------------------------------

@final
class SseSplitter:
    """Cuts a server-sent-event stream after each blank line, at any chunking (WHATWG HTML §9.2.5).

    All pieces and the rest join to the input, byte for byte; how the input was chunked never
    changes the pieces. Lines end in LF, CRLF or CR, mixed at will; a BOM at the start belongs to
    the first piece. A blank line on its own is a piece (`sse_parse` gives None for it).

    An event that ends in LF is released by the chunk that completes it. One whose blank line ends
    in CR waits for the next byte, since an LF would belong to it: half of a CRLF, or a stream of
    bare CRs, where each event comes with the first byte of the next one.
    """

    def __new__(cls) -> SseSplitter: ...
    def feed(self, chunk: bytes, /) -> list[bytes]:
        """Whole events that `chunk` completes, each with its terminating blank line."""

    def finish(self) -> bytes:
        """What was never released; the splitter is then as new.

        It is an event cut short, unless it ends in CR CR or LF CR (or is a lone CR): then it is a
        whole event that was waiting for its LF.
        """

    @property
    def pending(self) -> int:
        """Bytes held, for limits on what a peer may make us keep."""

@final
class LineSplitter:
    """Cuts an NDJSON stream after each LF, at any chunking; the same promises as `SseSplitter`."""

    def __new__(cls) -> LineSplitter: ...
    def feed(self, chunk: bytes, /) -> list[bytes]:
        """Whole lines that `chunk` completes, each with its LF (and the CR before it)."""

    def finish(self) -> bytes:
        """The line that never ended; the splitter is then as new."""

    @property
    def pending(self) -> int:
        """Bytes held."""

@final
class ArraySplitter:
    """Cuts one JSON array after each element, at any chunking; the same promises as `SseSplitter`.

    The first piece begins with the opening bracket, later ones with their comma; the closing bracket
    and what follows it come from `finish`. An element is released by its last byte (a bare number or
    word by the byte behind it). Elements are not checked for being JSON.

    What cannot be an array passes as it comes, from the first byte that says so on.
    """

    def __new__(cls) -> ArraySplitter: ...
    def feed(self, chunk: bytes, /) -> list[bytes]:
        """Whole elements that `chunk` completes, each with what stands before it."""

    def finish(self) -> bytes:
        """The end of the array, or what never came to its end; the splitter is then as new."""

    @property
    def broken(self) -> bool:
        """Was there something that no array holds?"""

    @property
    def pending(self) -> int:
        """Bytes held."""

@final
class EventStreamSplitter:
    """Cuts an AWS event stream into frames, at any chunking; the same promises as `SseSplitter`.

    Once a prelude has a wrong checksum or an impossible length, frames end: what is held and what
    follows is passed on as it comes, and `broken` says why.
    """

    def __new__(cls) -> EventStreamSplitter: ...
    def feed(self, chunk: bytes, /) -> list[bytes]:
        """Whole frames that `chunk` completes."""

    def finish(self) -> bytes:
        """The frame that never ended; the splitter is then as new."""

    @property
    def pending(self) -> int:
        """Bytes held."""

    @property
    def broken(self) -> str | None:
        """Why frames ended before the stream did."""

@final
class GrpcSplitter:
    """Cuts a gRPC body into its length-prefixed frames, at any chunking; the same promises as
    `SseSplitter`.

    Once a flag is neither 0 nor 1, or a length is more than 16 MiB, frames end: what is held and what
    follows is passed on as it comes, and `broken` says why.
    """

    def __new__(cls) -> GrpcSplitter: ...
    def feed(self, chunk: bytes, /) -> list[bytes]:
        """Whole frames that `chunk` completes, each with its five bytes in front."""

    def finish(self) -> bytes:
        """The frame that never ended; the splitter is then as new."""

    @property
    def pending(self) -> int:
        """Bytes held."""

    @property
    def broken(self) -> str | None:
        """Why frames ended before the stream did."""

def grpc_parse(frame: bytes, /) -> tuple[bool, bytes]:
    """Whether a frame's message is compressed, and the message. Raises ValueError where it is no frame."""

def grpc_write(message: bytes, /, *, compressed: bool = False) -> bytes:
    """A message as a frame. Raises ValueError for one of more than 16 MiB."""

def eventstream_parse(frame: bytes, /) -> tuple[list[tuple[str, str]], bytes]:
    """`(text headers, payload)` of one whole frame; headers of other types are passed over.

    Raises ValueError where a checksum or a length is wrong.
    """

def eventstream_write(headers: Sequence[tuple[str, str]], payload: bytes, /) -> bytes:
    """A frame with text headers. Raises ValueError where a name, a value or the frame is too long."""

def eventstream_with_payload(frame: bytes, payload: bytes, /) -> bytes:
    """The frame with another payload, its header bytes kept. Raises ValueError as the parser does."""

def sse_parse(event: bytes, /) -> tuple[str | None, bytes, str | None, int | None] | None:
    """`(event name, data, id, retry in ms)` of one piece (WHATWG HTML §9.2.6).

    Data lines are joined with LF and stay bytes. None when there is neither a data nor an event
    field: comments, keep-alives, an `id:` or `retry:` alone. A name, id or retry that is absent or
    invalid is None. Text that is not UTF-8 is decoded with U+FFFD. Never raises.

    An unterminated last line is read too, where a browser would drop the event: so the rest of a
    cut stream can be looked at. A leading BOM is dropped.
    """

# --- patterns that users write --------------------------------------------------------------------

@final
class Regex:
    """A linear-time regular expression (syntax of the Rust crate `regex`).

    No look-around and no back-references; in exchange no pattern can hang the engine. Lone
    surrogates in a text count as U+FFFD.

    Raises ValueError with the reason for syntax that is wrong or not supported, and for a pattern
    that compiles to more than 4 MiB.
    """

    def __new__(cls, pattern: str, /) -> Regex: ...
    def search(self, text: str, /) -> tuple[int, int] | None:
        """`(start, end)` of the leftmost match in characters, so `text[start:end]` is the match."""

    def starts(self, text: str, /) -> list[int]:
        """Where matches begin: the leftmost, then the leftmost that begins after it, and so on.

        Matches may overlap. One pass over the text where the pattern's matches are of bounded length.
        """

    def is_match(self, text: str, /) -> bool:
        """Whether the pattern matches anywhere; cheaper than `search`."""

    @property
    def pattern(self) -> str:
        """The pattern as given."""

def glob_match(pattern: str, text: str, /) -> bool:
    """Whether `pattern` covers all of `text`: `*` any run, `?` any one character, case-sensitive.

    Nothing else is special and nothing escapes. Cost is at most the product of both lengths.
    """

# --- entries that match and wait ----------------------------------------------------------------

@final
class TriggerCounts:
    """What a session counts for each entry of its profiles. Equal where the same was counted."""

    def __new__(cls) -> TriggerCounts: ...
    def counts(self, entry: str, /) -> tuple[int, int]:
        """Logical calls that it has seen, and those on which it fired or is about to."""

    def begun(self, entry: str, /) -> tuple[int, float] | None:
        """The call on which it first fired, from 1, and its instant in seconds; None before."""

    def note(self, entry: str, at_s: float, fires: bool, /) -> None:
        """One more logical call."""

    def take(self, entry: str, places: int, /) -> None:
        """Take places among `max_times`, or give them back."""

@final
class EntryGate:
    """Judges the triggers of all entries that exchanges which look alike may match, in one call.

    `stem` is what the session's dice begin with. A trigger has the members `id`, `inapplicable` (why its
    fault cannot act on such exchanges), `between_s` (from, to, end of the sentence), `after_calls`, `first`,
    `calls` (calls, end of the sentence), `every`, `recovers_calls`, `recovers_s` (each with its sentence),
    `max_times`, and `stages` (last call or None, share, sentence). Raises KeyError where one is missing.
    """

    def __new__(
        cls, counts: TriggerCounts, stem: str, triggers: Sequence[dict[str, Any]], /
    ) -> EntryGate: ...
    def wait(
        self,
        key: str,
        n: int,
        at_s: float,
        left_out: Sequence[int],
        refused: Sequence[tuple[int, str]],
        /,
    ) -> WaitingEntries | None:
        """Why none acts on the logical call `key`, `n`, which all that can act have then seen; None where one
        would fire, and nothing is counted. Entries `left_out` (places, ascending) do not match the call,
        those `refused` cannot act on it."""

@final
class WaitingEntries:
    """Entries that all wait. As a mapping it has the judgements on those that have seen the call, by id."""

    def __len__(self) -> int: ...
    def get(self, entry: str, /) -> tuple[Literal["skip"], str, float | None] | None:
        """The judgement on an entry; None where it has not seen the call."""

    def items(self) -> list[tuple[str, tuple[Literal["skip"], str, float | None]]]:
        """Ids and judgements, in order."""

    def lines(self) -> list[tuple[int, str, float | None, bool]]:
        """For each entry: its place, why it does not act, its roll, and whether it has seen the call."""

# --- scores -------------------------------------------------------------------------------------

def resilience_score(
    cells: Sequence[tuple[str, str, str, str]], /
) -> tuple[float | None, list[tuple[str, float | None, int, int]]]:
    """The score of `(scenario, invocation, severity, verdict)` cells, and of each scenario in order of
    appearance its name, score, judged cells and all cells. Scores are 0 to 100, rounded to 2 digits.

    An invocation keeps 1, or what its worst failed cell leaves: critical and high 0, medium 1/3, low 2/3.
    A scenario is the mean of its judged invocations; the score is half the mean over the scenarios and half
    the worst scenario, None where no more than half of the cells have a verdict. 100 means that nothing
    failed: a smaller share is never rounded up to it.

    Raises ValueError for any other word.
    """

def jeffreys_interval(passed: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a pass rate: equal-tailed quantiles of Beta(passed + ½, total - passed + ½).

    Lower is 0 when nothing passed, upper is 1 when everything did; `(0.0, 1.0)` without runs.
    Source: Brown, Cai, DasGupta (2001), "Interval Estimation for a Binomial Proportion".

    Raises ValueError for negative counts, passed > total, and a confidence outside (0, 1).
    """

def wilson_interval(passed: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Score interval of a pass rate; `(0.0, 1.0)` without runs. Source: Wilson (1927).

    Raises ValueError as `jeffreys_interval` does; so do all functions on counts below.
    """

def clopper_pearson_interval(passed: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Exact interval of a pass rate: covers at least as often as it says. Source: Clopper, Pearson (1934)."""

def newcombe_interval(
    first: tuple[int, int], second: tuple[int, int], confidence: float = 0.95
) -> tuple[float, float]:
    """Interval of the first rate minus the second, of independent samples `(passed, total)`.

    `(-1.0, 1.0)` where one sample is empty. Source: Newcombe (1998), Stat. Med. 17, 873-890, method 10.
    """

def newcombe_paired_interval(
    both: int, first: int, second: int, neither: int, confidence: float = 0.95
) -> tuple[float, float]:
    """The same on the same subjects: how many passed both times, only first, only second, never.

    Source: Newcombe (1998), Stat. Med. 17, 2635-2650, method 10.
    """

def pass_hat(passed: int, total: int, k: int, /) -> float | None:
    """Estimate of pass^k, C(passed, k) / C(total, k); None for fewer than k runs.

    Source: Yao et al. (2024), "τ-bench". Raises ValueError for k = 0 as well.
    """

def pass_bound(passed: int, total: int, k: int, confidence: float = 0.95) -> float:
    """What the runs support for pass^k at least: the one-sided exact limit of the rate, to the power k."""

def mcnemar(only_first: int, only_second: int, /) -> float:
    """Two-sided exact p-value for pairs that passed only the first or only the second time.

    Source: McNemar (1947).
    """

def boschloo_test(first: tuple[int, int], second: tuple[int, int], /) -> float:
    """Two-sided exact p-value for two independent samples `(passed, total)`, each of at most 1,000.

    Twice the smaller one-sided p-value. Source: Boschloo (1970). Raises ValueError for larger samples too.
    """

def holm(p_values: Sequence[float], /) -> list[float]:
    """Adjusted p-values, in their order, that bound the chance of any false alarm. Source: Holm (1979).

    Raises ValueError for values outside [0, 1].
    """

def benjamini_hochberg(p_values: Sequence[float], /) -> list[float]:
    """Adjusted p-values, in their order, that bound the share of false alarms among all.

    Source: Benjamini, Hochberg (1995). Raises ValueError for values outside [0, 1].
    """

def sprt(passed: int, total: int, bad: float, good: float, alpha: float = 0.05, beta: float = 0.05) -> str:
    """`good`, `bad` or `open`: Wald's test of a pass rate of at most `bad` against one of at least `good`.

    May be asked after every run. `alpha` bounds how often a bad rate is called good, `beta` how often
    a good one is called bad. Source: Wald (1945). Raises ValueError unless 0 < bad < good < 1.
    """

def ln_evidence(passed: int, total: int, rate: float, /) -> float:
    """Natural logarithm of an e-value against the claim that the pass rate is `rate`.

    Under the claim it ever exceeds ln(1/alpha) with probability alpha at most, however often one looks.
    Source: Robbins (1970), with a Beta(½, ½) mixture.
    """

def confidence_sequence(passed: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """An interval of the pass rate that holds at all looks at once: the rates `ln_evidence` left standing."""

# --- patterns -----------------------------------------------------------------------------------

_Row: TypeAlias = tuple[str, str, str, str, int, int, float, str]
"""Kind, id, category, severity, start, end, score, masked value."""

@final
class UserPatterns:
    """Patterns of the user, compiled once: (id, regex, category, severity, context words)."""

    def __new__(cls, patterns: list[tuple[str, str, str, str, list[str]]], /) -> UserPatterns:
        """Raises ValueError if an expression is not regular, too large or matches the empty text."""

@final
class PatternStream:
    """A scan over bytes that arrive in pieces; offsets are bytes from the start of the stream."""

    def __new__(
        cls,
        kinds: list[str],
        locales: list[str] | None,
        user: UserPatterns | None,
        recall: bool = False,
        /,
    ) -> PatternStream: ...
    def feed(self, chunk: bytes, /) -> list[_Row]:
        """Hits that are final now."""

    def finish(self) -> list[_Row]:
        """The rest of the hits."""

def scan_text(
    text: str,
    kinds: list[str],
    locales: list[str] | None,
    user: UserPatterns | None,
    recall: bool = False,
    /,
) -> list[_Row]:
    """Hits of the wanted kinds (none = all but dates and urls); offsets in characters. `recall` takes
    forms without their context word where a check rule speaks for them. Lone surrogates are allowed."""

def secret_spans(data: bytes, /) -> list[tuple[int, int, str]]:
    """Start, end and id of every secret, in bytes."""

def record_holds_secret(record: bytes, /) -> bool:
    """Whether a string of a record (JSON) holds a secret; of two in an array, the first is its name."""

def pattern_catalog() -> list[tuple[str, str, str, str, str, str]]:
    """Kind, id, category, severity, locale and source of every built-in entry."""

# --- redaction -----------------------------------------------------------------------------------

_Edit: TypeAlias = tuple[int, int, str | None, str, str, int]
"""Start, end, class (none: the rest of a secret further left), value, the quotes around its placeholder, and
where that begins which tells it (-1: at the start)."""
_Unwrapped: TypeAlias = tuple[str, list[int]]
"""Decoded text, and where each of its characters stood; the last place is the end."""

@final
class Placeholders:
    """Digests of values under one key."""

    def __new__(cls, key: bytes, /) -> Self: ...
    def digest(self, what: str, value: str, /) -> str:
        """32 hexadecimal digits of HMAC-SHA256 over class, length and value."""

@final
class SecretSearch:
    """Where secrets are. Texts may hold lone surrogates; offsets are characters. `readings`, `streams` and
    `unpacked_at` say what packed values hold; `members` carry the text of streams. What they raise is raised
    again, after the search."""

    def __new__(
        cls,
        readings: Callable[[bytes], tuple[Sequence[str], str | None, bool]],
        streams: Callable[[bytes], Iterator[int]],
        unpacked_at: Callable[[bytes, int], tuple[bytes, int, bool]],
        members: list[str],
        /,
    ) -> Self: ...
    def edits(self, whole: str, depth: int, which: str, /) -> list[_Edit]:
        """The secrets of a text, in order, without overlap. `which` of those that services give count: `all`,
        `shaped` (without a name before them) or `none`. Of more than `depth` 5 nothing is unwrapped."""
    def field_edits(self, name: str, value: str, /) -> list[_Edit]:
        """Those in the value of a header field."""
    def path_edits(self, path: str, origin: str, /) -> list[_Edit]:
        """Those in a path; `origin` is `https://host` where a path at that host may be one."""
    def address_edits(self, address: str, /) -> list[_Edit]:
        """Those in a URL."""
    def stream_edits(self, whole: str, /) -> list[_Edit]:
        """Those in a stream of events, and in what their texts say joined."""
    def last_edits(self, whole: str, /) -> list[_Edit]:
        """The same of a stream that has ended, perhaps in the middle of a string."""
    def pieces(self, whole: str, /) -> list[tuple[str, int, int]]:
        """Pieces of a stream's texts: member, start, end; bare lines have no member."""
    def texts(self, whole: str, /) -> list[tuple[str, str]]:
        """The texts by member, escapes as they are."""
    def open_from(self, whole: str, texts: list[tuple[str, str]], least: int, /) -> int:
        """Where the earliest tail begins that may belong to a secret which has not come whole; at least so
        many characters of each text are open."""
    def across(
        self,
        whole: str,
        pieces: Sequence[tuple[str, int, int]],
        look: Callable[[str], Sequence[_Edit]] | None,
        /,
    ) -> list[list[_Edit]]:
        """The edits of each secret in joined pieces, or of what `look` finds."""
    def packed_edits(self, whole: str, holds: Callable[[str], bool], /) -> list[_Edit]:
        """Encoded stretches of which a reading `holds` something, or that cannot be read to the end."""
    def compressed_edits(self, whole: str, holds: Callable[[str], bool], /) -> list[_Edit]:
        """The same of compressed streams."""

def secret_suspected(whole: str, /) -> bool:
    """May there be a secret in a text? Never wrong with no."""

def secret_suspected_in_record(record: bytes, /) -> bool:
    """The same of a record (JSON)."""

def is_encoding(whole: str, /) -> bool:
    """Does it hold escapes, percent-encoding or HTML?"""

def is_packed(whole: str, /) -> bool:
    """May something be packed in it?"""

def shaped_values(whole: str, /) -> list[tuple[int, int, str, int]]:
    """Secrets by their shape: start, end, class, and where that begins which tells it."""

def known_edits(whole: str, which: str, /) -> list[_Edit]:
    """Secrets that the pattern engine knows."""

def query_edits(whole: str, /) -> list[_Edit]:
    """Values of secret parameters of URLs in a text."""

def form_edits(whole: str, /) -> list[_Edit]:
    """Values of secret fields of a form."""

def pair_class(name: str, value: str, /) -> str | None:
    """The class of a pair's value if it is secret."""

def header_class(name: str, /) -> str | None:
    """`header` if a field of this name is secret."""

def query_class(name: str, /) -> str | None:
    """`query` if a parameter of this (encoded) name is secret."""

def has_secret_path(host: str, /) -> bool:
    """May a path at this host be a secret?"""

def kept_scheme(value: str, /) -> list[str]:
    """The scheme of an authorization value, and the rest."""

def key_offered(value: str, /) -> list[str]:
    """What stands before a key in a list of subprotocols, the key, and what stands behind it."""

def open_tail(whole: str, /) -> int:
    """The first character that may belong to a secret which has not come whole; else the length."""

def unescape_json(inside: str, /) -> _Unwrapped:
    """What the inside of a JSON string says."""

def unquote_word(word: str, blanks: bool, /) -> _Unwrapped:
    """What a word with percent-encoding says; `blanks`: a plus is one."""

def unwrap_markup(whole: str, /) -> list[_Unwrapped]:
    """What HTML and quoted-printable in a text say."""

# --- texts --------------------------------------------------------------------------------------

def packed_stretches(text: bytes, /) -> list[tuple[int, int, str, bytes]]:
    """Stretches in Base64 (in lines, too), Base32 or hexadecimal that decode to readable text, or to a file
    that holds others (gzip, ZIP, ...): start, end, form, and what they decode to."""

def holds_compressed(data: bytes, /) -> bool:
    """May a compressed stream begin in it: one of gzip anywhere, one of zlib at the start or behind an empty
    line? (RFC 1952, 2.3.1; RFC 1950, 2.2)"""

def holds_packed(text: bytes, /) -> bool:
    """Is there such a stretch?"""

def judge_refusal(text: str, tool_calls: int, /) -> tuple[str, str, list[str]]:
    """Verdict (`refused`, `complied`, `unclear`), language of the phrase, reasons."""

def find_leak(text: str, prompt: str, /) -> tuple[bool, str, float, float, int]:
    """Leaked, form, score, share of the prompt's shingles found, longest common run in words."""

def compare_texts(
    left: str, right: str, threshold: float | None, /
) -> tuple[
    float,
    int,
    str,
    list[str],
    list[tuple[str, str | None, str | None]],
    bool,
    bool,
    tuple[list[str], list[str]],
]:
    """Similarity, edit distance, outcome (`same`, `different`, `unknown`), reasons, JSON changes, if both
    are JSON, whether only words without a counterpart leave it open, and those words of either side."""

# --- heads of HTTP messages ---------------------------------------------------------------------

def http1_request_flaw(head: bytes, /) -> str | None:
    """What is wrong with a request head, from its first line to its empty line (RFC 9112 §3, §5, §6);
    None where nothing is. No text here quotes the head.
    """

def http1_response_flaw(head: bytes, /) -> str | None:
    """The same for a response head (RFC 9112 §4)."""

def http2_request_flaw(fields: Sequence[tuple[bytes, bytes]], /) -> str | None:
    """The same for a request's fields as they came, pseudo-header fields included (RFC 9113 §8.2, §8.3.1)."""

def http2_response_flaw(fields: Sequence[tuple[bytes, bytes]], /) -> str | None:
    """The same for a response's fields (RFC 9113 §8.3.2)."""

def trailers_flaw(fields: Sequence[tuple[bytes, bytes]], /, *, http2: bool) -> str | None:
    """The same for trailers (RFC 9110 §6.5.1), which say nothing of framing and routing."""

@final
class RequestCounter:
    """Counts the requests in the bytes that are written to one connection, read as leniently as any server
    reads them.
    """

    def __new__(cls, *, http2: bool) -> RequestCounter: ...
    def feed(self, data: bytes, /) -> int:
        """How many requests begin in what was written."""

    def stop(self) -> None:
        """The connection speaks another protocol from here on."""

# --- tunnels ------------------------------------------------------------------------------------

def client_hello(data: bytes, /) -> tuple[str | None, list[bytes], bool] | None:
    """The server that a ClientHello asks for (RFC 8446 §4.1.2), its ALPN offers, and whether a tunnel can
    serve it: it takes HTTP/1.1, a suite and a signature that a tunnel has. None while it is not whole.

    Raises ValueError where the bytes are none.
    """

@final
class Terms:
    """What all tunnels of an engine share. `bundle` holds the authorities that servers' certificates must
    chain to, as PEM.
    """

    def __new__(cls, bundle: bytes, /) -> Terms: ...
    def add_leaf(self, name: str, chain: Sequence[bytes], key: bytes, /) -> None:
        """Show clients of `name` this certificate: its chain in DER, leaf first, and its key in PKCS #8."""

    def drop_leaf(self, name: str, /) -> None:
        """Forget a certificate."""

_Word: TypeAlias = tuple[Any, ...]
"""What one side has said, its kind first:

- `("open",)`: its handshake is done; `("failed", why)`: its TLS failed; `("closed",)`: it has ended its TLS
- `("head", method, target, version, fields, bodiless, written)` of a request, `("head", status, version,
  reason, fields, bodiless, written)` of a response; text is Latin-1, `written` the head as it is passed on
- `("interim", status)`: a 1xx response before the final one
- `("data", bytes)`, `("trailers", fields)`, `("end",)`
- `("flaw", "head" | "large" | "body", why)`: a message that cannot be read, nor anything behind it
- `("raw", bytes)`: bytes behind `switch`
"""

@final
class Tunnel:
    """TLS or none to a client and to a server, HTTP/1.1 between them (RFC 9112); without sockets. `name` is
    that of the certificate which the client is shown. `server` says which side a method is about.

    Raises ValueError where `terms` hold no certificate for `name`.
    """

    def __new__(cls, terms: Terms, name: str | None, /) -> Tunnel: ...
    def open_server(self, name: str | None, /) -> None:
        """There is a new connection to a server; with `name` TLS begins, for a certificate of that name."""

    def receive(self, data: bytes, /, *, server: bool) -> list[_Word]:
        """Bytes came; what is said with them."""

    def next(self, *, server: bool, to_head: bool = False) -> list[_Word]:
        """The next message is wanted (of a server: the response to a `HEAD`, or to another request); what
        was said of it already."""

    def finish(self, *, server: bool) -> list[_Word]:
        """The connection has ended: the end of the message that was read, or what is missing of it."""

    def switch(self) -> tuple[bytes, bytes]:
        """Both speak another protocol from here on; what client and server have said of it already."""

    def send(self, data: bytes, /, *, server: bool) -> int:
        """Send plain bytes; how many requests begin in what a server is sent."""

    def close(self, *, server: bool) -> None:
        """End the TLS of one side."""

    def take(self, *, server: bool) -> bytes | None:
        """What is to be written to the connection, if anything is."""

    def pending(self, *, server: bool) -> int:
        """Plain bytes that came and were not read."""

    def rest(self, *, server: bool) -> bytes:
        """Those bytes, which are then gone."""

@final
class TapeLog:
    """Events and bodies on their way to a tape, which were redacted already."""

    def __new__(cls) -> Self: ...
    def put(self, data: bytes, /) -> str:
        """Keep a body, unless it was lately; its SHA-256 in hex."""

    def append(self, session: str, event: bytes, /) -> None:
        """Add an event: canonical JSON of an object, which gets its `seq` and `prev`. Raises ValueError."""

    @property
    def seq(self) -> int:
        """How many events there are: the number of the next one."""

    @property
    def prev(self) -> str:
        """The hash of the last event in hex; zeros before the first."""

    @property
    def waits(self) -> bool:
        """Was an event added since the last `drain` or commit?"""

    def root(self) -> bytes:
        """The RFC 6962 tree head over all events."""

    def drain(self) -> tuple[list[tuple[int, str, bytes, bytes]], list[tuple[bytes, int, int, bytes]]]:
        """The rows of what came since: seq, session, record, hash; digest, size, packed, data."""

@final
class TapeStore:
    """The connection that writes a tape, once `share_sqlite` was called. It waits without the interpreter.
    Its methods raise OSError with what SQLite says."""

    def __new__(cls, uri: str, /) -> Self: ...
    def execute(self, sql: str, /) -> None:
        """Run statements, whatever rows they give."""

    def commit(self, log: TapeLog, /) -> None:
        """Write what waits in the log as one transaction; returns once it is on the disk."""

    def fold(self) -> bool:
        """Leave WAL; False where a reader is in the way."""

    def close(self) -> None:
        """End the connection; what was not committed is undone."""

def share_sqlite(address: int, /) -> bool:
    """Use the SQLite whose table of functions (`sqlite3_api_routines`) is there; False: it is too old."""
