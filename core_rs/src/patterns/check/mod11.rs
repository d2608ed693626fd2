//! Weighted sums modulo 11, and ISO 7064 MOD 11,10.
use super::digits::{alnum, base36, digits, dot, number};
use super::{Check, date};

pub const CHECKS: &[(&str, Check)] = &[
    ("nl_bsn", nl_bsn),
    ("uk_nhs", uk_nhs),
    ("uk_utr", uk_utr),
    ("de_idnr", de_idnr),
    ("hr_oib", |v| digits(v).exactly(11).is_some_and(hybrid)),
    ("de_vat", |v| digits(v).exactly(9).is_some_and(hybrid)),
    ("at_svnr", at_svnr),
    ("vin", vin),
    ("th_id", |v| {
        digits(v).exactly(13).is_some_and(|d| {
            d[0] > 0 && {
                let sum: u32 = dot(d, &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
                (11 - sum % 11) % 10 == u32::from(d[12])
            }
        })
    }),
    ("gr_afm", |v| {
        digits(v)
            .exactly(9)
            .is_some_and(|d| dot(d, &[256, 128, 64, 32, 16, 8, 4, 2]) % 11 % 10 == u32::from(d[8]))
    }),
];

/// 11 − sum mod 11 with 11 → 0; `None` where the scheme never issues a 10.
pub fn complement(sum: u32) -> Option<u32> {
    match 11 - sum % 11 {
        11 => Some(0),
        10 => None,
        check => Some(check),
    }
}

/// ISO 7064 MOD 11,10 over all digits, the last being the check.
pub fn hybrid(digits: &[u8]) -> bool {
    let Some((check, body)) = digits.split_last() else {
        return false;
    };
    let product = body.iter().fold(10, |product, digit| {
        let sum = (product + u32::from(*digit)) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == u32::from(*check)
}

/// Netherlands, burgerservicenummer: the eleven test with −1 for the last digit.
fn nl_bsn(value: &[u8]) -> bool {
    digits(value)
        .exactly(9)
        .is_some_and(|d| dot(d, &[9, 8, 7, 6, 5, 4, 3, 2, 10]).is_multiple_of(11))
}

/// United Kingdom, NHS number.
fn uk_nhs(value: &[u8]) -> bool {
    digits(value)
        .exactly(10)
        .is_some_and(|d| complement(dot(d, &[10, 9, 8, 7, 6, 5, 4, 3, 2])) == Some(u32::from(d[9])))
}

/// United Kingdom, unique taxpayer reference: the check digit comes first.
fn uk_utr(value: &[u8]) -> bool {
    digits(value).exactly(10).is_some_and(|d| {
        let rest = dot(&d[1..], &[6, 7, 8, 9, 10, 5, 4, 3, 2]) % 11;
        b"21987654321"[rest as usize] - b'0' == d[0]
    })
}

/// Germany, tax identification number: one digit of the first ten repeats, MOD 11,10.
fn de_idnr(value: &[u8]) -> bool {
    digits(value).exactly(11).is_some_and(|d| {
        let mut counts = [0u8; 10];
        d[..10]
            .iter()
            .for_each(|digit| counts[usize::from(*digit)] += 1);
        let repeated = counts.iter().filter(|count| **count > 1).count();
        let most = counts.iter().max().copied().unwrap_or(0);
        d[0] > 0 && repeated == 1 && most < 4 && hybrid(d)
    })
}

/// Austria, Sozialversicherungsnummer: the check is the fourth digit, a date follows.
fn at_svnr(value: &[u8]) -> bool {
    digits(value).exactly(10).is_some_and(|d| {
        let month = number(&d[6..8]);
        let dated = (13..=15).contains(&month) || date::ddmmyy(&d[4..]);
        d[0] > 0 && dated && dot(d, &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 == u32::from(d[3])
    })
}

/// Vehicle identification number (ISO 3779 with the North American check in place nine).
fn vin(value: &[u8]) -> bool {
    let text = alnum(value);
    if text.len() != 17 || text.iter().any(|byte| matches!(byte, b'I' | b'O' | b'Q')) {
        return false;
    }
    const WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
    let sum: u32 = text
        .iter()
        .zip(WEIGHTS)
        .map(|(byte, weight)| {
            weight
                * match base36(*byte) {
                    digit @ 0..=9 => digit,
                    letter @ 10..=18 => letter - 9,
                    letter @ 19..=27 => letter - 18,
                    letter => letter - 26,
                }
        })
        .sum();
    let check = if sum % 11 == 10 {
        b'X'
    } else {
        b'0' + (sum % 11) as u8
    };
    text[8] == check && text.iter().any(u8::is_ascii_alphabetic)
}
