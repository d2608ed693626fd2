//! Cuts a byte stream after each blank line, whatever its chunking.

use memchr::memchr2;

use crate::line::release;

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Where the cursor stands; everything that the next byte's meaning depends on.
#[derive(Clone, Copy)]
enum State {
    /// At the start of the stream, with this many bytes of a BOM seen.
    Bom(usize),
    LineStart,
    InLine,
    /// After the CR of a line with content. An LF would belong to the same terminator.
    AfterCr,
    /// After the CR of a blank line: the event is whole, but for an LF that may follow.
    AfterBlankCr,
}

/// Incremental splitter: each piece is one event with its terminating blank line.
///
/// The pieces and the rest always join to the input. A blank line on its own (keep-alive) is a
/// piece too. The one thing held back is an event whose blank line ends in CR, until the next byte
/// tells whether an LF belongs to it; otherwise the cut would depend on the chunking.
pub struct SseSplitter {
    state: State,
    held: Vec<u8>,
}

impl Default for SseSplitter {
    fn default() -> Self {
        Self {
            state: State::Bom(0),
            held: Vec::new(),
        }
    }
}

impl SseSplitter {
    /// Hands each event that `chunk` completes to `emit`. Linear: no byte is looked at twice.
    pub fn feed(&mut self, chunk: &[u8], mut emit: impl FnMut(&[u8])) {
        let (mut start, mut at) = (0, 0);
        while at < chunk.len() {
            let (state, used, ends) = step(self.state, &chunk[at..]);
            self.state = state;
            at += used;
            if ends {
                release(&mut self.held, &chunk[start..at], &mut emit);
                start = at;
            }
        }
        self.held.extend_from_slice(&chunk[start..]);
    }

    /// What no blank line has ended, and an event that was held back for its LF.
    pub fn finish(&mut self) -> Vec<u8> {
        self.state = State::Bom(0);
        std::mem::take(&mut self.held)
    }

    pub fn pending(&self) -> usize {
        self.held.len()
    }
}

/// The transition table: next state, bytes used, and whether an event ends behind them.
fn step(state: State, input: &[u8]) -> (State, usize, bool) {
    use State::*;
    match (state, input[0]) {
        (Bom(seen), byte) if byte == BOM[seen] => match seen {
            2 => (LineStart, 1, false),
            _ => (Bom(seen + 1), 1, false),
        },
        (Bom(0), _) => (LineStart, 0, false),
        (Bom(_), _) => (InLine, 0, false), // half a BOM is content

        (AfterCr, b'\n') => (LineStart, 1, false),
        (AfterCr, _) => (LineStart, 0, false),
        (AfterBlankCr, b'\n') => (LineStart, 1, true),
        (AfterBlankCr, _) => (LineStart, 0, true),

        (LineStart, b'\n') => (LineStart, 1, true),
        (LineStart, b'\r') => (AfterBlankCr, 1, false),
        (LineStart | InLine, _) => match memchr2(b'\r', b'\n', input) {
            None => (InLine, input.len(), false),
            Some(at) if input[at] == b'\n' => (LineStart, at + 1, false),
            Some(at) => (AfterCr, at + 1, false),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(chunks: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let mut splitter = SseSplitter::default();
        let mut events = Vec::new();
        for chunk in chunks {
            splitter.feed(chunk, |event| events.push(event.to_vec()));
        }
        (events, splitter.finish())
    }

    #[test]
    fn every_cut_in_three_gives_the_same_events() {
        let stream =
            b"\xEF\xBB\xBF\r\ndata: a\r\n\r\n: c\n\ndata: b\r\rdata: c\n\r\n\r\r\r\n\n\rid: 1\r\n\rx";
        let whole = split(&[stream]);
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let chunks = [&stream[..first], &stream[first..second], &stream[second..]];
                assert_eq!(split(&chunks), whole, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn lf_event_is_released_at_once() {
        let (events, rest) = split(&[b"data: a\n\n"]);
        assert_eq!((events.len(), rest.len()), (1, 0));
    }

    #[test]
    fn crlf_event_is_released_at_once() {
        let (events, rest) = split(&[b"data: a\r\n\r\n"]);
        assert_eq!((events.len(), rest.len()), (1, 0));
    }

    #[test]
    fn cr_event_waits_for_one_byte() {
        assert_eq!(split(&[b"data: a\r\r"]).1, b"data: a\r\r");
        assert_eq!(split(&[b"data: a\r\r", b"d"]).0, [b"data: a\r\r"]);
        assert_eq!(split(&[b"data: a\r\r", b"\n"]).0, [b"data: a\r\r\n"]);
    }

    #[test]
    fn long_line_in_small_chunks_is_linear() {
        let mut splitter = SseSplitter::default();
        let mut sizes = Vec::new();
        for _ in 0..160_000 {
            splitter.feed(&[b'x'; 64], |event| sizes.push(event.len()));
        }
        splitter.feed(b"\n\n", |event| sizes.push(event.len()));
        assert_eq!(sizes, [160_000 * 64 + 2]);
        assert_eq!(splitter.pending(), 0);
    }
}
