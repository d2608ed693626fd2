//! The Nordic countries.
use super::digits::{alnum, digits, dot, number};
use super::luhn::luhn;
use super::mod11::complement;
use super::{Check, date};

pub const CHECKS: &[(&str, Check)] = &[
    ("no_fnr", no_fnr),
    ("no_org", |v| {
        digits(v).exactly(9).is_some_and(|d| {
            matches!(d[0], 8 | 9)
                && complement(dot(d, &[3, 2, 7, 6, 5, 4, 3, 2])) == Some(u32::from(d[8]))
        })
    }),
    ("dk_cpr", |v| {
        digits(v).exactly(10).is_some_and(date::ddmmyy)
    }),
    ("dk_cvr", |v| {
        digits(v)
            .exactly(8)
            .is_some_and(|d| d[0] > 0 && dot(d, &[2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11))
    }),
    ("se_pnr", se_pnr),
    ("fi_hetu", fi_hetu),
    ("is_kt", is_kt),
];

/// Norway, fødselsnummer and D-number: two check digits.
fn no_fnr(value: &[u8]) -> bool {
    digits(value).exactly(11).is_some_and(|d| {
        let day = number(&d[..2]) % 40;
        let month = number(&d[2..4]) % 40;
        date::day_month(day, month)
            && complement(dot(d, &[3, 7, 6, 1, 8, 9, 4, 5, 2])) == Some(u32::from(d[9]))
            && complement(dot(d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2])) == Some(u32::from(d[10]))
    })
}

/// Sweden, personnummer and samordningsnummer (day + 60): Luhn over ten digits.
fn se_pnr(value: &[u8]) -> bool {
    let read = digits(value);
    let short = match read.len() {
        10 => &read[..],
        12 if matches!(number(&read[..2]), 18..=20) => &read[2..],
        _ => return false,
    };
    date::day_month(number(&short[4..6]) % 60, number(&short[2..4])) && luhn(short)
}

/// Finland, henkilötunnus: n mod 31 picks a letter.
fn fi_hetu(value: &[u8]) -> bool {
    let text = alnum(value);
    let Some(check) = text.last() else {
        return false;
    };
    let all: Vec<u8> = value
        .iter()
        .filter(|b| b.is_ascii_digit())
        .map(|b| b - b'0')
        .collect();
    if all.len() < 9 || !date::ddmmyy(&all) {
        return false;
    }
    let rest = number(&all[..9]) % 31;
    b"0123456789ABCDEFHJKLMNPRSTUVWXY"[rest as usize] == *check
}

/// Iceland, kennitala: weighted mod 11 in place nine, century digit last.
fn is_kt(value: &[u8]) -> bool {
    digits(value).exactly(10).is_some_and(|d| {
        date::day_month(number(&d[..2]) % 40, number(&d[2..4]))
            && matches!(d[9], 0 | 8 | 9)
            && complement(dot(d, &[3, 2, 7, 6, 5, 4, 3, 2])) == Some(u32::from(d[8]))
    })
}
