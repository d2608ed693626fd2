//! Field lines, and those of them that say where a message ends and where it goes.

use super::Checked;
use super::grammar::{has_upper, is_authority, not_in_token, not_in_value};

/// What the fields of one head say about its framing and routing.
#[derive(Default)]
pub struct Known<'a> {
    pub hosts: usize,
    pub host: &'a [u8],
    lengths: usize,
    length: &'a [u8],
    codings: usize,
    coding: &'a [u8],
}

impl Known<'_> {
    /// Does any field say where the message ends?
    pub fn frames(&self) -> bool {
        self.lengths > 0 || self.codings > 0
    }
}

/// Check one field line; `http2` adds what RFC 9113 §8.2 asks for.
pub fn check<'a>(name: &'a [u8], value: &'a [u8], http2: bool, known: &mut Known<'a>) -> Checked {
    if name.is_empty() {
        return Err("a field has no name".to_owned());
    }
    if let Some(byte) = not_in_token(name) {
        return Err(format!("a field name holds the byte 0x{byte:02x}"));
    }
    if let Some(byte) = not_in_value(value) {
        return Err(format!("a field value holds the byte 0x{byte:02x}"));
    }
    if http2 {
        if has_upper(name) {
            return Err("a field name holds an upper-case letter".to_owned());
        }
        let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
        if blank(value.first()) || blank(value.last()) {
            return Err("a field value begins or ends with white space".to_owned());
        }
    }
    // The fields that matter here differ in length, so that most need no comparison.
    match name.len() {
        2 if http2 && name == b"te" && value != b"trailers" => {
            Err("the field `te` says more than `trailers`".to_owned())
        }
        4 if name.eq_ignore_ascii_case(b"host") => {
            known.hosts += 1;
            known.host = value;
            Ok(())
        }
        7 if http2 && name == b"upgrade" => connection_specific(),
        10 if name.eq_ignore_ascii_case(b"connection") => {
            if http2 {
                return connection_specific();
            }
            connection(value)
        }
        10 if http2 && name == b"keep-alive" => connection_specific(),
        14 if resembles(name, b"content-length") => {
            named(name, b"content-length")?;
            known.lengths += 1;
            known.length = value;
            Ok(())
        }
        16 if http2 && name == b"proxy-connection" => connection_specific(),
        17 if resembles(name, b"transfer-encoding") => {
            named(name, b"transfer-encoding")?;
            if http2 {
                return connection_specific();
            }
            known.codings += 1;
            known.coding = value;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn connection_specific() -> Checked {
    Err("HTTP/2 knows no connection-specific fields".to_owned())
}

/// Is it this name, but for the byte in place of its hyphen? CGI and its like make `-` of any of them.
fn resembles(name: &[u8], known: &[u8]) -> bool {
    name.iter().zip(known).all(|(&byte, &wanted)| {
        byte.eq_ignore_ascii_case(&wanted) || (wanted == b'-' && !byte.is_ascii_alphanumeric())
    })
}

fn named(name: &[u8], known: &[u8]) -> Checked {
    if name.eq_ignore_ascii_case(known) {
        return Ok(());
    }
    let known = String::from_utf8_lossy(known);
    Err(format!("a field name resembles `{known}`"))
}

/// A hop-by-hop field that names one of these would make the next proxy forget it (RFC 9110 §7.6.1).
fn connection(value: &[u8]) -> Checked {
    for option in value.split(|&byte| byte == b',') {
        let option = option.trim_ascii();
        let kept: [&[u8]; 3] = [b"content-length", b"transfer-encoding", b"host"];
        if kept.iter().any(|name| option.eq_ignore_ascii_case(name)) {
            return Err(
                "the field `connection` names a field that every recipient needs".to_owned(),
            );
        }
    }
    Ok(())
}

/// Which message the framing is of.
#[derive(Clone, Copy, PartialEq)]
pub enum Of {
    Request,
    Response { bodiless: bool },
}

/// Check what the fields say together about where the message ends (RFC 9112 §6); stricter, since no
/// list of equal lengths passes either.
pub fn framing(known: &Known<'_>, chunks: bool, of: Of) -> Checked {
    if known.lengths > 1 {
        return Err("there are several `content-length` fields".to_owned());
    }
    if known.lengths == 1 && !is_length(known.length) {
        return Err("the `content-length` is no number".to_owned());
    }
    if known.codings == 0 {
        return Ok(());
    }
    if known.lengths > 0 {
        return Err("there are both `transfer-encoding` and `content-length`".to_owned());
    }
    if known.codings > 1 {
        return Err("there are several `transfer-encoding` fields".to_owned());
    }
    if !chunks {
        return Err("HTTP/1.0 knows no `transfer-encoding`".to_owned());
    }
    if of == (Of::Response { bodiless: true }) {
        return Err("a response without a body has a `transfer-encoding`".to_owned());
    }
    if !is_coding(known.coding, of) {
        return Err("the `transfer-encoding` is not `chunked`".to_owned());
    }
    Ok(())
}

/// Digits without a sign, a space or a zero in front, small enough for every recipient's integer.
fn is_length(value: &[u8]) -> bool {
    let leading = value.len() > 1 && value[0] == b'0';
    (1..=18).contains(&value.len()) && !leading && value.iter().all(u8::is_ascii_digit)
}

fn is_coding(value: &[u8], of: Of) -> bool {
    let mut codings = value
        .split(|&byte| byte == b',')
        .map(|each| each.trim_ascii());
    let first = codings.next().unwrap_or_default();
    let plain = |coding: &[u8]| {
        [&b"gzip"[..], b"deflate", b"compress"]
            .iter()
            .any(|known| coding.eq_ignore_ascii_case(known))
    };
    match (codings.next(), codings.next()) {
        (None, _) => first.eq_ignore_ascii_case(b"chunked") || (of != Of::Request && plain(first)),
        (Some(last), None) => plain(first) && last.eq_ignore_ascii_case(b"chunked"),
        _ => false,
    }
}

/// Check the `host` field, next to the authority of the target where there is one.
pub fn host(known: &Known<'_>, authority: Option<&[u8]>, needed: bool) -> Checked {
    match known.hosts {
        0 if needed => return Err("there is no `host` field".to_owned()),
        0 => return Ok(()),
        1 => {}
        _ => return Err("there are several `host` fields".to_owned()),
    }
    if !is_authority(known.host) {
        return Err("the `host` field is no host".to_owned());
    }
    match authority {
        Some(target) if !target.eq_ignore_ascii_case(known.host) => {
            Err("the `host` field is not the host of the target".to_owned())
        }
        _ => Ok(()),
    }
}
