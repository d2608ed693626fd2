//! Estonia, Latvia, Lithuania; Kazakhstan shares the two-round weighting.
use super::digits::{digits, dot, number};
use super::{Check, date};

pub const CHECKS: &[(&str, Check)] = &[
    ("isikukood", isikukood),
    ("lv_pk", lv_pk),
    ("kz_iin", kz_iin),
];

/// Two rounds of weights; the second is used when the first leaves ten.
fn rounds(digits: &[u8], first: &[u32], second: &[u32]) -> Option<u32> {
    match dot(digits, first) % 11 {
        10 => Some(dot(digits, second) % 11),
        rest => Some(rest),
    }
}

/// Estonia's isikukood and Lithuania's asmens kodas are the same number.
fn isikukood(value: &[u8]) -> bool {
    digits(value).exactly(11).is_some_and(|d| {
        let check = rounds(
            d,
            &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1],
            &[3, 4, 5, 6, 7, 8, 9, 1, 2, 3],
        );
        (1..=8).contains(&d[0])
            && date::yymmdd(&d[1..])
            && check.map(|check| check % 10) == Some(u32::from(d[10]))
    })
}

/// Latvia, personas kods (dated form).
fn lv_pk(value: &[u8]) -> bool {
    digits(value).exactly(11).is_some_and(|d| {
        let sum = dot(d, &[10, 5, 8, 4, 2, 1, 6, 3, 7, 9]) + 1;
        date::ddmmyy(d) && sum % 11 % 10 == u32::from(d[10])
    })
}

/// Kazakhstan, individual identification number.
fn kz_iin(value: &[u8]) -> bool {
    digits(value).exactly(12).is_some_and(|d| {
        let first: Vec<u32> = (1..=11).collect();
        let second = [3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2];
        date::day_month(number(&d[4..6]), number(&d[2..4]))
            && (1..=6).contains(&d[6])
            && rounds(d, &first, &second) == Some(u32::from(d[11]))
    })
}
