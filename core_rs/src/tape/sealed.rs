//! Are the seals of a tape what they claim to be?

use serde_json::{Map, Value};

use crate::digest::{Hash, hex, sha256_hex};
use crate::tape::line::{Lack, member, text};
use crate::tape::note::{Checkpoint, Note, VerifierKey};

/// What a seal says. No later event's hash covers the last one, so it has one form only: these, and a
/// note with one signature, by the key that it names.
const MEMBERS: [&str; 7] = ["type", "seq", "prev", "size", "root", "note", "key"];

/// Of more trusted keys than this, a finding names no more.
const NAMED: usize = 3;

/// A code, and what is wrong in words.
pub type Found = (&'static str, String);

/// Follows the seals through a log and remembers the last one.
#[derive(Default)]
pub struct Seals {
    keys: Vec<VerifierKey>,
    demanded: bool,
    count: usize,
    /// The event of the last seal, while that one is what it says.
    last: Option<usize>,
    /// Who made it, and whether that is one of `keys`.
    pub signer: Option<(String, bool)>,
    /// SHA-256 of the last seal's note, in hex.
    previous: Option<String>,
}

impl Seals {
    /// Trusts the seals of these keys; `demanded` says that the tape must be sealed to its end.
    pub fn new(keys: Vec<VerifierKey>, demanded: bool) -> Self {
        Self {
            keys,
            demanded,
            ..Self::default()
        }
    }

    /// A seal event over the `seq` events of this log, which have this tree head.
    pub fn event(
        &mut self,
        seq: usize,
        event: &Map<String, Value>,
        origin: Option<&str>,
        root: &Hash,
    ) -> Result<Option<Found>, Lack> {
        self.count += 1;
        (self.last, self.signer) = (None, None);
        let signed = text(event, "note")?;
        let previous = self.previous.replace(sha256_hex(signed.as_bytes()));
        let invalid = |what: &str| {
            let message = format!("the seal at event {seq} {what}");
            Ok(Some(("seal_invalid", message)))
        };
        let note = Note::parse(signed);
        let checkpoint = note.as_ref().and_then(|note| Checkpoint::parse(note.text));
        let (Some(note), Some(checkpoint)) = (note, checkpoint) else {
            return invalid("is malformed");
        };
        let whole = MEMBERS.iter().all(|member| event.contains_key(*member));
        if !whole || event.len() != MEMBERS.len() || !note.is_single() {
            return invalid("has other parts than a seal");
        }
        let same = Some(checkpoint.origin) == origin
            && (checkpoint.size, &checkpoint.root) == (seq, root)
            && checkpoint.previous == previous.as_deref();
        let said = same
            && member(event, "size")?.as_u64() == Some(seq as u64)
            && member(event, "root")?.as_str() == Some(&*hex(root));
        if !said {
            return invalid("signs another log than this");
        }
        let trusted = self.keys.iter().find(|key| note.signed_by(key));
        let (signer, is_trusted) = match trusted {
            Some(key) => (Some(key.text()), true),
            None => {
                let named = VerifierKey::parse(text(event, "key")?);
                let signer = named.filter(|key| note.signed_by(key));
                (signer.map(|key| key.text()), false)
            }
        };
        let Some(signer) = signer.filter(|key| member(event, "key") == Ok(&Value::from(&**key)))
        else {
            return invalid("is not signed by the key that it names");
        };
        self.last = Some(seq);
        let expected = self.expected();
        let stranger =
            format!("the seal at event {seq} is signed by `{signer}`, expected {expected}");
        self.signer = Some((signer, is_trusted));
        Ok((!is_trusted).then_some(("seal_untrusted", stranger)))
    }

    /// The keys that a seal may be signed by, a few of them.
    fn expected(&self) -> String {
        let few = self.keys.iter().take(NAMED);
        let named: Vec<_> = few.map(|key| format!("`{}`", key.text())).collect();
        match self.keys.len() {
            0 => "a trusted key, and none is trusted here".to_owned(),
            count if count > NAMED => {
                format!("{} or another of {count} trusted keys", named.join(" or "))
            }
            _ => named.join(" or "),
        }
    }

    /// The event of the last seal, where that is what it says: it signs all events before it.
    pub fn last(&self) -> Option<usize> {
        self.last
    }

    /// What is to be said once all of so many events are read.
    pub fn close(&self, events: usize) -> Option<Found> {
        let (sealed, code) = match (self.count, self.last) {
            (0, _) => (None, "seal_missing"),
            (_, Some(last)) if last + 1 != events => (Some(last), "tail_unsealed"),
            _ => return None,
        };
        let message = match sealed {
            None => "the tape has no seal".to_owned(),
            Some(last) => format!("the events after event {last} are under no seal"),
        };
        Some((if self.demanded { "seal_required" } else { code }, message))
    }
}
