//! What makes two texts different however alike they look: numbers, units, names, negations, antonyms.
use std::collections::{BTreeMap, BTreeSet};

use super::guard_words::{ANTONYMS, NEGATIONS, NUMBERS, UNITS};
use super::tokens::{Token, stop};

/// Every reason why `b` says something else than `a`; none = the guard has no objection.
pub fn objections(a: &str, left: &[Token], b: &str, right: &[Token]) -> Vec<String> {
    let mut reasons = Vec::new();
    let (own, other) = (numbers(a, left), numbers(b, right));
    if let Some(why) = differing(&own, &other, |both| both.0.clone()) {
        reasons.push(format!("number: {why}"));
    } else if let Some(why) = differing(&own, &other, |both| format!("{}{}", both.0, both.1)) {
        reasons.push(format!("unit: {why}"));
    }
    let (own, other) = (names(a, left), names(b, right));
    let words = |list: &[Token]| {
        list.iter()
            .map(|token| token.text.clone())
            .collect::<BTreeSet<_>>()
    };
    let (all, theirs) = (words(left), words(right));
    let missing: Vec<&String> = own
        .iter()
        .filter(|name| !theirs.contains(*name))
        .chain(other.iter().filter(|name| !all.contains(*name)))
        .collect();
    if let Some(name) = missing.first() {
        reasons.push(format!("name: `{name}` is in one only"));
    }
    let (no, yes) = (negations(left), negations(right));
    if no % 2 != yes % 2 || (no == 0) != (yes == 0) {
        reasons.push(format!("negation: {no} against {yes}"));
    }
    for (x, y) in ANTONYMS {
        let turned = |p: &str, q: &str| {
            all.contains(p) && !theirs.contains(p) && theirs.contains(q) && !all.contains(q)
        };
        if turned(x, y) || turned(y, x) {
            reasons.push(format!("antonym: `{x}` against `{y}`"));
            break;
        }
    }
    reasons
}

type Counted = BTreeMap<(String, String), usize>;

fn differing(
    a: &Counted,
    b: &Counted,
    key: impl Fn(&(String, String)) -> String,
) -> Option<String> {
    let gather = |list: &Counted| list.keys().map(&key).collect::<BTreeSet<String>>();
    let (own, other) = (gather(a), gather(b));
    if own == other {
        return None;
    }
    let list = |x: &BTreeSet<String>, y: &BTreeSet<String>| {
        x.difference(y).cloned().collect::<Vec<_>>().join(", ")
    };
    Some(format!(
        "`{}` against `{}`",
        list(&own, &other),
        list(&other, &own)
    ))
}

/// Numbers with their units: `1,000` = `1000`, `3.50` = `3.5`, `two` = `2`.
fn numbers(text: &str, tokens: &[Token]) -> Counted {
    let mut found = Counted::new();
    for (index, token) in tokens.iter().enumerate() {
        let spelt = NUMBERS
            .iter()
            .find(|(word, _)| *word == token.text)
            .map(|(_, value)| value.to_string());
        let cut = token
            .text
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','))
            .unwrap_or(token.text.len());
        let (digits, tail) = token.text.split_at(cut);
        let Some(mut value) = spelt.or_else(|| {
            digits
                .starts_with(|c: char| c.is_ascii_digit())
                .then(|| plain(digits))
        }) else {
            continue;
        };
        let before = text
            .get(..token.start)
            .unwrap_or("")
            .trim_end()
            .chars()
            .next_back();
        if before == Some('-')
            && text.get(..token.start).is_some_and(|t| {
                t.ends_with('-')
                    && !t
                        .trim_end_matches('-')
                        .ends_with(|c: char| c.is_alphanumeric())
            })
        {
            value.insert(0, '-');
        }
        let sign = before.filter(|c| "$€£¥".contains(*c)).map(String::from);
        let after = text.get(token.end..).unwrap_or("").trim_start();
        let after = after
            .chars()
            .next()
            .filter(|c| "%$€£¥°".contains(*c))
            .map(String::from);
        let next = tokens
            .get(index + 1)
            .map(|next| next.text.clone())
            .filter(|next| UNITS.contains(&next.as_str()));
        let unit = sign
            .or(after)
            .or_else(|| {
                UNITS
                    .contains(&tail)
                    .then(|| tail.to_string())
                    .filter(|t| !t.is_empty())
            })
            .or(next)
            .unwrap_or_default();
        *found.entry((value, unit)).or_default() += 1;
    }
    found
}

/// One writing for every writing of a number.
pub fn plain(digits: &str) -> String {
    let grouped = digits
        .split(',')
        .skip(1)
        .all(|group| group.split('.').next().is_some_and(|g| g.len() == 3));
    let text = if grouped {
        digits.replace(',', "")
    } else {
        digits.replace(',', ".")
    };
    let text = if text.matches('.').count() == 1 {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    };
    let trimmed = text.trim_start_matches('0');
    if trimmed.is_empty() || trimmed.starts_with('.') {
        format!("0{trimmed}")
    } else {
        trimmed.to_string()
    }
}

/// Capitalised words inside a sentence, and words with capitals inside: folded.
fn names(text: &str, tokens: &[Token]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for token in tokens {
        let Some(written) = text.get(token.start..token.end) else {
            continue;
        };
        let mut letters = written.chars();
        let upper = letters.next().is_some_and(char::is_uppercase);
        let before = text
            .get(..token.start)
            .unwrap_or("")
            .trim_end_matches([' ', '"', '\'', '(', '*', '_', '`']);
        let opens = before.is_empty()
            || before.ends_with(['.', '!', '?', ':', '\n', '-', '•', '#', '|', '>']);
        let inner = letters.any(char::is_uppercase);
        if written.chars().count() > 1 && (inner || (upper && !opens)) && !stop(&token.text) {
            found.insert(token.text.clone());
        }
    }
    found
}

fn negations(tokens: &[Token]) -> usize {
    tokens
        .iter()
        .filter(|token| NEGATIONS.contains(&token.text.as_str()) || token.text.ends_with("n't"))
        .count()
}
