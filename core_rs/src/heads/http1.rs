//! Heads of HTTP/1.0 and HTTP/1.1, as they came: from the start line to the empty line.

use memchr::{memchr, memchr_iter};

use super::Checked;
use super::fields::{self, Known, Of};
use super::grammar::{is_authority, is_scheme, not_in_target, not_in_token, not_in_value};

/// Check a request head (RFC 9112 §3): one space between the parts of its first line, CRLF at the end of
/// each, no folded lines.
pub fn request(head: &[u8]) -> Checked {
    let (first, rest) = start(head)?;
    let mut parts = first.split(|&byte| byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err("the request line is not a method, a target and a version".to_owned());
    };
    self::method(method)?;
    let latest = is_latest(version)?;
    if let Some(byte) = not_in_target(target) {
        return Err(format!("the request target holds the byte 0x{byte:02x}"));
    }
    target_form(method, target)?;
    let known = lines(rest)?;
    fields::framing(&known, latest, Of::Request)?;
    // A host in the target counts, whatever the field says (RFC 9112 §3.2.2), and to open a tunnel many clients
    // send none.
    fields::host(&known, None, latest && method != b"CONNECT")
}

/// Check a response head (RFC 9112 §4). The reason may be missing with the space before it, as many
/// servers have it.
pub fn response(head: &[u8]) -> Checked {
    let (first, rest) = start(head)?;
    let (version, status) = match memchr(b' ', first) {
        Some(at) => (&first[..at], &first[at + 1..]),
        None => return Err("the status line is not a version and a status".to_owned()),
    };
    let latest = is_latest(version)?;
    let (status, reason) = status.split_at(status.len().min(3));
    if status.len() != 3 || !status.iter().all(u8::is_ascii_digit) || status[0] == b'0' {
        return Err("the status is not three digits".to_owned());
    }
    if !(reason.is_empty() || reason[0] == b' ') {
        return Err("the status is not three digits".to_owned());
    }
    if let Some(byte) = not_in_value(reason) {
        return Err(format!("the reason holds the byte 0x{byte:02x}"));
    }
    let known = lines(rest)?;
    let bodiless = status[0] == b'1' || status == b"204";
    fields::framing(&known, latest, Of::Response { bodiless })
}

/// Check a method (RFC 9110 §9.1). Those that change how a message is framed are known by their exact
/// spelling: what takes `head` for `HEAD` waits for another body than what does not.
pub fn method(method: &[u8]) -> Checked {
    if method.is_empty() {
        return Err("there is no method".to_owned());
    }
    if let Some(byte) = not_in_token(method) {
        return Err(format!("the method holds the byte 0x{byte:02x}"));
    }
    for exact in [&b"CONNECT"[..], b"HEAD"] {
        if method != exact && method.eq_ignore_ascii_case(exact) {
            return Err("the method differs in case from one that frames a message".to_owned());
        }
    }
    Ok(())
}

/// The first line, and what follows it.
fn start(head: &[u8]) -> Result<(&[u8], &[u8]), String> {
    if !head.ends_with(b"\r\n\r\n") {
        return Err("a line ends without a carriage return".to_owned());
    }
    let end = memchr(b'\n', head).unwrap_or(0);
    if end == 0 || head[end - 1] != b'\r' {
        return Err("a line ends without a carriage return".to_owned());
    }
    Ok((&head[..end - 1], &head[end + 1..]))
}

fn is_latest(version: &[u8]) -> Result<bool, String> {
    match version {
        b"HTTP/1.1" => Ok(true),
        b"HTTP/1.0" => Ok(false),
        _ => Err("the version is neither HTTP/1.1 nor HTTP/1.0".to_owned()),
    }
}

/// Check the form of a request target (RFC 9112 §3.2).
fn target_form(method: &[u8], target: &[u8]) -> Checked {
    let wrong = || "the request target is no path, and no URL with a host".to_owned();
    let found = if method == b"CONNECT" {
        target
    } else if target.first() == Some(&b'/') || (target == b"*" && method == b"OPTIONS") {
        return Ok(());
    } else {
        let (scheme, rest) = target.split_at(memchr(b':', target).ok_or_else(wrong)?);
        let rest = rest.strip_prefix(b"://").ok_or_else(wrong)?;
        if !is_scheme(scheme) {
            return Err(wrong());
        }
        &rest[..memchr(b'/', rest).unwrap_or(rest.len())]
    };
    if is_authority(found) {
        Ok(())
    } else {
        Err(wrong())
    }
}

/// Check the field lines, the empty one behind them included.
fn lines(rest: &[u8]) -> Result<Known<'_>, String> {
    let mut known = Known::default();
    let mut begin = 0;
    for end in memchr_iter(b'\n', rest) {
        let line = &rest[begin..end];
        begin = end + 1;
        let Some(line) = line.strip_suffix(b"\r") else {
            return Err("a line ends without a carriage return".to_owned());
        };
        if line.is_empty() {
            if begin != rest.len() {
                return Err("the head goes on behind its empty line".to_owned());
            }
            break;
        }
        if matches!(line[0], b' ' | b'\t') {
            return Err("a field line is folded".to_owned());
        }
        let Some(colon) = memchr(b':', line) else {
            return Err("a field line has no colon".to_owned());
        };
        fields::check(
            &line[..colon],
            trimmed(&line[colon + 1..]),
            false,
            &mut known,
        )?;
    }
    Ok(known)
}

/// Without optional white space (RFC 9110 §5.6.3), which is less than what Rust trims.
fn trimmed(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}
