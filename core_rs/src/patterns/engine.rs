//! The compiled catalogue (`build`) and the scan over one text.
mod build;

use super::check::Check;
use super::gate::Gate;
use super::injection::Injection;
use super::keyed::Keyed;
use super::later::LaterAutomaton;
use super::memory::Memory;
pub use super::options::Options;
use super::sieve::Sieve;
use super::word::Mark;
use super::{Entry, Hit, Kind, mask, overlap};

/// Texts are cut at multiples of this; each part is scanned with `MARGIN` bytes around it.
pub const WINDOW: usize = 128 << 10;
/// So many windows are worth a thread.
const SHARE: usize = 4;
/// No match and no context reaches farther.
pub const MARGIN: usize = 8 << 10;
pub(super) struct Form {
    pub entry: usize,
    pub bare: bool,
    pub check: Option<Check>,
    /// Whether the check rule refuses most values of the form.
    pub proven: bool,
}

/// All entries, ready to run.
pub struct Engine {
    pub entries: Vec<Entry>,
    /// The words of all entries; all but those of injections; those of secrets.
    gate: Gate,
    plain_gate: Gate,
    pub(super) sieve: Sieve,
    pub(super) forms: Vec<Form>,
    /// Personal data: all forms; those that can count without a context word; those of them that any country
    /// lets count; then all forms with dates.
    pub(super) automata: [LaterAutomaton; 4],
    /// Number of each automaton's pattern among `forms`.
    pub(super) members: [Vec<usize>; 4],
    /// Whether a word is some form's context.
    pub(super) contextual: Vec<bool>,
    /// Context words of each entry, sorted.
    pub(super) contexts: Vec<Vec<u32>>,
    /// By entry: a number that entries with the same context words share.
    pub(super) groups: Vec<usize>,
    /// Keyed entries that each word wakes.
    pub(super) wakes: Vec<Vec<Keyed>>,
    injection: Injection,
}

impl Engine {
    /// Everything wanted in `text`, best of overlapping hits, sorted by start.
    ///
    /// A long text is shared among the processors: windows do not depend on each other.
    pub fn scan(&self, text: &[u8], options: &Options) -> Vec<Hit> {
        let bases: Vec<usize> = (0..text.len().max(1)).step_by(WINDOW).collect();
        let run = |bases: &[usize]| -> Vec<Hit> {
            bases
                .iter()
                .flat_map(|base| self.part(text, 0, *base, options))
                .collect()
        };
        let most = bases.len() / SHARE;
        let threads = match most {
            0 | 1 => 1,
            _ => std::thread::available_parallelism().map_or(1, |count| count.get().min(most)),
        };
        if threads == 1 {
            return run(&bases);
        }
        std::thread::scope(|scope| {
            let parts = bases.chunks(bases.len().div_ceil(threads));
            let running: Vec<_> = parts
                .map(|part| (part, scope.spawn(move || run(part))))
                .collect();
            let done = running
                .into_iter()
                .map(|(part, one)| one.join().unwrap_or_else(|_| run(part)));
            done.flatten().collect()
        })
    }

    /// The hits that begin in the window at absolute offset `base`; `text` begins at absolute `origin`.
    pub fn part(&self, text: &[u8], origin: usize, base: usize, options: &Options) -> Vec<Hit> {
        let from = base.saturating_sub(MARGIN).max(origin);
        let to = (base + WINDOW + MARGIN).min(origin + text.len());
        let mut hits = self.window(&text[from - origin..to - origin], options);
        for hit in &mut hits {
            hit.start += from;
            hit.end += from;
        }
        hits.retain(|hit| hit.start >= base && hit.start < base + WINDOW);
        hits
    }

    /// Injection patterns: id, category, examples that match, examples that do not.
    pub fn injections(&self) -> impl Iterator<Item = (&str, &str, &[String], &[String])> {
        self.injection.patterns().iter().map(|pattern| {
            let raw = &pattern.raw;
            (
                raw.id.as_str(),
                raw.category.as_str(),
                raw.yes.as_slice(),
                raw.no.as_slice(),
            )
        })
    }

    /// Ids of the injection patterns that `text` matches, however weak.
    pub fn matches(&self, text: &str) -> Vec<String> {
        let text = text.as_bytes();
        self.injection.matches(text, &self.gate.marks(text))
    }

    /// The words of personal data and secrets in a text.
    pub(super) fn words(&self, text: &[u8]) -> Vec<Mark> {
        self.plain_gate.marks(text)
    }

    fn window(&self, text: &[u8], options: &Options) -> Vec<Hit> {
        let marks = match options.kinds[..] {
            [Kind::Secrets] => self.sieve.marks(text),
            _ if options.wants(Kind::Injection) => self.gate.marks(text),
            _ => self.plain_gate.marks(text),
        };
        let mut hits = Vec::new();
        let numbers = options.wants(Kind::Pii) || options.wants(Kind::Dates);
        if numbers {
            self.numbered(text, &marks, options, &mut hits);
        }
        if numbers || options.wants(Kind::Secrets) || options.wants(Kind::Urls) {
            self.woken(text, &marks, options, &mut hits);
        }
        if options.wants(Kind::Pii) {
            self.rewritten(text, options, &mut hits);
        }
        if options.wants(Kind::Injection) {
            self.injection.scan(text, &marks, &mut hits);
        }
        if options.wants(Kind::User) {
            options.user.scan(text, &mut hits);
        }
        for hit in &mut hits {
            if hit.masked.is_empty() {
                hit.masked = mask(&String::from_utf8_lossy(&text[hit.start..hit.end]));
            }
        }
        overlap::resolve(hits)
    }

    /// Entries whose key stands in the text.
    pub(super) fn woken(
        &self,
        text: &[u8],
        marks: &[Mark],
        options: &Options,
        hits: &mut Vec<Hit>,
    ) {
        if marks.is_empty() {
            return;
        }
        let mut memories = vec![Memory::default(); self.entries.len()];
        for mark in marks {
            for keyed in &self.wakes[mark.word as usize] {
                let entry = &self.entries[keyed.entry];
                if !options.wants(entry.kind)
                    || !entry.allowed(options.locales.as_deref())
                    || (entry.wide && !options.recall)
                {
                    continue;
                }
                let memory = &mut memories[keyed.entry];
                if let Some((start, end)) = keyed.find(text, mark.start, mark.end, memory) {
                    let score = match (entry.value.is_empty(), entry.assigned) {
                        (true, false) => 0.95,
                        (false, false) => 0.8,
                        (_, true) => 0.6,
                    };
                    hits.push(hit(entry, start, end, score, false));
                }
            }
        }
    }
}

pub(super) fn hit(entry: &Entry, start: usize, end: usize, score: f64, contextual: bool) -> Hit {
    Hit {
        kind: entry.kind,
        id: entry.id.clone(),
        category: entry.category.clone(),
        severity: entry.severity,
        start,
        end,
        score,
        contextual,
        masked: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::Engine;
    use crate::patterns::{catalog, engine};

    #[test]
    fn every_pattern_of_the_data_files_compiles() {
        let engine = engine().unwrap();
        assert!(engine.wakes.iter().flatten().count() > 600);
        for keyed in engine.wakes.iter().flatten() {
            assert!(keyed.compiles(), "{}", engine.entries[keyed.entry].id);
        }
        for automaton in &engine.automata {
            assert!(automaton.get().is_some());
        }
        for pattern in engine.injection.patterns() {
            assert!(pattern.regex.get().is_some(), "{}", pattern.raw.id);
        }
    }

    #[test]
    fn a_pattern_that_is_wrong_is_noticed() {
        let mut entries = catalog().unwrap();
        let keyed = entries.iter_mut().find(|entry| entry.keyed()).unwrap();
        keyed.regex = "(".to_string();
        let engine = Engine::new(entries, super::super::catalog::INJECTION).unwrap();
        assert!(engine.wakes.iter().flatten().any(|one| !one.compiles()));
    }
}
