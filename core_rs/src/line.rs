//! Incremental NDJSON framing: one piece a line, with its terminator.

use memchr::memchr;

/// Cuts a byte stream after each LF. A CR before it stays in the line: it is the peer's byte.
#[derive(Default)]
pub struct LineSplitter {
    held: Vec<u8>,
}

impl LineSplitter {
    /// Hands each line that `chunk` completes to `emit`; only the new bytes are looked at.
    pub fn feed(&mut self, chunk: &[u8], mut emit: impl FnMut(&[u8])) {
        let mut rest = chunk;
        while let Some(at) = memchr(b'\n', rest) {
            let (line, after) = rest.split_at(at + 1);
            release(&mut self.held, line, &mut emit);
            rest = after;
        }
        self.held.extend_from_slice(rest);
    }

    /// The line that never ended.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    pub fn pending(&self) -> usize {
        self.held.len()
    }
}

/// Emits `held ‖ tail`, without a copy in the usual case that nothing is held.
pub(crate) fn release(held: &mut Vec<u8>, tail: &[u8], emit: &mut impl FnMut(&[u8])) {
    if held.is_empty() {
        return emit(tail);
    }
    held.extend_from_slice(tail);
    emit(held);
    // Dropped, not cleared: one huge line must not pin its memory for the rest of a long stream.
    *held = Vec::new();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[&[u8]]) -> (Vec<String>, Vec<u8>) {
        let mut splitter = LineSplitter::default();
        let mut found = Vec::new();
        for chunk in chunks {
            splitter.feed(chunk, |line| {
                found.push(String::from_utf8_lossy(line).into_owned())
            });
        }
        (found, splitter.finish())
    }

    #[test]
    fn lines_keep_their_terminator() {
        let (found, rest) = lines(&[b"{\"a\":1}\r\n\n", b"{\"b\"", b":2}\n{"]);
        assert_eq!(found, ["{\"a\":1}\r\n", "\n", "{\"b\":2}\n"]);
        assert_eq!(rest, b"{");
    }
}
