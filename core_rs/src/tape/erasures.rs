//! Bodies that are gone: those that a sealed `erasure` says were erased, and those that are missing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::tape::line::{Lack, member, name, text};

/// The last millisecond of the year 9999: later ones are no date.
const MAX_MS: u64 = 253_402_300_799_999;

/// A code, what is to be said, and of which event.
pub type Told = (&'static str, String, usize);

struct Erasure {
    seq: usize,
    blobs: BTreeSet<String>,
    /// Does an event before it name each of its bodies?
    known: bool,
    by: String,
    reason: String,
}

/// What events named and no line held, and what erasures said.
#[derive(Default)]
pub struct Erasures {
    missing: BTreeMap<String, Vec<usize>>,
    told: Vec<Erasure>,
}

impl Erasures {
    /// An event names a body that is not there.
    pub fn missing(&mut self, blob: String, seq: usize) {
        self.missing.entry(blob).or_default().push(seq);
    }

    /// An event that says which bodies were erased, why, and by whom.
    pub fn event(
        &mut self,
        seq: usize,
        event: &Map<String, Value>,
        is_named: impl Fn(&str) -> bool,
    ) -> Result<(), Lack> {
        let blobs = member(event, "blobs")?
            .as_array()
            .filter(|blobs| !blobs.is_empty())
            .ok_or("`blobs` names no bodies")?;
        let blobs = blobs.iter().map(|blob| match blob.as_str() {
            Some(digest) if is_digest(digest) => name(Some(blob)),
            _ => Err("a body that is no digest".to_owned()),
        });
        let blobs: BTreeSet<String> = blobs.collect::<Result<_, _>>()?;
        if member(event, "at_ms")?
            .as_u64()
            .is_none_or(|at| at > MAX_MS)
        {
            return Err("`at_ms` is no instant".to_owned());
        }
        let (by, reason) = (
            text(event, "by")?.to_owned(),
            text(event, "reason")?.to_owned(),
        );
        let known = blobs.iter().all(|blob| is_named(blob));
        self.told.push(Erasure {
            seq,
            blobs,
            known,
            by,
            reason,
        });
        Ok(())
    }

    /// What is to be said at the end. An erasure counts where it is right and a seal after it signs it.
    pub fn close(self, sealed: Option<usize>, is_there: impl Fn(&str) -> bool) -> Vec<Told> {
        let mut told = Vec::new();
        let mut erased = BTreeSet::new();
        for one in self.told {
            let Erasure {
                seq, by, reason, ..
            } = one;
            if !one.known || one.blobs.iter().any(|blob| is_there(blob)) {
                let message = format!("the erasure at event {seq} names a body that is not erased");
                told.push(("erasure_invalid", message, seq));
            } else if sealed.is_some_and(|sealed| seq < sealed) {
                let count = one.blobs.len();
                let message = format!("{count} bodies were erased by {by}: {reason}");
                told.push(("body_erased", message, seq));
                erased.extend(one.blobs);
            }
        }
        for (blob, events) in self.missing {
            if !erased.contains(&blob) {
                let missing = |seq| ("blob_missing", format!("blob {blob} is missing"), seq);
                told.extend(events.into_iter().map(missing));
            }
        }
        told
    }
}

fn is_digest(name: &str) -> bool {
    name.len() == 64
        && name
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn erased(sealed: Option<usize>, there: bool, named: bool) -> Vec<&'static str> {
        let blob = "a".repeat(64);
        let mut erasures = Erasures::default();
        let named_so = name(Some(&json!(blob))).expect("a name");
        erasures.missing(named_so, 3);
        let event = json!({"blobs": [blob], "at_ms": 1, "by": "me", "reason": "asked"});
        let event = event.as_object().expect("an object");
        erasures.event(7, event, |_| named).expect("an erasure");
        let told = erasures.close(sealed, |_| there);
        told.into_iter().map(|(code, _, _)| code).collect()
    }

    #[test]
    fn an_erasure_counts_only_where_a_later_seal_signs_it_and_it_is_right() {
        assert_eq!(erased(Some(8), false, true), ["body_erased"]);
        assert_eq!(erased(Some(6), false, true), ["blob_missing"]);
        assert_eq!(erased(None, false, true), ["blob_missing"]);
        assert_eq!(
            erased(Some(8), true, true),
            ["erasure_invalid", "blob_missing"]
        );
        assert_eq!(
            erased(Some(8), false, false),
            ["erasure_invalid", "blob_missing"]
        );
    }

    #[test]
    fn an_erasure_has_four_members_of_their_kinds() {
        let good = json!({"blobs": ["b".repeat(64)], "at_ms": 1, "by": "me", "reason": "asked"});
        let tried = |value: &Value| {
            Erasures::default().event(1, value.as_object().expect("an object"), |_| true)
        };
        assert_eq!(tried(&good), Ok(()));
        for (name, other) in [
            ("blobs", json!([])),
            ("blobs", json!(["B".repeat(64)])),
            ("blobs", json!([1])),
            ("at_ms", json!(-1)),
            ("at_ms", json!(MAX_MS + 1)),
            ("at_ms", json!(true)),
            ("by", json!(null)),
            ("reason", json!(1)),
        ] {
            let mut bad = good.clone();
            bad[name] = other;
            assert!(tried(&bad).is_err(), "{name}");
        }
    }
}
