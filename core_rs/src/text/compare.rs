//! How alike two answers are, and whether they say the same.
use std::collections::HashMap;

use rapidfuzz::distance::{indel, levenshtein};
use serde_json::Value;

use super::guard::{Findings, findings};
use super::jsondiff::{Change, diff};
use super::lexicon::lexicon;
use super::reading::{Item, Reading, read};

/// Similarity from which two texts may be the same.
pub const ALIKE: f64 = 0.5;
/// Similarity under which two texts have too little in common to say the same.
pub const APART: f64 = 0.2;

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Different,
    /// The method cannot decide: never taken for `Same`.
    #[default]
    Unknown,
    Same,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Different => "different",
            Outcome::Unknown => "unknown",
            Outcome::Same => "same",
        }
    }
}

/// The result of comparing two texts.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// 0 to 1, over words and phrases of one meaning.
    pub similarity: f64,
    /// Characters to insert, delete or replace.
    pub distance: usize,
    pub outcome: Outcome,
    /// Why they differ whatever the score says, or why it stays open.
    pub reasons: Vec<String>,
    /// Only words without a counterpart leave it open; a model of meanings may decide.
    pub open: bool,
    /// Words of each side that have no counterpart on the other.
    pub left: Vec<String>,
    pub right: Vec<String>,
    /// Both are JSON: the places that differ.
    pub changes: Vec<Change>,
    pub json: bool,
}

impl Comparison {
    /// Both say the same, as far as the method can tell for certain.
    pub fn same(&self) -> bool {
        self.outcome == Outcome::Same
    }
}

/// Compares without a threshold of the caller's.
pub fn compare(a: &str, b: &str) -> Comparison {
    compare_at(a, b, None)
}

/// Compares; under `threshold`, where one is given, texts are different.
pub fn compare_at(a: &str, b: &str, threshold: Option<f64>) -> Comparison {
    if let Some((left, right)) = json(a).zip(json(b)) {
        return documents(a, b, &left, &right);
    }
    let distance = distance(a, b);
    if a.trim() == b.trim() {
        return Comparison {
            similarity: 1.0,
            distance,
            outcome: Outcome::Same,
            ..Comparison::default()
        };
    }
    let lexicon = match lexicon() {
        Ok(lexicon) => lexicon,
        Err(why) => {
            return Comparison {
                distance,
                reasons: vec![why.to_string()],
                ..Comparison::default()
            };
        }
    };
    let (mut left, mut right) = (read(a, lexicon), read(b, lexicon));
    let found = findings(&mut left, &mut right, (a, b), lexicon);
    let similarity = similarity(&left, &right);
    let mut found = found;
    if left.silent() && right.silent() {
        // `👍` and `👎`: other characters, and no word to go by
        found
            .doubts
            .push("no word in either that carries content".into());
    }
    judged(similarity, distance, found, threshold)
}

fn judged(similarity: f64, distance: usize, found: Findings, threshold: Option<f64>) -> Comparison {
    let loose = !(found.left.is_empty() && found.right.is_empty());
    let mut reasons = found.objections.clone();
    let low = similarity < threshold.unwrap_or(if loose { APART } else { 0.0 });
    let outcome = if !reasons.is_empty() || low {
        Outcome::Different
    } else if loose || !found.doubts.is_empty() || similarity < threshold.unwrap_or(ALIKE) {
        Outcome::Unknown
    } else {
        Outcome::Same
    };
    let open = outcome != Outcome::Same && reasons.is_empty() && found.doubts.is_empty();
    if outcome == Outcome::Unknown {
        reasons.extend(found.doubts);
        if loose {
            let list =
                |words: &[String]| words.iter().take(6).cloned().collect::<Vec<_>>().join(" ");
            reasons.push(format!(
                "words: `{}` against `{}`",
                list(&found.left),
                list(&found.right)
            ));
        }
    }
    Comparison {
        similarity,
        distance,
        outcome,
        reasons,
        open,
        left: found.left,
        right: found.right,
        ..Comparison::default()
    }
}

fn documents(a: &str, b: &str, left: &Value, right: &Value) -> Comparison {
    let (changes, equal, total) = diff(left, right);
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
    Comparison {
        similarity,
        distance: distance(a, b),
        outcome: if changes.is_empty() {
            Outcome::Same
        } else {
            Outcome::Different
        },
        reasons,
        changes,
        json: true,
        ..Comparison::default()
    }
}

/// Half the share of common words and quantities, half their common order.
fn similarity(a: &Reading, b: &Reading) -> f64 {
    let mut known: HashMap<(String, bool), u32> = HashMap::new();
    let mut numbered = |reading: &Reading| -> Vec<u32> {
        let item = |item: &Item| (item.key.clone(), item.negative());
        let items = reading.items.iter().filter(|one| !one.soft).map(item);
        let numbers = reading
            .quantities
            .iter()
            .map(|q| (format!("{} {}", q.value, q.measure), false));
        items
            .chain(numbers)
            .map(|key| {
                let next = known.len() as u32;
                *known.entry(key).or_insert(next)
            })
            .collect()
    };
    let (x, y) = (numbered(a), numbered(b));
    if x.is_empty() && y.is_empty() {
        return 0.0;
    }
    // the order costs the product of both lengths
    const MOST: usize = 4096;
    let order =
        indel::normalized_similarity(x.iter().take(MOST).copied(), y.iter().take(MOST).copied());
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
