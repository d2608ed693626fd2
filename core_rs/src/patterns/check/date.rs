//! Calendar dates inside identifiers.
use super::digits::number;

/// Whether day and month can go together (29 February allowed: the century is often unknown).
pub fn day_month(day: u64, month: u64) -> bool {
    let last = match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=last).contains(&day)
}

/// `YYMMDD` at the front.
pub fn yymmdd(digits: &[u8]) -> bool {
    digits.len() >= 6 && day_month(number(&digits[4..6]), number(&digits[2..4]))
}

/// `DDMMYY` at the front.
pub fn ddmmyy(digits: &[u8]) -> bool {
    digits.len() >= 6 && day_month(number(&digits[..2]), number(&digits[2..4]))
}

/// `YYYYMMDD` at the front, born between 1880 and 2099.
pub fn yyyymmdd(digits: &[u8]) -> bool {
    digits.len() >= 8
        && (1880..2100).contains(&number(&digits[..4]))
        && day_month(number(&digits[6..8]), number(&digits[4..6]))
}
