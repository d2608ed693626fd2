//! Prompt injection: what tries to give orders to the model that reads it.
//!
//! A smoke test, not a verdict: contracts rest on effects (`injection_not_obeyed`, `canary_not_leaked`).
//! The text is judged as written, folded (look-alikes, invisible characters, escapes), corrected (typos,
//! leetspeak), joined (spelt words, tags within words) and decoded (Base64, Base32, hex, ROT13, reversed; two
//! layers). Each pattern is a sequence of word classes (`language`); evidence adds up, and hits are given from
//! `ENOUGH` on.
mod detector;
mod dull;
mod fixes;
mod judge;
mod language;
mod lexicon;
mod matching;
mod regions;
mod split;
mod typo;
mod weigh;

pub use detector::Injection;

/// Combined evidence from which a text counts as an injection.
pub const ENOUGH: f64 = 0.5;
