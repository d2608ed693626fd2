//! Normalising text for the eyes of a pattern, with a way back to the original bytes.
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::homoglyph::{invisible, latin, tag};

/// A text derived from another; every byte knows the span it came from.
#[derive(Clone, Debug, Default)]
pub struct View {
    pub text: Vec<u8>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// Characters that the original showed as nothing.
    pub hidden: usize,
    /// Tag characters (U+E0020…), which spell an invisible text.
    pub tags: usize,
    /// Bidirectional overrides.
    pub bidi: usize,
    /// From the first to the last invisible character of the original.
    pub unseen: Option<(usize, usize)>,
}

impl View {
    fn push(&mut self, c: char, start: usize, end: usize) {
        let mut buffer = [0; 4];
        for byte in c.encode_utf8(&mut buffer).bytes() {
            self.put(byte, start, end);
        }
    }

    /// Adds one byte that stands for `start..end` of the original.
    pub fn put(&mut self, byte: u8, start: usize, end: usize) {
        self.text.push(byte);
        self.starts.push(start as u32);
        self.ends.push(end as u32);
    }

    /// Adds what needs no folding but small letters: the bytes from `start` on.
    fn plain(&mut self, bytes: &[u8], start: usize) {
        let places = start as u32..(start + bytes.len()) as u32;
        self.text.extend(bytes.iter().map(u8::to_ascii_lowercase));
        self.starts.extend(places.clone());
        self.ends.extend(places.map(|place| place + 1));
    }

    /// The span of the original that `start..end` of this view stands for.
    pub fn original(&self, start: usize, end: usize) -> (usize, usize) {
        let last = end.clamp(start + 1, self.text.len().max(start + 1)) - 1;
        let from = self.starts.get(start).copied().unwrap_or(0) as usize;
        let to = self.ends.get(last).copied().unwrap_or(0) as usize;
        (from, to.max(from))
    }
}

/// Lower case, NFKD without marks, look-alikes as Latin, invisible characters dropped, tag characters
/// spelt out, backslash, percent and character-entity escapes resolved.
pub fn fold(text: &[u8]) -> View {
    let mut view = View {
        text: Vec::with_capacity(text.len()),
        starts: Vec::with_capacity(text.len()),
        ends: Vec::with_capacity(text.len()),
        ..View::default()
    };
    let special = |byte: &u8| *byte >= 0x80 || matches!(byte, b'\\' | b'%' | b'&');
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let size = rest.iter().position(special).unwrap_or(rest.len());
        view.plain(&rest[..size], at);
        at += size;
        let next = match text.get(at) {
            None => break,
            Some(b'\\') => backslash(text, at, &mut view),
            Some(b'%') => percent(text, at, &mut view),
            Some(b'&') => entity(text, at, &mut view),
            _ => None,
        };
        at = next.unwrap_or_else(|| wide(text, at, &mut view));
    }
    view
}

/// One character outside ASCII, or a plain one that began no escape.
fn wide(text: &[u8], at: usize, view: &mut View) -> usize {
    let length = match text[at] {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => 1,
    };
    let end = (at + length).min(text.len());
    match std::str::from_utf8(&text[at..end])
        .ok()
        .and_then(|s| s.chars().next())
    {
        Some(c) => character(c, at, end, view),
        None => {
            view.put(b' ', at, at + 1);
            return at + 1;
        }
    }
    end
}

fn character(c: char, start: usize, end: usize, view: &mut View) {
    if c.is_ascii() {
        return view.push(c.to_ascii_lowercase(), start, end);
    }
    if let Some(shown) = tag(c) {
        view.tags += 1;
        view.unseen = Some((view.unseen.map_or(start, |span| span.0), end));
        return view.push(shown.to_ascii_lowercase(), start, end);
    }
    if invisible(c) {
        view.hidden += 1;
        view.unseen = Some((view.unseen.map_or(start, |span| span.0), end));
        view.bidi += usize::from(matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'));
        return;
    }
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201b}' => return view.push('\'', start, end),
        '\u{201c}' | '\u{201d}' | '\u{201e}' => return view.push('"', start, end),
        _ => {}
    }
    if let Some(letter) = latin(c) {
        return view.push(letter, start, end);
    }
    for part in std::iter::once(c)
        .nfkd()
        .filter(|part| !is_combining_mark(*part))
    {
        for lower in part.to_lowercase() {
            view.push(latin(lower).unwrap_or(lower), start, end);
        }
    }
}

fn hex(text: &[u8], at: usize, count: usize) -> Option<u32> {
    let part = text.get(at..at + count)?;
    part.iter().try_fold(0, |sum, byte| {
        Some(sum * 16 + (*byte as char).to_digit(16)?)
    })
}

/// JSON, YAML, C and Python escapes.
fn backslash(text: &[u8], at: usize, view: &mut View) -> Option<usize> {
    let code = |code: Option<u32>, end: usize, view: &mut View| {
        let c = code.and_then(char::from_u32)?;
        character(if c.is_control() { ' ' } else { c }, at, end, view);
        Some(end)
    };
    match text.get(at + 1)? {
        b'n' | b'r' | b't' | b'_' | b'N' | b'L' | b'P' | b'e' | b'0' => {
            view.put(b' ', at, at + 2);
            Some(at + 2)
        }
        b'u' if text.get(at + 2) == Some(&b'{') => {
            let close = text[at..].iter().take(12).position(|byte| *byte == b'}')? + at;
            code(
                hex(text, at + 3, close.checked_sub(at + 3)?),
                close + 1,
                view,
            )
        }
        b'u' => match hex(text, at + 2, 4)? {
            high @ 0xd800..=0xdbff if text.get(at + 6..at + 8) == Some(b"\\u") => {
                let low = hex(text, at + 8, 4).filter(|low| (0xdc00..0xe000).contains(low))?;
                code(
                    Some(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)),
                    at + 12,
                    view,
                )
            }
            plain => code(Some(plain), at + 6, view),
        },
        b'U' => code(hex(text, at + 2, 8), at + 10, view),
        b'x' => code(hex(text, at + 2, 2), at + 4, view),
        b'"' | b'\'' | b'/' | b'\\' => {
            view.put(text[at + 1], at, at + 2);
            Some(at + 2)
        }
        b'\n' | b'\r' => {
            // a folded line: the indentation goes with the break
            let rest = &text[at + 2..];
            Some(
                at + 2
                    + rest
                        .iter()
                        .take_while(|byte| byte.is_ascii_whitespace())
                        .count(),
            )
        }
        _ => None,
    }
}

/// `%20`: the decoded bytes are read as UTF-8.
fn percent(text: &[u8], at: usize, view: &mut View) -> Option<usize> {
    let mut bytes = Vec::new();
    let mut end = at;
    while bytes.len() < 4 && text.get(end) == Some(&b'%') {
        let Some(byte) = hex(text, end + 1, 2) else {
            break;
        };
        bytes.push(byte as u8);
        end += 3;
        if let Ok(whole) = std::str::from_utf8(&bytes) {
            let c = whole.chars().next()?;
            character(if c.is_control() { ' ' } else { c }, at, end, view);
            return Some(end);
        }
    }
    None
}

/// `&#105;`, `&#x69;` and the five named entities.
fn entity(text: &[u8], at: usize, view: &mut View) -> Option<usize> {
    let close = text[at..].iter().take(10).position(|byte| *byte == b';')? + at;
    let body = &text[at + 1..close];
    let c = match body {
        b"lt" => '<',
        b"gt" => '>',
        b"amp" => '&',
        b"quot" => '"',
        b"apos" => '\'',
        b"nbsp" => ' ',
        [b'#', b'x' | b'X', rest @ ..] => char::from_u32(hex(rest, 0, rest.len())?)?,
        [b'#', rest @ ..] => char::from_u32(std::str::from_utf8(rest).ok()?.parse().ok()?)?,
        _ => return None,
    };
    character(if c.is_control() { ' ' } else { c }, at, close + 1, view);
    Some(close + 1)
}
