//! Canonical JSON of a body under a mask in one pass over its bytes, where these are plain enough.
//!
//! Most of a body stands in it as it does in its canonical text. What is not that plain (escapes by number,
//! numbers that have to be reread, members that come twice, deep nesting, anything that is wrong) is left to
//! `canonical`, whose text this must equal: here nothing is ever decided otherwise, only sooner.

use std::collections::HashMap;

/// Nesting up to which this reads; beyond it `canonical` knows its own limit.
const DEEPEST: usize = 100;
/// Digits of an integer that a double holds exactly, whatever they are.
const SAFE_DIGITS: usize = 15;

/// The places whose values count for nothing: a tree of the members on the way to them.
#[derive(Default, Debug)]
pub struct Mask {
    masked: bool,
    members: HashMap<String, Mask>,
}

impl Mask {
    /// Of paths such as `$.a.*.b`; None where one is a bare name, which would be masked at any depth.
    pub fn of(paths: &[&str]) -> Option<Self> {
        let mut root = Self::default();
        for path in paths {
            let mut node = &mut root;
            for part in path.strip_prefix("$.")?.split('.') {
                node = node.members.entry(part.to_owned()).or_default();
            }
            node.masked = true;
        }
        Some(root)
    }

    fn at(&self, name: &str) -> Option<&Self> {
        self.members.get(name)
    }
}

/// The canonical text of a body with masked values set to null; None where it is not plain enough.
pub fn canonical(body: &[u8], mask: &Mask) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(body).ok()?;
    let mut reader = Reader {
        text: text.as_bytes(),
        at: 0,
        out: Vec::with_capacity(body.len()),
    };
    reader.blanks();
    reader.value(Some(mask), 0)?;
    reader.blanks();
    (reader.at == reader.text.len()).then_some(reader.out)
}

/// Where a member stands in what was written: from, the end of its name (without quotes), and to.
type Member = (usize, usize, usize);

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    out: Vec<u8>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, mask: Option<&Mask>, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let from = self.out.len();
        match self.peek()? {
            b'{' => self.object(mask, depth)?,
            b'[' => self.array(mask, depth)?,
            b'"' => self.string()?,
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            b'n' => self.word(b"null")?,
            _ => self.number()?,
        }
        if mask.is_some_and(|mask| mask.masked) {
            self.out.truncate(from);
            self.out.extend_from_slice(b"null");
        }
        Some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.text[self.at..].starts_with(word).then_some(())?;
        self.at += word.len();
        self.out.extend_from_slice(word);
        Some(())
    }

    /// An integer that is its own canonical text.
    fn number(&mut self) -> Option<()> {
        let from = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let digits = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        let found = &self.text[digits..self.at];
        let plain = match found {
            [] => false,
            [b'0'] => digits == from,
            [first, ..] => *first != b'0' && found.len() <= SAFE_DIGITS,
        };
        if !plain || matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
            return None;
        }
        self.out.extend_from_slice(&self.text[from..self.at]);
        Some(())
    }

    /// A string whose escapes are those that canonical JSON has, or a slash's.
    fn string(&mut self) -> Option<()> {
        self.at += 1;
        self.out.push(b'"');
        let mut from = self.at;
        loop {
            let left = &self.text[self.at..];
            let end = memchr::memchr2(b'"', b'\\', left)?;
            if holds_control(&left[..end]) {
                return None;
            }
            self.at += end;
            match self.text[self.at] {
                b'"' => break,
                b'\\' => match self.text.get(self.at + 1)? {
                    b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
                    b'/' => {
                        self.out.extend_from_slice(&self.text[from..self.at]);
                        from = self.at + 1;
                        self.at += 2;
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
        self.at += 1;
        self.out.extend_from_slice(&self.text[from..self.at]);
        Some(())
    }

    fn array(&mut self, mask: Option<&Mask>, depth: usize) -> Option<()> {
        let inner = mask.and_then(|mask| mask.at("*"));
        self.at += 1;
        self.out.push(b'[');
        self.blanks();
        if self.peek()? == b']' {
            self.at += 1;
            self.out.push(b']');
            return Some(());
        }
        loop {
            self.value(inner, depth + 1)?;
            self.blanks();
            let byte = self.peek()?;
            self.at += 1;
            self.out.push(byte);
            match byte {
                b',' => self.blanks(),
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    fn object(&mut self, mask: Option<&Mask>, depth: usize) -> Option<()> {
        self.at += 1;
        self.out.push(b'{');
        let start = self.out.len();
        let mut members: Vec<Member> = Vec::new();
        self.blanks();
        if self.peek()? == b'}' {
            self.at += 1;
            self.out.push(b'}');
            return Some(());
        }
        loop {
            members.push(self.member(mask, depth)?);
            self.blanks();
            match self.peek()? {
                b',' => {
                    self.at += 1;
                    self.out.push(b',');
                    self.blanks();
                }
                b'}' => break,
                _ => return None,
            }
        }
        self.at += 1;
        self.sort(start, members)?;
        self.out.push(b'}');
        Some(())
    }

    fn member(&mut self, mask: Option<&Mask>, depth: usize) -> Option<Member> {
        let from = self.out.len();
        if self.peek()? != b'"' {
            return None;
        }
        self.string()?;
        let end = self.out.len() - 1;
        let name = self.out.get(from + 1..end)?;
        // Other names are sorted by other units than bytes, or are not what they seem.
        if !name.is_ascii() || name.contains(&b'\\') {
            return None;
        }
        let inner = mask.and_then(|mask| mask.at(std::str::from_utf8(name).ok()?));
        self.blanks();
        self.take(b':')?;
        self.out.push(b':');
        self.blanks();
        self.value(inner, depth + 1)?;
        Some((from, end, self.out.len()))
    }

    /// Members in the order of their names; None where one comes twice.
    fn sort(&mut self, start: usize, mut members: Vec<Member>) -> Option<()> {
        let out = &self.out;
        let name = |one: &Member| &out[one.0 + 1..one.1];
        if members.windows(2).all(|two| name(&two[0]) < name(&two[1])) {
            return Some(());
        }
        members.sort_by(|one, other| name(one).cmp(name(other)));
        if members.windows(2).any(|two| name(&two[0]) == name(&two[1])) {
            return None;
        }
        let mut sorted = Vec::with_capacity(self.out.len() - start);
        for (from, _, to) in members {
            if !sorted.is_empty() {
                sorted.push(b',');
            }
            sorted.extend_from_slice(&self.out[from..to]);
        }
        self.out.truncate(start);
        self.out.append(&mut sorted);
        Some(())
    }
}

/// Without an early end, which the compiler makes many bytes a step of.
fn holds_control(text: &[u8]) -> bool {
    text.iter()
        .fold(false, |found, &byte| found | (byte < 0x20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &str, paths: &[&str]) -> Option<String> {
        let found = canonical(body.as_bytes(), &Mask::of(paths)?)?;
        String::from_utf8(found).ok()
    }

    #[test]
    fn members_are_sorted_and_masked_where_they_stand() {
        let body = r#" {"b": [{"id": {"x": 1}, "a\/": -5}], "a": {"id": 2} } "#;
        let wanted = r#"{"a":{"id":2},"b":[{"a/":-5,"id":null}]}"#;
        assert_eq!(text(body, &["$.b.*.id"]).as_deref(), Some(wanted));
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_other_reader() {
        let left = [
            r#""\u0041""#,
            "1.0",
            "-0",
            "01",
            "1e3",
            "1234567890123456",
            r#"{"a":1,"a":2}"#,
            r#"{"é":1}"#,
            "[1,]",
            "[1",
            "\"\n\"",
            "{\"a\" 1}",
            "tru",
            "",
            "1 2",
            "[1 2]",
            "{1:2}",
            "-",
        ];
        for body in left {
            assert_eq!(text(body, &[]), None, "{body}");
        }
        assert!(Mask::of(&["id"]).is_none());
    }
}
