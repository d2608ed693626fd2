//! Personal data behind another way of writing: full-width forms, invisible characters, other spaces and dashes.
use super::engine::{Engine, Options};
use super::hit::Hit;

/// What is read again around a changed character.
const AROUND: usize = 160;

/// A stretch of the text in plain characters, and where each of them came from.
struct Plain {
    text: Vec<u8>,
    from: Vec<(usize, usize)>,
}

impl Engine {
    /// Adds the personal data that only a plain way of writing shows; offsets are those of `text`.
    pub(super) fn rewritten(&self, text: &[u8], options: &Options, hits: &mut Vec<Hit>) {
        for (from, to) in regions(text) {
            let plain = plain(text, from, to);
            let marks = self.words(&plain.text);
            let mut own = Vec::new();
            self.numbered(&plain.text, &marks, options, &mut own);
            self.woken(&plain.text, &marks, options, &mut own);
            let ends = (from == 0, to == text.len());
            for mut hit in own {
                let cut = (hit.start == 0 && !ends.0) || (hit.end == plain.text.len() && !ends.1);
                let (first, last) = (plain.from[hit.start].0, plain.from[hit.end - 1].1);
                if cut || last - first == hit.end - hit.start {
                    continue; // not whole, or plain in the text itself
                }
                hit.masked = super::mask(&String::from_utf8_lossy(&plain.text[hit.start..hit.end]));
                (hit.start, hit.end) = (first, last);
                hits.push(hit);
            }
        }
    }
}

/// The character that a sequence stands for (`Some(None)`: nothing) and how many bytes it has.
fn read(text: &[u8]) -> Option<(Option<u8>, usize)> {
    match *text {
        [0xef, 0xbc, byte @ 0x81..=0xbf, ..] => Some((Some(byte - 0x60), 3)),
        [0xef, 0xbd, byte @ 0x80..=0x9e, ..] => Some((Some(byte - 0x20), 3)),
        [0xef, 0xbb, 0xbf, ..] | [0xe2, 0x80, 0x8b..=0x8f, ..] | [0xe2, 0x81, 0xa0, ..] => {
            Some((None, 3))
        }
        [0xe2, 0x80, 0x90..=0x95, ..] => Some((Some(b'-'), 3)),
        [0xe2, 0x80, 0x80..=0x8a | 0xaf, ..] => Some((Some(b' '), 3)),
        [0xc2, 0xad, ..] => Some((None, 2)),
        [0xc2, 0xa0, ..] => Some((Some(b' '), 2)),
        _ => None,
    }
}

/// Where such characters stand beside what a value may be made of, with what may belong to it.
fn regions(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for at in memchr::memchr3_iter(0xef, 0xe2, 0xc2, text) {
        let Some((byte, size)) = read(&text[at..]) else {
            continue;
        };
        // Dashes and spaces stand in every text: only those at a digit can belong to a number.
        let counts = |near: Option<&u8>| match byte {
            Some(b'-' | b' ') => near.is_some_and(u8::is_ascii_digit),
            _ => near.is_some_and(|near| near.is_ascii_alphanumeric() || *near >= 0x80),
        };
        if !counts(text.get(at + size)) && !counts(at.checked_sub(1).and_then(|b| text.get(b))) {
            continue;
        }
        let (from, to) = (at.saturating_sub(AROUND), (at + AROUND).min(text.len()));
        match found.last_mut() {
            Some(last) if last.1 >= from => last.1 = to,
            _ => found.push((from, to)),
        }
    }
    found
}

fn plain(text: &[u8], from: usize, to: usize) -> Plain {
    let mut plain = Plain {
        text: Vec::with_capacity(to - from),
        from: Vec::with_capacity(to - from),
    };
    let mut at = from;
    while at < to {
        let (byte, size) = read(&text[at..to]).unwrap_or((Some(text[at]), 1));
        if let Some(byte) = byte {
            plain.text.push(byte);
            plain.from.push((at, at + size));
        }
        at += size;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_ways_of_writing_are_made_plain() {
        let text = "x \u{ff14}\u{200b}2\u{2011}\u{ff21}\u{ff41}\u{a0}é".as_bytes();
        let plain = plain(text, 0, text.len());
        assert_eq!(plain.text, "x 42-Aa é".as_bytes());
        assert_eq!(plain.from[2], (2, 5));
        assert_eq!(plain.from[3], (8, 9));
    }

    #[test]
    fn ordinary_texts_have_no_such_region() {
        assert_eq!(regions("Grüße, “quoted” … naïve".as_bytes()), []);
        assert_eq!(regions("4\u{200b}2".as_bytes()), [(0, 5)]);
    }
}
