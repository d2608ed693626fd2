//! Luhn (ISO/IEC 7812-1, annex B) and the schemes that use it bare.
use super::Check;
use super::date;
use super::digits::{digits, dot, number};

pub const CHECKS: &[(&str, Check)] = &[
    ("luhn", |v| {
        let d = digits(v);
        d.len() > 1 && !d.uniform() && luhn(&d)
    }),
    ("card", card),
    ("kr_brn", kr_brn),
    ("au_acn", |v| {
        digits(v)
            .exactly(9)
            .is_some_and(|d| (10 - dot(d, &[8, 7, 6, 5, 4, 3, 2, 1]) % 10) % 10 == u32::from(d[8]))
    }),
    ("imei", |v| digits(v).exactly(15).is_some_and(luhn)),
    ("ca_sin", |v| {
        digits(v)
            .exactly(9)
            .is_some_and(|d| !matches!(d[0], 0 | 8) && luhn(d))
    }),
    ("il_id", |v| digits(v).exactly(9).is_some_and(luhn)),
    ("za_id", |v| {
        digits(v)
            .exactly(13)
            .is_some_and(|d| date::yymmdd(d) && d[10] < 2 && luhn(d))
    }),
    ("sa_id", |v| {
        digits(v)
            .exactly(10)
            .is_some_and(|d| matches!(d[0], 1 | 2) && luhn(d))
    }),
    ("ae_id", |v| {
        digits(v)
            .exactly(15)
            .is_some_and(|d| d[..3] == [7, 8, 4] && luhn(d))
    }),
    ("us_npi", us_npi),
    ("gr_amka", |v| {
        digits(v)
            .exactly(11)
            .is_some_and(|d| date::ddmmyy(d) && luhn(d))
    }),
    ("do_cedula", |v| digits(v).exactly(11).is_some_and(luhn)),
    ("it_piva", |v| digits(v).exactly(11).is_some_and(luhn)),
    ("fr_siret", |v| digits(v).exactly(14).is_some_and(luhn)),
    ("fr_siren", |v| digits(v).exactly(9).is_some_and(luhn)),
    ("ec_ci", ec_ci),
    ("se_org", |v| {
        digits(v).exactly(10).is_some_and(|d| d[2] >= 2 && luhn(d))
    }),
];

/// Every second digit from the right doubled, digits of the products summed, total a multiple of 10.
pub fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(index, digit)| match (index % 2, u32::from(*digit)) {
            (1, value) if value > 4 => value * 2 - 9,
            (1, value) => value * 2,
            (_, value) => value,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Luhn, a length and a prefix that a network issues (ISO/IEC 7812 issuer ranges).
fn card(value: &[u8]) -> bool {
    let read = digits(value);
    if read.uniform() || read.len() < 12 || !luhn(&read) {
        return false;
    }
    let (two, three, four) = (number(&read[..2]), number(&read[..3]), number(&read[..4]));
    match read.len() {
        12 => matches!(two, 50 | 56..=63 | 67),
        13 | 18 | 19 => read[0] == 4 || matches!(two, 50 | 56..=63 | 67),
        14 => matches!(two, 36 | 38 | 39) || (300..=305).contains(&three),
        15 => matches!(two, 34 | 37) || matches!(four, 2131 | 1800),
        16 | 17 => {
            read[0] == 4
                || matches!(two, 51..=55 | 60 | 62 | 64 | 65 | 67 | 81 | 50 | 56..=58)
                || (2221..=2720).contains(&four)
                || (3528..=3589).contains(&four)
                || (2200..=2204).contains(&four)
        }
        _ => false,
    }
}

/// US National Provider Identifier: Luhn over 80840 + the ten digits (CMS).
fn us_npi(value: &[u8]) -> bool {
    digits(value).exactly(10).is_some_and(|d| {
        let mut full = vec![8, 0, 8, 4, 0];
        full.extend_from_slice(d);
        matches!(d[0], 1 | 2) && luhn(&full)
    })
}

/// Ecuador, cédula: province 01-24 or 30, third digit below 6, Luhn.
fn ec_ci(value: &[u8]) -> bool {
    digits(value)
        .exactly(10)
        .is_some_and(|d| matches!(number(&d[..2]), 1..=24 | 30) && d[2] < 6 && luhn(d))
}

/// South Korea, business registration number: weights 1, 3, 7 and the tens of the last product (NTS).
fn kr_brn(value: &[u8]) -> bool {
    digits(value).exactly(10).is_some_and(|d| {
        let sum = dot(d, &[1, 3, 7, 1, 3, 7, 1, 3, 5]) + u32::from(d[8]) * 5 / 10;
        (10 - sum % 10) % 10 == u32::from(d[9])
    })
}
