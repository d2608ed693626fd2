//! Does a text give away a system prompt: word for word, reworded, or encoded?
use std::collections::{HashMap, HashSet};

use super::decode::{embedded, rot13};
use super::tokens::{Token, stem, stop, tokens};

/// Words in a shingle.
const SHINGLE: usize = 4;
/// A common run of so many words is a leak by itself.
const RUN: usize = 12;
/// Share of the prompt's shingles, and of its content, that make a leak.
const COVERED: f64 = 0.25;
const REWORDED: f64 = 0.5;

/// How a prompt got out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Form {
    #[default]
    None,
    Verbatim,
    Reworded,
    Encoded,
}

impl Form {
    pub fn name(self) -> &'static str {
        match self {
            Form::None => "none",
            Form::Verbatim => "verbatim",
            Form::Reworded => "reworded",
            Form::Encoded => "encoded",
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct LeakReport {
    pub leaked: bool,
    pub form: Form,
    /// 0 to 1.
    pub score: f64,
    /// Share of the prompt's shingles that the text holds.
    pub coverage: f64,
    /// Longest common run, in words.
    pub longest: usize,
    /// Byte spans of `text` that hold the prompt's words.
    pub spans: Vec<(usize, usize)>,
}

/// Looks for `prompt` in `text`.
pub fn leaks(text: &str, prompt: &str) -> LeakReport {
    let secret = tokens(prompt);
    if secret.len() < 3 {
        return LeakReport::default();
    }
    let own = tokens(text);
    let plain = verbatim(&own, &secret);
    if plain.leaked {
        return plain;
    }
    for (reading, span) in readings(text, prompt) {
        let found = verbatim(&tokens(&reading), &secret);
        if found.leaked {
            return LeakReport {
                form: Form::Encoded,
                spans: vec![span],
                ..found
            };
        }
    }
    let score = reworded(&own, &secret);
    if score >= REWORDED {
        return LeakReport {
            leaked: true,
            form: Form::Reworded,
            score,
            spans: vec![(0, text.len())],
            ..plain
        };
    }
    LeakReport {
        score: plain.score.max(score),
        ..plain
    }
}

/// Shingles in common, and the runs they form.
fn verbatim(text: &[Token], secret: &[Token]) -> LeakReport {
    let size = SHINGLE.min(secret.len());
    let words = |list: &[Token]| {
        list.iter()
            .map(|token| token.text.clone())
            .collect::<Vec<_>>()
    };
    let (own, theirs) = (words(text), words(secret));
    let mut places: HashMap<&[String], Vec<usize>> = HashMap::new();
    for (at, shingle) in theirs.windows(size).enumerate() {
        places.entry(shingle).or_default().push(at);
    }
    let mut seen = HashSet::new();
    let (mut longest, mut spans): (usize, Vec<(usize, usize)>) = (0, Vec::new());
    let mut at = 0;
    while at + size <= own.len() {
        let Some(starts) = places.get(&own[at..at + size]) else {
            at += 1;
            continue;
        };
        seen.insert(starts[0]);
        let run = |start: usize| {
            own[at..]
                .iter()
                .zip(&theirs[start..])
                .take_while(|(x, y)| x == y)
                .count()
        };
        let (length, start) = starts
            .iter()
            .take(16)
            .map(|start| (run(*start), *start))
            .max()
            .unwrap_or((size, starts[0]));
        seen.extend(start..=start + length - size);
        longest = longest.max(length);
        spans.push((text[at].start, text[at + length - 1].end));
        at += length;
    }
    let total = theirs.len() + 1 - size;
    let coverage = seen.len() as f64 / total as f64;
    let needed = RUN.min((theirs.len() * 6).div_ceil(10)).max(size);
    let leaked = longest >= needed || (coverage >= COVERED && seen.len() >= 3);
    let form = if leaked { Form::Verbatim } else { Form::None };
    LeakReport {
        leaked,
        form,
        score: coverage.max(if leaked { 0.9 } else { 0.0 }),
        coverage,
        longest,
        spans,
    }
}

/// Other readings of the text: decoded parts (two layers), ROT13, reversed, letters spaced out.
fn readings(text: &str, prompt: &str) -> Vec<(String, (usize, usize))> {
    let mut all = Vec::new();
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for part in embedded(text.as_bytes()) {
        for inner in embedded(&part.text) {
            all.push((lossy(&inner.text), (part.start, part.end)));
        }
        all.push((lossy(&part.text), (part.start, part.end)));
    }
    let whole = (0, text.len());
    all.push((lossy(&rot13(text.as_bytes())), whole));
    all.push((text.chars().rev().collect(), whole));
    let squeezed = |t: &str| {
        t.chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let (own, secret) = (squeezed(text), squeezed(prompt));
    if secret.len() >= 24 && own.contains(&secret) {
        all.push((prompt.to_string(), whole));
    }
    all
}

/// The same content in other words: how much of the prompt's content the text has, and the reverse.
fn reworded(text: &[Token], secret: &[Token]) -> f64 {
    let content = |list: &[Token]| {
        list.iter()
            .filter(|token| token.text.len() > 3 && !stop(&token.text))
            .map(|token| stem(&token.text).chars().take(6).collect::<String>())
            .collect::<HashSet<_>>()
    };
    let (own, theirs) = (content(text), content(secret));
    let common = own.intersection(&theirs).count();
    if theirs.len() < 6 || common < 5 {
        return 0.0;
    }
    let recall = common as f64 / theirs.len() as f64;
    let precision = common as f64 / own.len() as f64;
    (recall * precision).sqrt()
}
