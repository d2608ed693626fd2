//! Running the patterns over every reading of a text.
use super::detector::{AFTER, BEFORE, Found, Injection, LAYERS, MIRRORED, TURNED};
use super::fixes::replaced;
use super::regions::foldable;
use super::split::{spelt, untagged};
use crate::patterns::word::Mark;
use crate::text::decode::{embedded, rot13};
use crate::text::{View, fold};

/// Texts are read in blocks, so that what one holds does not slow the others down.
const BLOCK: usize = 2 << 10;
/// How much is read again around a corrected word.
const AROUND: usize = 200;

impl Injection {
    /// Ids of all patterns found, whatever they add up to.
    pub fn matches(&self, text: &[u8], marks: &[Mark]) -> Vec<String> {
        let mut found = Vec::new();
        self.read(text, marks, LAYERS, &mut found);
        found
            .iter()
            .map(|one| self.patterns[one.pattern].raw.id.clone())
            .collect()
    }

    /// Every reading of `text`: as it stands, folded, corrected, decoded.
    pub(super) fn read(&self, text: &[u8], marks: &[Mark], layers: usize, found: &mut Vec<Found>) {
        let mut first = 0;
        for base in (0..text.len()).step_by(BLOCK) {
            let from = base.saturating_sub(BEFORE);
            let to = (base + BLOCK + AFTER).min(text.len());
            while marks.get(first).is_some_and(|mark| mark.end <= from) {
                first += 1;
            }
            let inside = marks[first..]
                .iter()
                .take_while(|mark| mark.end <= to)
                .filter(|mark| mark.start >= from);
            let own: Vec<Mark> = inside
                .map(|mark| Mark {
                    start: mark.start - from,
                    end: mark.end - from,
                    ..*mark
                })
                .collect();
            let known = found.len();
            self.block(&text[from..to], &own, layers, found);
            for one in &mut found[known..] {
                one.start += from;
                one.end += from;
            }
        }
        if layers > 0 && text.len() >= 16 {
            for inner in embedded(text) {
                let marks = self.gate.marks(&inner.text);
                self.inside(&inner.text, &marks, layers, (inner.start, inner.end), found);
            }
        }
    }

    fn block(&self, text: &[u8], marks: &[Mark], layers: usize, found: &mut Vec<Found>) {
        self.words(text, marks, found);
        for (from, to) in foldable(text) {
            let view = fold(&text[from..to]);
            let own = self.gate.marks(&view.text);
            let first = found.len();
            self.words(&view.text, &own, found);
            for one in &mut found[first..] {
                (one.start, one.end) = view.original(one.start, one.end);
            }
            self.hidden(&view, found);
            for one in &mut found[first..] {
                one.start += from;
                one.end += from;
            }
        }
        for view in [spelt(text), untagged(text)].into_iter().flatten() {
            let first = found.len();
            self.words(&view.text, &self.gate.marks(&view.text), found);
            for one in &mut found[first..] {
                (one.start, one.end) = view.original(one.start, one.end);
            }
        }
        let seen = |flag: u8| {
            let tells = |mark: &&Mark| {
                self.telling
                    .get(mark.word as usize)
                    .is_some_and(|flags| flags & flag != 0)
            };
            marks.iter().filter(tells).take(2).count() == 2
        };
        if layers > 0 && seen(TURNED) {
            let plain = rot13(text);
            self.inside(
                &plain,
                &self.gate.marks(&plain),
                layers,
                (0, text.len()),
                found,
            );
        }
        if layers > 0 && seen(MIRRORED) {
            let plain: Vec<u8> = text.iter().rev().copied().collect();
            self.inside(
                &plain,
                &self.gate.marks(&plain),
                layers,
                (0, text.len()),
                found,
            );
        }
    }

    fn inside(
        &self,
        text: &[u8],
        marks: &[Mark],
        layers: usize,
        span: (usize, usize),
        found: &mut Vec<Found>,
    ) {
        let first = found.len();
        self.read(text, marks, layers - 1, found);
        for one in &mut found[first..] {
            (one.start, one.end) = span;
        }
    }

    /// Invisible text, which no honest source contains in quantity.
    fn hidden(&self, view: &View, found: &mut Vec<Found>) {
        let Some((start, end)) = view.unseen else {
            return;
        };
        let mut note = |id: &str, seen: bool| {
            if let Some(pattern) = self
                .patterns
                .iter()
                .position(|pattern| pattern.raw.id == id)
                .filter(|_| seen)
            {
                found.push(Found {
                    pattern,
                    start,
                    end,
                });
            }
        };
        note("hidden-tag-characters", view.tags > 3);
        note("hidden-zero-width", view.hidden > 5);
        note("hidden-bidi", view.bidi > 1);
    }

    /// The patterns on one reading, then on its correction.
    fn words(&self, text: &[u8], marks: &[Mark], found: &mut Vec<Found>) {
        self.match_all(text, marks, found);
        let fixes = self.fixes(text, marks);
        if fixes.is_empty() {
            return;
        }
        let mut at = 0;
        while at < fixes.len() {
            let from = fixes[at].0.saturating_sub(AROUND);
            let mut last = at;
            while fixes
                .get(last + 1)
                .is_some_and(|next| next.0 < fixes[last].1 + 2 * AROUND)
            {
                last += 1;
            }
            let to = (fixes[last].1 + AROUND).min(text.len());
            let view = replaced(text, from, to, &fixes[at..=last]);
            let first = found.len();
            self.match_all(&view.text, &self.gate.marks(&view.text), found);
            for one in &mut found[first..] {
                (one.start, one.end) = view.original(one.start, one.end);
            }
            at = last + 1;
        }
    }
}
