//! The bodies of a tape: each is what its name says, is there for the events that name it, and belongs to one.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::digest::sha256_hex;
use crate::tape::line::{Lack, member, name};
use crate::tape::sealed::Found;

/// The bodies so far, and which of them an event named.
#[derive(Default)]
pub struct Bodies {
    /// Bytes of each body; `None` where it is not what its name says.
    sizes: BTreeMap<String, Option<i64>>,
    used: BTreeSet<String>,
}

/// What there is to a body that an event names.
pub enum Named {
    Sound,
    Missing(String),
    Wrong(Found),
}

impl Bodies {
    /// A body. No event's hash covers its line, so the line has one text only, and nothing beside.
    pub fn add(&mut self, value: &Map<String, Value>, right: bool) -> Option<Found> {
        let data = value.get("data").and_then(Value::as_str);
        let data = data.and_then(|data| STANDARD.decode(data).ok());
        let digest = value.get("blob").and_then(Value::as_str);
        let only = right && value.len() == 3;
        let sound = data.filter(|data| {
            only && digest == Some(&*sha256_hex(data))
                && value.get("size").and_then(Value::as_u64) == Some(data.len() as u64)
        });
        let named = name(value.get("blob")).unwrap_or_default();
        let message = format!("blob {named} does not have its digest");
        let wrong = sound.is_none().then_some(("blob_mismatch", message));
        self.sizes
            .insert(named, sound.map(|data| data.len() as i64));
        wrong
    }

    /// The body that an event names: its name where it is not there, or what is wrong with it.
    pub fn named(&mut self, body: &Map<String, Value>) -> Result<Named, Lack> {
        let (blob, size) = (member(body, "blob")?, member(body, "size")?);
        let blob = name(Some(blob))?;
        let wrong = match self.sizes.get(&blob) {
            None => Named::Missing(blob.clone()),
            Some(found) if found.is_none() || *found != size.as_i64() => {
                let message = format!("blob {blob} does not have {size} bytes");
                Named::Wrong(("blob_mismatch", message))
            }
            Some(_) => Named::Sound,
        };
        self.used.insert(blob);
        Ok(wrong)
    }

    /// Did an event name it so far?
    pub fn is_named(&self, blob: &str) -> bool {
        self.used.contains(blob)
    }

    /// Is there a line of it?
    pub fn is_there(&self, blob: &str) -> bool {
        self.sizes.contains_key(blob)
    }

    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The names of those that belong to no event.
    pub fn unused(self) -> impl Iterator<Item = String> {
        let used = self.used;
        self.sizes
            .into_keys()
            .filter(move |blob| !used.contains(blob))
    }
}
