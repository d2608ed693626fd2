//! A validating JSON tokenizer (RFC 8259): positions only, no values, no recursion.

use crate::Error;
use crate::json::Span;

/// Containers that may be open at once.
const MAX_DEPTH: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// `{` or `[` at this offset.
    Open { at: usize, object: bool },
    /// The offset just behind `}` or `]`.
    Close { end: usize },
    /// A member name with its quotes; the colon is already consumed.
    Key(Span),
    /// A string, number, `true`, `false` or `null`.
    Scalar(Span),
}

/// What the grammar allows next.
#[derive(Clone, Copy, PartialEq)]
enum Expect {
    Value,
    ValueOrClose,
    Key,
    KeyOrClose,
    CommaOrClose,
    Nothing,
}

/// Walks one document; stops at the first violation.
pub struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
    expect: Expect,
    objects: Vec<bool>, // for each open container, whether it is an object
}

impl<'a> Tokens<'a> {
    /// Checks the encoding; a UTF-8 BOM is skipped, as Python's `json` does for bytes.
    pub fn new(text: &'a [u8]) -> Result<Self, Error> {
        if let Err(error) = std::str::from_utf8(text) {
            return Err(Error::json(error.valid_up_to(), "not UTF-8"));
        }
        let at = if text.starts_with(b"\xEF\xBB\xBF") {
            3
        } else {
            0
        };
        Ok(Self {
            text,
            at,
            expect: Expect::Value,
            objects: Vec::new(),
        })
    }

    /// The next token, `None` behind the last one.
    pub fn next(&mut self) -> Result<Option<Token>, Error> {
        loop {
            self.skip_whitespace();
            let Some(&byte) = self.text.get(self.at) else {
                return match self.expect {
                    Expect::Nothing => Ok(None),
                    _ => Err(self.error("unexpected end")),
                };
            };
            match (self.expect, byte) {
                (Expect::CommaOrClose, b',') => {
                    self.at += 1;
                    self.expect = match self.objects.last() {
                        Some(true) => Expect::Key,
                        _ => Expect::Value,
                    };
                }
                (Expect::CommaOrClose | Expect::KeyOrClose, b'}') => return self.close(true),
                (Expect::CommaOrClose | Expect::ValueOrClose, b']') => return self.close(false),
                (Expect::Key | Expect::KeyOrClose, b'"') => return self.key(),
                (Expect::Value | Expect::ValueOrClose, b'{') => return self.open(true),
                (Expect::Value | Expect::ValueOrClose, b'[') => return self.open(false),
                (Expect::Value | Expect::ValueOrClose, _) => return self.scalar(byte),
                _ => return Err(self.error(self.expectation())),
            }
        }
    }

    fn open(&mut self, object: bool) -> Result<Option<Token>, Error> {
        if self.objects.len() == MAX_DEPTH {
            return Err(self.error("more than 256 levels"));
        }
        let at = self.at;
        self.at += 1;
        self.objects.push(object);
        self.expect = if object {
            Expect::KeyOrClose
        } else {
            Expect::ValueOrClose
        };
        Ok(Some(Token::Open { at, object }))
    }

    fn close(&mut self, object: bool) -> Result<Option<Token>, Error> {
        if self.objects.last() != Some(&object) {
            return Err(self.error(self.expectation()));
        }
        self.at += 1;
        self.objects.pop();
        self.value_done();
        Ok(Some(Token::Close { end: self.at }))
    }

    fn key(&mut self) -> Result<Option<Token>, Error> {
        let start = self.at;
        self.skip_string()?;
        let end = self.at;
        self.skip_whitespace();
        if self.text.get(self.at) != Some(&b':') {
            return Err(self.error("expected `:`"));
        }
        self.at += 1;
        self.expect = Expect::Value;
        Ok(Some(Token::Key(start..end)))
    }

    fn scalar(&mut self, first: u8) -> Result<Option<Token>, Error> {
        let start = self.at;
        match first {
            b'"' => self.skip_string()?,
            b'-' | b'0'..=b'9' => self.skip_number()?,
            b't' => self.skip_word(b"true")?,
            b'f' => self.skip_word(b"false")?,
            b'n' => self.skip_word(b"null")?,
            _ => return Err(self.error(self.expectation())),
        }
        self.value_done();
        Ok(Some(Token::Scalar(start..self.at)))
    }

    fn value_done(&mut self) {
        self.expect = match self.objects.is_empty() {
            true => Expect::Nothing,
            false => Expect::CommaOrClose,
        };
    }

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    fn skip_word(&mut self, word: &[u8]) -> Result<(), Error> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.error("expected a value"));
        }
        self.at += word.len();
        Ok(())
    }

    /// From the opening quote to behind the closing one.
    fn skip_string(&mut self) -> Result<(), Error> {
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let stop = rest
                .iter()
                .position(|&b| b == b'"' || b == b'\\' || b < 0x20);
            self.at += stop.unwrap_or(rest.len());
            match self.text.get(self.at) {
                None => return Err(self.error("unterminated string")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.skip_escape()?,
                Some(_) => return Err(self.error("control character in a string")),
            }
        }
    }

    /// Lone surrogates pass here: they are legal JSON text, only not representable as a key.
    fn skip_escape(&mut self) -> Result<(), Error> {
        let rest = &self.text[self.at + 1..];
        let width = match rest.first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') if rest.len() > 4 && rest[1..5].iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return Err(self.error("invalid escape")),
        };
        self.at += width;
        Ok(())
    }

    fn skip_number(&mut self) -> Result<(), Error> {
        if self.text[self.at] == b'-' {
            self.at += 1;
        }
        if self.text.get(self.at) == Some(&b'0') {
            self.at += 1; // nothing but a fraction or exponent may follow a leading zero
        } else {
            self.skip_digits()?;
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.text.get(self.at) {
                self.at += 1;
            }
            self.skip_digits()?;
        }
        Ok(())
    }

    fn skip_digits(&mut self) -> Result<(), Error> {
        let rest = &self.text[self.at..];
        let count = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += count;
        if count == 0 {
            return Err(self.error("expected a digit"));
        }
        Ok(())
    }

    fn expectation(&self) -> &'static str {
        match (self.expect, self.objects.last()) {
            (Expect::Value, _) => "expected a value",
            (Expect::ValueOrClose, _) => "expected a value or `]`",
            (Expect::Key, _) => "expected a key",
            (Expect::KeyOrClose, _) => "expected a key or `}`",
            (Expect::CommaOrClose, Some(true)) => "expected `,` or `}`",
            (Expect::CommaOrClose, _) => "expected `,` or `]`",
            (Expect::Nothing, _) => "unexpected text behind the value",
        }
    }

    fn error(&self, reason: &str) -> Error {
        Error::json(self.at, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<usize, Error> {
        let mut tokens = Tokens::new(text.as_bytes())?;
        let mut count = 0;
        while tokens.next()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    #[test]
    fn agrees_with_serde_on_what_is_json() {
        let texts = "{} [] [1,2] [1,] [,1] {,} {\"a\":1} {\"a\":1,} {\"a\"} {a:1} [} {] 01 -0 - 1. 1.5 .5 \
                     1e5 1E+5 1e 1e+ -1.2e-3 tru true nul NaN \"a 1 2 \"\\x\" \"\\u12g4\" \"\\u0041\" \
                     \"\\/\" [[[]]] [1}2] {\"a\":[{\"b\":null}]} [1][2] \u{7f} \"\u{1}\" + [-] {\"a\":}";
        let long = [r#" {"a" : [1 , 2 ] , "b":{ } } "#, "", " ", "\"\t\""];
        for text in texts.split(' ').chain(long) {
            let judge = serde_json::from_str::<serde::de::IgnoredAny>(text);
            assert_eq!(
                check(text).is_ok(),
                judge.is_ok(),
                "{text}: {:?}",
                check(text)
            );
        }
    }

    #[test]
    fn depth_is_limited() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(check(&nested(256)).is_ok());
        let error = check(&nested(257)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid JSON at byte 256: more than 256 levels"
        );
    }
}
