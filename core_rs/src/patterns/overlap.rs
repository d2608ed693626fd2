//! Of hits that overlap, the best stays: context first, then score and length (personal data: length and
//! score, since a long number contains many short ones), then order. A user's own patterns all stay: what
//! the user named is theirs to name, and a redaction that dropped the second of two would leave its rest.
use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Hit, Kind};

/// Keeps, per kind, the hits that no better one overlaps, and all of a user's patterns; sorted by start.
pub fn resolve(hits: Vec<Hit>) -> Vec<Hit> {
    let (user, mut hits): (Vec<Hit>, Vec<Hit>) =
        hits.into_iter().partition(|hit| hit.kind == Kind::User);
    hits.sort_by(better);
    let mut kept: BTreeMap<(Kind, usize), Hit> = BTreeMap::new();
    for hit in hits {
        // kept hits of one kind never overlap, so only the last that begins before our end can touch us
        let before = kept.range((hit.kind, 0)..(hit.kind, hit.end)).next_back();
        if before.is_none_or(|(_, other)| other.end <= hit.start) {
            kept.insert((hit.kind, hit.start), hit);
        }
    }
    let mut kept: Vec<Hit> = kept.into_values().chain(user).collect();
    kept.sort_by(|a, b| {
        a.start
            .cmp(&b.start)
            .then(a.end.cmp(&b.end))
            .then(a.kind.cmp(&b.kind))
            .then(a.id.cmp(&b.id))
    });
    kept
}

fn better(a: &Hit, b: &Hit) -> Ordering {
    let length = |hit: &Hit| hit.end - hit.start;
    let longer = length(b).cmp(&length(a));
    let surer = b.score.total_cmp(&a.score);
    let quality = match a.kind {
        Kind::Pii | Kind::Dates => longer.then(surer),
        _ => surer.then(longer),
    };
    a.kind
        .cmp(&b.kind)
        .then(b.contextual.cmp(&a.contextual))
        .then(quality)
        .then(a.start.cmp(&b.start))
        .then(a.id.cmp(&b.id))
}
