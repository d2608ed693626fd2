//! Stretches of Base64, in one piece or in lines.

use super::super::decode::base64;
use super::plain::{FILES, is_file, read, readable};
use super::{LEAST, Stretch};

/// The characters of Base64, in either alphabet.
pub const SIGN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_');
        byte += 1;
    }
    table
};

/// Base64 that begins at `start`, perhaps in lines.
pub fn signs(text: &[u8], start: usize, end: usize) -> Option<Stretch> {
    if end - start < LEAST {
        return None;
    }
    if !may_begin(&text[start..]) {
        return None;
    }
    let plain = |size: usize| base64(&text[start..start + size]);
    let mut one = read(start, end - start, "base64", 4, 3, plain)?;
    let width = end - start;
    if one.end == end && (32..=76).contains(&width) && width.is_multiple_of(4) {
        lines(text, &mut one, width);
    }
    let padding = text[one.end..]
        .iter()
        .take(2)
        .take_while(|b| **b == b'=')
        .count();
    one.end += padding;
    Some(one)
}

/// Takes in the lines that go on with a first one of `width`: all but the last have its length.
fn lines(text: &[u8], one: &mut Stretch, width: usize) {
    let file = is_file(&one.plain);
    loop {
        let skip = line_break(text, one.end);
        let from = one.end + skip;
        let size = text[from..]
            .iter()
            .take(width + 1)
            .take_while(|b| SIGN[usize::from(**b)])
            .count();
        if skip == 0 || size == 0 || size > width {
            return;
        }
        let Some(more) = base64(&text[from..from + size]) else {
            return;
        };
        let good = if file { more.len() } else { readable(&more) };
        if good < more.len() && size == width {
            return;
        }
        one.plain.extend_from_slice(&more[..good]);
        one.end = from + size;
        if size < width {
            return;
        }
    }
}

/// The line break at `end`, as it stands or escaped in a JSON string, with the blank of a folded line.
fn line_break(text: &[u8], end: usize) -> usize {
    const BREAKS: [&[u8]; 4] = [b"\r\n", b"\n", b"\\r\\n", b"\\n"];
    let rest = &text[end..];
    let Some(mark) = BREAKS.iter().find(|mark| rest.starts_with(mark)) else {
        return 0;
    };
    let folded = rest
        .get(mark.len())
        .is_some_and(|b| matches!(b, b' ' | b'\t'));
    mark.len() + usize::from(folded)
}

/// Can Base64 of a text or a file begin so? Settled by the first four characters for nearly every other word.
fn may_begin(text: &[u8]) -> bool {
    let Some(four) = text.first_chunk::<4>() else {
        return false;
    };
    let bits = four.iter().fold(0, |sum, sign| {
        sum << 6 | u32::from(VALUE[usize::from(*sign)])
    });
    let three = [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8];
    let follows = (0x80..0xc0).contains(&three[0]);
    let text = !follows
        && !three
            .iter()
            .any(|b| (b.is_ascii_control() && !matches!(b, b'\t' | b'\r' | b'\n')) || *b > 0xf4);
    text || FILES.iter().any(|mark| mark[..2] == three[..2])
}

/// The value of a sign of Base64, in either alphabet.
const VALUE: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b @ b'A'..=b'Z' => b - b'A',
            b @ b'a'..=b'z' => b - b'a' + 26,
            b @ b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => 0,
        };
        byte += 1;
    }
    table
};
