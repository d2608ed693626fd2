//! Byte offsets to character offsets (Python counts code points).

/// Turns ascending byte offsets into character offsets in one pass.
pub fn characters(text: &str, offsets: &mut [usize]) {
    if text.is_ascii() {
        return;
    }
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_unstable_by_key(|index| offsets[*index]);
    let (mut byte, mut count) = (0, 0);
    for index in order {
        let target = offsets[index].min(text.len());
        count += text.as_bytes()[byte..target]
            .iter()
            .filter(|b| **b & 0xc0 != 0x80)
            .count();
        byte = byte.max(target);
        offsets[index] = count;
    }
}
