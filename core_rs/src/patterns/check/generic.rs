//! Rules that belong to no numbering scheme.
use super::digits::{digits, number};
use super::letters::random_letters;
use super::{Check, date};
use crate::text::decode;

pub const CHECKS: &[(&str, Check)] = &[
    ("phone", phone),
    ("calendar", calendar),
    ("date", birth_date),
    ("latlon", latlon),
    ("not_uniform", |v| !digits(v).uniform()),
    ("has_digit", |v| v.iter().any(u8::is_ascii_digit)),
    ("secretlike", secretlike),
    ("basic", basic),
    ("jwt", jwt),
    ("keylike", |v| {
        let digit = v.iter().any(u8::is_ascii_digit);
        digit && secretlike(v) && !v.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-')
    }),
    ("mixed", |v| {
        v.iter().any(u8::is_ascii_digit) && v.iter().any(u8::is_ascii_alphabetic)
    }),
];

/// Whether a run of digits and separators is a version, begins with a calendar date or is a time since 1970:
/// never a telephone.
fn time_like(value: &[u8]) -> bool {
    let dots = value.iter().filter(|byte| **byte == b'.').count();
    if dots > 1 && value.len() < 11 && value[0] != b'0' {
        return true; // a version
    }
    let mut parts = value
        .split(|byte| !byte.is_ascii_digit())
        .filter(|part| !part.is_empty());
    let part =
        |text: Option<&[u8]>| text.map_or((0, 0), |text| (text.len(), number(&digits(text))));
    let first = part(parts.next());
    let (second, third) = (part(parts.next()), part(parts.next()));
    let year = |(length, value): (usize, u64)| length == 4 && (1900..2100).contains(&value);
    let small = |one: (usize, u64)| matches!(one.0, 1 | 2);
    match (first, second, third) {
        ((10, value), (0, _), _) => (1_000_000_000..2_000_000_000).contains(&value),
        ((8, _), ..) if date::yyyymmdd(&digits(value)) => true,
        (y, m, d) if year(y) && small(m) && small(d) => date::day_month(d.1, m.1),
        (d, m, y) if year(y) && small(m) && small(d) => {
            date::day_month(d.1, m.1) || date::day_month(m.1, d.1)
        }
        _ => false,
    }
}

/// A telephone number without its extension (`x12`, `ext. 12`).
pub fn extended(value: &[u8]) -> &[u8] {
    let end = value
        .iter()
        .position(|byte| matches!(byte, b'x' | b'X' | b'e' | b'E'));
    &value[..end.unwrap_or(value.len())]
}

/// E.164: seven to fifteen digits, a country code that is assigned. A date is none.
fn phone(value: &[u8]) -> bool {
    let value = extended(value);
    let read = digits(value);
    if time_like(value) {
        return false;
    }
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

/// Any date, with the time behind it or without.
fn calendar(value: &[u8]) -> bool {
    let day = match value.get(..10) {
        Some(day) if value.get(10) == Some(&b'T') => day,
        _ => value,
    };
    birth_date(day) || named_month(day)
}

/// A day and a month's name, in any order, with a year or without.
fn named_month(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_alphabetic)
        && value
            .split(|byte| !byte.is_ascii_digit())
            .filter(|part| !part.is_empty())
            .all(|part| match (part.len(), number(&digits(part))) {
                (4, year) => (1000..2200).contains(&year),
                (_, day) => (1..=31).contains(&day),
            })
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

/// A header that is a JSON object, RFC 7519, 7.2.
fn jwt(value: &[u8]) -> bool {
    let header = value.split(|byte| *byte == b'.').next();
    header.and_then(decode::base64).is_some_and(|plain| {
        let plain = plain.trim_ascii();
        plain.starts_with(b"{") && plain.ends_with(b"}")
    })
}

/// Base64 of `name:password`, RFC 7617, 2.
fn basic(value: &[u8]) -> bool {
    decode::base64(value).is_some_and(|plain| {
        let colon = plain.iter().position(|byte| *byte == b':');
        colon.is_some_and(|at| at > 0 && at + 4 < plain.len())
            && plain
                .iter()
                .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
    })
}

/// Not prose, not code: letters that follow each other by chance, or digits among letters, in more than one run;
/// no call, path or member access.
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
    let signs = value.iter().any(|byte| b"!#%^*@?+".contains(byte));
    let mixed = digits > value.len() / 20
        && letters > 1
        && turns >= 4
        && turns * 4 > value.len()
        && (upper && lower || digits >= 3 || signs);
    !dotted && !named(value) && (mixed || random_letters(value))
}

/// Whether a value is put together from names and numbers: `cmp2-qat-1208358310`, `id7:AgencyCodeContentType`.
fn named(value: &[u8]) -> bool {
    let short = |part: &[u8]| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic());
        let digits = &part[letters.count()..];
        let name = part.len() < 6 || digits.len() == part.len();
        name && digits.iter().all(u8::is_ascii_digit)
    };
    let words = |text: &[u8]| {
        let small = |byte: &&u8| byte.is_ascii_lowercase();
        let size = 1 + text[1..].iter().take_while(small).count();
        (text[0].is_ascii_uppercase() && size > 3).then_some(size)
    };
    let mut parts = value.split(|byte| b"-_.".contains(byte));
    let (mut at, mut row) = (0, 0);
    while at < value.len() {
        let size = words(&value[at..]);
        row = size.map_or(0, |_| row + 1);
        if row == 3 {
            return true;
        }
        at += size.unwrap_or(1);
    }
    parts.all(short)
}

fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_no_secret_and_short_parts_of_chance_are() {
        for name in [
            "cmp2-qat-1208358310",
            "id7:AgencyCodeContentType",
            "12.34-5678",
        ] {
            assert!(named(name.as_bytes()), "{name}");
        }
        for value in [
            "A3F9-K2M4-9QX7-Z1B8",
            "xAbcDefGhiJkl",
            "8f3Kq-1208358310",
            "QhdWkzvTgNbLpXsRfMjc",
        ] {
            assert!(!named(value.as_bytes()), "{value}");
        }
    }
}
