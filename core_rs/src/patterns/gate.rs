//! Every word in a text that some entry cares about, found without reading the text once for each.
//!
//! Words between non-letters are found by the run of letters that they begin with (`runs`), words that may stand
//! anywhere by four of their bytes (`sieve`). Both say in a table for the first cache that nothing is there;
//! what passes is compared.
use std::collections::HashMap;

use super::runs::Runs;
use super::sieve::Sieve;
use super::word::{Border, Mark, Wanted};

/// The words of all entries, or of some; each is one number.
#[derive(Debug)]
pub struct Gate {
    /// Words that begin with a letter and stand between non-letters.
    runs: Runs,
    /// Words that may stand within others, and those that begin with no letter.
    sieve: Sieve,
    /// Words of one byte, in both cases.
    single: Vec<(u8, u8, Wanted)>,
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

    /// The numbers of a context word: the gate folds ASCII only, so other scripts come in three cases.
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

    /// A word by its number.
    pub fn word(&self, number: u32) -> &(String, Border) {
        &self.list[number as usize]
    }

    /// The gate of the words that are kept; of words of fewer than four bytes `beginnings` may hold all that they
    /// can be followed by, four bytes each.
    pub fn gate(
        &self,
        keep: impl Fn(u32) -> bool,
        beginnings: &HashMap<u32, Vec<[u8; 4]>>,
    ) -> Result<Gate, String> {
        let (mut whole, mut others, mut single) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (word, border)) in (0..).zip(&self.list) {
            if !keep(number) {
                continue;
            }
            let wanted = Wanted {
                word: number,
                text: word.as_bytes().into(),
                border: *border,
                beginnings: beginnings.get(&number).cloned(),
            };
            match wanted.text[..] {
                [] => return Err("an empty word".to_string()),
                [one] => single.push((one.to_ascii_lowercase(), one.to_ascii_uppercase(), wanted)),
                [first, ..] if *border == Border::Whole && first.is_ascii_alphabetic() => {
                    whole.push(wanted);
                }
                _ => others.push(wanted),
            }
        }
        Ok(Gate {
            runs: Runs::new(whole),
            sieve: Sieve::new(others),
            single,
        })
    }
}

impl Gate {
    /// Every word in `text`, in the order of their ends; of those with one end the longest first.
    pub fn marks(&self, text: &[u8]) -> Vec<Mark> {
        let mut marks = Vec::new();
        for (small, capital, wanted) in &self.single {
            memchr::memchr2_iter(*small, *capital, text)
                .for_each(|at| wanted.mark(text, at, &mut marks));
        }
        self.sieve.seen(text, &mut marks);
        self.runs.seen(text, &mut marks);
        marks.sort_by_key(|mark| (mark.end, mark.start, mark.word));
        marks
    }
}

#[cfg(test)]
mod tests;
