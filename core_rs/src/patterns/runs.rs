//! Words between non-letters, found by the run of letters that they begin with.
//!
//! A text is a row of such runs, and most of them begin no word of ours: one look into a table says so. Letters after
//! a capital within a run (`accountNumber`) may begin a word of their own.
use super::word::{Mark, Wanted};

/// 2^17 bits: 16 KB.
const BITS: u32 = 17;
const SLOTS: u32 = 13;
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const SPACES: u64 = 0x2020_2020_2020_2020;

/// What a byte is to a run: 0 no letter, 1 a small letter, 2 a capital.
const LETTER: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = b.is_ascii_lowercase() as u8 | (b.is_ascii_uppercase() as u8) << 1;
        byte += 1;
    }
    table
};

/// A word under its first run.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u64,
    length: u32,
    /// The last four bytes, or the last one four times, as small letters (and some signs as others).
    tail: u32,
    wanted: u32,
}

/// The words, ready to be looked for.
#[derive(Debug)]
pub struct Runs {
    bits: Box<[u64; 1 << (BITS - 6)]>,
    /// By the hash of the first run.
    slots: Vec<Vec<Slot>>,
    wanted: Vec<Wanted>,
    /// How long a first run is, at least and at most.
    least: usize,
    most: usize,
}

impl Runs {
    /// Of words that begin with a letter and count between non-letters.
    pub fn new(wanted: Vec<Wanted>) -> Self {
        let mut runs = Runs {
            bits: Box::new([0; 1 << (BITS - 6)]),
            slots: vec![Vec::new(); 1 << SLOTS],
            wanted: Vec::new(),
            least: usize::MAX,
            most: 0,
        };
        for (number, one) in (0..).zip(&wanted) {
            let letters = one
                .text
                .iter()
                .take_while(|byte| byte.is_ascii_alphabetic());
            let size = letters.count();
            runs.least = runs.least.min(size);
            runs.most = runs.most.max(size);
            let hash = hash(&one.text, 0, size);
            let (word, mask) = place(hash);
            runs.bits[word] |= mask;
            runs.slots[slot(hash)].push(Slot {
                hash,
                length: one.text.len() as u32,
                tail: tail(&one.text),
                wanted: number,
            });
        }
        runs.wanted = wanted;
        runs
    }

    /// Adds every word in `text`, in no order.
    pub fn seen(&self, text: &[u8], marks: &mut Vec<Mark>) {
        let mut at = 0;
        // Where words may begin within a run, besides its beginning.
        let mut humps: Vec<usize> = Vec::new();
        while at < text.len() {
            let mut last = LETTER[usize::from(text[at])];
            if last == 0 {
                at += 1;
                continue;
            }
            let start = at;
            at += 1;
            while let Some(class) = text.get(at).map(|byte| LETTER[usize::from(*byte)]) {
                if class == 0 {
                    break;
                }
                if class == 2 && last == 1 {
                    humps.push(at);
                }
                last = class;
                at += 1;
            }
            self.run(text, start, at, marks);
            if !humps.is_empty() {
                self.humps(text, (start, at), &humps, marks);
                humps.clear();
            }
        }
    }

    /// Every part of a run that begins or ends at a capital after a small letter.
    #[cold]
    fn humps(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        humps: &[usize],
        marks: &mut Vec<Mark>,
    ) {
        for (next, from) in std::iter::once(&start).chain(humps).enumerate() {
            let ends = humps[next..].iter().chain([&end]);
            let near = ends.take_while(|to| *to - from <= self.most);
            near.filter(|to| (*from, **to) != (start, end))
                .for_each(|to| self.run(text, *from, *to, marks));
        }
    }

    /// Adds the words that begin with the letters at `start..end`.
    #[inline]
    fn run(&self, text: &[u8], start: usize, end: usize, marks: &mut Vec<Mark>) {
        if !(self.least..=self.most).contains(&(end - start)) {
            return;
        }
        let hash = hash(text, start, end);
        let (word, mask) = place(hash);
        if self.bits[word] & mask == mask {
            self.compare(text, start, hash, marks);
        }
    }

    fn compare(&self, text: &[u8], start: usize, hash: u64, marks: &mut Vec<Mark>) {
        for slot in &self.slots[slot(hash)] {
            let part = text.get(start..start + slot.length as usize);
            if slot.hash == hash && part.is_some_and(|part| tail(part) == slot.tail) {
                self.wanted[slot.wanted as usize].mark(text, start, marks);
            }
        }
    }
}

#[inline]
fn tail(word: &[u8]) -> u32 {
    let four = word.last_chunk().copied();
    let last = || [word.last().copied().unwrap_or(0); 4];
    u32::from_le_bytes(four.unwrap_or_else(last)) | SPACES as u32
}

/// A number for the letters at `start..end`, whatever their case: of their first and last eight, and how many.
#[inline]
fn hash(text: &[u8], start: usize, end: usize) -> u64 {
    let size = end - start;
    let mut first = eight(text, start) | SPACES;
    let mut last = 0;
    match size {
        0..8 => first &= (1 << (8 * size)) - 1,
        8 => {}
        _ => last = eight(text, end - 8) | SPACES,
    }
    let mixed = (first ^ last.rotate_left(23)).wrapping_mul(FACTOR);
    (mixed ^ mixed >> 32 ^ size as u64).wrapping_mul(FACTOR)
}

/// Eight bytes at a place; behind the end of the text they are 0.
#[inline]
fn eight(text: &[u8], at: usize) -> u64 {
    let rest = &text[at..];
    match rest.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => {
            let mut eight = [0; 8];
            eight[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(eight)
        }
    }
}

/// The word of the table and its two bits that stand for a hash.
#[inline]
fn place(hash: u64) -> (usize, u64) {
    let word = (hash >> (64 - BITS + 6)) as usize;
    (word, 1 << (hash & 63) | 1 << (hash >> 6 & 63))
}

#[inline]
fn slot(hash: u64) -> usize {
    (hash >> (64 - SLOTS)) as usize
}

#[cfg(test)]
mod tests {
    use super::super::word::Border;
    use super::*;

    fn found(words: &[&str], text: &str) -> Vec<(usize, u32)> {
        let wanted = (0..).zip(words).map(|(word, text)| Wanted {
            word,
            text: text.as_bytes().into(),
            border: Border::Whole,
            beginnings: None,
        });
        let mut marks = Vec::new();
        Runs::new(wanted.collect()).seen(text.as_bytes(), &mut marks);
        let mut found: Vec<(usize, u32)> = marks.iter().map(|one| (one.start, one.word)).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn words_are_found_at_the_capitals_of_a_run() {
        let words = ["account", "number", "accountnumber", "account number"];
        assert_eq!(found(&words, "myAccountNumber"), [(2, 0), (2, 2), (9, 1)]);
        assert_eq!(found(&words, "ACCOUNT NUMBER"), [(0, 0), (0, 3), (8, 1)]);
        assert_eq!(found(&words, "accountant numbers xnumber"), []);
    }

    #[test]
    fn a_run_of_more_than_eight_letters_is_told_by_both_ends() {
        let words = ["authorization", "authorisation"];
        assert_eq!(
            found(&words, "authorisation, Authorization"),
            [(0, 1), (15, 0)]
        );
        assert_eq!(found(&words, "authorixation"), []);
    }

    #[test]
    fn a_text_of_one_letter_between_capitals_is_no_reason_to_read_on() {
        let text = "aA".repeat(1 << 15);
        assert_eq!(found(&["number"], &text), []);
    }
}
