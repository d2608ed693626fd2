//! Whether a text or a record holds a secret at all.
use super::engine::{Engine, Options, WINDOW};
use super::record::{self, Texts};
use super::word::Mark;

impl Engine {
    /// Whether `scan` finds a secret in `text`.
    pub fn holds_secret(&self, text: &[u8]) -> bool {
        if text.len() > WINDOW {
            return !self.scan(text, &Options::secrets()).is_empty();
        }
        let mut hits = Vec::new();
        let marks = self.sieve.marks(text);
        self.woken(text, &marks, &Options::secrets(), &mut hits);
        !hits.is_empty()
    }

    /// Whether one of the strings of a record (JSON) holds one. Of an array of two strings, as a header field
    /// is, the second is judged with the first as its name.
    pub fn record_holds_secret(&self, record: &[u8]) -> bool {
        // A word stands in the record as it stands in a string, unless something is escaped.
        let told = |mark: &Mark| {
            let ahead = self.wakes[mark.word as usize]
                .iter()
                .all(|keyed| !keyed.looks_back());
            !record::says_nothing(record, mark.end, ahead)
        };
        if memchr::memchr(b'\\', record).is_none() && !self.sieve.marks(record).iter().any(told) {
            return false;
        }
        let texts = Texts::of_record(record);
        let mut last = None;
        self.sieve.marks(&texts.joined).iter().any(|mark| {
            let at = texts.starts.partition_point(|start| *start <= mark.start);
            let known = last.replace(at) == Some(at);
            !known && self.holds_secret(texts.part(at))
        })
    }
}
