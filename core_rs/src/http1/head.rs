//! Heads that `heads` has let pass, taken apart.

use std::ops::Range;

use memchr::{memchr, memmem};

use super::body::Framing;
use crate::heads::Field;

/// The head of a request or a response.
#[derive(Clone, PartialEq, Eq)]
pub struct Head {
    raw: Vec<u8>,
    start: [Range<usize>; 3],
    fields: Vec<(Range<usize>, Range<usize>)>,
}

impl std::fmt::Debug for Head {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&String::from_utf8_lossy(&self.written()))
    }
}

impl Head {
    /// `raw` is a head that has no flaw, from its first line to its empty one.
    pub(super) fn new(raw: Vec<u8>) -> Self {
        let end = line_end(&raw, 0);
        let one = memchr(b' ', &raw[..end]).unwrap_or(end);
        let two = match memchr(b' ', &raw[(one + 1).min(end)..end]) {
            Some(at) => one + 1 + at,
            None => end, // a status without the space before its reason
        };
        let start = [0..one, (one + 1).min(end)..two, (two + 1).min(end)..end];
        let mut fields = Vec::with_capacity(16);
        let mut at = end + 2;
        while at < raw.len() {
            let end = line_end(&raw, at);
            if let Some(colon) = memchr(b':', &raw[at..end]) {
                fields.push((at..at + colon, trimmed(&raw, at + colon + 1..end)));
            }
            at = end + 2;
        }
        Self { raw, start, fields }
    }

    fn part(&self, at: usize) -> &[u8] {
        &self.raw[self.start[at].clone()]
    }

    /// The method of a request.
    pub fn method(&self) -> &[u8] {
        self.part(0)
    }

    /// The target of a request.
    pub fn target(&self) -> &[u8] {
        self.part(1)
    }

    /// `HTTP/1.1` or `HTTP/1.0`, of a request.
    pub fn version(&self) -> &[u8] {
        self.part(2)
    }

    /// The same of a response.
    pub fn response_version(&self) -> &[u8] {
        self.part(0)
    }

    /// The status of a response.
    pub fn status(&self) -> u16 {
        self.part(1)
            .iter()
            .fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'))
    }

    /// The reason of a response.
    pub fn reason(&self) -> &[u8] {
        self.part(2)
    }

    /// Names and values, in order.
    pub fn fields(&self) -> impl Iterator<Item = Field<'_>> {
        self.fields
            .iter()
            .map(|(name, value)| (&self.raw[name.clone()], &self.raw[value.clone()]))
    }

    /// The first value of a field, its name in lower case.
    pub fn value(&self, wanted: &[u8]) -> Option<&[u8]> {
        self.fields()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value)
    }

    /// The head as we write it: one space behind each colon, none behind the value.
    pub fn written(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.raw.len() + self.fields.len());
        out.extend_from_slice(&self.raw[..self.start[2].end]);
        out.extend_from_slice(b"\r\n");
        for (name, value) in self.fields() {
            out.extend_from_slice(name);
            out.extend_from_slice(b": ");
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
        out
    }

    /// Where the body of this request ends (RFC 9112 §6.3).
    pub fn request_framing(&self) -> Framing {
        match (self.value(b"transfer-encoding"), self.length()) {
            (Some(_), _) => Framing::Chunked,
            (None, length) => Framing::Length(length.unwrap_or(0)),
        }
    }

    /// The same of this response; `to_head` where the request was `HEAD`.
    pub fn response_framing(&self, to_head: bool) -> Framing {
        let status = self.status();
        if to_head || status < 200 || matches!(status, 204 | 304) {
            return Framing::Length(0);
        }
        match (self.value(b"transfer-encoding"), self.length()) {
            (Some(coding), _) if coding.to_ascii_lowercase().ends_with(b"chunked") => {
                Framing::Chunked
            }
            (Some(_), _) | (None, None) => Framing::UntilClose,
            (None, Some(length)) => Framing::Length(length),
        }
    }

    fn length(&self) -> Option<u64> {
        let digits = self.value(b"content-length")?;
        Some(
            digits
                .iter()
                .fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')),
        )
    }
}

fn line_end(raw: &[u8], from: usize) -> usize {
    memmem::find(&raw[from..], b"\r\n").map_or(raw.len(), |at| from + at)
}

fn trimmed(raw: &[u8], within: Range<usize>) -> Range<usize> {
    let blank = |at: usize| matches!(raw[at], b' ' | b'\t');
    let (mut start, mut end) = (within.start, within.end);
    while start < end && blank(start) {
        start += 1;
    }
    while start < end && blank(end - 1) {
        end -= 1;
    }
    start..end
}
