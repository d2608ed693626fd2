//! Where a text nearly says one of our words, and the text with those words put right.
use super::detector::Injection;
use super::dull::{Dull, PART};
use crate::patterns::word::Mark;
use crate::text::View;

impl Injection {
    /// Words near one of ours that are nearly one of ours, and leetspeak anywhere.
    pub(super) fn fixes(&self, text: &[u8], marks: &[Mark]) -> Vec<(usize, usize, Vec<u8>)> {
        Dull::with(|dull| self.fixed(text, marks, dull))
    }

    fn fixed(&self, text: &[u8], marks: &[Mark], dull: &Dull<'_>) -> Vec<(usize, usize, Vec<u8>)> {
        let mut fixes = Vec::new();
        let mut at = 0;
        let mut next = 0;
        while at < text.len() {
            if PART[usize::from(text[at])] == 0 {
                at += 1;
                continue;
            }
            let start = at;
            let (mut letters, mut plain) = (0, true);
            while let Some(part) = text.get(at).map(|byte| PART[usize::from(*byte)]) {
                if part == 0 {
                    break;
                }
                letters += usize::from(part & 1);
                plain &= part == 1;
                at += 1;
            }
            if !(3..=16).contains(&(at - start)) || letters < 2 {
                continue;
            }
            let key = match plain {
                true => Dull::key(text, start, at),
                false => Dull::as_leet(Dull::key(text, start, at)),
            };
            if dull.holds(key) || (plain && joined(text, start, at)) {
                continue;
            }
            let passed = |mark: &Mark| mark.end + 120 < start || !self.lexicon.knows(mark.word);
            while marks.get(next).is_some_and(passed) {
                next += 1;
            }
            let close = marks.get(next).is_some_and(|mark| mark.start < at + 120);
            if plain && !close {
                continue;
            }
            let mut word = [0; 16];
            let word = &mut word[..at - start];
            word.copy_from_slice(&text[start..at]);
            word.make_ascii_lowercase();
            let fixed = match plain {
                true => self.speller.search(word).map(<[u8]>::to_vec),
                false => self.speller.leet(word),
            };
            match fixed {
                Some(fixed) => fixes.push((start, at, fixed)),
                None => dull.add(key),
            }
        }
        fixes
    }
}

/// Whether the word is a part of an identifier or path.
fn joined(text: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map(|before| text[before]);
    matches!(before, Some(b'_' | b'(' | b'.' | b'=' | b'/'))
        || matches!(text.get(end), Some(b'_' | b'(' | b'='))
}

/// `from..to` of the text with the fixes put in.
pub(super) fn replaced(
    text: &[u8],
    from: usize,
    to: usize,
    fixes: &[(usize, usize, Vec<u8>)],
) -> View {
    let mut view = View::default();
    let mut at = from;
    for (start, end, word) in fixes {
        (at..*start).for_each(|place| view.put(text[place], place, place + 1));
        word.iter().for_each(|byte| view.put(*byte, *start, *end));
        at = *end;
    }
    (at..to).for_each(|place| view.put(text[place], place, place + 1));
    view
}
