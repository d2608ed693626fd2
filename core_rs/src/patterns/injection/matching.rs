//! The patterns on one reading of a text.
use std::cell::RefCell;
use std::cmp::Ordering;

use super::detector::{AFTER, BEFORE, Found, Injection};
use super::lexicon::{Classes, NO_CLASS, include};
use crate::patterns::word::Mark;

/// How near the needed words must stand to each other.
const NEAR: usize = 140;

thread_local! {
    /// By class, where its words stand; kept so that no reading allocates it anew.
    static SEEN: RefCell<Vec<Vec<u32>>> = const { RefCell::new(Vec::new()) };
}

impl Injection {
    /// Every pattern whose needed words stand near each other, where its expression matches.
    pub(super) fn match_all(&self, text: &[u8], marks: &[Mark], found: &mut Vec<Found>) {
        if marks.is_empty() {
            return;
        }
        SEEN.with_borrow_mut(|seen| {
            seen.resize(seen.len().max(self.lexicon.count), Vec::new());
            seen.iter_mut().for_each(Vec::clear);
            let mut present = NO_CLASS;
            for mark in marks {
                for class in self.lexicon.classes_of(mark.word) {
                    let class = usize::from(*class);
                    seen[class].push(mark.start as u32);
                    include(&mut present, class);
                }
            }
            self.match_seen(text, seen, &present, found);
        });
    }

    /// The same with the places of each class' words.
    fn match_seen(
        &self,
        text: &[u8],
        seen: &[Vec<u32>],
        present: &Classes,
        found: &mut Vec<Found>,
    ) {
        let within = |from: usize, to: usize, set: &[usize]| {
            set.iter().any(|class| {
                let list = &seen[*class];
                let place = list.partition_point(|start| (*start as usize) < from);
                list.get(place).is_some_and(|start| *start as usize <= to)
            })
        };
        let size = |set: &[usize]| set.iter().map(|class| seen[*class].len()).sum::<usize>();
        for index in self.possible(present) {
            let pattern = &self.patterns[index];
            let rarest = (0..pattern.needs.len()).min_by_key(|place| size(&pattern.needs[*place]));
            let Some(rarest) = pattern.lead.or(rarest) else {
                continue;
            };
            let mut places: Vec<u32> = pattern.needs[rarest]
                .iter()
                .flat_map(|class| seen[*class].iter().copied())
                .collect();
            // words of classes stand in the order of the pattern; its keys stand anywhere
            let loose = usize::from(!pattern.raw.keys.is_empty());
            let close = |at: usize| {
                pattern.needs.iter().enumerate().all(|(index, set)| {
                    let free = index < loose || rarest < loose;
                    match index.cmp(&rarest) {
                        Ordering::Equal => true,
                        _ if free => within(at.saturating_sub(NEAR), at + NEAR, set),
                        Ordering::Less => within(at.saturating_sub(NEAR), at, set),
                        Ordering::Greater => within(at, at + NEAR, set),
                    }
                })
            };
            places.sort_unstable();
            let mut done = 0;
            for place in places {
                let at = place as usize;
                if at < done || !close(at) {
                    continue;
                }
                let from = if pattern.lead.is_some() {
                    at
                } else {
                    at.saturating_sub(BEFORE).max(done)
                };
                let to = (at + AFTER).min(text.len());
                let mut lower = [0; BEFORE + AFTER];
                let lower = &mut lower[..to - from];
                lower.copy_from_slice(&text[from..to]);
                lower.make_ascii_lowercase();
                if let Some(hit) = pattern.regex.get().and_then(|regex| regex.find(lower)) {
                    found.push(Found {
                        pattern: index,
                        start: from + hit.start(),
                        end: from + hit.end(),
                    });
                    done = from + hit.end();
                } else {
                    done = at + 1;
                }
            }
        }
    }
}
