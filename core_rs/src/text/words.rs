//! The words of a text as the comparison reads them: contractions apart, with what stood before each.
use super::lexicon::{Lexicon, expanded};
use super::tokens::tokens;

/// A word, its stem, and how it was written.
#[derive(Clone, Debug)]
pub struct Word {
    pub text: String,
    pub stem: String,
    pub start: usize,
    pub end: usize,
    /// Written like a name: a capital inside a sentence, or capitals within.
    pub name: bool,
    /// The first of a sentence or clause.
    pub opens: bool,
    /// Written with a capital.
    pub upper: bool,
    /// Punctuation stands before it.
    pub apart: bool,
}

/// All words of `text`, in order.
pub fn words(text: &str, lexicon: &Lexicon) -> Vec<Word> {
    let mut found = Vec::new();
    let mut end = 0;
    for token in tokens(text) {
        let gap = text.get(end..token.start).unwrap_or("");
        let written = text.get(token.start..token.end).unwrap_or("");
        let bare = gap.trim_end_matches([' ', '"', '\'', '(', '*', '_', '`', '\u{201c}']);
        let opens = (bare.is_empty() && end == 0)
            || bare.ends_with(['.', '!', '?', ':', '\n', '\u{2022}', '#', '|', '>'])
            || gap.contains('\n');
        let mut letters = written.chars();
        let upper = letters.next().is_some_and(char::is_uppercase);
        let inner = letters.any(char::is_uppercase);
        let apart = gap.contains([',', ';', '.', '!', '?', ':', '\n']);
        for (index, part) in expanded(&token.text).into_iter().enumerate() {
            found.push(Word {
                stem: lexicon.stem(&part),
                text: part,
                start: token.start,
                end: token.end,
                name: index == 0 && written != "I" && (inner || (upper && !opens)),
                opens,
                upper,
                apart: apart && index == 0,
            });
        }
        end = token.end;
    }
    found
}
