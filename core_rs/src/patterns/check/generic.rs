//! Rules that belong to no numbering scheme.
use super::digits::{digits, number};
use super::{Check, date};

pub const CHECKS: &[(&str, Check)] = &[
    ("phone", phone),
    ("date", birth_date),
    ("latlon", latlon),
    ("not_uniform", |v| !digits(v).uniform()),
    ("has_digit", |v| v.iter().any(u8::is_ascii_digit)),
    ("secretlike", secretlike),
    ("mixed", |v| {
        v.iter().any(u8::is_ascii_digit) && v.iter().any(u8::is_ascii_alphabetic)
    }),
];

/// E.164: seven to fifteen digits, a country code that is assigned.
fn phone(value: &[u8]) -> bool {
    let read = digits(value);
    let international = value.first() == Some(&b'+') || value.starts_with(b"00");
    let start = if value.starts_with(b"00") { 2 } else { 0 };
    if international && read.len() > start {
        let unassigned = matches!(number(&read[start..(start + 3).min(read.len())]),
            210 | 214 | 215 | 217 | 219 | 259 | 422 | 424..=429 | 800..=849 | 851 | 854 | 857..=859 | 871..=879 | 884 | 885 | 887 | 889);
        if read[start] == 0 || unassigned {
            return false;
        }
    }
    (7..=15).contains(&(read.len() - start.min(read.len()))) && !read.uniform()
}

/// A date with digits only (any of year, day or month first) or with a month's name.
fn birth_date(value: &[u8]) -> bool {
    let parts: Vec<u64> = value
        .split(|byte| !byte.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(|part| number(&digits(part)))
        .collect();
    let year = |year: u64| (1900..2100).contains(&year) || year < 100;
    match parts[..] {
        [y, m, d] if y > 31 => year(y) && date::day_month(d, m),
        [a, b, y] => year(y) && (date::day_month(a, b) || date::day_month(b, a)),
        [a, b] => (year(b) && (1..=31).contains(&a)) || (year(a) && (1..=31).contains(&b)),
        _ => false,
    }
}

/// Latitude within 90, longitude within 180.
fn latlon(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    let read: Vec<f64> = text
        .split([',', ' ', ';'])
        .filter_map(|part| part.parse().ok())
        .collect();
    matches!(read[..], [lat, lon] if lat.abs() <= 90.0 && lon.abs() <= 180.0)
}

/// Not prose, not code: digits among letters, in more than one run, and no call, path or member access.
fn secretlike(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    let upper = value.iter().any(u8::is_ascii_uppercase);
    let lower = value.iter().any(u8::is_ascii_lowercase);
    let turns = value
        .windows(2)
        .filter(|pair| class(pair[0]) != class(pair[1]))
        .count();
    let dotted = value
        .iter()
        .filter(|byte| matches!(byte, b'.' | b'/'))
        .count()
        > 1
        && !upper;
    digits > value.len() / 20
        && letters > 1
        && turns >= 4
        && turns * 4 > value.len()
        && !dotted
        && (upper && lower || digits >= 3 || value.iter().any(|byte| b"!#%^*@?+".contains(byte)))
}

fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    }
}
