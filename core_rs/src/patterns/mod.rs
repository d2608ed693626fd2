//! The pattern engine: personal data, secrets, prompt injections and users' own patterns.
//!
//! Patterns are data (`core_rs/patterns/*.toml`); this module is what runs them in linear time:
//!
//! 1. `gate` finds every word that some entry cares about: those between non-letters by the run of letters that they
//!    begin with (`runs`), others by four of their bytes (`sieve`);
//! 2. `numbers` and `identify` try each token that could begin an identifier with one anchored automaton, a
//!    smaller one where no context word is near; `plain` does so again where digits are written otherwise;
//! 3. `keyed` runs the entries whose key word was seen;
//! 4. `injection` judges prompt injections on normalised text;
//! 5. `overlap` keeps the best of overlapping hits.
//!
//! Texts are scanned in windows whose borders depend on absolute offsets only, so a stream gives the
//! same verdict at any chunking (`stream`).
mod automaton;
mod base64;
mod boundary;
mod catalog;
pub mod check;
mod engine;
mod entropy;
mod entry;
mod gate;
mod hit;
mod holds;
mod identify;
pub mod injection;
mod keyed;
mod later;
mod mask;
mod memory;
mod numbers;
mod options;
mod overlap;
mod plain;
mod record;
mod runs;
mod shape;
mod sieve;
mod stream;
mod user;
mod word;

pub use catalog::{catalog, engine};
pub use engine::{Engine, WINDOW};
pub use entry::{Entry, Kind, Severity};
pub use hit::Hit;
pub use mask::mask;
pub use options::Options;
pub use stream::Stream;
pub use user::{UserPattern, UserPatterns};
