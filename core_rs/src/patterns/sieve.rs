//! One fast pass over the text that finds words wherever they stand, as those of secrets do.
//!
//! Of each word four bytes are chosen, the rarest, and their hashes are two bits of one small table: nearly all
//! places of a clean text are settled by one look into it. Words that are too short for that go to a packed search.
//! What either lets through is compared in full, so no hash decides what is found.
use aho_corasick::packed::{Config, Searcher};

use super::word::{Border, Mark, Wanted};

/// Places that are looked at together.
const BLOCK: usize = 16;
/// Bytes that are read for it.
const READ: usize = BLOCK + 4;
/// 2^17 bits: 16 KB.
const BITS: u32 = 17;
const SLOTS: u32 = 12;
/// So many beginnings of a short word are spelt out, at most.
pub const MOST: usize = 512;

/// Four bytes that give a word away, folded, and how far behind its beginning they stand.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Anchor {
    four: u32,
    back: u32,
    wanted: u32,
}

/// The words of secrets, ready to be looked for.
#[derive(Debug)]
pub struct Sieve {
    bits: Box<[u64; 1 << (BITS - 6)]>,
    slots: Vec<Vec<Anchor>>,
    wanted: Vec<Wanted>,
    /// Words of two bytes, in each of their spellings.
    short: Vec<(Vec<u8>, u32)>,
    packed: Option<Searcher>,
}

impl Sieve {
    pub fn new(wanted: Vec<Wanted>) -> Self {
        let mut sieve = Sieve {
            bits: Box::new([0; 1 << (BITS - 6)]),
            slots: vec![Vec::new(); 1 << SLOTS],
            wanted: Vec::new(),
            short: Vec::new(),
            packed: None,
        };
        for (number, one) in wanted.iter().enumerate() {
            let number = number as u32;
            let three: Option<[u8; 3]> = one.text[..].try_into().ok();
            if let Some(back) = rarest(&one.text) {
                sieve.put(&one.text[back..back + 4], back, number);
            } else if let Some(fours) = &one.beginnings {
                fours.iter().for_each(|four| sieve.put(four, 0, number));
            } else if let Some([a, b, c]) = three {
                (0..=255).for_each(|next| sieve.put(&[a, b, c, next], 0, number));
            } else {
                let forms = spellings(&one.text, one.border).into_iter();
                sieve.short.extend(forms.map(|text| (text, number)));
            }
        }
        sieve.packed = Config::new()
            .builder()
            .extend(sieve.short.iter().map(|(text, _)| text))
            .build();
        sieve.wanted = wanted;
        sieve
    }

    fn put(&mut self, four: &[u8], back: usize, wanted: u32) {
        let four = folded([four[0], four[1], four[2], four[3]]);
        let anchor = Anchor {
            four,
            back: back as u32,
            wanted,
        };
        let bit = bit(four);
        self.bits[bit >> 6] |= 1 << (bit & 63) | 1 << (other(four) & 63);
        let slot = &mut self.slots[slot(four)];
        if !slot.contains(&anchor) {
            slot.push(anchor);
        }
    }

    /// Every word in `text`, in the order of their ends; of those with one end the longest first.
    pub fn marks(&self, text: &[u8]) -> Vec<Mark> {
        let mut marks = Vec::new();
        self.seen(text, &mut marks);
        if marks.len() > 1 {
            marks.sort_by_key(|mark| (mark.end, mark.start, mark.word));
        }
        marks
    }

    /// Adds every word in `text`, in no order.
    pub fn seen(&self, text: &[u8], marks: &mut Vec<Mark>) {
        self.shorts(text, marks);
        let mut at = 0;
        while let Some(block) = text[at..].first_chunk::<READ>() {
            self.block(text, at, block, marks);
            at += BLOCK;
        }
        while at < text.len() {
            let mut block = [0; READ];
            let left = &text[at..];
            let size = left.len().min(READ);
            block[..size].copy_from_slice(&left[..size]);
            self.block(text, at, &block, marks);
            at += BLOCK;
        }
    }

    /// The words that the places of one block give away.
    #[inline]
    fn block(&self, text: &[u8], at: usize, block: &[u8; READ], marks: &mut Vec<Mark>) {
        let fours = fours(block);
        let mut seen = 0;
        for four in fours {
            seen |= self.told(four);
        }
        if seen & 1 != 0 {
            for (place, four) in fours.into_iter().enumerate() {
                if self.told(four) & 1 != 0 {
                    self.compare(text, at + place, four, marks);
                }
            }
        }
    }

    /// Whether some word may be given away by these bytes: the last bit.
    #[inline]
    fn told(&self, four: u32) -> u64 {
        let bit = bit(four);
        let word = self.bits[bit >> 6];
        (word >> (bit & 63)) & (word >> (other(four) & 63))
    }

    /// Adds the words that four bytes at a place give away.
    fn compare(&self, text: &[u8], at: usize, four: u32, marks: &mut Vec<Mark>) {
        for anchor in &self.slots[slot(four)] {
            if anchor.four != four {
                continue;
            }
            if let Some(start) = at.checked_sub(anchor.back as usize) {
                self.wanted[anchor.wanted as usize].mark(text, start, marks);
            }
        }
    }

    fn shorts(&self, text: &[u8], marks: &mut Vec<Mark>) {
        match &self.packed {
            Some(packed) => {
                // Matches do not overlap, but words may.
                let mut from = 0;
                while let Some(found) = packed.find_in(text, (from..text.len()).into()) {
                    from = found.start() + 1;
                    self.shorts_at(text, found.start(), marks);
                }
            }
            None => (0..text.len()).for_each(|at| self.shorts_at(text, at, marks)),
        }
    }

    fn shorts_at(&self, text: &[u8], at: usize, marks: &mut Vec<Mark>) {
        for (short, wanted) in &self.short {
            if text[at..].starts_with(short) {
                self.wanted[*wanted as usize].mark(text, at, marks);
            }
        }
    }
}

/// The folded four bytes at each place of a block, read eight at a time.
#[inline]
fn fours(block: &[u8; READ]) -> [u32; BLOCK] {
    let mut found = [0; BLOCK];
    for part in 0..BLOCK / 4 {
        let mut eight = [0; 8];
        eight.copy_from_slice(&block[part * 4..part * 4 + 8]);
        let eight = u64::from_le_bytes(eight) | 0x2020_2020_2020_2020;
        for place in 0..4 {
            found[part * 4 + place] = (eight >> (8 * place)) as u32;
        }
    }
    found
}

#[inline]
fn bit(four: u32) -> usize {
    (four.wrapping_mul(0x9e37_79b1) >> (32 - BITS)) as usize
}

/// Four bytes as one number, capitals as small letters (and some signs as others).
fn folded(four: [u8; 4]) -> u32 {
    u32::from_le_bytes(four) | 0x2020_2020
}

/// A second bit in the same word of the table: both are set for what is looked for.
#[inline]
fn other(four: u32) -> u32 {
    four.wrapping_mul(0x9e37_79b1) >> 9
}

#[inline]
fn slot(four: u32) -> usize {
    (four.wrapping_mul(0x85eb_ca6b) >> (32 - SLOTS)) as usize
}

/// Where the four bytes of a word stand that a text holds least often; `None` for shorter words.
fn rarest(word: &[u8]) -> Option<usize> {
    let cost = |four: &[u8]| four.iter().map(|byte| frequency(*byte)).sum::<u32>();
    let windows = word.windows(4).enumerate();
    windows.min_by_key(|(_, four)| cost(four)).map(|(at, _)| at)
}

/// How common a byte is in what agents say: a logarithm, roughly.
fn frequency(byte: u8) -> u32 {
    match byte {
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 10,
        b'h' | b'l' | b'd' | b'c' | b'u' | b'm' => 8,
        b'f' | b'p' | b'g' | b'w' | b'y' | b'b' => 6,
        b'v' | b'k' | b' ' | b'"' | b'/' | b':' => 5,
        b'x' | b'j' | b'q' | b'z' | b'-' | b'_' | b'.' | b'0'..=b'9' => 3,
        _ => 2,
    }
}

/// A word in all its mixtures of capitals, or just as it is.
fn spellings(word: &[u8], border: Border) -> Vec<Vec<u8>> {
    let mut found = vec![Vec::new()];
    for byte in word {
        let mut forms = vec![*byte];
        if border != Border::Opens && byte.is_ascii_alphabetic() {
            forms = vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase()];
        }
        let more = |head: &Vec<u8>| -> Vec<Vec<u8>> {
            let with = |form: &u8| [&head[..], &[*form]].concat();
            forms.iter().map(with).collect()
        };
        found = found.iter().flat_map(more).collect();
    }
    found
}
