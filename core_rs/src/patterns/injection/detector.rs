//! The compiled detector and what it reports; every other file of this folder builds on it.
use super::lexicon::{Lexicon, Pattern, compile};
use super::typo::Speller;
use crate::patterns::gate::{Border, Words};
use crate::text::decode::rot13;

/// How far around a word of ours a pattern may reach.
pub(super) const BEFORE: usize = 120;
pub(super) const AFTER: usize = 240;
/// Layers of encoding that are taken off.
pub(super) const LAYERS: usize = 2;
/// Shortest word whose ROT13 or reversal gives an encoded text away.
const TELLING: usize = 5;
pub(super) const TURNED: u8 = 1;
pub(super) const MIRRORED: u8 = 2;

/// The injection detector.
#[derive(Debug)]
pub struct Injection {
    pub(super) lexicon: Lexicon,
    pub(super) patterns: Vec<Pattern>,
    pub(super) speller: Speller,
    /// By gate word: whether it is a core word in ROT13 (`TURNED`), reversed (`MIRRORED`).
    pub(super) telling: Vec<u8>,
}

/// One pattern found at a span of the original.
pub(super) struct Found {
    pub pattern: usize,
    pub start: usize,
    pub end: usize,
}

impl Injection {
    pub fn new(text: &str, words: &mut Words) -> Result<Self, String> {
        let (lexicon, patterns) = compile(text, words)?;
        let speller = Speller::new(&lexicon.vocabulary, &lexicon.real);
        let mut telling: Vec<u8> = Vec::new();
        for word in lexicon
            .vocabulary
            .iter()
            .filter(|word| word.len() >= TELLING)
        {
            let turned = String::from_utf8_lossy(&rot13(word.as_bytes())).into_owned();
            let mirrored: String = word.chars().rev().collect();
            for (form, flag) in [(turned, TURNED), (mirrored, MIRRORED)] {
                let number = words.number(&form, Border::Whole) as usize;
                telling.resize(telling.len().max(number + 1), 0);
                telling[number] |= flag;
            }
        }
        Ok(Injection {
            lexicon,
            patterns,
            speller,
            telling,
        })
    }

    /// The patterns and their examples.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }
}
