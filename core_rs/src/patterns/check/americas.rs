//! The Americas.
use super::digits::{alnum, base36, digits, dot, number};
use super::{Check, date};

pub const CHECKS: &[(&str, Check)] = &[
    ("us_ssn", us_ssn),
    ("us_itin", |v| {
        digits(v).exactly(9).is_some_and(|d| {
            d[0] == 9 && matches!(number(&d[3..5]), 50..=65 | 70..=88 | 90..=92 | 94..=99)
        })
    }),
    ("us_aba", |v| {
        digits(v).exactly(9).is_some_and(|d| {
            matches!(number(&d[..2]), 0..=12 | 21..=32 | 61..=72 | 80)
                && dot(d, &[3, 7, 1, 3, 7, 1, 3, 7, 1]).is_multiple_of(10)
        })
    }),
    ("us_dea", |v| {
        digits(v)
            .exactly(7)
            .is_some_and(|d| dot(d, &[1, 2, 1, 2, 1, 2]) % 10 == u32::from(d[6]))
    }),
    ("nanp", nanp),
    ("br_cpf", br_cpf),
    ("br_cnpj", br_cnpj),
    ("mx_curp", mx_curp),
    ("mx_rfc", mx_rfc),
    ("ar_cuit", |v| {
        digits(v).exactly(11).is_some_and(|d| {
            let check = match 11 - dot(d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11 {
                11 => 0,
                10 => 9,
                c => c,
            };
            matches!(number(&d[..2]), 20 | 23..=27 | 30 | 33 | 34) && check == u32::from(d[10])
        })
    }),
    ("cl_rut", cl_rut),
    ("co_nit", |v| {
        digits(v).exactly(10).is_some_and(|d| {
            let rest = dot(d, &[41, 37, 29, 23, 19, 17, 13, 7, 3]) % 11;
            (if rest < 2 { rest } else { 11 - rest }) == u32::from(d[9])
        })
    }),
    ("pe_ruc", |v| {
        digits(v).exactly(11).is_some_and(|d| {
            matches!(number(&d[..2]), 10 | 15 | 16 | 17 | 20)
                && (11 - dot(d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 10 == u32::from(d[10])
        })
    }),
    ("uy_ci", |v| {
        digits(v)
            .exactly(8)
            .is_some_and(|d| (10 - dot(d, &[2, 9, 8, 7, 6, 3, 4]) % 10) % 10 == u32::from(d[7]))
    }),
];

/// Area, group and serial are never zero; 666 and 9xx never issued (SSA); two numbers that advertising spoilt.
fn us_ssn(value: &[u8]) -> bool {
    digits(value).exactly(9).is_some_and(|d| {
        let area = number(&d[..3]);
        area > 0
            && area != 666
            && area < 900
            && number(&d[3..5]) > 0
            && number(&d[5..]) > 0
            && !matches!(number(d), 78_051_120 | 219_099_999 | 123_456_789)
    })
}

/// North American plan: area and exchange begin with 2-9 and are not N11.
fn nanp(value: &[u8]) -> bool {
    let read = digits(super::extended(value));
    let ten = match read.len() {
        10 => &read[..],
        11 if read[0] == 1 => &read[1..],
        13 if read[..3] == [0, 0, 1] => &read[3..],
        _ => return false,
    };
    ten[0] > 1 && ten[3] > 1 && ten[1..3] != [1, 1] && ten[4..6] != [1, 1] && !read.uniform()
}

/// Brazil, CPF: two mod 11 digits.
fn br_cpf(value: &[u8]) -> bool {
    digits(value).exactly(11).is_some_and(|d| {
        let check = |length: usize| {
            let weights: Vec<u32> = (2..=length as u32 + 1).rev().collect();
            dot(&d[..length], &weights) * 10 % 11 % 10 == u32::from(d[length])
        };
        check(9) && check(10)
    })
}

/// Brazil, CNPJ, numeric or (from July 2026) alphanumeric: a character counts its ASCII code − 48.
fn br_cnpj(value: &[u8]) -> bool {
    let text: Vec<u8> = alnum(value).iter().map(|byte| byte - b'0').collect();
    if text.len() != 14 || text.windows(2).all(|pair| pair[0] == pair[1]) {
        return false;
    }
    let check = |length: usize| {
        const WEIGHTS: [u32; 13] = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
        let rest = dot(&text[..length], &WEIGHTS[13 - length..]) % 11;
        (if rest < 2 { 0 } else { 11 - rest }) == u32::from(text[length])
    };
    check(12) && check(13)
}

/// Mexico, CURP: base 37 with Ñ after N, weights 18…2.
fn mx_curp(value: &[u8]) -> bool {
    let text = alnum(value);
    if text.len() != 18 || !text[4..10].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let sum: u32 = text[..17]
        .iter()
        .zip((2..=18).rev())
        .map(|(byte, weight)| {
            let v = base36(*byte);
            (if v > 23 { v + 1 } else { v }) * weight
        })
        .sum();
    let born = digits(&text[4..10]);
    date::yymmdd(&born) && (10 - sum % 10) % 10 == base36(text[17])
}

/// Mexico, RFC of a person: base 39, mod 11, A for ten.
fn mx_rfc(value: &[u8]) -> bool {
    let text = alnum(value);
    if text.len() != 13 || !text[4..10].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let sum: u32 = text[..12]
        .iter()
        .zip((2..=13).rev())
        .map(|(byte, weight)| {
            let v = base36(*byte);
            (if v > 23 { v + 1 } else { v }) * weight
        })
        .sum();
    let check = match 11 - sum % 11 {
        11 => b'0',
        10 => b'A',
        digit => b'0' + digit as u8,
    };
    date::yymmdd(&digits(&text[4..10])) && text[12] == check
}

/// Chile, RUT: weights 2-7 from the right, K for ten.
fn cl_rut(value: &[u8]) -> bool {
    let text = alnum(value);
    let Some((check, body)) = text.split_last() else {
        return false;
    };
    if !(7..=8).contains(&body.len()) || !body.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let sum: u32 = body
        .iter()
        .rev()
        .zip([2, 3, 4, 5, 6, 7, 2, 3])
        .map(|(byte, weight)| u32::from(byte - b'0') * weight)
        .sum();
    let right = match 11 - sum % 11 {
        11 => b'0',
        10 => b'K',
        digit => b'0' + digit as u8,
    };
    *check == right && body.windows(2).any(|pair| pair[0] != pair[1])
}
