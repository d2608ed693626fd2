//! The bytes that parts of a head may hold.

const TOKEN: u8 = 1;
const VALUE: u8 = 2;
const TARGET: u8 = 4;
const HOST: u8 = 8;
const UPPER: u8 = 16;

static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0_u8; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        let mut class = 0;
        if is_tchar(byte) {
            class |= TOKEN;
        }
        if byte == b'\t' || (byte >= 0x20 && byte != 0x7f) {
            class |= VALUE;
        }
        if byte > 0x20 && byte != 0x7f && byte != b'#' {
            class |= TARGET;
        }
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            class |= HOST;
        }
        if byte.is_ascii_uppercase() {
            class |= UPPER;
        }
        table[at] = class;
        at += 1;
    }
    table
}

const fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
}

fn first_outside(bytes: &[u8], class: u8) -> Option<u8> {
    bytes
        .iter()
        .copied()
        .find(|&byte| CLASS[byte as usize] & class == 0)
}

/// The first byte that no token may hold (RFC 9110 §5.6.2).
pub fn not_in_token(bytes: &[u8]) -> Option<u8> {
    first_outside(bytes, TOKEN)
}

/// The first byte that no field value may hold (RFC 9110 §5.5): controls other than a tab.
pub fn not_in_value(bytes: &[u8]) -> Option<u8> {
    first_outside(bytes, VALUE)
}

/// The first byte that no request target may hold: controls, spaces, and `#`, which begins a fragment
/// (RFC 9112 §3.2). Bytes beyond ASCII pass, as agents send them and servers take them.
pub fn not_in_target(bytes: &[u8]) -> Option<u8> {
    first_outside(bytes, TARGET)
}

/// Is this the scheme of a URL (RFC 3986 §3.1)?
pub fn is_scheme(bytes: &[u8]) -> bool {
    let rest = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.iter().all(rest)
}

/// Does it hold an upper-case letter?
pub fn has_upper(bytes: &[u8]) -> bool {
    bytes.iter().any(|&byte| CLASS[byte as usize] & UPPER != 0)
}

/// Is this `host` or `host:port`, the host a name, an IPv4 address or an IPv6 address in brackets?
/// User names, percent escapes and letters beyond ASCII have no place in it.
pub fn is_authority(bytes: &[u8]) -> bool {
    let (host, rest) = if bytes.first() == Some(&b'[') {
        let Some(end) = bytes.iter().position(|&byte| byte == b']') else {
            return false;
        };
        let inner = &bytes[1..end];
        let plain = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
        if !inner.contains(&b':') || !inner.iter().all(plain) {
            return false;
        }
        (inner, &bytes[end + 1..])
    } else {
        let end = bytes
            .iter()
            .position(|&byte| byte == b':')
            .unwrap_or(bytes.len());
        if first_outside(&bytes[..end], HOST).is_some() {
            return false;
        }
        bytes.split_at(end)
    };
    let port = match rest {
        [] => return !host.is_empty(),
        [b':', port @ ..] => port,
        _ => return false,
    };
    !host.is_empty() && port.len() <= 5 && port.iter().all(u8::is_ascii_digit)
}
