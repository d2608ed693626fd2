//! Values of secret keys in JSON and in Python's notation, whole or cut short.
use std::sync::LazyLock;

use regex::Regex;

use super::edit::{Edit, MARK};
use super::names::body_names;
use super::quoted::{Strings, string_at};
use super::suspect::{compiled, starts};
use super::text::{Text, is_blank};

static NAMES: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(&format!(r#"["'](?i:{})["']\s*:"#, body_names())));

/// Objects stay: their own keys are looked at (a JSON schema of a login form has a `password` that is no secret).
pub fn member_edits(text: &Text) -> Vec<Edit> {
    let plain = text.plain();
    let mut strings = Strings::new(plain);
    let mut found = Vec::new();
    for start in starts(&NAMES, plain) {
        member(text, start, &mut strings, &mut found);
    }
    found
}

fn member(text: &Text, start: usize, strings: &mut Strings, found: &mut Vec<Edit>) -> Option<()> {
    let plain = text.plain();
    let bytes = plain.as_bytes();
    let mark = bytes[start];
    let name = plain[start + 1..].find(['"', '\''])?;
    let close = start + 1 + name;
    if bytes[close] != mark {
        return None;
    }
    let colon = behind_blanks(plain, close + 1);
    let at = behind_blanks(plain, colon + 1);
    match (bytes.get(at)?, mark) {
        // A bare double quote after a place in a string ends that string.
        (b'"', b'\'') if said_end(bytes, at + 1, b'"') > at + 1 && strings.holds(start) => {}
        (quote @ (b'"' | b'\''), _) => {
            scalar(text, at + 1, said_end(bytes, at + 1, *quote), start, found)
        }
        (b'[', _) => list(text, at, start, found),
        (b'-' | b'0'..=b'9', _) => {
            let digits = at + usize::from(bytes[at] == b'-');
            bytes.get(digits).filter(|byte| byte.is_ascii_digit())?;
            let number = |byte: &u8| b"0123456789.eE+-".contains(byte);
            let end = digits
                + bytes[digits..]
                    .iter()
                    .take_while(|byte| number(byte))
                    .count();
            let edit = Edit::new(at, end, "key", text.part(at, end));
            found.push(edit.quoted("\"").led(start));
        }
        _ => {}
    }
    Some(())
}

fn behind_blanks(text: &str, at: usize) -> usize {
    text[at..]
        .find(|one| !is_blank(one))
        .map_or(text.len(), |size| at + size)
}

/// Where the inside of a string ends that begins at `at`: at its quote, a line break, or a bare backslash.
pub fn said_end(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    while let Some(found) = memchr::memchr3(quote, b'\\', b'\n', &bytes[at..]) {
        at += found;
        match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(next)) if *next != b'\n' => at += 2,
            _ => return at,
        }
    }
    bytes.len()
}

fn scalar(text: &Text, start: usize, end: usize, lead: usize, found: &mut Vec<Edit>) {
    if start < end && !text.plain()[start..end].starts_with(MARK) {
        found.push(Edit::new(start, end, "key", text.part(start, end)).led(lead));
    }
}

/// The strings of a flat list.
fn list(text: &Text, start: usize, lead: usize, found: &mut Vec<Edit>) {
    let inside = &text.plain()[start + 1..];
    let size = inside.find(['[', ']', '{', '}']).unwrap_or(inside.len());
    let whole = &text.plain()[..start + 1 + size];
    let mut at = start;
    while let Some(string) = string_at(whole, at) {
        scalar(text, string.start + 1, string.inner, lead, found);
        at = string.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&str, String)> {
        let edits = member_edits(&Text::new(text)).into_iter();
        edits
            .map(|edit| (&text[edit.start..edit.end], edit.quote))
            .collect()
    }

    #[test]
    fn values_of_every_kind() {
        for (text, expected) in [
            (r#"{"password": 12345}"#, vec![("12345", "\"")]),
            ("{'password': -1.5e3}", vec![("-1.5e3", "\"")]),
            (r#"{"Client_Secret" :"a\"b"}"#, vec![(r#"a\"b"#, "")]),
            (
                r#"{"password": ["", "x", "redacted:v1:0"]}"#,
                vec![("x", "")],
            ),
            (r#"{"password":"cut sho"#, vec![("cut sho", "")]),
            (r#"{"password":{"type":"string"}}"#, vec![]),
            (r#"{"max_tokens":5,"password":null,"pwd":""}"#, vec![]),
            (r#"{'password": "x"}"#, vec![]),
            (r#"[{"c": "elif kind == 'password':"}, {"r": 1}]"#, vec![]),
            (r#"{'password': "it's"}"#, vec![("it's", "")]),
        ] {
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(v, q)| (v, q.to_owned()))
                .collect();
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
