//! Spain and Portugal.
use super::Check;
use super::digits::{alnum, digits, dot, number};

pub const CHECKS: &[(&str, Check)] = &[
    ("es_dni", |v| letter(&alnum(v))),
    ("es_nie", es_nie),
    ("es_cif", es_cif),
    ("es_nss", |v| {
        digits(v).exactly(12).is_some_and(|d| {
            let (area, serial) = (number(&d[..2]), number(&d[2..10]));
            let body = if serial < 10_000_000 {
                serial + area * 10_000_000
            } else {
                serial + area * 100_000_000
            };
            body % 97 == number(&d[10..])
        })
    }),
    ("pt_nif", |v| {
        digits(v).exactly(9).is_some_and(|d| {
            matches!(d[0], 1 | 2 | 3 | 5 | 6 | 7 | 8 | 9)
                && match dot(d, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11 {
                    0 | 1 => 0,
                    rest => 11 - rest,
                } == u32::from(d[8])
        })
    }),
    ("pt_cc", pt_cc),
];

/// n mod 23 picks the letter (Ministerio del Interior).
fn letter(text: &[u8]) -> bool {
    text.len() == 9 && {
        let rest = number(&digits(&text[..8])) % 23;
        b"TRWAGMYFPDXBNJZSQVHLCKE"[rest as usize] == text[8]
    }
}

/// Foreigners: X, Y, Z stand for 0, 1, 2.
fn es_nie(value: &[u8]) -> bool {
    let mut text = alnum(value);
    let Some(first) = text.first_mut() else {
        return false;
    };
    *first = match *first {
        b'X' => b'0',
        b'Y' => b'1',
        b'Z' => b'2',
        _ => return false,
    };
    letter(&text)
}

/// Companies: Luhn-like control as digit or letter.
fn es_cif(value: &[u8]) -> bool {
    let text = alnum(value);
    if text.len() != 9 || !text[1..8].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let sum: u32 = text[1..8]
        .iter()
        .enumerate()
        .map(|(index, byte)| match (index % 2, u32::from(byte - b'0')) {
            (0, value) => value * 2 / 10 + value * 2 % 10,
            (_, value) => value,
        })
        .sum();
    let check = (10 - sum % 10) % 10;
    text[8] == b'0' + check as u8 || b"JABCDEFGHI"[check as usize] == text[8]
}

/// Portugal, cartão de cidadão: Luhn over twelve characters in base 36.
fn pt_cc(value: &[u8]) -> bool {
    let text = alnum(value);
    let sum: u32 = text
        .iter()
        .rev()
        .enumerate()
        .map(
            |(index, byte)| match (index % 2, super::digits::base36(*byte)) {
                (1, value) if value * 2 > 9 => value * 2 - 9,
                (1, value) => value * 2,
                (_, value) => value,
            },
        )
        .sum();
    text.len() == 12 && sum.is_multiple_of(10)
}
