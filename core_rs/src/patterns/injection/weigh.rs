//! From patterns found to hits: evidence that stands together adds up.
use super::ENOUGH;
use super::detector::{Found, Injection, LAYERS};
use crate::patterns::word::Mark;
use crate::patterns::{Hit, Kind};

/// Findings so near each other add up.
const TOGETHER: usize = 600;

impl Injection {
    /// Adds the hits of `text`; `marks` are its gate words.
    pub fn scan(&self, text: &[u8], marks: &[Mark], hits: &mut Vec<Hit>) {
        let mut found = Vec::new();
        self.read(text, marks, LAYERS, &mut found);
        found.sort_by_key(|one| (one.pattern, one.start, one.end));
        found.dedup_by_key(|one| (one.pattern, one.start));
        found.sort_by_key(|one| (one.start, one.end, one.pattern));
        let mut from = 0;
        while from < found.len() {
            let mut end = found[from].end;
            let mut to = from;
            while to < found.len() && found[to].start <= end + TOGETHER {
                end = end.max(found[to].end);
                to += 1;
            }
            self.weigh(&found[from..to], hits);
            from = to;
        }
    }

    /// Adds the hits of one place if their evidence suffices.
    fn weigh(&self, found: &[Found], hits: &mut Vec<Hit>) {
        let mut kinds: Vec<usize> = found.iter().map(|one| one.pattern).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let doubt: f64 = kinds
            .iter()
            .map(|pattern| 1.0 - self.patterns[*pattern].raw.weight)
            .product();
        if 1.0 - doubt < ENOUGH {
            return;
        }
        hits.extend(found.iter().map(|one| {
            let raw = &self.patterns[one.pattern].raw;
            Hit {
                kind: Kind::Injection,
                id: raw.id.clone(),
                category: raw.category.clone(),
                severity: raw.severity,
                start: one.start,
                end: one.end,
                score: raw.weight.max(1.0 - doubt),
                contextual: false,
                masked: String::new(),
            }
        }));
    }
}
