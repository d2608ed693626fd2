//! Incremental framing of one JSON array: one piece an element, with what stands before it.
//!
//! Source: RFC 8259 §5. Some servers stream their answers as the elements of one array.

use crate::line::release;

/// Where the cursor stands; everything that the next byte's meaning depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the opening bracket.
    Start,
    /// Behind the opening bracket: an element, or the end.
    First,
    /// Behind an element: a comma, or the end.
    Behind,
    /// Behind a comma: an element.
    Next,
    /// In an object or array, this deep.
    Nested(usize),
    /// In a string, this deep in objects and arrays (0: the string is the element).
    Text { depth: usize, escaped: bool },
    /// In a number or a word that is the element.
    Bare,
    /// Behind the closing bracket.
    Done,
    /// Not an array: bytes pass as they come.
    Broken,
}

/// Cuts an array after each element, at any chunking.
///
/// The first piece begins with the opening bracket, later ones with their comma; the closing bracket
/// and what follows it is the rest. The pieces and the rest always join to the input. Only brackets
/// and strings are looked at: whether an element is JSON is its reader's business. What cannot be an
/// array passes as it comes.
pub struct ArraySplitter {
    state: State,
    held: Vec<u8>,
}

impl Default for ArraySplitter {
    fn default() -> Self {
        Self {
            state: State::Start,
            held: Vec::new(),
        }
    }
}

impl ArraySplitter {
    /// Hands each element that `chunk` completes to `emit`. Linear: no byte is looked at twice.
    pub fn feed(&mut self, chunk: &[u8], mut emit: impl FnMut(&[u8])) {
        let mut start = 0;
        let mut at = 0;
        while at < chunk.len() && self.state != State::Broken && self.state != State::Done {
            let (state, used, ends) = step(self.state, &chunk[at..]);
            self.state = state;
            at += used;
            if ends {
                release(&mut self.held, &chunk[start..at], &mut emit);
                start = at;
            }
        }
        let rest = &chunk[start..];
        if self.state == State::Broken {
            if !(rest.is_empty() && self.held.is_empty()) {
                release(&mut self.held, rest, &mut emit);
            }
        } else {
            self.held.extend_from_slice(rest);
        }
    }

    /// The closing bracket, or what never came to its end; the splitter is then as new.
    pub fn finish(&mut self) -> Vec<u8> {
        self.state = State::Start;
        std::mem::take(&mut self.held)
    }

    /// Was there something that no array holds? From then on bytes pass as they come.
    pub fn broken(&self) -> bool {
        self.state == State::Broken
    }

    pub fn pending(&self) -> usize {
        self.held.len()
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The transition table: next state, bytes used, and whether an element ends behind them.
fn step(state: State, input: &[u8]) -> (State, usize, bool) {
    use State::*;
    match (state, input[0]) {
        (Start | First | Behind | Next, byte) if is_blank(byte) => (state, 1, false),
        (Start, b'[') => (First, 1, false),
        (First | Behind, b']') => (Done, 1, false),
        (Behind, b',') => (Next, 1, false),

        (First | Next, b'{' | b'[') => (Nested(1), 1, false),
        (First | Next, b'"') => (text(0), 1, false),
        (First | Next, byte) if byte == b'-' || byte.is_ascii_alphanumeric() => (Bare, 1, false),
        (Start | First | Behind | Next, _) => (Broken, 0, false),

        (Bare, byte) if is_blank(byte) || matches!(byte, b',' | b']') => (Behind, 0, true),
        (Bare, byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.') => {
            (Bare, 1, false)
        }
        (Bare, _) => (Broken, 0, false),

        (Nested(depth), b'"') => (text(depth), 1, false),
        (Nested(depth), b'{' | b'[') => (Nested(depth + 1), 1, false),
        (Nested(1), b'}' | b']') => (Behind, 1, true),
        (Nested(depth), b'}' | b']') => (Nested(depth - 1), 1, false),
        (Nested(_), _) => {
            let plain = |byte: &u8| !matches!(byte, b'"' | b'{' | b'}' | b'[' | b']');
            (
                state,
                input.iter().take_while(|byte| plain(byte)).count(),
                false,
            )
        }

        (
            Text {
                depth,
                escaped: true,
            },
            _,
        ) => (text(depth), 1, false),
        (Text { depth, .. }, b'\\') => (
            Text {
                depth,
                escaped: true,
            },
            1,
            false,
        ),
        (Text { depth: 0, .. }, b'"') => (Behind, 1, true),
        (Text { depth, .. }, b'"') => (Nested(depth), 1, false),
        (Text { .. }, _) => {
            let end = memchr::memchr2(b'"', b'\\', input);
            (state, end.unwrap_or(input.len()), false)
        }

        (Done | Broken, _) => (state, input.len(), false),
    }
}

fn text(depth: usize) -> State {
    State::Text {
        depth,
        escaped: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(chunks: &[&[u8]]) -> (Vec<String>, String, bool) {
        let mut splitter = ArraySplitter::default();
        let mut found = Vec::new();
        for chunk in chunks {
            splitter.feed(chunk, |piece| {
                found.push(String::from_utf8_lossy(piece).into_owned())
            });
        }
        let broken = splitter.broken();
        let rest = String::from_utf8_lossy(&splitter.finish()).into_owned();
        (found, rest, broken)
    }

    #[test]
    fn every_cut_in_three_gives_the_same_elements() {
        let stream = b" [{\"a\":\"]}\\\"\\\\\"}\r\n,\r\n{\"b\":[{},[]]} , 1,-2.5e+3 ,null,\"x,]\\u00e9\",[[]]\n]\n ";
        let whole = split(&[stream]);
        assert_eq!(whole.0.len(), 7);
        assert_eq!(whole.1, "\n]\n ");
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let chunks = [&stream[..first], &stream[first..second], &stream[second..]];
                assert_eq!(split(&chunks), whole, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn an_element_is_released_by_its_last_byte() {
        assert_eq!(split(&[b"[{\"a\":1}"]).0, ["[{\"a\":1}"]);
        assert_eq!(split(&[b"[{}", b",\n{}"]).0, ["[{}", ",\n{}"]);
    }

    #[test]
    fn an_empty_array_has_no_element() {
        assert_eq!(split(&[b"[ ]"]), (vec![], "[ ]".to_owned(), false));
    }

    #[test]
    fn what_is_no_array_passes_as_it_comes() {
        let cases: [&[u8]; 7] = [
            b"{\"error\":{}}",
            b"<html>",
            b"[,{}]",
            b"[{} {}]",
            b"[{}}]",
            b"\xEF\xBB\xBF[{}]",
            b"[1:2]",
        ];
        for stream in cases {
            let (found, rest, broken) = split(&[stream, b"more"]);
            assert!(broken, "{}", String::from_utf8_lossy(stream));
            assert_eq!(rest, "");
            let joined = String::from_utf8_lossy(stream).into_owned() + "more";
            assert_eq!(found.concat(), joined);
        }
    }

    #[test]
    fn a_long_element_in_small_chunks_is_linear() {
        let mut splitter = ArraySplitter::default();
        let mut sizes = Vec::new();
        splitter.feed(b"[\"", |piece| sizes.push(piece.len()));
        for _ in 0..160_000 {
            splitter.feed(&[b'x'; 64], |piece| sizes.push(piece.len()));
        }
        splitter.feed(b"\"", |piece| sizes.push(piece.len()));
        assert_eq!(sizes, [160_000 * 64 + 3]);
        assert_eq!(splitter.pending(), 0);
    }
}
