//! How far an encoded stretch goes, by what it decodes to.

use super::{LEAST, Stretch};

/// The fewest bytes that a stretch decodes to; of fewer than `FEW` all must be ASCII, of fewer than `SHORT` most.
const FEWEST: usize = 8;
const FEW: usize = 12;
const SHORT: usize = 32;

/// How files begin that hold others: gzip, zlib, ZIP, 7z, xz, bzip2, zstd, RAR.
pub const FILES: [&[u8]; 10] = [
    b"\x1f\x8b\x08",
    b"\x78\x01",
    b"\x78\x9c",
    b"\x78\xda",
    b"PK\x03\x04",
    b"7z\xbc\xaf\x27\x1c",
    b"\xfd7zXZ\x00",
    b"BZh",
    b"\x28\xb5\x2f\xfd",
    b"Rar!\x1a\x07",
];

/// A stretch of at most `size` characters, `chars` of which say `bytes`; `plain` decodes so many of them.
pub fn read(
    start: usize,
    size: usize,
    form: &'static str,
    chars: usize,
    bytes: usize,
    plain: impl Fn(usize) -> Option<Vec<u8>>,
) -> Option<Stretch> {
    let first = (LEAST.max(chars * 2) / chars * chars).min(size);
    let head = plain(first)?;
    let file = is_file(&head);
    if !file && readable(&head) < head.len() {
        return None;
    }
    // Twice as much each time: what was decoded in vain is no more than what was found.
    let (mut good, mut length, mut body) = (head.len(), first, head);
    while length < size {
        let next = (length * 2).min(size);
        let Some(more) = plain(next) else {
            break;
        };
        length = next;
        good = if file { more.len() } else { readable(&more) };
        let whole = good == more.len();
        body = more;
        if !whole {
            break;
        }
    }
    let end = if good == body.len() {
        start + length
    } else {
        start + (good.div_ceil(bytes) * chars).min(length)
    };
    body.truncate(good);
    if !file && is_chance(&body) {
        return None;
    }
    // A digit without end is what hexadecimal writes for another one without end: it says nothing.
    if body.iter().all(|byte| *byte == body[0]) {
        return None;
    }
    Some(Stretch {
        start,
        end,
        form,
        plain: body,
    })
}

/// Is so little of it ASCII, and is it so short, that it is chance?
fn is_chance(plain: &[u8]) -> bool {
    let ascii = plain.iter().filter(|byte| byte.is_ascii()).count();
    match plain.len() {
        ..FEWEST => true,
        FEWEST..FEW => ascii < plain.len(),
        FEW..SHORT => ascii * 4 < plain.len() * 3,
        _ => false,
    }
}

pub fn is_file(plain: &[u8]) -> bool {
    FILES.iter().any(|mark| plain.starts_with(mark))
}

/// How many bytes at the beginning are text: UTF-8 (a character cut at the end is forgiven) without control
/// characters other than blanks.
pub fn readable(plain: &[u8]) -> usize {
    let valid = match std::str::from_utf8(plain) {
        Ok(_) => plain.len(),
        Err(error) if error.error_len().is_none() => plain.len(),
        Err(error) => error.valid_up_to(),
    };
    let control = |b: &u8| b.is_ascii_control() && !matches!(b, b'\t' | b'\r' | b'\n');
    plain[..valid].iter().position(control).unwrap_or(valid)
}
