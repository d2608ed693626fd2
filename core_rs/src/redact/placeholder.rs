//! What stands for a secret, and how often each class was replaced.
use std::collections::HashMap;

use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::edit::{Edit, MARK};

/// Digests that are remembered, at most.
const REMEMBERED: usize = 2048;
/// A longer value is not remembered: what is remembered must stay small.
const LONGEST: usize = 4096;

/// Redactions by class.
pub type Counts = std::collections::BTreeMap<String, usize>;

/// (start, end, new length) of a replaced span.
pub type Move = (usize, usize, usize);

/// Makes placeholders under one key.
#[derive(Clone)]
pub struct Placeholders {
    mac: Hmac<Sha256>,
    memory: HashMap<(String, Vec<u8>), String>,
}

impl Placeholders {
    pub fn new(key: &[u8]) -> Self {
        // A key of any length will do (RFC 2104, 2): this cannot fail.
        let mac = Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()));
        Placeholders {
            mac,
            memory: HashMap::new(),
        }
    }

    /// What stands for a secret `value` of class `what`; one that is a placeholder already stays.
    pub fn placeholder(&mut self, what: &str, value: &[u8], counts: &mut Counts) -> Vec<u8> {
        match counts.get_mut(what) {
            Some(count) => *count += 1,
            None => drop(counts.insert(what.to_owned(), 1)),
        }
        if value.starts_with(MARK.as_bytes()) {
            return value.to_vec();
        }
        [MARK, &self.digest(what, value)].concat().into_bytes()
    }

    /// 32 hexadecimal digits for a value of a class: HMAC over both and their lengths.
    pub fn digest(&mut self, what: &str, value: &[u8]) -> String {
        let key = (what.to_owned(), value.to_vec());
        if let Some(found) = self.memory.get(&key) {
            return found.clone();
        }
        let mut mac = self.mac.clone();
        mac.update(format!("{}:{what}{}:", what.chars().count(), value.len()).as_bytes());
        mac.update(value);
        let digest = mac.finalize().into_bytes();
        let digest: String = digest[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if value.len() <= LONGEST {
            if self.memory.len() >= REMEMBERED {
                self.memory.clear();
            }
            self.memory.insert(key, digest.clone());
        }
        digest
    }

    /// A text with each edit made, `bytes` being what it is written in, and how places moved.
    pub fn apply(
        &mut self,
        data: &[u8],
        edits: &[Edit],
        counts: &mut Counts,
    ) -> (Vec<u8>, Vec<Move>) {
        let mut out = Vec::with_capacity(data.len() + 44 * edits.len());
        let mut moves = Vec::with_capacity(edits.len());
        let mut at = 0;
        for edit in edits {
            out.extend_from_slice(&data[at.min(edit.start)..edit.start]);
            let before = out.len();
            out.extend_from_slice(edit.quote.as_bytes());
            if let Some(what) = &edit.what {
                out.extend(self.placeholder(what, &edit.value, counts));
            }
            out.extend_from_slice(edit.quote.as_bytes());
            moves.push((edit.start, edit.end, out.len() - before));
            at = edit.end;
        }
        out.extend_from_slice(&data[at..]);
        (out, moves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(what: &str, value: &str) -> String {
        let made =
            Placeholders::new(&[b'k'; 32]).placeholder(what, value.as_bytes(), &mut Counts::new());
        String::from_utf8(made).unwrap()
    }

    #[test]
    fn class_and_value_and_their_lengths_are_told() {
        // hmac.new(b"k" * 32, b"3:key1:x", "sha256").hexdigest()[:32]
        assert_eq!(
            made("key", "x"),
            "redacted:v1:86e541af4b601a3202bba9e474045cc2"
        );
        let all = [
            made("key", "x"),
            made("ke", "yx"),
            made("query", "x"),
            made("key", "y"),
        ];
        assert_eq!(
            all.iter().collect::<std::collections::BTreeSet<_>>().len(),
            4
        );
        assert_eq!(made("key", "redacted:v1:0"), "redacted:v1:0");
    }

    #[test]
    fn memory_is_bounded_and_changes_nothing() {
        let mut made = Placeholders::new(b"key");
        let first = made.digest("key", b"0");
        (0..3 * REMEMBERED).for_each(|n| drop(made.digest("key", n.to_string().as_bytes())));
        assert!(made.memory.len() <= REMEMBERED);
        assert_eq!(made.digest("key", b"0"), first);
        let long = vec![b'x'; LONGEST + 1];
        let before = made.memory.len();
        made.digest("key", &long);
        assert_eq!(made.memory.len(), before);
    }

    #[test]
    fn edits_are_made_and_counted() {
        let mut counts = Counts::new();
        let edits = [
            Edit::new(1, 2, "key", "b").quoted("\""),
            Edit {
                start: 3,
                end: 4,
                ..Edit::default()
            },
        ];
        let (out, moves) = Placeholders::new(b"k").apply(b"abcde", &edits, &mut counts);
        assert!(out.starts_with(b"a\"redacted:v1:") && out.ends_with(b"\"ce"));
        assert_eq!(moves, [(1, 2, 46), (3, 4, 0)]);
        assert_eq!(counts, Counts::from([("key".to_owned(), 1)]));
    }
}
