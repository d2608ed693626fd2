//! The event log on its way to the tape: numbers, links and hashes each event.

use super::blobs::{self, BlobLog, BlobRow};
use super::members::with_place;
use crate::Error;
use crate::digest::{Hash, leaf_hash};
use crate::proof::Frontier;

/// One row of `events`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    pub seq: u64,
    /// Empty where an event belongs to no session.
    pub session: String,
    pub record: Vec<u8>,
    pub hash: Hash,
}

/// What one transaction writes.
#[derive(Default)]
pub struct Batch {
    pub events: Vec<EventRow>,
    pub blobs: Vec<BlobRow>,
}

impl Batch {
    /// Makes its blobs what is stored of them.
    pub fn pack(&mut self) {
        blobs::pack(&mut self.blobs);
    }
}

/// Events and bodies in order, and the tree over the events.
#[derive(Default)]
pub struct EventLog {
    events: Vec<EventRow>,
    blobs: BlobLog,
    tree: Frontier,
    seq: u64,
    prev: Hash,
}

impl EventLog {
    /// Adds an event, given as canonical JSON without its number and link. Fails where it is none.
    pub fn append(&mut self, session: &str, event: &[u8]) -> Result<(), Error> {
        let record = with_place(event, self.seq, &self.prev)?;
        let hash = leaf_hash(&record);
        self.tree.push(hash);
        self.events.push(EventRow {
            seq: self.seq,
            session: session.to_owned(),
            record,
            hash,
        });
        self.seq += 1;
        self.prev = hash;
        Ok(())
    }

    /// Keeps a body, and names it.
    pub fn put(&mut self, data: &[u8]) -> Hash {
        self.blobs.put(data)
    }

    /// The number that the next event gets: how many there are.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The hash of the last event; zeros before the first.
    pub fn prev(&self) -> &Hash {
        &self.prev
    }

    /// The RFC 6962 tree head over all events.
    pub fn root(&self) -> Hash {
        self.tree.root()
    }

    /// Does an event wait for a commit?
    pub fn waits(&self) -> bool {
        !self.events.is_empty()
    }

    /// What came since the last time.
    pub fn take(&mut self) -> Batch {
        Batch {
            events: std::mem::take(&mut self.events),
            blobs: self.blobs.take(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::{hex, merkle_root};

    #[test]
    fn each_record_names_the_one_before() {
        let mut log = EventLog::default();
        for _ in 0..5 {
            log.append("s", br#"{"type":"note"}"#).unwrap();
        }
        assert!(log.waits());
        let rows = log.take().events;
        assert!(!log.waits());
        let mut prev = [0; 32];
        for (seq, row) in (0..).zip(&rows) {
            let text = format!(r#"{{"prev":"{}","seq":{seq},"type":"note"}}"#, hex(&prev));
            assert_eq!(row.record, text.as_bytes());
            assert_eq!((row.seq, row.hash), (seq, leaf_hash(&row.record)));
            prev = row.hash;
        }
        let leaves: Vec<Hash> = rows.iter().map(|row| row.hash).collect();
        assert_eq!((log.seq(), *log.prev()), (5, prev));
        assert_eq!(log.root(), merkle_root(&leaves));
    }

    #[test]
    fn what_is_no_event_changes_nothing() {
        let mut log = EventLog::default();
        assert!(log.append("s", b"[]").is_err());
        assert_eq!((log.seq(), log.waits()), (0, false));
    }
}
