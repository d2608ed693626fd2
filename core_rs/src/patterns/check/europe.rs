//! Western Europe: letters as check digits, EAN, health and pension numbers.
use super::digits::{alnum, base36, digits, dot, number};
use super::{Check, date};

pub const CHECKS: &[(&str, Check)] = &[
    ("de_rvnr", de_rvnr),
    ("de_card", de_card),
    ("ch_ahv", |v| {
        digits(v)
            .exactly(13)
            .is_some_and(|d| d[..3] == [7, 5, 6] && ean(d))
    }),
    ("ch_uid", |v| {
        digits(v)
            .exactly(9)
            .is_some_and(|d| (11 - dot(d, &[5, 4, 3, 2, 7, 6, 5, 4]) % 11) % 11 == u32::from(d[8]))
    }),
    ("ie_pps", ie_pps),
    ("uk_nino", uk_nino),
    ("uk_vat", uk_vat),
    ("it_cf", it_cf),
    ("mrz", mrz),
];

/// GS1/EAN-13: weights 1 and 3, total a multiple of ten.
fn ean(digits: &[u8]) -> bool {
    dot(digits, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]).is_multiple_of(10)
}

/// Germany, Rentenversicherungsnummer: the letter becomes two digits, cross sums of products.
fn de_rvnr(value: &[u8]) -> bool {
    let text = alnum(value);
    if text.len() != 12 || !text[8].is_ascii_uppercase() {
        return false;
    }
    let mut spelt: Vec<u8> = text[..8]
        .iter()
        .map(|byte| byte.wrapping_sub(b'0'))
        .collect();
    let letter = text[8] - b'A' + 1;
    spelt.extend([letter / 10, letter % 10]);
    spelt.extend(text[9..12].iter().map(|byte| byte.wrapping_sub(b'0')));
    if spelt.iter().any(|digit| *digit > 9) {
        return false;
    }
    let sum: u32 = spelt
        .iter()
        .zip([2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1])
        .map(|(digit, weight)| {
            let p = u32::from(*digit) * weight;
            p / 10 + p % 10
        })
        .sum();
    let day = number(&spelt[2..4]) % 50;
    date::day_month(day.max(1), number(&spelt[4..6]).max(1)) && sum % 10 == u32::from(spelt[12])
}

/// Weights 7, 3, 1 over digits and letters (ICAO Doc 9303).
fn icao(text: &[u8]) -> u32 {
    let value = |byte: &u8| if *byte == b'<' { 0 } else { base36(*byte) };
    text.iter()
        .zip([7, 3, 1].iter().cycle())
        .map(|(byte, weight)| value(byte) * weight)
        .sum::<u32>()
        % 10
}

/// Germany, identity card and passport number: nine characters, then an ICAO check digit or none.
fn de_card(value: &[u8]) -> bool {
    let text = alnum(value);
    match text.len() {
        9 => text.iter().filter(|byte| byte.is_ascii_digit()).count() > 1,
        _ => text.len() == 10 && text[9].is_ascii_digit() && icao(&text[..9]) == base36(text[9]),
    }
}

/// Second line of a passport's machine readable zone: number, birth and expiry checks.
fn mrz(line: &[u8]) -> bool {
    line.len() == 44
        && icao(&line[..9]) == base36(line[9])
        && icao(&line[13..19]) == base36(line[19])
        && icao(&line[21..27]) == base36(line[27])
}

/// Ireland, PPS number: mod 23 picks a letter; a second letter counts nine times.
fn ie_pps(value: &[u8]) -> bool {
    let text = alnum(value);
    let read = digits(value);
    if read.len() != 7 || !(8..=9).contains(&text.len()) {
        return false;
    }
    let second = match text.get(8) {
        Some(b'W') | None => 0,
        Some(letter) => u32::from(letter - b'A') + 1,
    };
    let rest = (dot(&read, &[8, 7, 6, 5, 4, 3, 2]) + second * 9) % 23;
    b"WABCDEFGHIJKLMNOPQRSTUV"[rest as usize] == text[7]
}

/// United Kingdom, National Insurance number: no check digit, but prefixes that are never issued (HMRC NIM39110).
fn uk_nino(value: &[u8]) -> bool {
    let text = alnum(value);
    let Some([first, second]) = text.first_chunk::<2>() else {
        return false;
    };
    !b"DFIQUV".contains(first)
        && !b"DFIOQUV".contains(second)
        && ![b"BG", b"GB", b"KN", b"NK", b"NT", b"TN", b"ZZ"].contains(&&[*first, *second])
        && !digits(value).uniform()
}

/// United Kingdom, VAT number: 97 minus weights, with or without the newer offset of 55.
fn uk_vat(value: &[u8]) -> bool {
    digits(value).exactly(9).is_some_and(|d| {
        let sum = u64::from(dot(d, &[8, 7, 6, 5, 4, 3, 2])) + number(&d[7..]);
        sum.is_multiple_of(97) || (sum + 55).is_multiple_of(97)
    })
}

/// Italy, codice fiscale: odd places through a table, mod 26 picks a letter (DM 23/12/1976).
fn it_cf(value: &[u8]) -> bool {
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let text = alnum(value);
    if text.len() != 16 {
        return false;
    }
    let sum: u32 = text[..15]
        .iter()
        .enumerate()
        .map(|(index, byte)| {
            let place = match base36(*byte) {
                value @ 0..=9 => value,
                value => value - 10,
            };
            if index % 2 == 0 {
                ODD[place as usize]
            } else {
                place
            }
        })
        .sum();
    b'A' + (sum % 26) as u8 == text[15]
}
