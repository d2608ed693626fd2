//! Visits every token that could begin an identifier.
use super::automaton::Automaton;
use super::boundary::{number_closes, number_opens};

/// No identifier is longer, separators included.
const REACH: usize = 96;

/// A match of a token-start pattern: the longest that ends at a border.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub pattern: usize,
    pub start: usize,
    pub end: usize,
}

/// Runs the automaton at each promising token of `text`.
pub fn visit(automaton: &Automaton, text: &[u8], mut found: impl FnMut(Found)) {
    let mut cache = automaton.cache();
    let mut best: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if !text[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let start = at;
        let mut digit = false;
        while at < text.len() && text[at].is_ascii_alphanumeric() {
            digit |= text[at].is_ascii_digit();
            at += 1;
        }
        if !(digit || leads(text, start, at)) {
            continue;
        }
        for begin in [start, start.wrapping_sub(1)] {
            if begin != start && !matches!(text.get(begin), Some(b'+' | b'(')) {
                break;
            }
            if !number_opens(text, begin) {
                continue;
            }
            let limit = (begin + REACH).min(text.len());
            best.clear();
            automaton.run(&mut cache, text, begin, limit, |pattern, end| {
                if number_closes(text, end) {
                    match best.iter_mut().find(|known| known.pattern == pattern) {
                        Some(known) => known.end = end,
                        None => best.push(Found {
                            pattern,
                            start: begin,
                            end,
                        }),
                    }
                }
            });
            best.iter().for_each(|one| found(*one));
        }
    }
}

/// A short run of letters that a digit follows at once: `AB 12 34`, `March 12`, `dead:beef`.
fn leads(text: &[u8], start: usize, end: usize) -> bool {
    if end - start > 9 {
        return false;
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
