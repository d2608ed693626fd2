//! Schemes with a remainder of 97 (ISO 7064 MOD 97-10 and its relatives).
use super::digits::{alnum, base36, digits, number};
use super::{Check, date};

pub const CHECKS: &[(&str, Check)] = &[
    ("lei", |v| {
        let a = alnum(v);
        a.len() == 20 && remainder(&a) == 1
    }),
    ("be_nrn", be_nrn),
    ("fr_nir", fr_nir),
    ("be_vat", be_vat),
];

/// The remainder by 97 of letters and digits read as one long number (A=10 … Z=35).
pub fn remainder(text: &[u8]) -> u32 {
    text.iter().fold(0, |rest, byte| match base36(*byte) {
        value @ 0..=9 => (rest * 10 + value) % 97,
        value => (rest * 100 + value) % 97,
    })
}

/// Belgium, national register number: 97 − n mod 97; a 2 in front for births from 2000 on.
fn be_nrn(value: &[u8]) -> bool {
    digits(value).exactly(11).is_some_and(|d| {
        let (body, check) = (number(&d[..9]), number(&d[9..]));
        let month = number(&d[2..4]) % 20;
        let dated = month == 0 || date::day_month(number(&d[4..6]).max(1), month);
        dated && (97 - body % 97 == check || 97 - (body + 2_000_000_000) % 97 == check)
    })
}

/// France, NIR (INSEE): 97 − n mod 97, Corsica 2A → 19 and 2B → 18.
fn fr_nir(value: &[u8]) -> bool {
    let text = alnum(value);
    if text.len() != 15 || !matches!(text[0], b'1' | b'2' | b'3' | b'4' | b'7' | b'8') {
        return false;
    }
    let mut plain = text.clone();
    match &text[5..7] {
        b"2A" => plain[5..7].copy_from_slice(b"19"),
        b"2B" => plain[5..7].copy_from_slice(b"18"),
        _ => {}
    }
    if !plain.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let read = digits(&plain);
    let month = number(&read[3..5]);
    let dated = matches!(month, 1..=12 | 20..=42 | 50..=99);
    dated && 97 - number(&read[..13]) % 97 == number(&read[13..])
}

/// Belgium, enterprise number: 97 − n mod 97 over the first eight digits.
fn be_vat(value: &[u8]) -> bool {
    digits(value)
        .exactly(10)
        .is_some_and(|d| d[0] < 2 && 97 - number(&d[..8]) % 97 == number(&d[8..]))
}
