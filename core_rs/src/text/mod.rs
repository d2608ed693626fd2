//! Texts: normalising with a way back, decoding, comparing, judging answers.
mod arrangement;
pub mod compare;
pub mod compressed;
pub mod decode;
pub mod fold;
mod guard;
mod homoglyph;
pub mod jsondiff;
pub mod leak;
mod lexicon;
mod number;
pub mod offsets;
pub mod packed;

mod phrases;
mod quantity;
mod reading;
pub mod refusal;
mod roles;
pub mod tokens;
mod units;
mod words;

pub use fold::{View, fold};
