//! What HTML and quoted-printable (RFC 2045, 6.7) say.
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::names::hex;
use super::suspect::compiled;
use super::text::{Builder, Text};
use super::unwrap::Inner;

/// What tells either.
pub const SUSPECT: &str =
    r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});|(?i:quoted-printable)";
const TOKEN: &str =
    r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});|<[/A-Za-z][^<>]{0,199}>";

static MARKED: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(TOKEN));

/// Named character references of letters, at most eight, with their semicolon; and those that need none.
///
/// Source: HTML Living Standard, 13.5, "Named character references"; code points in hexadecimal.
static NAMED: LazyLock<HashMap<&str, String>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let (name, codes) = line.split_once('\t')?;
        let code = |code: &str| char::from_u32(u32::from_str_radix(code, 16).ok()?);
        Some((name, codes.split(' ').filter_map(code).collect()))
    };
    include_str!("entities.tsv")
        .lines()
        .filter_map(line)
        .collect()
});

/// What numbers from 0x80 to 0x9F stand for (HTML Living Standard, 13.2.5.80).
const LOW: [u32; 32] = [
    0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039,
    0x152, 0x8d, 0x17d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc,
    0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
];

/// What HTML in a text says, if there is any.
pub fn unmarked(text: &Text) -> Option<Inner> {
    let plain = text.plain();
    let first = MARKED.as_ref()?.find(plain)?;
    let mut out = Mapped::default();
    out.literal(text, 0, first.start());
    let mut at = first.start();
    while at < plain.len() {
        let end = token(plain, at);
        if end > at + 1 {
            if plain.as_bytes()[at] == b'&' {
                out.said(&referred(&plain[at + 1..end]).replace('"', "'"), at);
            }
            at = end;
            continue;
        }
        let next = memchr::memchr2(b'&', b'<', &plain.as_bytes()[at + 1..]);
        let next = next.map_or(plain.len(), |size| at + 1 + size);
        out.literal(text, at, next);
        at = next;
    }
    Some(out.done(text))
}

/// Where a reference or a tag ends that begins at `at`; `at + 1` or less where none does.
fn token(text: &str, at: usize) -> usize {
    let size = match text.as_bytes()[at] {
        b'&' => reference(&text.as_bytes()[at + 1..]),
        b'<' => tag(&text[at + 1..]),
        _ => None,
    };
    at + 1 + size.unwrap_or(0)
}

/// How long the rest of a tag is behind its `<`.
fn tag(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    if first != '/' && !first.is_ascii_alphabetic() {
        return None;
    }
    let named = rest[1..].chars().take(200);
    let inside = named.take_while(|one| !"<>".contains(*one));
    let (count, size) = inside.fold((0, 1), |(count, size), one| {
        (count + 1, size + one.len_utf8())
    });
    let closed = count < 200 && rest.as_bytes().get(size) == Some(&b'>');
    closed.then_some(size + 1)
}

fn reference(bytes: &[u8]) -> Option<usize> {
    let run = |from: usize, is: fn(&u8) -> bool, most: usize| {
        let count = bytes[from.min(bytes.len())..]
            .iter()
            .take_while(|byte| is(byte))
            .count();
        (count <= most).then_some(count)
    };
    let (from, count) = match bytes {
        [b'#', b'x' | b'X', ..] => (2, run(2, u8::is_ascii_hexdigit, 6).filter(|n| *n > 0)?),
        [b'#', ..] => (1, run(1, u8::is_ascii_digit, 7).filter(|n| *n > 0)?),
        _ => (0, run(0, u8::is_ascii_alphabetic, 8).filter(|n| *n > 1)?),
    };
    (bytes.get(from + count) == Some(&b';')).then_some(from + count + 1)
}

/// What a reference (without its ampersand) stands for.
fn referred(name: &str) -> String {
    if let Some(number) = name.strip_prefix('#') {
        let number = number.trim_end_matches(';');
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        return numbered(code.unwrap_or(u32::MAX));
    }
    if let Some(found) = NAMED.get(name) {
        return found.clone();
    }
    let longest = (2..name.len()).rev().find_map(|size| {
        let found = NAMED.get(name.get(..size)?)?;
        Some(format!("{found}{}", &name[size..]))
    });
    longest.unwrap_or_else(|| format!("&{name}"))
}

fn numbered(code: u32) -> String {
    match code {
        0 => "\u{fffd}".to_owned(),
        13 => "\r".to_owned(),
        0x80..=0x9f => char::from_u32(LOW[code as usize - 0x80])
            .into_iter()
            .collect(),
        1..=8 | 0xb | 0xe..=0x1f | 0x7f | 0xfdd0..=0xfdef => String::new(),
        _ => match char::from_u32(code) {
            Some(_) if code & 0xfffe == 0xfffe => String::new(),
            Some(one) => one.to_string(),
            None => "\u{fffd}".to_owned(),
        },
    }
}

/// What quoted-printable in a text says, if it names it.
pub fn unprinted(text: &Text) -> Option<Inner> {
    const NAME: &[u8] = b"quoted-printable";
    let bytes = text.plain().as_bytes();
    bytes
        .windows(NAME.len())
        .find(|part| part.eq_ignore_ascii_case(NAME))?;
    let mut out = Mapped::default();
    let mut at = 0;
    while at < bytes.len() {
        let next = memchr::memchr(b'=', &bytes[at..]).map_or(bytes.len(), |size| at + size);
        out.literal(text, at, next);
        at = next;
        if at == bytes.len() {
            break;
        }
        let rest = &bytes[at + 1..];
        let breaks: [&[u8]; 4] = [b"\\r\\n", b"\\n", b"\r\n", b"\n"];
        if let Some(code) = rest.get(..2).and_then(hex) {
            out.code(u32::from(code), at);
            at += 3;
        } else if let Some(one) = breaks.iter().find(|one| rest.starts_with(one)) {
            at += 1 + one.len();
        } else {
            out.literal(text, at, at + 1);
            at += 1;
        }
    }
    Some(out.done(text))
}

#[derive(Default)]
struct Mapped {
    out: Builder,
    starts: Vec<usize>,
}

impl Mapped {
    fn literal(&mut self, text: &Text, start: usize, end: usize) {
        self.out.push(text.part(start, end));
        self.starts.extend(start..end);
    }

    fn said(&mut self, what: &str, at: usize) {
        self.out.push(what.as_bytes());
        self.starts.resize(self.out.len(), at);
    }

    fn code(&mut self, code: u32, at: usize) {
        self.out.code(code);
        self.starts.resize(self.out.len(), at);
    }

    fn done(mut self, text: &Text) -> Inner {
        self.starts.push(text.plain().len());
        Inner {
            text: self.out.done(text.has_lone()),
            starts: self.starts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_unwrapped_with_a_map() {
        let inner = unmarked(&Text::new("<b>4&#49;</b>&quot;&amp;x &unknown; a < b")).unwrap();
        assert_eq!(inner.text.plain(), "41'&x &unknown; a < b");
        assert_eq!(inner.starts[..3], [3, 4, 13]);
        assert_eq!(inner.starts.len(), inner.text.plain().len() + 1);
        assert!(unmarked(&Text::new("a < b and c > d")).is_none());
        for (text, expected) in [
            ("&amp;lt;", "&lt;"),
            ("&notit;", "¬it;"),
            ("&#x80;&#0;&#xFFFE;&#1;&#xD800;", "€\u{fffd}\u{fffd}"),
            ("&#x110000;", "\u{fffd}"),
            ("<b>\"a\"</b>", "\"a\""),
            ("<b>é</b>\u{202e}<", "é\u{202e}<"),
        ] {
            assert_eq!(
                unmarked(&Text::new(text)).unwrap().text.plain(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_tag_has_at_most_so_many_characters() {
        let tag = |size: usize| format!("<b>x<a{}>", "é".repeat(size));
        assert_eq!(unmarked(&Text::new(tag(199))).unwrap().text.plain(), "x");
        assert_eq!(
            unmarked(&Text::new(tag(200))).unwrap().text.plain().len(),
            1 + 2 + 400 + 1
        );
    }

    #[test]
    fn quoted_printable_is_unwrapped_with_a_map() {
        let text = Text::new("Quoted-Printable: a=2Db=\nc=zz=\\r\\nd=");
        let inner = unprinted(&text).unwrap();
        assert_eq!(inner.text.plain(), "Quoted-Printable: a-bc=zzd=");
        assert_eq!(inner.starts.last(), Some(&text.plain().len()));
        assert!(unprinted(&Text::new("a=2D")).is_none());
    }
}
