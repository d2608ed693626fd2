//! Australia and New Zealand.
use super::Check;
use super::digits::{alnum, digits, dot};

pub const CHECKS: &[(&str, Check)] = &[
    ("au_tfn", |v| {
        digits(v)
            .exactly(9)
            .is_some_and(|d| dot(d, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11))
    }),
    ("au_abn", |v| {
        digits(v).exactly(11).is_some_and(|d| {
            d[0] > 0 && (dot(d, &[10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]) - 10).is_multiple_of(89)
        })
    }),
    ("au_medicare", au_medicare),
    ("nz_ird", nz_ird),
    ("nz_nhi", nz_nhi),
];

/// Australia, Medicare card: the ninth digit checks the first eight; issue and person follow.
fn au_medicare(value: &[u8]) -> bool {
    let read = digits(value);
    matches!(read.len(), 10 | 11)
        && matches!(read[0], 2..=6)
        && dot(&read, &[1, 3, 7, 9, 1, 3, 7, 9]) % 10 == u32::from(read[8])
}

/// New Zealand, IRD number: two rounds of weights (Inland Revenue, RWT specification).
fn nz_ird(value: &[u8]) -> bool {
    let read = digits(value);
    let padded: Vec<u8> = match read.len() {
        8 => std::iter::once(0).chain(read.iter().copied()).collect(),
        9 => read.to_vec(),
        _ => return false,
    };
    let number = padded
        .iter()
        .fold(0u64, |sum, digit| sum * 10 + u64::from(*digit));
    let round = |weights: &[u32]| (11 - dot(&padded[..8], weights) % 11) % 11;
    let check = match round(&[3, 2, 7, 6, 5, 4, 3, 2]) {
        10 => round(&[7, 4, 3, 2, 5, 2, 7, 6]),
        check => check,
    };
    (10_000_000..=150_000_000).contains(&number) && check == u32::from(padded[8])
}

/// New Zealand, health index (HISO 10046): three letters without I and O, four digits, mod 11.
fn nz_nhi(value: &[u8]) -> bool {
    const ORDER: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZ";
    let text = alnum(value);
    let Some(check) = text.get(6).filter(|_| text.len() == 7) else {
        return false;
    };
    let values: Vec<u8> = text[..6]
        .iter()
        .filter_map(|byte| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            letter => ORDER
                .iter()
                .position(|known| known == letter)
                .map(|place| place as u8 + 1),
        })
        .collect();
    let rest = dot(&values, &[7, 6, 5, 4, 3, 2]) % 11;
    values.len() == 6 && rest != 0 && (11 - rest) % 10 == u32::from(check.wrapping_sub(b'0'))
}
