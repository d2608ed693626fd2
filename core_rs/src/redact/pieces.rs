//! The pieces of text that the events of a stream carry.
use super::stream::Stream;

/// A piece of a stream's text: member name, and its place in the stream (escapes and all). A line of bare text
/// has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub name: &'a str,
    pub start: usize,
    pub end: usize,
}

impl Stream {
    /// The pieces: those of members in order, then those of bare lines.
    pub fn pieces<'a>(&'a self, text: &str) -> Vec<Piece<'a>> {
        let mut found = self.members(text);
        bare_lines(text, &mut found);
        found
    }

    fn members<'a>(&'a self, text: &str) -> Vec<Piece<'a>> {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        // A quote that ended a text begins no name.
        let (mut at, mut done) = (0, 0);
        // `"name": "`: looked for by the end of the name, of which there are the fewest.
        while let Some(colon) = memchr::memmem::find(&bytes[at..], b"\":").map(|size| at + size) {
            let next = colon + 1;
            let start = match bytes.get(colon + 2..) {
                Some([b'"', ..]) => colon + 3,
                Some([b' ', b'"', ..]) => colon + 4,
                _ => {
                    at = next;
                    continue;
                }
            };
            at = next;
            let Some(name) = self.name_before(&bytes[done.min(colon)..colon]) else {
                continue;
            };
            if let Some(end) = closed(bytes, start) {
                found.push(Piece { name, start, end });
                (at, done) = (end + 1, end + 1);
            }
        }
        found
    }

    /// The name that ends here behind a quote, if it is one of them.
    fn name_before(&self, before: &[u8]) -> Option<&str> {
        let quote = memchr::memrchr(b'"', &before[before.len().saturating_sub(64)..])?;
        let name = &before[before.len().saturating_sub(64) + quote + 1..];
        let at = self
            .names
            .binary_search_by(|one| one.as_bytes().cmp(name))
            .ok()?;
        Some(&self.names[at])
    }
}

/// Where the inside of a string ends that begins at `at`, if its quote comes before a bare backslash.
fn closed(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => return Some(at),
            (_, Some(next)) if *next != b'\n' => at += 2,
            _ => return None,
        }
    }
}

/// Data lines that are no JSON: some servers send bare text.
fn bare_lines<'a>(text: &str, found: &mut Vec<Piece<'a>>) {
    const DATA: &str = "data:";
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(size) = memchr::memmem::find(&bytes[at..], DATA.as_bytes()) {
        let place = at + size;
        at = place + DATA.len();
        if place > 0 && bytes[place - 1] != b'\n' {
            continue;
        }
        let start = at + usize::from(bytes.get(at) == Some(&b' '));
        if matches!(bytes.get(start), Some(b'{' | b'[')) {
            continue;
        }
        let end =
            memchr::memchr2(b'\r', b'\n', &bytes[start..]).map_or(bytes.len(), |size| start + size);
        if start < end {
            found.push(Piece {
                name: "",
                start,
                end,
            });
        }
        at = at.max(end);
    }
}
