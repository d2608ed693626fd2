//! Central and eastern Europe.
use super::digits::{digits, dot, number};
use super::{Check, date};

pub const CHECKS: &[(&str, Check)] = &[
    ("pl_pesel", pl_pesel),
    ("pl_nip", |v| {
        digits(v).exactly(10).is_some_and(|d| {
            d[0] > 0 && dot(d, &[6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 == u32::from(d[9])
        })
    }),
    ("pl_regon", |v| {
        digits(v)
            .exactly(9)
            .is_some_and(|d| dot(d, &[8, 9, 2, 3, 4, 5, 6, 7]) % 11 % 10 == u32::from(d[8]))
    }),
    ("cz_rc", cz_rc),
    ("hu_taj", |v| {
        digits(v)
            .exactly(9)
            .is_some_and(|d| dot(d, &[3, 7, 3, 7, 3, 7, 3, 7]) % 10 == u32::from(d[8]))
    }),
    ("hu_tax", |v| {
        digits(v).exactly(10).is_some_and(|d| {
            d[0] == 8 && dot(d, &[1, 2, 3, 4, 5, 6, 7, 8, 9]) % 11 == u32::from(d[9])
        })
    }),
    ("ro_cnp", ro_cnp),
    ("bg_egn", bg_egn),
    ("jmbg", jmbg),
    ("ru_inn", ru_inn),
    ("ru_snils", ru_snils),
    ("ua_tin", |v| {
        digits(v).exactly(10).is_some_and(|d| {
            let sum = dot(&d[1..], &[5, 7, 9, 4, 6, 10, 5, 7]) + 110 - u32::from(d[0]);
            sum % 11 % 10 == u32::from(d[9])
        })
    }),
];

/// Poland, PESEL: the month carries the century.
fn pl_pesel(value: &[u8]) -> bool {
    digits(value).exactly(11).is_some_and(|d| {
        let sum = dot(d, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]);
        date::day_month(number(&d[4..6]), number(&d[2..4]) % 20) && sum.is_multiple_of(10)
    })
}

/// Czechia and Slovakia, rodné číslo: divisible by 11, women's months + 50.
fn cz_rc(value: &[u8]) -> bool {
    digits(value).exactly(10).is_some_and(|d| {
        let month = number(&d[2..4]) % 50;
        let month = if month > 20 { month - 20 } else { month };
        let rest = number(&d[..9]) % 11;
        date::day_month(number(&d[4..6]), month)
            && (number(d).is_multiple_of(11) || (rest == 10 && d[9] == 0))
    })
}

/// Romania, cod numeric personal.
fn ro_cnp(value: &[u8]) -> bool {
    digits(value).exactly(13).is_some_and(|d| {
        let check = match dot(d, &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11 {
            10 => 1,
            rest => rest,
        };
        d[0] > 0
            && date::yymmdd(&d[1..])
            && matches!(number(&d[7..9]), 1..=52 | 70..=80)
            && check == u32::from(d[12])
    })
}

/// Bulgaria, единен граждански номер.
fn bg_egn(value: &[u8]) -> bool {
    digits(value).exactly(10).is_some_and(|d| {
        let month = number(&d[2..4]) % 20;
        date::day_month(number(&d[4..6]), month)
            && dot(d, &[2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10 == u32::from(d[9])
    })
}

/// The number of former Yugoslavia, still issued in Slovenia, Serbia, Bosnia, North Macedonia, Montenegro.
fn jmbg(value: &[u8]) -> bool {
    digits(value).exactly(13).is_some_and(|d| {
        let check = match dot(d, &[7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11 {
            0 => 0,
            1 => return false,
            rest => 11 - rest,
        };
        let year = number(&d[4..7]);
        date::ddmmyy(d) && !(100..880).contains(&year) && check == u32::from(d[12])
    })
}

/// Russia, ИНН of persons (12) and companies (10).
fn ru_inn(value: &[u8]) -> bool {
    const ALL: [u32; 11] = [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8];
    let read = digits(value);
    let ends =
        |body: usize| dot(&read[..body], &ALL[11 - body..]) % 11 % 10 == u32::from(read[body]);
    match read.len() {
        _ if read.uniform() => false,
        10 => ends(9),
        12 => ends(10) && ends(11),
        _ => false,
    }
}

/// Russia, СНИЛС: sum mod 101.
fn ru_snils(value: &[u8]) -> bool {
    digits(value).exactly(11).is_some_and(|d| {
        let sum = dot(d, &[9, 8, 7, 6, 5, 4, 3, 2, 1]);
        number(&d[..9]) > 1_001_998 && u64::from(sum % 101 % 100) == number(&d[9..])
    })
}
