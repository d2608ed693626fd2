//! What wrapped texts say, with a map back to where each character stood: JSON strings and percent-encoding.
use super::edit::Edit;
use super::names::hex;
use super::text::{Builder, Text};

/// Decoded text; the byte `i` stood at `starts[i]`, and the last of them is the end.
#[derive(Debug)]
pub struct Inner {
    pub text: Text<'static>,
    pub starts: Vec<usize>,
}

impl Inner {
    /// An edit of the inside in the text around it, where `encode` writes a quote.
    pub fn outward(&self, edit: Edit, encode: fn(&str) -> String) -> Edit {
        Edit {
            lead: Some(self.starts[edit.begin()]),
            start: self.starts[edit.start],
            end: self.starts[edit.end],
            quote: encode(&edit.quote),
            ..edit
        }
    }
}

/// What the inside of a JSON string says. A broken escape stands for itself.
pub fn unescape(text: &Text, start: usize, end: usize) -> Inner {
    let mut starts = Vec::with_capacity(end - start + 1);
    let text = unescaped(text, start, end, Some(&mut starts));
    starts.push(end);
    Inner { text, starts }
}

/// The same without the map, unless one is asked for.
pub fn unescaped(
    text: &Text,
    start: usize,
    end: usize,
    mut starts: Option<&mut Vec<usize>>,
) -> Text<'static> {
    let bytes = &text.plain().as_bytes()[..end];
    let mut out = Builder::default();
    let mut at = start;
    while at < end {
        let size = memchr::memchr(b'\\', &bytes[at..]).unwrap_or(end - at);
        if size > 0 || at + 1 == end {
            let size = size.max(1);
            out.push(text.part(at, at + size));
            if let Some(starts) = &mut starts {
                starts.extend(at..at + size);
            }
            at += size;
            continue;
        }
        let before = out.len();
        let next = escape(text, at, end, &mut out);
        if let Some(starts) = &mut starts {
            starts.resize(starts.len() + out.len() - before, at);
        }
        at = next;
    }
    out.done(text.has_lone())
}

/// Takes in what an escape says, behind whose backslash there is more; where the text goes on.
fn escape(text: &Text, at: usize, end: usize, out: &mut Builder) -> usize {
    let plain = &text.plain()[..end];
    let bytes = plain.as_bytes();
    let digits = bytes.get(at + 2..at + 6).filter(|_| bytes[at + 1] == b'u');
    let code = digits.and_then(|digits| Some((hex(&digits[..2])?, hex(&digits[2..])?)));
    if let Some((high, low)) = code {
        out.code(u32::from(high) << 8 | u32::from(low));
        return at + 6;
    }
    let size = plain[at + 1..].chars().next().map_or(0, char::len_utf8);
    match bytes[at + 1] {
        b'b' => out.push(b"\x08"),
        b'f' => out.push(b"\x0c"),
        b'n' => out.push(b"\n"),
        b'r' => out.push(b"\r"),
        b't' => out.push(b"\t"),
        _ => out.push(text.part(at + 1, at + 1 + size)),
    }
    at + 1 + size
}

/// What a word with percent-encoding says; in a form or a query a plus is a `blank`.
pub fn unquote(text: &Text, start: usize, end: usize, plus: u8) -> Inner {
    let bytes = &text.plain().as_bytes()[..end];
    let mut out = Builder::default();
    let mut starts = Vec::with_capacity(end - start + 1);
    let mut at = start;
    while at < end {
        let before = out.len();
        let code = bytes
            .get(at + 1..at + 3)
            .filter(|_| bytes[at] == b'%')
            .and_then(hex);
        match (code, bytes[at]) {
            (Some(code), _) => out.code(u32::from(code)),
            (None, b'+') => out.push(&[plus]),
            (None, byte) => out.push(&[byte]),
        }
        starts.resize(starts.len() + out.len() - before, at);
        at += if code.is_some() { 3 } else { 1 };
    }
    starts.push(end);
    Inner {
        text: out.done(false),
        starts,
    }
}

/// A quote as it stands in a JSON string.
pub fn in_string(quote: &str) -> String {
    quote.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The same in a word with percent-encoding.
pub fn in_word(quote: &str) -> String {
    let mut out = String::with_capacity(quote.len());
    for byte in quote.bytes() {
        match byte {
            b'/' | b'_' | b'.' | b'-' | b'~' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The same in HTML. It is whole there, too, where the HTML stands in a JSON string.
pub fn in_markup(quote: &str) -> String {
    quote
        .replace('&', "&amp;")
        .replace('\\', "&#92;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unescaping_knows_where_each_character_stood() {
        let text = Text::new(r#"x\n\u0041\"é\q\u00"#);
        let inner = unescape(&text, 1, text.plain().len());
        assert_eq!(inner.text.plain(), "\nA\"équ00");
        assert_eq!(inner.starts, [1, 3, 9, 11, 12, 13, 15, 17, 18, 19]);
        assert_eq!(unescape(&Text::new("a\\"), 0, 2).text.plain(), "a\\");
        assert_eq!(
            unescape(&Text::new("a\\é\\u00e9"), 0, 10).starts,
            [0, 1, 1, 4, 4, 10]
        );
        let lone = unescape(&Text::new("\\ud83d"), 0, 6);
        assert_eq!(
            (lone.text.part(0, 3), lone.starts),
            (&b"\xed\xa0\xbd"[..], vec![0, 0, 0, 6])
        );
    }

    #[test]
    fn words_are_unquoted_byte_by_byte() {
        let text = Text::new("a%C3+%4");
        let inner = unquote(&text, 0, 7, b' ');
        assert_eq!(
            (inner.text.plain(), &*inner.starts),
            ("aÃ %4", &[0, 1, 1, 4, 5, 6, 7][..])
        );
    }

    #[test]
    fn quotes_are_written_as_their_surroundings_want() {
        assert_eq!(
            (in_string("\\\""), in_word("\\\"")),
            ("\\\\\\\"".into(), "%5C%22".into())
        );
        assert_eq!(in_markup("\\\"&"), "&#92;&quot;&amp;");
    }
}
