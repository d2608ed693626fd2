//! Reading digits and letters out of a formatted value.

/// At most 40 digits on the stack; anything longer is no identifier.
#[derive(Clone, Copy)]
pub struct Digits {
    buffer: [u8; 40],
    length: usize,
}

impl std::ops::Deref for Digits {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

impl Digits {
    /// The digits, if there are exactly `count` and they are not all the same.
    pub fn exactly(&self, count: usize) -> Option<&[u8]> {
        (self.length == count && !self.uniform()).then_some(self)
    }

    /// Whether one digit fills the whole number (`000…`, `111…`: placeholders, not people).
    pub fn uniform(&self) -> bool {
        self.windows(2).all(|pair| pair[0] == pair[1])
    }
}

/// The decimal digits of `value` as numbers 0-9.
pub fn digits(value: &[u8]) -> Digits {
    let mut out = Digits {
        buffer: [0; 40],
        length: 0,
    };
    for byte in value.iter().filter(|byte| byte.is_ascii_digit()).take(40) {
        out.buffer[out.length] = byte - b'0';
        out.length += 1;
    }
    out
}

/// Letters and digits of `value`, upper case, separators dropped.
pub fn alnum(value: &[u8]) -> Vec<u8> {
    value
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_uppercase)
        .collect()
}

/// Letters of `value`, upper case.
pub fn letters(value: &[u8]) -> Vec<u8> {
    value
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .map(u8::to_ascii_uppercase)
        .collect()
}

/// Σ digit·weight over the shorter of both.
pub fn dot(digits: &[u8], weights: &[u32]) -> u32 {
    digits
        .iter()
        .zip(weights)
        .map(|(digit, weight)| u32::from(*digit) * weight)
        .sum()
}

/// The number that a run of digits spells.
pub fn number(digits: &[u8]) -> u64 {
    digits
        .iter()
        .take(18)
        .fold(0, |sum, digit| sum * 10 + u64::from(*digit))
}

/// 0-9 → 0-9, A-Z → 10-35.
pub fn base36(byte: u8) -> u32 {
    (byte as char).to_digit(36).unwrap_or(0)
}
