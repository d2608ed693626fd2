//! Verhoeff's dihedral check (J. Verhoeff, *Error Detecting Decimal Codes*, 1969).
use super::digits::digits;
use super::luhn::luhn;
use super::{Check, date};

pub const CHECKS: &[(&str, Check)] = &[
    ("verhoeff", |v| {
        let d = digits(v);
        d.len() > 1 && verhoeff(&d)
    }),
    ("in_aadhaar", |v| {
        digits(v)
            .exactly(12)
            .is_some_and(|d| d[0] > 1 && verhoeff(d))
    }),
    ("lu_ccss", lu_ccss),
];

/// The position permutation; its powers repeat after eight.
const TURN: [usize; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

/// Product in the dihedral group D5, computed instead of tabled: rotations 0-4, reflections 5-9.
fn product(a: usize, b: usize) -> usize {
    match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => 5 + (a + b - 5) % 5,
        (false, true) => 5 + (a - 5 + 5 - b) % 5,
        (false, false) => (5 + a - b) % 5,
    }
}

pub fn verhoeff(digits: &[u8]) -> bool {
    let folded = digits
        .iter()
        .rev()
        .enumerate()
        .fold(0, |sum, (index, digit)| {
            let turned = (0..index % 8).fold(usize::from(*digit), |value, _| TURN[value]);
            product(sum, turned)
        });
    folded == 0
}

/// Luxembourg, matricule: birth date, then a Luhn digit and a Verhoeff digit, each over the first eleven.
fn lu_ccss(value: &[u8]) -> bool {
    digits(value).exactly(13).is_some_and(|d| {
        let mut second = d[..11].to_vec();
        second.push(d[12]);
        date::yyyymmdd(d) && luhn(&d[..12]) && verhoeff(&second)
    })
}
