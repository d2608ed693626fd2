//! Identifiers: what stands at a token's start, has the form of an entry and keeps its rule.
use super::Hit;
use super::engine::{Engine, Options, hit};
use super::gate::Mark;
use super::numbers::{self, Found};

/// How near a context word must stand, before and after.
const BEFORE: usize = 72;
const AFTER: usize = 32;
/// Where a context word behind the value may end.
const FARTHEST: usize = AFTER + 24;

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
        let lonely = if locales.is_some() { 1 } else { 2 };
        let mut caches = [self.automata[0].cache(), self.automata[lonely].cache()];
        let (mut best, mut next) = (Vec::new(), 0);
        numbers::places(text, |start, limit| {
            while ends.get(next).is_some_and(|end| end + BEFORE < start) {
                next += 1;
            }
            let near = ends.get(next).is_some_and(|end| *end <= limit + FARTHEST);
            let (cache, which) = if near { (0, 0) } else { (1, lonely) };
            let automaton = &self.automata[which];
            numbers::longest(
                automaton,
                &mut caches[cache],
                text,
                (start, limit),
                &mut best,
            );
            for found in &best {
                let form = self.members[which][found.pattern];
                hits.extend(self.identified(text, marks, locales, form, found));
            }
        });
    }

    /// The hit that a form's match is, if its context, country and check rule agree.
    fn identified(
        &self,
        text: &[u8],
        marks: &[Mark],
        locales: Option<&[String]>,
        form: usize,
        found: &Found,
    ) -> Option<Hit> {
        let form = &self.forms[form];
        let entry = &self.entries[form.entry];
        let strict = form.bare || (entry.gated && locales.is_none());
        let contextual = self.context(form.entry, marks, found.start, found.end);
        let value = &text[found.start..found.end];
        if (strict && !contextual)
            || !entry.allowed(locales)
            || form.check.is_some_and(|check| !check(value))
        {
            return None;
        }
        let checked = if form.check.is_some() { 0.15 } else { 0.0 };
        let near = if contextual { 0.1 } else { 0.0 };
        let local = if entry.locale.is_empty() { 0.0 } else { 0.02 };
        let score = if form.bare { 0.6 } else { 0.7 } + checked + near + local;
        Some(hit(entry, found.start, found.end, score, contextual))
    }

    /// Whether one of the entry's context words stands near.
    fn context(&self, entry: usize, marks: &[Mark], start: usize, end: usize) -> bool {
        let own = &self.contexts[entry];
        if own.is_empty() {
            return false;
        }
        let first = marks.partition_point(|mark| mark.end + BEFORE < start);
        marks[first..]
            .iter()
            .take_while(|mark| mark.end <= end + FARTHEST)
            .filter(|mark| mark.end <= start || (mark.start >= end && mark.start <= end + AFTER))
            .any(|mark| own.binary_search(&mark.word).is_ok())
    }
}
