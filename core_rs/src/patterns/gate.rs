//! One pass over the text that finds every word some entry cares about.
//!
//! The first two, three and four bytes at each place, folded and hashed, say in small tables whether any word
//! begins so; only then are the words compared. The tables are small enough
//! for the first cache.
use std::collections::HashMap;

use super::boundary::opens;
use super::bucket::{Buckets, Item, folded};

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

impl Border {
    fn flag(self) -> u8 {
        match self {
            Border::Free => FREE,
            Border::Whole => WHOLE,
            Border::Opens => OPENS,
        }
    }
}

const FREE: u8 = 1;
const WHOLE: u8 = 2;
const OPENS: u8 = 4;

/// What kind of neighbour a byte is: other, letter of an escape's end, other small letter, A-F, other
/// capital, digit.
const CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'f' | b'n' | b'r' | b't' => 1,
            b'g'..=b'z' => 2,
            b'A'..=b'F' => 3,
            b'G'..=b'Z' => 4,
            b'0'..=b'9' => 5,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// By class before and class here (`before * 8 + here`): which borders may begin a word here.
const STARTS: [u8; 64] = {
    let mut table = [0; 64];
    let mut pair = 0;
    while pair < 64 {
        let (before, here) = (pair / 8, pair % 8);
        let (inside, camel) = (
            before >= 1 && before <= 4 && here >= 1 && here <= 4,
            (before == 1 || before == 2) && (here == 3 || here == 4),
        );
        let whole = if !inside || camel { WHOLE } else { 0 };
        let opens = if before == 2 || before == 4 { 0 } else { OPENS };
        table[pair] = FREE | whole | opens;
        pair += 1;
    }
    table
};

/// The words of all entries; each is one number.
#[derive(Debug)]
pub struct Gate {
    words: Vec<(Box<[u8]>, Border)>,
    /// Words of four bytes and more by their first four, of three bytes, of two.
    long: Buckets,
    short: Buckets,
    pair: Buckets,
    /// Words of one byte.
    single: Vec<Item>,
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

    pub fn build(self) -> Result<Gate, String> {
        let (mut long, mut short, mut pair) =
            (Buckets::new(15), Buckets::new(13), Buckets::new(12));
        let mut single = Vec::new();
        let mut words = Vec::new();
        for (number, (word, border)) in self.list.into_iter().enumerate() {
            let bytes = word.into_bytes();
            let number = Item::new(number as u32, &bytes);
            match bytes[..] {
                [] => return Err("an empty word".to_string()),
                [_] => single.push(number),
                [a, b] => {
                    let slot = pair.slot(folded([a, b, 0, 0]) & 0xffff);
                    pair.put(slot, number, border.flag());
                }
                [a, b, c] => {
                    let slot = short.slot(folded([a, b, c, 0]) & 0xff_ffff);
                    short.put(slot, number, border.flag());
                }
                [a, b, c, d, ..] => {
                    let slot = long.slot(folded([a, b, c, d]));
                    long.put(slot, number, border.flag());
                }
            }
            words.push((bytes.into_boxed_slice(), border));
        }
        Ok(Gate {
            words,
            long,
            short,
            pair,
            single,
        })
    }
}

impl Gate {
    /// Every word in `text`, in the order of their ends; of those with one end the longest first.
    pub fn marks(&self, text: &[u8]) -> Vec<Mark> {
        let mut marks = Vec::new();
        for word in &self.single {
            let letter = self.words[word.word as usize].0[0];
            let both = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
            memchr::memchr2_iter(both.0, both.1, text)
                .for_each(|at| self.compare(text, at, &[*word], &mut marks));
        }
        let (mut before, mut four) = (0, 0u32);
        for byte in text.iter().take(3) {
            four = four >> 8 | u32::from(*byte) << 24;
        }
        four >>= 8 * (3 - text.len().min(3)); // a text of one or two bytes
        for (at, byte) in text.iter().enumerate() {
            let ahead = text.get(at + 3).copied().unwrap_or(0);
            four = four >> 8 | u32::from(ahead) << 24;
            let here = CLASS[usize::from(*byte)];
            let starts = STARTS[usize::from(before << 3 | here) & 63];
            before = here;
            let four = four | 0x2020_2020;
            for (table, bytes) in [
                (&self.long, four),
                (&self.short, four & 0xff_ffff),
                (&self.pair, four & 0xffff),
            ] {
                let slot = table.slot(bytes);
                if table.flags(slot) & starts != 0 {
                    self.compare(text, at, table.list(slot), &mut marks);
                }
            }
        }
        marks.sort_by_key(|mark| (mark.end, mark.start, mark.word));
        marks
    }

    /// Adds those of `words` that stand at `start` between their borders.
    fn compare(&self, text: &[u8], start: usize, words: &[Item], marks: &mut Vec<Mark>) {
        for item in words {
            let Some(end) = item.end(text, start) else {
                continue;
            };
            let (written, border) = &self.words[item.word as usize];
            if stands(text, start, end, written, *border) {
                marks.push(Mark {
                    start,
                    end,
                    word: item.word,
                });
            }
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

#[cfg(test)]
mod tests;
