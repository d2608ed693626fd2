//! A word that some entry cares about: where it counts, and where it was seen.
use super::boundary::opens;

/// A word seen in the text.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub start: usize,
    pub end: usize,
    pub word: u32,
}

/// Where a word counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Border {
    /// Anywhere.
    Free,
    /// Between non-letters.
    Whole,
    /// Written exactly so, where a value may begin.
    Opens,
}

/// A word to look for.
#[derive(Debug)]
pub struct Wanted {
    pub word: u32,
    pub text: Box<[u8]>,
    pub border: Border,
    /// For words of fewer than four bytes: all that can follow, as beginnings of four bytes.
    pub beginnings: Option<Vec<[u8; 4]>>,
}

impl Wanted {
    /// Adds the word if it begins at `start`, between its borders.
    pub fn mark(&self, text: &[u8], start: usize, marks: &mut Vec<Mark>) {
        let end = start + self.text.len();
        if end <= text.len() && stands(text, start, end, &self.text, self.border) {
            marks.push(Mark {
                start,
                end,
                word: self.word,
            });
        }
    }
}

/// Whether the word at `start..end` is `written`, between its borders.
pub fn stands(text: &[u8], start: usize, end: usize, written: &[u8], border: Border) -> bool {
    let part = &text[start..end];
    match border {
        Border::Free => part.eq_ignore_ascii_case(written),
        Border::Whole => bounded(text, start, end) && part.eq_ignore_ascii_case(written),
        Border::Opens => *part == *written && opens(text, start),
    }
}

/// Whether no letter touches the word (digits and `_` may: `ssn_2`, `iban1`).
fn bounded(text: &[u8], start: usize, end: usize) -> bool {
    let letter = |at: usize| text.get(at).is_some_and(u8::is_ascii_alphabetic);
    let camel = |at: usize| {
        text[at].is_ascii_uppercase()
            && text
                .get(at.wrapping_sub(1))
                .is_some_and(u8::is_ascii_lowercase)
    };
    let left = start == 0 || !letter(start - 1) || !letter(start) || camel(start);
    let right = !letter(end)
        || !letter(end - 1)
        || text[end].is_ascii_uppercase() && text[end - 1].is_ascii_lowercase();
    left && right
}
