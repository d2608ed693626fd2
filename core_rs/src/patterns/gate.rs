//! One pass over the text that finds every word some entry cares about.
use std::collections::HashMap;

use super::boundary::opens;
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

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

/// The words of all entries; each is one number.
#[derive(Debug)]
pub struct Gate {
    machine: AhoCorasick,
    words: Vec<(String, Border)>,
}

/// Collects words before the gate is built.
#[derive(Debug, Default)]
pub struct Words {
    known: HashMap<(String, Border), u32>,
    list: Vec<(String, Border)>,
}

impl Words {
    /// The number of a word with its border.
    pub fn number(&mut self, word: &str, border: Border) -> u32 {
        let key = (word.to_string(), border);
        if let Some(number) = self.known.get(&key) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.list.push(key.clone());
        self.known.insert(key, number);
        number
    }

    /// The numbers of a context word: the machine folds ASCII only, so other scripts come in three cases.
    pub fn spellings(&mut self, word: &str) -> Vec<u32> {
        let lower = word.to_lowercase();
        if lower.is_ascii() {
            return vec![self.number(&lower, Border::Whole)];
        }
        let mut rest = lower.chars();
        let title: String = rest
            .next()
            .into_iter()
            .flat_map(char::to_uppercase)
            .chain(rest.clone())
            .collect();
        [&lower, &lower.to_uppercase(), &title]
            .into_iter()
            .map(|form| self.number(form, Border::Whole))
            .collect()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn build(self) -> Result<Gate, String> {
        let machine = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(self.list.iter().map(|(word, _)| word))
            .map_err(|error| error.to_string())?;
        Ok(Gate {
            machine,
            words: self.list,
        })
    }
}

impl Gate {
    /// Every word in `text`, in the order of their ends.
    pub fn marks(&self, text: &[u8]) -> Vec<Mark> {
        let mut marks = Vec::new();
        let Ok(found) = self.machine.try_find_overlapping_iter(Input::new(text)) else {
            return marks;
        };
        for hit in found {
            let word = hit.pattern().as_u32();
            let (start, end) = (hit.start(), hit.end());
            let (written, border) = &self.words[word as usize];
            let counts = match border {
                Border::Free => true,
                Border::Whole => bounded(text, start, end),
                Border::Opens => written.as_bytes() == &text[start..end] && opens(text, start),
            };
            if counts {
                marks.push(Mark { start, end, word });
            }
        }
        marks
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
