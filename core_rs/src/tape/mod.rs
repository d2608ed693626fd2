//! Writing a tape (`record`), and judging an exported one.
//!
//! Is an exported tape what was recorded? A verifier that shares no line with the other two.
//!
//! It reads what `faultwire tape export --to jsonl` wrote, behind the first line: bodies as
//! `{"blob": …, "data": …, "size": …}`, then events in their order. The codes of what it finds are
//! those of `faultwire tape verify` and of `docs/verify_tape.py`; `tests/vectors/tapes.json` holds
//! all three to the same answers.

mod bodies;
mod erasures;
mod findings;
mod line;
mod note;
mod order;
pub mod record;
mod sealed;
mod verifier;

pub use findings::{Finding, Verdict};
pub use note::VerifierKey;
pub use verifier::TapeVerifier;
