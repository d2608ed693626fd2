//! How random a value looks, and values that only stand in for one.

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
    let lower = value.to_ascii_lowercase();
    MARKS
        .iter()
        .any(|mark| lower.windows(mark.len()).any(|part| part == *mark))
}
