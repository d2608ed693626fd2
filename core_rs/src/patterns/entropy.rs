//! How random a value looks, and values that only stand in for one.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

/// Shannon entropy in bits a byte.
pub fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    value
        .iter()
        .for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = value.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

/// What the entropy of no part of `text` exceeds: that of as many equally frequent bytes as differ in it.
pub fn at_most(text: &[u8]) -> f64 {
    let mut seen = [false; 256];
    text.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    (seen.iter().filter(|seen| **seen).count() as f64).log2()
}

/// Whether the value is plainly a stand-in: `your-key-here`, `xxxx`, `example`, a variable.
pub fn placeholder(value: &[u8]) -> bool {
    const MARKS: [&[u8]; 14] = [
        b"example",
        b"xxxxx",
        b"your_",
        b"your-",
        b"placeholder",
        b"changeme",
        b"redacted",
        b"insert_",
        b"replace_",
        b"dummy",
        b"*****",
        b"00000000",
        b"12345678901",
        b"deadbeef",
    ];
    static SEARCH: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let build = || {
        AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(MARKS)
            .ok()
    };
    SEARCH
        .get_or_init(build)
        .as_ref()
        .is_some_and(|search| search.is_match(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_exceeds_the_bound() {
        let text: &[u8] = b"token:abcdabcd:Zx9-token=token=";
        for start in 0..text.len() {
            for end in start + 1..=text.len() {
                assert!(entropy(&text[start..end]) <= at_most(text) + 1e-9);
            }
        }
        assert_eq!(at_most(b"abababab"), 1.0);
    }

    #[test]
    fn stand_ins_are_known_in_any_case() {
        assert!(placeholder(b"an-EXAMPLE-key"));
        assert!(placeholder(b"Your_key"));
        assert!(!placeholder(b"q7Rk2mZx9TbV4nLc"));
    }
}
