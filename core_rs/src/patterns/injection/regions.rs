//! The parts of a text that hide something from a plain reading.
use super::detector::AFTER;

/// The regions that folding would change, but for capitals, with as much around them as a pattern reaches.
///
/// One or two `%` before hexadecimal digits are a format string or a URL, not a hidden text.
pub(super) fn foldable(text: &[u8]) -> Vec<(usize, usize)> {
    if text.is_ascii() && memchr::memchr3(b'%', b'&', b'\\', text).is_none() {
        return Vec::new(); // what most texts are
    }
    let mut regions: Vec<(usize, usize)> = Vec::new();
    let mut percents = 0;
    for (at, byte) in text.iter().enumerate() {
        let after = |count: usize| text.get(at + count).copied().unwrap_or(b' ');
        let changes = match byte {
            0x80.. => true,
            b'%' => {
                percents +=
                    usize::from(after(1).is_ascii_hexdigit() && after(2).is_ascii_hexdigit());
                percents > 2
            }
            b'&' => matches!(after(1), b'#' | b'a' | b'g' | b'l' | b'n' | b'q'),
            b'\\' => match after(1) {
                b'u' | b'x' | b'U' | b'_' | b'\n' | b'\r' | b'N' | b'L' | b'P' => true,
                b'n' | b'r' | b't' => after(2).is_ascii_alphanumeric(),
                _ => false,
            },
            _ => false,
        };
        if changes {
            let (from, to) = (at.saturating_sub(AFTER), (at + AFTER).min(text.len()));
            match regions.last_mut() {
                Some(last) if last.1 >= from => last.1 = to,
                _ => regions.push((from, to)),
            }
        }
    }
    regions
}
