//! Visits every token that could begin an identifier.
use super::automaton::{Automaton, Cache};
use super::boundary::{number_closes, number_opens};

/// No identifier is longer, separators included.
pub const REACH: usize = 96;

/// A match of a token-start pattern: the longest that ends at a border.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub pattern: usize,
    pub start: usize,
    pub end: usize,
}

/// What a byte can be to a token: a letter, a digit, neither.
const PART: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric() as u8 | (b.is_ascii_digit() as u8) << 1;
        byte += 1;
    }
    table
};

/// Calls `run` for each place of `text` where an identifier may begin, with the farthest it may reach.
pub fn places(text: &[u8], mut run: impl FnMut(usize, usize)) {
    let mut at = 0;
    while at < text.len() {
        if PART[usize::from(text[at])] == 0 {
            at += 1;
            continue;
        }
        let start = at;
        let mut seen = 0;
        while let Some(part) = text.get(at).map(|byte| PART[usize::from(*byte)]) {
            if part == 0 {
                break;
            }
            seen |= part;
            at += 1;
        }
        if seen < 2 && !leads(text, start, at) {
            continue;
        }
        for begin in [start, start.wrapping_sub(1)] {
            if begin != start && !matches!(text.get(begin), Some(b'+' | b'(')) {
                break;
            }
            if number_opens(text, begin) {
                run(begin, (begin + REACH).min(text.len()));
            }
        }
    }
}

/// Every pattern of `automaton` that matches from `start` on, at its longest, into `best`.
pub fn longest(
    automaton: &Automaton,
    cache: &mut Cache,
    text: &[u8],
    (start, limit): (usize, usize),
    best: &mut Vec<Found>,
) {
    best.clear();
    let closes = |end| number_closes(text, end);
    automaton.run(cache, text, start, limit, closes, |pattern, end| match best
        .iter_mut()
        .find(|known| known.pattern == pattern)
    {
        Some(known) => known.end = end,
        None => best.push(Found {
            pattern,
            start,
            end,
        }),
    });
}

/// A short run of letters that a digit follows at once: `AB 12 34`, `March 12`, `dead:beef`.
fn leads(text: &[u8], start: usize, end: usize) -> bool {
    if end - start > 9 {
        return false;
    }
    if plate(&text[start..], end - start) {
        return true;
    }
    match text.get(end) {
        Some(b' ' | b'-' | b'.' | b'/') => text.get(end + 1).is_some_and(u8::is_ascii_digit),
        Some(b'<') => text[start] == b'P',
        Some(b':') => {
            end - start < 5
                && text
                    .get(end + 1)
                    .is_some_and(|b| b.is_ascii_hexdigit() || *b == b':')
        }
        _ => false,
    }
}

/// The letters of a number plate: `B-AB 12`, `M AB 1234`, `AB-CD 12`.
fn plate(text: &[u8], first: usize) -> bool {
    let capitals = |part: &[u8]| {
        part.iter()
            .take_while(|byte| byte.is_ascii_uppercase())
            .count()
    };
    if first > 3 || capitals(text) != first || !matches!(text.get(first), Some(b'-' | b' ')) {
        return false;
    }
    let rest = &text[first + 1..];
    let second = capitals(&rest[..rest.len().min(3)]);
    let rest = &rest[second..];
    matches!(second, 1 | 2)
        && match rest {
            [b' ' | b'-', next, ..] => next.is_ascii_digit(),
            [next, ..] => next.is_ascii_digit(),
            [] => false,
        }
}
