//! Heads of HTTP/2 as they come out of HPACK: lists of fields, pseudo-header fields first.

use super::fields::{self, Known, Of};
use super::grammar::{is_authority, not_in_target};
use super::{Checked, Field};

const REQUEST: [&[u8]; 4] = [b":method", b":scheme", b":path", b":authority"];

/// Check a request's field section (RFC 9113 §8.3.1). `CONNECT` is refused: a tunnel in a stream would
/// be out of sight.
pub fn request<'a>(list: impl Iterator<Item = Field<'a>>) -> Checked {
    let mut pseudo: [Option<&[u8]>; 4] = [None; 4];
    let known = sections(list, &REQUEST, &mut pseudo)?;
    let [method, scheme, path, authority] = pseudo;
    let (Some(method), Some(scheme), Some(path)) = (method, scheme, path) else {
        if method == Some(b"CONNECT") {
            return Err("`CONNECT` is not taken over HTTP/2".to_owned());
        }
        return Err("a pseudo-header field is missing".to_owned());
    };
    super::http1::method(method)?;
    if method == b"CONNECT" {
        return Err("`CONNECT` is not taken over HTTP/2".to_owned());
    }
    if scheme != b"https" && scheme != b"http" {
        return Err("the scheme is neither `https` nor `http`".to_owned());
    }
    if let Some(byte) = not_in_target(path) {
        return Err(format!("the path holds the byte 0x{byte:02x}"));
    }
    if path.first() != Some(&b'/') && !(path == b"*" && method == b"OPTIONS") {
        return Err("the path does not begin with `/`".to_owned());
    }
    if let Some(authority) = authority
        && !is_authority(authority)
    {
        return Err("the authority is no host".to_owned());
    }
    fields::framing(&known, true, Of::Request)?;
    fields::host(&known, authority, authority.is_none())
}

/// Check a response's field section (RFC 9113 §8.3.2).
pub fn response<'a>(list: impl Iterator<Item = Field<'a>>) -> Checked {
    let mut pseudo: [Option<&[u8]>; 1] = [None];
    let known = sections(list, &[b":status"], &mut pseudo)?;
    let [Some(status)] = pseudo else {
        return Err("a pseudo-header field is missing".to_owned());
    };
    if status.len() != 3 || !status.iter().all(u8::is_ascii_digit) || status[0] == b'0' {
        return Err("the status is not three digits".to_owned());
    }
    if status == b"101" {
        return Err("HTTP/2 knows no status 101".to_owned());
    }
    fields::framing(
        &known,
        true,
        Of::Response {
            bodiless: status[0] == b'1' || status == b"204",
        },
    )
}

/// Check all fields; the values of the pseudo-header fields in the order of `names`.
fn sections<'a>(
    list: impl Iterator<Item = Field<'a>>,
    names: &[&[u8]],
    pseudo: &mut [Option<&'a [u8]>],
) -> Result<Known<'a>, String> {
    let mut known = Known::default();
    let mut regular = false;
    for (name, value) in list {
        if name.first() != Some(&b':') {
            regular = true;
            fields::check(name, value, true, &mut known)?;
            continue;
        }
        if regular {
            return Err("a pseudo-header field comes after a regular one".to_owned());
        }
        let Some(at) = names.iter().position(|known| *known == name) else {
            return Err("a pseudo-header field is unknown here".to_owned());
        };
        if pseudo[at].replace(value).is_some() {
            return Err("a pseudo-header field comes twice".to_owned());
        }
    }
    Ok(known)
}
