//! Texts: normalising with a way back, decoding, comparing, judging answers.
pub mod compare;
pub mod decode;
pub mod fold;
pub mod guard;
mod guard_words;
mod homoglyph;
pub mod jsondiff;
pub mod leak;
pub mod offsets;
pub mod refusal;
pub mod tokens;

pub use fold::{View, fold};
