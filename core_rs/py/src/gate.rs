//! Entries that match and wait, and what a session counts of them.

use faultwire_core::gate::{self, Call, Stage, Trigger, Waiting};
use pyo3::prelude::*;

/// What was decided of an entry, why, and its roll where there was one.
type Decision<'a> = (&'static str, &'a str, Option<f64>);

#[pyclass(module = "faultwire._core", eq)]
#[derive(Default, PartialEq, Clone)]
struct TriggerCounts(gate::Counts);

#[pymethods]
impl TriggerCounts {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[pyo3(signature = (entry, /))]
    fn counts(&self, entry: &str) -> (u64, i64) {
        let count = self.0.get(entry);
        (count.seen, count.fired)
    }

    #[pyo3(signature = (entry, /))]
    fn begun(&self, entry: &str) -> Option<(u64, f64)> {
        self.0.get(entry).begun
    }

    #[pyo3(signature = (entry, at_s, fires, /))]
    fn note(&mut self, entry: &str, at_s: f64, fires: bool) {
        self.0.note(entry, at_s, fires);
    }

    #[pyo3(signature = (entry, places, /))]
    fn take(&mut self, entry: &str, places: i64) {
        self.0.take(entry, places);
    }
}

#[pyclass(module = "faultwire._core", frozen)]
struct EntryGate {
    gate: gate::Gate,
    counts: Py<TriggerCounts>,
    stem: String,
}

/// As `_core.pyi` has it: a trigger in plain values, with the ends of its sentences.
#[derive(FromPyObject)]
struct PyTrigger {
    #[pyo3(item)]
    id: String,
    #[pyo3(item)]
    inapplicable: Option<String>,
    #[pyo3(item)]
    between_s: Option<(f64, f64, String)>,
    #[pyo3(item)]
    after_calls: Option<u64>,
    #[pyo3(item)]
    first: Option<u64>,
    #[pyo3(item)]
    calls: Option<(Vec<u64>, String)>,
    #[pyo3(item)]
    every: Option<u64>,
    #[pyo3(item)]
    recovers_calls: Option<(u64, String)>,
    #[pyo3(item)]
    recovers_s: Option<(f64, String)>,
    #[pyo3(item)]
    max_times: Option<u64>,
    #[pyo3(item)]
    stages: Vec<(Option<u64>, f64, String)>,
}

impl PyTrigger {
    fn split(self) -> (String, Option<String>, Trigger) {
        let stage = |(until, share, text)| Stage { until, share, text };
        let trigger = Trigger {
            between: self.between_s,
            after_calls: self.after_calls,
            first: self.first,
            calls: self.calls,
            every: self.every,
            recovers_calls: self.recovers_calls,
            recovers_s: self.recovers_s,
            max_times: self.max_times,
            stages: self.stages.into_iter().map(stage).collect(),
        };
        (self.id, self.inapplicable, trigger)
    }
}

#[pymethods]
impl EntryGate {
    #[new]
    #[pyo3(signature = (counts, stem, triggers, /))]
    fn new(
        py: Python<'_>,
        counts: Py<TriggerCounts>,
        stem: String,
        triggers: Vec<PyTrigger>,
    ) -> Self {
        let mut gate = gate::Gate::default();
        {
            let mut counted = counts.borrow_mut(py);
            for one in triggers {
                let (id, inapplicable, trigger) = one.split();
                gate.add(&mut counted.0, &id, inapplicable, trigger);
            }
        }
        Self { gate, counts, stem }
    }

    #[pyo3(signature = (key, n, at_s, left_out, refused, /))]
    fn wait(
        slf: &Bound<'_, Self>,
        key: &str,
        n: u64,
        at_s: f64,
        left_out: Vec<usize>,
        refused: Vec<(usize, String)>,
    ) -> Option<WaitingEntries> {
        let this = slf.get();
        let stem = this.stem.as_str();
        let about = Call { stem, key, n, at_s };
        let mut counts = this.counts.borrow_mut(slf.py());
        let found = this.gate.wait(&mut counts.0, about, &left_out, &refused)?;
        let gate = slf.clone().unbind();
        Some(WaitingEntries { gate, found })
    }
}

#[pyclass(module = "faultwire._core", frozen)]
struct WaitingEntries {
    gate: Py<EntryGate>,
    found: Vec<Waiting>,
}

#[pymethods]
impl WaitingEntries {
    /// How many of them have seen the call.
    fn __len__(&self) -> usize {
        self.found.iter().filter(|one| one.counted).count()
    }

    #[pyo3(signature = (entry, /))]
    fn get(&self, entry: &str) -> Option<Decision<'_>> {
        let gate = &self.gate.get().gate;
        let mut counted = self.found.iter().filter(|one| one.counted);
        let one = counted.find(|one| gate.id(one.entry) == Some(entry))?;
        Some(("skip", &one.reason, one.unit))
    }

    fn items(&self) -> Vec<(&str, Decision<'_>)> {
        let gate = &self.gate.get().gate;
        let counted = self.found.iter().filter(|one| one.counted);
        counted
            .filter_map(|one| Some((gate.id(one.entry)?, ("skip", one.reason.as_str(), one.unit))))
            .collect()
    }

    fn lines(&self) -> Vec<(usize, &str, Option<f64>, bool)> {
        self.found.iter().map(line).collect()
    }
}

fn line(one: &Waiting) -> (usize, &str, Option<f64>, bool) {
    (one.entry, one.reason.as_str(), one.unit, one.counted)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TriggerCounts>()?;
    module.add_class::<EntryGate>()?;
    module.add_class::<WaitingEntries>()
}
