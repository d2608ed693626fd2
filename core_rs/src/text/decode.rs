//! Texts inside texts: Base64, hexadecimal, ROT13, reversed.

/// A decoded part and the span it stood in.
#[derive(Clone, Debug)]
pub struct Decoded {
    pub start: usize,
    pub end: usize,
    pub text: Vec<u8>,
    pub form: &'static str,
}

/// Shortest encoded run worth decoding, and the longest.
const LEAST: usize = 16;
const MOST: usize = 64 << 10;

/// Every run that decodes to readable text.
pub fn embedded(text: &[u8]) -> Vec<Decoded> {
    let mut found = Vec::new();
    let code = |byte: &u8| CODE[usize::from(*byte)];
    let mut at = LEAST - 1;
    // a run of `LEAST` covers one of these places
    while let Some(byte) = text.get(at) {
        if !code(byte) {
            at += LEAST;
            continue;
        }
        let start = at
            - text[..at]
                .iter()
                .rev()
                .take_while(|byte| code(byte))
                .count();
        let end = at + text[at..].iter().take_while(|byte| code(byte)).count();
        if (LEAST..MOST).contains(&(end - start)) {
            found.extend(run(text, start, end));
        }
        at = end + LEAST;
    }
    found
}

const CODE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=');
        byte += 1;
    }
    table
};

fn run(text: &[u8], start: usize, end: usize) -> Option<Decoded> {
    let part = &text[start..end];
    let decoded = |body: Vec<u8>, form| Decoded {
        start,
        end,
        text: body,
        form,
    };
    if part.len() % 2 == 0 && part.iter().all(u8::is_ascii_hexdigit) {
        return hex(part)
            .filter(|body| readable(body))
            .map(|body| decoded(body, "hex"));
    }
    // `key=dmFsdWU` begins after the sign
    let skip = part
        .iter()
        .take(part.len().saturating_sub(LEAST))
        .rposition(|byte| *byte == b'=')
        .map_or(0, |p| p + 1);
    let head = base64(&part[skip..(skip + LEAST).min(part.len())])?;
    if !readable(&head) {
        return None;
    }
    base64(&part[skip..])
        .filter(|body| readable(body))
        .map(|body| decoded(body, "base64"))
}

/// Standard or URL-safe Base64; the padding may be missing.
pub fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let body: Vec<u8> = text.iter().copied().filter(|byte| *byte != b'=').collect();
    let mut out = Vec::with_capacity(body.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0u32);
    for byte in body {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(out)
}

/// Pairs of hexadecimal digits.
pub fn hex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    text.chunks_exact(2)
        .map(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8))
        .collect()
}

/// Letters moved by thirteen.
pub fn rot13(text: &[u8]) -> Vec<u8> {
    text.iter()
        .map(|byte| match byte {
            b'a'..=b'z' => (byte - b'a' + 13) % 26 + b'a',
            b'A'..=b'Z' => (byte - b'A' + 13) % 26 + b'A',
            other => *other,
        })
        .collect()
}

/// Mostly letters, digits and spaces in valid UTF-8 (a cut character at the end is forgiven).
fn readable(body: &[u8]) -> bool {
    let valid = match std::str::from_utf8(body) {
        Ok(_) => true,
        Err(error) => error.valid_up_to() + 4 > body.len(),
    };
    let plain = body
        .iter()
        .filter(|b| b.is_ascii_alphanumeric() || b.is_ascii_whitespace() || **b >= 0x80)
        .count();
    let control = body
        .iter()
        .any(|b| b.is_ascii_control() && !b.is_ascii_whitespace());
    valid && !control && plain * 10 >= body.len() * 7 && body.len() > 7
}
