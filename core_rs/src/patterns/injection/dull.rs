//! The memory of words that are nothing of ours: natural text repeats itself.
use std::cell::Cell;

const SLOTS: usize = 1 << 13;
const SPACES: u128 = 0x2020_2020_2020_2020_2020_2020_2020_2020;

/// What a byte is to a word: 1 a letter, 2 what may stand for a letter, 0 neither.
pub const PART: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => 1,
            b'0'..=b'9' | b'@' | b'$' | b'|' => 2,
            _ => 0,
        };
        byte += 1;
    }
    table
};

thread_local! {
    static DULL: Vec<Cell<u128>> = (0..SLOTS).map(|_| Cell::new(0)).collect();
}

/// What this thread knows. A word is a number here, and a later one of its slot takes its place.
pub struct Dull<'m>(&'m [Cell<u128>]);

impl Dull<'_> {
    pub fn with<T>(work: impl FnOnce(&Dull<'_>) -> T) -> T {
        DULL.with(|cells| work(&Dull(cells)))
    }

    /// The number of the word at `start..end`, at most 16 bytes that are a `PART`, whatever its case.
    #[inline]
    pub fn key(text: &[u8], start: usize, end: usize) -> u128 {
        let size = end - start;
        let bytes = match text[start..].first_chunk() {
            Some(bytes) => u128::from_le_bytes(*bytes),
            None => {
                let mut bytes = [0; 16];
                bytes[..size].copy_from_slice(&text[start..end]);
                u128::from_le_bytes(bytes)
            }
        };
        // Small letters are capitals with this bit set; the others have it, but `@`, which has no other half.
        (bytes | SPACES) & (u128::MAX >> (128 - 8 * size))
    }

    /// What tells the same word as leetspeak, which digits may stand for other letters in.
    pub fn as_leet(key: u128) -> u128 {
        !key
    }

    #[inline]
    pub fn holds(&self, key: u128) -> bool {
        self.0[slot(key)].get() == key
    }

    pub fn add(&self, key: u128) {
        self.0[slot(key)].set(key);
    }
}

#[inline]
fn slot(key: u128) -> usize {
    let (low, high) = (key as u64, (key >> 64) as u64);
    let mixed = (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 40) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_one_number_wherever_it_stands() {
        let key = |text: &str, start, end| Dull::key(text.as_bytes(), start, end);
        let word = key("Rules", 0, 5);
        assert_eq!(word, key("the rULES of a longer text", 4, 9));
        assert_ne!(word, key("rule", 0, 4));
        assert_ne!(word, Dull::as_leet(word));
        assert_ne!(key("p@ss", 0, 4), key("pass", 0, 4));
        assert_eq!(
            key("abcdefghijklmnop", 0, 16),
            key("xABCDEFGHIJKLMNOP.", 1, 17)
        );
    }

    #[test]
    fn what_was_added_is_held_until_another_takes_its_place() {
        Dull::with(|dull| {
            let key = Dull::key(b"harmless", 0, 8);
            assert!(!dull.holds(key));
            dull.add(key);
            assert!(dull.holds(key) && !dull.holds(Dull::as_leet(key)));
            let other = (1u128..).find(|other| *other != key && slot(*other) == slot(key));
            dull.add(other.expect("another word of the slot"));
            assert!(!dull.holds(key));
        });
    }
}
