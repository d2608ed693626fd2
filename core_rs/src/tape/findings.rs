//! What a tape is found to be, and the list of what is not as it must be.

use crate::digest::Hash;

/// What says of an event that something is missing, not that anything is wrong.
const NOTES: [&str; 5] = [
    "session_open",
    "exchange_open",
    "drop_present",
    "bypass_present",
    "body_erased",
];

/// Further notes on events are not listed.
const MAX_FINDINGS: usize = 100_000;

/// One thing that is not as it must be, or that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// As `faultwire tape verify` names it.
    pub code: &'static str,
    pub message: String,
    /// The event, where it is about one.
    pub seq: Option<usize>,
}

/// What a tape is found to be.
#[derive(Debug)]
pub struct Verdict {
    pub events: usize,
    /// The RFC 6962 tree head over the events.
    pub root: Hash,
    /// What the first event calls the log.
    pub origin: Option<String>,
    /// The JSON object of its settings.
    pub settings: Option<String>,
    /// Sessions that began, exchanges that were asked, bodies.
    pub sessions: usize,
    pub exchanges: usize,
    pub blobs: usize,
    /// The verifier key that made the last seal, and whether it is one of those given.
    pub key: Option<String>,
    pub trusted: bool,
    pub findings: Vec<Finding>,
}

/// Findings in their order.
#[derive(Default)]
pub struct Findings {
    list: Vec<Finding>,
}

impl Findings {
    pub fn add(&mut self, code: &'static str, message: impl Into<String>, seq: Option<usize>) {
        let note = NOTES.contains(&code) && seq.is_some();
        if self.list.len() < MAX_FINDINGS || !note {
            let message = message.into();
            self.list.push(Finding { code, message, seq });
        }
    }

    pub fn count(&self) -> usize {
        self.list.len()
    }

    pub fn into_list(self) -> Vec<Finding> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_on_events_are_listed_up_to_a_limit_and_errors_beyond_it() {
        let mut findings = Findings::default();
        for _ in 0..MAX_FINDINGS - 1 {
            findings.add("drop_present", "", Some(1));
        }
        let mut listed = |code, seq| {
            let before = findings.count();
            findings.add(code, "", seq);
            findings.count() > before
        };
        assert!(listed("drop_present", Some(1)), "the last one");
        for note in NOTES {
            assert!(!listed(note, Some(1)), "{note}");
        }
        assert!(listed("drop_present", None));
        assert!(listed("chain_broken", Some(1)));
        assert!(listed("seal_missing", None));
    }
}
