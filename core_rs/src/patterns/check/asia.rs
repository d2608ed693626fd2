//! Asia and Africa.
use super::digits::{alnum, base36, digits, dot, number};
use super::{Check, date};

pub const CHECKS: &[(&str, Check)] = &[
    ("cn_id", cn_id),
    ("tw_id", tw_id),
    ("hk_id", hk_id),
    ("sg_nric", sg_nric),
    ("my_nric", |v| {
        digits(v).exactly(12).is_some_and(|d| {
            date::yymmdd(d) && matches!(number(&d[6..8]), 1..=16 | 21..=59 | 82..=93 | 98 | 99)
        })
    }),
    ("kr_rrn", kr_rrn),
    ("jp_mynumber", jp_mynumber),
    ("in_gstin", in_gstin),
    ("in_pan", |v| {
        v.get(3).is_some_and(|kind| b"ABCFGHLJPT".contains(kind))
    }),
    ("id_nik", |v| {
        digits(v).exactly(16).is_some_and(|d| {
            (11..=96).contains(&number(&d[..2]))
                && number(&d[12..]) > 0
                && date::day_month(number(&d[6..8]) % 40, number(&d[8..10]))
        })
    }),
    ("pk_cnic", |v| {
        digits(v)
            .exactly(13)
            .is_some_and(|d| (1..=8).contains(&d[0]) && d[1] > 0)
    }),
    ("tr_id", tr_id),
    ("eg_id", |v| {
        digits(v).exactly(14).is_some_and(|d| {
            matches!(d[0], 2 | 3)
                && date::yymmdd(&d[1..])
                && matches!(number(&d[7..9]), 1..=35 | 88)
        })
    }),
    ("lk_nic", |v| {
        let d = digits(v);
        d.len() == 9 && matches!(number(&d[2..5]), 1..=366 | 501..=866)
    }),
    ("ph_tin", |v| {
        let d = digits(v);
        (9..=14).contains(&d.len()) && !d.uniform()
    }),
    ("vn_cccd", |v| {
        digits(v)
            .exactly(12)
            .is_some_and(|d| (1..=96).contains(&number(&d[..3])) && d[3] < 6)
    }),
];

/// China, resident identity number (GB 11643-1999): ISO 7064 MOD 11-2.
fn cn_id(value: &[u8]) -> bool {
    let text = alnum(value);
    if text.len() != 18 || !text[..17].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let sum = dot(
        &digits(&text[..17]),
        &[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2],
    );
    date::yyyymmdd(&digits(&text[6..14]))
        && (11..=91).contains(&number(&digits(&text[..2])))
        && b"10X98765432"[(sum % 11) as usize] == text[17]
}

/// Taiwan, national identity card: the letter is a county number of two digits.
fn tw_id(value: &[u8]) -> bool {
    const ORDER: &[u8] = b"ABCDEFGHJKLMNPQRSTUVXYWZIO";
    let text = alnum(value);
    let read = digits(value);
    let Some(place) = text
        .first()
        .and_then(|first| ORDER.iter().position(|l| l == first))
    else {
        return false;
    };
    let county = place as u32 + 10;
    read.exactly(9).is_some_and(|d| {
        let sum = county / 10 + county % 10 * 9 + dot(d, &[8, 7, 6, 5, 4, 3, 2, 1, 1]);
        matches!(d[0], 1 | 2 | 8 | 9) && sum.is_multiple_of(10)
    })
}

/// Hong Kong, identity card: one or two letters, six digits, check in brackets.
fn hk_id(value: &[u8]) -> bool {
    let text = alnum(value);
    let values: Vec<u32> = match text.len() {
        8 => std::iter::once(36)
            .chain(text.iter().map(|byte| base36(*byte)))
            .collect(),
        9 => text.iter().map(|byte| base36(*byte)).collect(),
        _ => return false,
    };
    let sum: u32 = values[..8]
        .iter()
        .zip((2..=9).rev())
        .map(|(value, weight)| value * weight)
        .sum();
    (11 - sum % 11) % 11 == values[8]
}

/// Singapore, NRIC and FIN.
fn sg_nric(value: &[u8]) -> bool {
    let text = alnum(value);
    if text.len() != 9 || !text[1..8].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let sum = dot(&digits(&text[1..8]), &[2, 7, 6, 5, 4, 3, 2]);
    let (offset, order): (u32, &[u8; 11]) = match text[0] {
        b'S' => (0, b"JZIHGFEDCBA"),
        b'T' => (4, b"JZIHGFEDCBA"),
        b'F' => (0, b"XWUTRQPNMLK"),
        b'G' => (4, b"XWUTRQPNMLK"),
        b'M' => (3, b"XWUTRQPNJLK"),
        _ => return false,
    };
    order[((sum + offset) % 11) as usize] == text[8]
}

/// South Korea, resident registration number (numbers issued until October 2020 carry the check).
fn kr_rrn(value: &[u8]) -> bool {
    digits(value).exactly(13).is_some_and(|d| {
        let sum = dot(d, &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
        date::yymmdd(d) && d[6] > 0 && d[6] < 9 && (11 - sum % 11) % 10 == u32::from(d[12])
    })
}

/// Japan, My Number.
fn jp_mynumber(value: &[u8]) -> bool {
    digits(value).exactly(12).is_some_and(|d| {
        let rest = dot(d, &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
        (if rest < 2 { 0 } else { 11 - rest }) == u32::from(d[11])
    })
}

/// India, GSTIN: state, PAN, entity, Z, a Luhn-like check in base 36.
fn in_gstin(value: &[u8]) -> bool {
    let text = alnum(value);
    if text.len() != 15 || !(1..=38).contains(&number(&digits(&text[..2]))) {
        return false;
    }
    let sum: u32 = text[..14]
        .iter()
        .enumerate()
        .map(|(index, byte)| {
            let p = base36(*byte) * (1 + index as u32 % 2);
            p / 36 + p % 36
        })
        .sum();
    (36 - sum % 36) % 36 == base36(text[14])
}

/// Türkiye, kimlik numarası.
fn tr_id(value: &[u8]) -> bool {
    digits(value).exactly(11).is_some_and(|d| {
        let odd = dot(d, &[1, 0, 1, 0, 1, 0, 1, 0, 1]);
        let even = dot(d, &[0, 1, 0, 1, 0, 1, 0, 1]);
        d[0] > 0
            && (odd * 7 + 100 - even) % 10 == u32::from(d[9])
            && (odd + even + u32::from(d[9])) % 10 == u32::from(d[10])
    })
}
