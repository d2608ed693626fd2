//! Identifiers: what stands at a token's start, has the form of an entry and keeps its rule.
use super::engine::{Engine, Options, hit};
use super::numbers::{self, Found};
use super::word::Mark;
use super::{Hit, Kind};

/// How near a context word must stand, before and after.
const BEFORE: usize = 72;
const AFTER: usize = 32;
/// How near a label must stand before its value.
const LABEL: usize = 40;
/// Where a context word behind the value may end.
const FARTHEST: usize = AFTER + 24;

/// A match that counts, before it becomes a hit.
struct Candidate {
    entry: usize,
    start: usize,
    end: usize,
    score: f64,
    contextual: bool,
}

/// What was answered at one place: the number of the context words, the value's end, as a label or not, the answer.
/// Many entries share their context words.
type Answers = Vec<(usize, usize, bool, bool)>;

impl Engine {
    /// Identifiers at token starts. Where no context word is near, only the forms that need none are run.
    pub(super) fn numbered(
        &self,
        text: &[u8],
        marks: &[Mark],
        options: &Options,
        hits: &mut Vec<Hit>,
    ) {
        let locales = options.locales.as_deref();
        let ends: Vec<usize> = marks
            .iter()
            .filter(|mark| self.contextual[mark.word as usize])
            .map(|mark| mark.end)
            .collect();
        let all = if options.wants(Kind::Dates) { 3 } else { 0 };
        let lonely = match locales {
            _ if all == 3 || options.recall => all,
            Some(_) => 1,
            None => 2,
        };
        let automata = (self.automata[all].get(), self.automata[lonely].get());
        let (Some(full), Some(few)) = automata else {
            return;
        };
        let mut caches = [full.cache(), few.cache()];
        let (mut best, mut next, mut first) = (Vec::new(), 0, 0);
        numbers::places(text, |start, limit| {
            while ends.get(next).is_some_and(|end| end + BEFORE < start) {
                next += 1;
            }
            while marks
                .get(first)
                .is_some_and(|mark| mark.end + BEFORE + 1 < start)
            {
                first += 1;
            }
            let near = ends.get(next).is_some_and(|end| *end <= limit + FARTHEST);
            let (cache, which, automaton) = match near {
                true => (0, all, full),
                false => (1, lonely, few),
            };
            numbers::longest(
                automaton,
                &mut caches[cache],
                text,
                (start, limit),
                &mut best,
            );
            let (mut answers, mut kept) = (Answers::new(), Vec::new());
            for found in &best {
                let form = self.members[which][found.pattern];
                if let Some(one) =
                    self.identified(text, (marks, first), options, form, found, &mut answers)
                {
                    self.keep(one, &mut kept);
                }
            }
            hits.extend(kept.iter().map(|one| {
                let entry = &self.entries[one.entry];
                hit(entry, one.start, one.end, one.score, one.contextual)
            }));
        });
    }

    /// Of candidates with one span and kind, `overlap` keeps the best: no other is made a hit.
    fn keep(&self, new: Candidate, kept: &mut Vec<Candidate>) {
        let rank = |one: &Candidate| (one.contextual, one.score);
        let id = |one: &Candidate| self.entries[one.entry].id.as_str();
        let kind = |one: &Candidate| self.entries[one.entry].kind;
        let same = |old: &&mut Candidate| old.end == new.end && kind(old) == kind(&new);
        match kept.iter_mut().find(same) {
            Some(old) => {
                let (a, b) = (rank(&new), rank(old));
                if a > b || (a == b && id(&new) < id(old)) {
                    *old = new;
                }
            }
            None => kept.push(new),
        }
    }

    /// What a form's match is worth, if its context, country and check rule agree.
    fn identified(
        &self,
        text: &[u8],
        (marks, first): (&[Mark], usize),
        options: &Options,
        form: usize,
        found: &Found,
        answers: &mut Answers,
    ) -> Option<Candidate> {
        let form = &self.forms[form];
        let entry = &self.entries[form.entry];
        let locales = options.locales.as_deref();
        let gated = entry.gated && locales.is_none();
        let (start, end) = (found.start, found.end);
        let value = &text[start..end];
        let national = locales.is_some() && !entry.locale.is_empty() && distinct(value);
        let strict = match options.recall {
            true => form.bare && !form.proven && !national,
            false => form.bare || gated,
        };
        if !options.wants(entry.kind)
            || !entry.allowed(locales)
            || form.check.is_some_and(|check| !check(value))
        {
            return None;
        }
        let label = entry.labelled && (form.bare || gated);
        let group = self.groups[form.entry];
        let known = answers
            .iter()
            .find(|one| one.0 == group && one.1 == end && one.2 == label);
        let contextual = match known {
            Some(one) => one.3,
            None => {
                let near = &marks[first..];
                let answer = match label {
                    true => self.label(form.entry, text, near, start, end),
                    false => self.context(form.entry, near, start, end),
                };
                answers.push((group, end, label, answer));
                answer
            }
        };
        if strict && !contextual {
            return None;
        }
        let checked = if form.check.is_some() { 0.15 } else { 0.0 };
        let near = if contextual { 0.1 } else { 0.0 };
        let local = if entry.locale.is_empty() { 0.0 } else { 0.02 };
        let score = if form.bare { 0.6 } else { 0.7 } + checked + near + local;
        Some(Candidate {
            entry: form.entry,
            start,
            end,
            score,
            contextual,
        })
    }

    /// Whether one of the entry's context words is the value's label; `marks` begin near the value.
    fn label(&self, entry: usize, text: &[u8], marks: &[Mark], start: usize, end: usize) -> bool {
        let own = &self.contexts[entry];
        marks
            .iter()
            .skip_while(|mark| mark.end + LABEL < start)
            .take_while(|mark| mark.end <= end + FARTHEST)
            .filter(|mark| own.binary_search(&mark.word).is_ok())
            .any(|mark| match mark.end <= start {
                true => leads_to(&text[mark.end..start]),
                false if mark.start >= end => {
                    let between = &text[end..mark.start];
                    between == b"-" || between.iter().all(|byte| b" (,".contains(byte))
                }
                false => false,
            })
    }

    /// Whether one of the entry's context words stands near; `marks` begin near the value.
    fn context(&self, entry: usize, marks: &[Mark], start: usize, end: usize) -> bool {
        let own = &self.contexts[entry];
        if own.is_empty() {
            return false;
        }
        marks
            .iter()
            .skip_while(|mark| mark.end + BEFORE < start)
            .take_while(|mark| mark.end <= end + FARTHEST)
            .filter(|mark| mark.end <= start || (mark.start >= end && mark.start <= end + AFTER))
            .any(|mark| own.binary_search(&mark.word).is_ok())
    }
}

/// Whether a form that no rule proves is rare enough in the texts of its country to count without its word: letters
/// and digits, or nine digits.
fn distinct(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    digits >= 9 || (digits >= 3 && value.iter().any(u8::is_ascii_alphabetic))
}

/// Whether what stands between a label and a value lets the value be the label's: no other value, no end of a
/// field, and no word that announces something else.
fn leads_to(between: &[u8]) -> bool {
    const OTHER: [&[u8]; 16] = [
        b"id",
        b"order",
        b"invoice",
        b"ticket",
        b"session",
        b"build",
        b"job",
        b"version",
        b"report",
        b"server",
        b"shipment",
        b"contract",
        b"budget",
        b"pid",
        b"model",
        b"took",
    ];
    let digits = between.iter().filter(|byte| byte.is_ascii_digit()).count();
    let lines = between.iter().filter(|byte| **byte == b'\n').count();
    digits < 2
        && lines < 2
        && !between.iter().any(|byte| b",;{}[]|".contains(byte))
        && between
            .split(|byte| !byte.is_ascii_alphabetic())
            .all(|word| !OTHER.iter().any(|other| word.eq_ignore_ascii_case(other)))
}
