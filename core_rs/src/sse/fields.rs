//! The fields of one event.

use memchr::{memchr, memchr2};

/// An event as a client would dispatch it. `data` stays bytes: it is usually JSON, parsed later.
#[derive(Debug, PartialEq, Eq)]
pub struct SseEvent {
    pub name: Option<String>,
    pub data: Vec<u8>,
    pub id: Option<String>,
    /// Reconnection time in milliseconds.
    pub retry: Option<u64>,
}

/// Reads one event; `None` when it has neither a data nor an event field (comments, keep-alives).
///
/// A BOM is dropped, since only the first event of a stream can be handed over with one. An
/// unterminated last line counts as a line, so that the rest of a cut stream can be read too.
pub fn parse(event: &[u8]) -> Option<SseEvent> {
    let mut found = Fields::default();
    let mut rest = event.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(event);
    while !rest.is_empty() {
        let (line, after) = next_line(rest);
        found.add(line);
        rest = after;
    }
    if found.data.is_none() && found.name.is_none() {
        return None;
    }
    Some(SseEvent {
        name: found.name,
        data: found.data.unwrap_or_default(),
        id: found.id,
        retry: found.retry,
    })
}

#[derive(Default)]
struct Fields {
    name: Option<String>,
    data: Option<Vec<u8>>,
    id: Option<String>,
    retry: Option<u64>,
}

impl Fields {
    fn add(&mut self, line: &[u8]) {
        let (field, value) = match memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.add_data(value),
            b"event" => self.name = Some(text(value)),
            b"id" if memchr(0, value).is_none() => self.id = Some(text(value)),
            b"retry" => self.retry = digits(value).or(self.retry),
            _ => {} // a comment (empty field name) or a field that the standard ignores
        }
    }

    fn add_data(&mut self, value: &[u8]) {
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
        }
    }
}

/// The line without its terminator (CRLF, LF or CR), and what follows it.
fn next_line(input: &[u8]) -> (&[u8], &[u8]) {
    let Some(end) = memchr2(b'\r', b'\n', input) else {
        return (input, b"");
    };
    let width = if input[end..].starts_with(b"\r\n") {
        2
    } else {
        1
    };
    (&input[..end], &input[end + width..])
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned() // "UTF-8 decode" of the standard replaces errors
}

/// ASCII digits only; "+5", "", and what overflows are no reconnection time.
fn digits(value: &[u8]) -> Option<u64> {
    let all_digits = value.iter().all(u8::is_ascii_digit);
    let digits = std::str::from_utf8(value).ok().filter(|_| all_digits)?;
    digits.parse().ok()
}
