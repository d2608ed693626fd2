//! What wrapped texts say, with a map back to where each character stood: JSON strings and percent-encoding.
use super::edit::Edit;
use super::members::said_end;
use super::names::hex;
use super::shapes::LONGEST;
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

/// A JSON string: where it begins, where its inside ends, and where it does, with its quote if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quoted {
    pub start: usize,
    pub inner: usize,
    pub end: usize,
}

/// The first string that begins at `at` or behind it.
pub fn string_at(text: &str, at: usize) -> Option<Quoted> {
    let bytes = text.as_bytes();
    let start = at + memchr::memchr(b'"', bytes.get(at..)?)?;
    let inner = said_end(bytes, start + 1, b'"');
    let end = inner + usize::from(bytes.get(inner) == Some(&b'"'));
    Some(Quoted { start, inner, end })
}

/// Which places of a text are inside of a JSON string. Asked in ascending order, it reads on from the last
/// answer: a text of nothing but such places is read once.
#[derive(Debug)]
pub struct Strings<'a> {
    text: &'a str,
    asked: usize,
    start: usize,
    end: usize,
}

impl<'a> Strings<'a> {
    pub fn new(text: &'a str) -> Self {
        Strings {
            text,
            asked: 0,
            start: 0,
            end: 0,
        }
    }

    /// Is this inside? Then a bare double quote after it ends that string.
    pub fn holds(&mut self, place: usize) -> bool {
        let bytes = self.text.as_bytes();
        if let Some(found) = memchr::memrchr(b'\n', &bytes[self.asked..place]) {
            let line = self.asked + found + 1;
            if line > self.end {
                (self.start, self.end) = (line, line);
            }
        }
        self.asked = place;
        while self.end <= place {
            // Where no string follows, none will be looked for again.
            let none = (usize::MAX, usize::MAX);
            let found = string_at(self.text, self.end);
            (self.start, self.end) = found.map_or(none, |string| (string.start, string.end));
        }
        self.start <= place
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

/// How long a unit of a run is that begins at `at`; 0 where none does.
pub type Unit = fn(&[u8], usize) -> usize;

/// With what encoders leave as it is: `encodeURIComponent` !*'(), `encodeURI` ;,/:@$ besides, and Go's
/// `PathEscape` :@$. A value ends where its run ends, so what is left out here would stay of a password.
pub fn percent_unit(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        b'%' => match bytes.get(at + 1..at + 3) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => 3,
            _ => 0,
        },
        byte => usize::from(byte.is_ascii_alphanumeric() || b"_.~+/:@!*'()$,;-".contains(&byte)),
    }
}

pub fn base64_unit(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at].is_ascii_alphanumeric() || b"+/_-".contains(&bytes[at]))
}

/// Gives the runs of one kind of characters that the places are in, each once, at most `LONGEST` of one to
/// either side of a place. What lies before the end of the last run is not looked at again.
pub fn runs(
    text: &Text,
    places: impl Iterator<Item = usize>,
    unit: Unit,
    mut take: impl FnMut(usize, usize),
) {
    let bytes = text.plain().as_bytes();
    let mut at = 0;
    for place in places {
        if place < at {
            continue;
        }
        let floor = text.back(place, LONGEST).max(at);
        let parts = |byte: &u8| b"\"\n ?&=".contains(byte); // in no run
        let before = bytes[floor..place].iter().rposition(parts);
        let start = before.map_or(floor, |found| floor + found + 1);
        let limit = text.ahead(place, LONGEST);
        if let Some((from, to)) = run(&bytes[..limit], start, place, unit) {
            at = to;
            take(from, to);
        }
    }
}

/// The first run from `at` on that ends behind `place`.
fn run(bytes: &[u8], mut at: usize, place: usize, unit: Unit) -> Option<(usize, usize)> {
    while at < bytes.len() {
        let from = at;
        while at < bytes.len() {
            match unit(bytes, at) {
                0 => break,
                size => at += size,
            }
        }
        if at > from && at > place {
            return Some((from, at));
        }
        at += usize::from(at == from || at < bytes.len());
    }
    None
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

    #[test]
    fn places_in_strings_are_those_that_a_search_from_the_beginning_finds() {
        let mut seed = 7u32;
        let mut draw = |most: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) as usize % most
        };
        for _ in 0..4000 {
            let size = draw(14);
            let text: String = (0..size)
                .map(|_| ['"', '"', '\\', '\n', '\'', 'a'][draw(6)])
                .collect();
            let mut spans = Vec::new();
            let mut at = 0;
            while let Some(string) = string_at(&text, at) {
                spans.push(string.start..string.end);
                at = string.end;
            }
            let mut strings = Strings::new(&text);
            for place in (0..=size).filter(|_| draw(3) == 0) {
                let expected = spans.iter().any(|span| span.contains(&place));
                assert_eq!(strings.holds(place), expected, "{text:?} {place}");
            }
        }
    }

    #[test]
    fn runs_are_given_once_and_whole() {
        let text = Text::new("a=x%41!%42| %43");
        let mut found = Vec::new();
        runs(&text, [3, 7, 12].into_iter(), percent_unit, |a, b| {
            found.push((a, b))
        });
        assert_eq!(found, [(2, 10), (12, 15)]);
    }
}
