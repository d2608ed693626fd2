//! How alike two answers are, and whether they say the same.
use std::collections::HashMap;

use rapidfuzz::distance::{indel, levenshtein};
use serde_json::Value;

use super::guard::{objections, plain};
use super::jsondiff::{Change, diff};
use super::tokens::{Token, tokens};

/// Similarity from which two texts may be the same.
pub const ALIKE: f64 = 0.7;

/// The result of comparing two texts.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// 0 to 1, over words.
    pub similarity: f64,
    /// Characters to insert, delete or replace.
    pub distance: usize,
    /// Alike enough, and no objection of the guard.
    pub same: bool,
    /// Why they differ whatever the score says.
    pub reasons: Vec<String>,
    /// Both are JSON: the places that differ.
    pub changes: Vec<Change>,
    pub json: bool,
}

/// Compares at the threshold `ALIKE`.
pub fn compare(a: &str, b: &str) -> Comparison {
    compare_at(a, b, ALIKE)
}

/// Compares; `same` needs at least `threshold`.
pub fn compare_at(a: &str, b: &str, threshold: f64) -> Comparison {
    if let Some((left, right)) = json(a).zip(json(b)) {
        let (changes, equal, total) = diff(&left, &right);
        let similarity = if total == 0 {
            1.0
        } else {
            equal as f64 / total as f64
        };
        let reasons = changes
            .iter()
            .take(8)
            .map(|change| format!("json: `{}`", change.path))
            .collect();
        return Comparison {
            similarity,
            distance: distance(a, b),
            same: changes.is_empty(),
            reasons,
            changes,
            json: true,
        };
    }
    let (left, right) = (tokens(a), tokens(b));
    let reasons = objections(a, &left, b, &right);
    let similarity = similarity(&left, &right);
    Comparison {
        similarity,
        distance: distance(a, b),
        same: similarity >= threshold && reasons.is_empty(),
        reasons,
        ..Comparison::default()
    }
}

/// The guard's objections alone, for scores that come from elsewhere (sentence embeddings).
pub fn guard(a: &str, b: &str) -> Vec<String> {
    objections(a, &tokens(a), b, &tokens(b))
}

/// Half the share of common words, half their common order.
pub fn similarity(a: &[Token], b: &[Token]) -> f64 {
    if a.is_empty() && b.is_empty() {
        return 1.0;
    }
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut number = |token: &Token| {
        let key = if token.text.starts_with(|c: char| c.is_ascii_digit()) {
            plain(&token.text)
        } else {
            token.text.clone()
        };
        let next = known.len() as u32;
        *known.entry(key).or_insert(next)
    };
    let (x, y): (Vec<u32>, Vec<u32>) = (
        a.iter().map(&mut number).collect(),
        b.iter().map(&mut number).collect(),
    );
    let order = indel::normalized_similarity(x.iter().copied(), y.iter().copied());
    let mut counts = vec![0i64; known.len()];
    x.iter().for_each(|word| counts[*word as usize] += 1);
    let mut common = 0;
    for word in &y {
        counts[*word as usize] -= 1;
        common += i64::from(counts[*word as usize] >= 0);
    }
    let share = 2.0 * common as f64 / (x.len() + y.len()) as f64;
    (order + share) / 2.0
}

/// Levenshtein distance over characters; texts beyond 20,000 characters are cut there.
pub fn distance(a: &str, b: &str) -> usize {
    const MOST: usize = 20_000;
    let read = |text: &str| text.chars().take(MOST).collect::<Vec<char>>();
    levenshtein::distance(read(a), read(b))
}

/// A text that is a JSON object or array, perhaps in a code fence.
fn json(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    let body = trimmed
        .strip_prefix("```json")
        .or_else(|| trimmed.strip_prefix("```"));
    let body = body
        .and_then(|body| body.strip_suffix("```"))
        .unwrap_or(trimmed)
        .trim();
    body.starts_with(['{', '['])
        .then(|| serde_json::from_str(body).ok())
        .flatten()
}
