//! Entries of a profile that match an exchange and wait: their triggers are judged in one call.
//!
//! What is decided here is what `exchange/trigger.py` decides of a logical call that comes for the first time;
//! where any entry would fire, nothing is counted and the caller decides. Sentences are those of the ledger.

use std::collections::HashMap;

use crate::digest;

/// Of one entry in one session: the calls that it has seen, those on which it fired or is about to, and the
/// first of these with its instant.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Count {
    pub seen: u64,
    pub fired: i64,
    pub begun: Option<(u64, f64)>,
}

/// The counts of one session, by entry.
#[derive(Clone, Default, Debug)]
pub struct Counts {
    places: HashMap<String, usize>,
    counts: Vec<Count>,
}

impl Counts {
    /// The place of an entry, from now on.
    pub fn place(&mut self, entry: &str) -> usize {
        if let Some(&place) = self.places.get(entry) {
            return place;
        }
        self.counts.push(Count::default());
        self.places.insert(entry.to_owned(), self.counts.len() - 1);
        self.counts.len() - 1
    }

    pub fn get(&self, entry: &str) -> Count {
        let place = self.places.get(entry);
        place.map_or_else(Count::default, |&place| self.counts[place])
    }

    /// Count a logical call, on which the entry fires or not.
    pub fn note(&mut self, entry: &str, at_s: f64, fires: bool) {
        let place = self.place(entry);
        let count = &mut self.counts[place];
        count.seen += 1;
        if fires {
            count.fired += 1;
            count.begun = count.begun.or(Some((count.seen, at_s)));
        }
    }

    /// Take places among `max_times`, or give them back.
    pub fn take(&mut self, entry: &str, places: i64) {
        let place = self.place(entry);
        self.counts[place].fired += places;
    }
}

impl PartialEq for Counts {
    /// Entries of which nothing was counted are as if they had never come up.
    fn eq(&self, other: &Self) -> bool {
        let within = |some: &Self, others: &Self| {
            let mut names = some.places.keys();
            names.all(|name| some.get(name) == others.get(name))
        };
        within(self, other) && within(other, self)
    }
}

/// A share of the calls that fires, up to the call `until`; `text` says that it did not.
#[derive(Clone, Debug)]
pub struct Stage {
    pub until: Option<u64>,
    pub share: f64,
    pub text: String,
}

/// When an entry fires. Conditions combine with *and*; the texts end the ledger's sentences.
#[derive(Clone, Default, Debug)]
pub struct Trigger {
    pub between: Option<(f64, f64, String)>,
    pub after_calls: Option<u64>,
    pub first: Option<u64>,
    pub calls: Option<(Vec<u64>, String)>,
    pub every: Option<u64>,
    pub recovers_calls: Option<(u64, String)>,
    pub recovers_s: Option<(f64, String)>,
    pub max_times: Option<u64>,
    pub stages: Vec<Stage>,
}

/// What the dice of a call depend on besides the entry: `stem` is of the session.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub stem: &'a str,
    pub key: &'a str,
    pub n: u64,
    pub at_s: f64,
}

/// Why an entry does not act, and the roll where one was made; only what is `counted` has seen the call.
#[derive(Clone, PartialEq, Debug)]
pub struct Waiting {
    pub entry: usize,
    pub reason: String,
    pub unit: Option<f64>,
    pub counted: bool,
}

impl Trigger {
    /// Why it does not fire on the next call, None where it does.
    fn closed(&self, id: &str, count: Count, about: Call<'_>) -> Option<(String, Option<f64>)> {
        let call = count.seen + 1;
        let plain = |reason: String| Some((reason, None));
        if let Some(reason) = self.counted_out(call, about.at_s) {
            return plain(reason);
        }
        if let Some(reason) = self.recovered(call, count, about.at_s) {
            return plain(reason.to_owned());
        }
        if let Some(most) = self.max_times
            && count.fired >= i64::try_from(most).unwrap_or(i64::MAX)
        {
            let plural = if most == 1 { "" } else { "s" };
            return plain(format!(
                "fired {} of at most {most} time{plural}",
                count.fired
            ));
        }
        let last = self.stages.last()?;
        let mut stages = self.stages.iter();
        let Some(stage) = stages.find(|stage| stage.until.is_none_or(|until| call <= until)) else {
            debug_assert!(last.until.is_some());
            return plain(format!("call {call} is past the last stage"));
        };
        let unit = roll(id, about);
        (unit >= stage.share).then(|| (stage.text.clone(), Some(unit)))
    }

    fn counted_out(&self, call: u64, at_s: f64) -> Option<String> {
        if let Some((from, to, text)) = &self.between
            && !(*from <= at_s && at_s < *to)
        {
            return Some(format!("{at_s:.1}{text}"));
        }
        if let Some(after) = self.after_calls.filter(|&after| call <= after) {
            return Some(format!("call {call} of the first {after} passes"));
        }
        if let Some(first) = self.first.filter(|&first| call > first) {
            return Some(format!("call {call} is past the first {first}"));
        }
        if let Some((calls, text)) = &self.calls
            && !calls.contains(&call)
        {
            return Some(format!("call {call}{text}"));
        }
        let passed = call - self.after_calls.unwrap_or(0);
        let every = self.every.filter(|&every| !passed.is_multiple_of(every))?;
        Some(format!("call {call} is not one in {every}"))
    }

    fn recovered(&self, call: u64, count: Count, at_s: f64) -> Option<&str> {
        let (first, since) = count.begun?;
        let by_calls = self.recovers_calls.as_ref();
        let by_time = self.recovers_s.as_ref();
        by_calls
            .filter(|(calls, _)| call >= first + calls)
            .map(|(_, text)| text.as_str())
            .or_else(|| {
                by_time
                    .filter(|(seconds, _)| at_s >= since + seconds)
                    .map(|(_, text)| text.as_str())
            })
    }
}

/// The roll that `dice.py` makes for a decision: parts joined with their lengths before them.
fn roll(id: &str, about: Call<'_>) -> f64 {
    let (stem, key, n) = (about.stem, about.key, about.n.to_string());
    let text = format!(
        "{stem}{}:{id}{}:{key}{}:{n}4:fire",
        id.len(),
        key.len(),
        n.len()
    );
    digest::unit(text.as_bytes())
}

struct Entry {
    id: String,
    place: usize,
    inapplicable: Option<String>,
    trigger: Trigger,
}

/// The entries that exchanges which look alike may match, in the order in which they are composed.
#[derive(Default)]
pub struct Gate {
    entries: Vec<Entry>,
}

impl Gate {
    /// One more entry; where its fault cannot act on such an exchange, why.
    pub fn add(
        &mut self,
        counts: &mut Counts,
        id: &str,
        inapplicable: Option<String>,
        trigger: Trigger,
    ) {
        let place = counts.place(id);
        let id = id.to_owned();
        self.entries.push(Entry {
            id,
            place,
            inapplicable,
            trigger,
        });
    }

    pub fn id(&self, entry: usize) -> Option<&str> {
        self.entries.get(entry).map(|entry| entry.id.as_str())
    }

    /// Why none of the entries acts on a call, all of which have then seen it; None where one would fire, and
    /// nothing is counted. Entries that do not match this call are `left_out`, in ascending order; `refused`
    /// are those whose faults cannot act on it, with the reason.
    pub fn wait(
        &self,
        counts: &mut Counts,
        about: Call<'_>,
        left_out: &[usize],
        refused: &[(usize, String)],
    ) -> Option<Vec<Waiting>> {
        let mut found = Vec::with_capacity(self.entries.len());
        for (at, entry) in self.entries.iter().enumerate() {
            if !left_out.is_empty() && left_out.binary_search(&at).is_ok() {
                continue;
            }
            let refusal = refused.iter().find(|(place, _)| *place == at);
            let inapplicable = refusal.map(|(_, why)| why).or(entry.inapplicable.as_ref());
            let (reason, unit, counted) = if let Some(why) = inapplicable {
                (why.clone(), None, false)
            } else {
                let count = counts.counts[entry.place];
                let (reason, unit) = entry.trigger.closed(&entry.id, count, about)?;
                (reason, unit, true)
            };
            found.push(Waiting {
                entry: at,
                reason,
                unit,
                counted,
            });
        }
        for one in found.iter().filter(|one| one.counted) {
            counts.counts[self.entries[one.entry].place].seen += 1;
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: Call<'static> = Call {
        stem: "",
        key: "k",
        n: 0,
        at_s: 0.25,
    };

    fn gate(triggers: Vec<Trigger>) -> (Gate, Counts) {
        let (mut gate, mut counts) = (Gate::default(), Counts::default());
        for (at, trigger) in triggers.into_iter().enumerate() {
            gate.add(&mut counts, &format!("e{at}"), None, trigger);
        }
        (gate, counts)
    }

    fn after(calls: u64) -> Trigger {
        Trigger {
            after_calls: Some(calls),
            ..Trigger::default()
        }
    }

    #[test]
    fn all_wait_and_have_seen_the_call_or_nothing_is_counted() {
        let (gate, mut counts) = gate(vec![after(1), after(2)]);
        let found = gate.wait(&mut counts, CALL, &[], &[]).unwrap();
        assert_eq!(found[1].reason, "call 1 of the first 2 passes");
        let before = counts.clone();
        assert_eq!(gate.wait(&mut counts, CALL, &[], &[]), None);
        assert_eq!(counts, before);
        assert_eq!(
            gate.wait(&mut counts, CALL, &[0], &[])
                .unwrap_or_default()
                .len(),
            1
        );
        assert_eq!((counts.get("e0").seen, counts.get("e1").seen), (1, 2));
    }

    #[test]
    fn a_refused_entry_has_not_seen_the_call() {
        let (gate, mut counts) = gate(vec![Trigger::default()]);
        let why = [(0, "no".to_owned())];
        let found = gate.wait(&mut counts, CALL, &[], &why).unwrap();
        assert_eq!((found[0].reason.as_str(), found[0].counted), ("no", false));
        assert_eq!(counts.get("e0"), Count::default());
    }

    #[test]
    fn tenths_are_rounded_as_python_rounds_them() {
        let between = Some((5.0, 6.0, " s".to_owned()));
        let trigger = Trigger {
            between,
            ..Trigger::default()
        };
        let text = |at_s| trigger.counted_out(1, at_s).unwrap();
        assert_eq!((text(0.25), text(0.75)), ("0.2 s".into(), "0.8 s".into()));
    }

    #[test]
    fn counts_are_equal_whatever_was_merely_looked_up() {
        let (mut some, other) = (Counts::default(), Counts::default());
        some.place("e");
        assert_eq!(some, other);
        some.note("e", 1.0, true);
        assert_ne!(some, other);
        assert_eq!(some.get("e").begun, Some((1, 1.0)));
    }
}
