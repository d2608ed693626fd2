//! Base64 (RFC 4648, both alphabets) as far as secrets need it: how values begin, where they end.

/// How a value that begins with `plain` begins in Base64: the characters that `plain` alone decides.
pub fn beginning(plain: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |at: usize| plain[at / 8] >> (7 - at % 8) & 1;
    (0..plain.len() * 8 / 6)
        .map(|sign| (0..6).fold(0, |sum, place| sum << 1 | bit(sign * 6 + place)))
        .map(|value| char::from(SIGNS[usize::from(value)]))
        .collect()
}

fn sign(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte)
}

/// How many characters of Base64 stand at the beginning, with the padding.
pub fn run(text: &[u8]) -> usize {
    let signs = text.iter().take_while(|byte| sign(**byte)).count();
    let padding = text[signs..]
        .iter()
        .take(2)
        .take_while(|byte| **byte == b'=')
        .count();
    signs + padding
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_those_of_every_value() {
        assert_eq!(beginning(b"ghp_"), "Z2hwX");
        assert_eq!(beginning(b"abc"), "YWJj");
    }

    #[test]
    fn runs_end_with_their_padding() {
        assert_eq!(run(b"Z2hwXw==\""), 8);
    }
}
