//! Words by the hash of their first bytes: a table of flags small enough for the first cache.

/// Flags and lists of words by slot.
#[derive(Debug)]
pub struct Buckets {
    bits: u32,
    flags: Vec<u8>,
    lists: Vec<Vec<Item>>,
}

/// A word of a slot.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub word: u32,
    length: u32,
    /// The last bytes of the word, folded.
    tail: u32,
}

impl Item {
    pub fn new(word: u32, bytes: &[u8]) -> Self {
        Item {
            word,
            length: bytes.len() as u32,
            tail: tail(bytes),
        }
    }

    /// Where the word would end if it began at `start`; `None` if its last bytes are not there.
    #[inline]
    pub fn end(&self, text: &[u8], start: usize) -> Option<usize> {
        let end = start + self.length as usize;
        (tail(text.get(start..end)?) == self.tail).then_some(end)
    }
}

/// The last four bytes, folded; 0 for shorter words.
#[inline]
fn tail(bytes: &[u8]) -> u32 {
    bytes.last_chunk().map_or(0, |last| folded(*last))
}

/// Four bytes as one number, capitals as small letters (and some signs as others).
pub fn folded(four: [u8; 4]) -> u32 {
    u32::from_le_bytes(four) | 0x2020_2020
}

impl Buckets {
    /// 2^`bits` slots.
    pub fn new(bits: u32) -> Self {
        Buckets {
            bits,
            flags: vec![0; 1 << bits],
            lists: vec![Vec::new(); 1 << bits],
        }
    }

    #[inline]
    pub fn slot(&self, bytes: u32) -> usize {
        (bytes.wrapping_mul(0x9e37_79b1) >> (32 - self.bits)) as usize
    }

    #[inline]
    pub fn flags(&self, slot: usize) -> u8 {
        self.flags[slot]
    }

    pub fn list(&self, slot: usize) -> &[Item] {
        &self.lists[slot]
    }

    pub fn put(&mut self, slot: usize, word: Item, flag: u8) {
        self.flags[slot] |= flag;
        self.lists[slot].push(word);
    }
}
