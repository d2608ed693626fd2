//! Every rule of an exported tape, line by line; nothing stops at the first finding.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use serde_json::{Map, Value};

use crate::digest::{Hash, hex, leaf_hash, sha256_hex};
use crate::json::strict;
use crate::proof::Frontier;
use crate::tape::line::{self, Lack, member, members, name, text, whole};
use crate::tape::note::VerifierKey;
use crate::tape::order::{Order, bypassed};
use crate::tape::sealed::Seals;

const KINDS: [&str; 16] = [
    "tape",
    "session_start",
    "session_end",
    "request",
    "forwarded",
    "response",
    "stream_chunk",
    "trailers",
    "message",
    "fault",
    "drop",
    "redaction",
    "end",
    "seal",
    "note",
    "foreign",
];

/// What says of an event that something is missing, not that anything is wrong.
const NOTES: [&str; 4] = [
    "session_open",
    "exchange_open",
    "drop_present",
    "bypass_present",
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

/// Takes the lines of an export, without its first, one after the other.
pub struct TapeVerifier {
    seals: Seals,
    findings: Vec<Finding>,
    tree: Frontier,
    /// The leaf hash of the event before, in hex.
    prev: String,
    /// Bytes of each body; `None` where it is not what its name says.
    blobs: BTreeMap<String, Option<i64>>,
    used: BTreeSet<String>,
    order: Order,
    origin: Option<String>,
    settings: Option<String>,
}

impl TapeVerifier {
    /// Trusts the seals of these keys; `demanded` says that the tape must be sealed to its end.
    pub fn new(keys: Vec<VerifierKey>, demanded: bool) -> Self {
        Self {
            seals: Seals::new(keys, demanded),
            findings: Vec::new(),
            tree: Frontier::default(),
            prev: "0".repeat(64),
            blobs: BTreeMap::new(),
            used: BTreeSet::new(),
            order: Order::default(),
            origin: None,
            settings: None,
        }
    }

    /// The next line, with or without its line feed; the number of findings so far.
    pub fn line(&mut self, line: &[u8]) -> usize {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        match line::parse(line) {
            Some((Value::Object(value), right))
                if value.contains_key("blob") && !value.contains_key("type") =>
            {
                self.blob(&value, right);
            }
            parsed => self.event(line, parsed),
        }
        self.findings.len()
    }

    /// What is to be said once all lines are read.
    pub fn close(mut self) -> Verdict {
        let events = self.tree.size();
        let (sessions, exchanges) = (self.order.begun, self.order.asked);
        let blobs = self.blobs.len();
        if events == 0 {
            self.find(
                "sequence_gap",
                "event 0 is missing, the tape is empty",
                Some(0),
            );
        }
        let open = std::mem::take(&mut self.order);
        for (session, seq) in open.sessions {
            self.find(
                "session_open",
                format!("session {session} never ended"),
                Some(seq),
            );
        }
        for ((session, number), seq) in open.exchanges {
            let message = format!("exchange {number} of session {session} never ended");
            self.find("exchange_open", message, Some(seq));
        }
        if let Some((code, message)) = self.seals.close(events) {
            self.find(code, message, None);
        }
        for blob in std::mem::take(&mut self.blobs).into_keys() {
            if !self.used.contains(&blob) {
                self.find(
                    "blob_unreferenced",
                    format!("blob {blob} belongs to no event"),
                    None,
                );
            }
        }
        let (key, trusted) = self.seals.signer.unzip();
        Verdict {
            events,
            root: self.tree.root(),
            origin: self.origin,
            settings: self.settings,
            sessions,
            exchanges,
            blobs,
            key,
            trusted: trusted == Some(true),
            findings: self.findings,
        }
    }

    fn find(&mut self, code: &'static str, message: impl Into<String>, seq: Option<usize>) {
        let note = NOTES.contains(&code) && seq.is_some();
        if self.findings.len() < MAX_FINDINGS || !note {
            let message = message.into();
            self.findings.push(Finding { code, message, seq });
        }
    }

    /// A body. No event's hash covers its line, so the line has one text only, and nothing beside.
    fn blob(&mut self, value: &Map<String, Value>, right: bool) {
        let data = value.get("data").and_then(Value::as_str);
        let data = data.and_then(|data| STANDARD.decode(data).ok());
        let digest = value.get("blob").and_then(Value::as_str);
        let only = right && value.len() == 3;
        let sound = data.filter(|data| {
            only && digest == Some(&*sha256_hex(data))
                && value.get("size").and_then(Value::as_u64) == Some(data.len() as u64)
        });
        let named = name(value.get("blob")).unwrap_or_default();
        if sound.is_none() {
            self.find(
                "blob_mismatch",
                format!("blob {named} does not have its digest"),
                None,
            );
        }
        self.blobs
            .insert(named, sound.map(|data| data.len() as i64));
    }

    fn event(&mut self, line: &[u8], parsed: Option<(Value, bool)>) {
        let seq = self.tree.size();
        // Only a seal asks for the tree head before it, and that takes a hash for each level.
        let sealing = memmem::find(line, b"\"seal\"").is_some();
        let before = if sealing { self.tree.root() } else { [0; 32] };
        let leaf = leaf_hash(line);
        self.tree.push(leaf);
        let prev = std::mem::replace(&mut self.prev, hex(&leaf));
        let (event, right) = match parsed {
            Some((Value::Object(event), right)) => (Some(event), right),
            _ => (None, false),
        };
        if !right {
            let message = format!("event {seq} is not canonical JSON");
            self.find("record_malformed", message, Some(seq));
        }
        let Some(event) = event else { return };
        if event.get("prev").and_then(Value::as_str) != Some(&*prev) {
            let message = format!("event {seq} does not follow {prev}");
            self.find("chain_broken", message, Some(seq));
        }
        if event.get("seq").and_then(Value::as_u64) != Some(seq as u64) {
            let message = format!("event {seq} says that it is another");
            self.find("sequence_gap", message, Some(seq));
        }
        if let Err(lack) = self.meaning(seq, &event, &before) {
            let message = format!("event {seq} lacks what its kind must have: {lack}");
            self.find("record_malformed", message, Some(seq));
        }
    }

    fn meaning(&mut self, seq: usize, event: &Map<String, Value>, root: &Hash) -> Result<(), Lack> {
        let kind = match member(event, "type")? {
            Value::String(kind) => kind.as_str(),
            Value::Array(_) | Value::Object(_) => return Err("a kind that is no text".to_owned()),
            _ => "",
        };
        if !KINDS.contains(&kind) {
            self.find(
                "record_malformed",
                format!("event {seq} is of no kind"),
                Some(seq),
            );
        }
        if seq == 0 {
            self.first(kind, event)?;
        }
        if let Some(ended) = self.order.after_end(event)? {
            let message = format!("event {seq} comes after the end of {ended}");
            self.find("event_after_end", message, Some(seq));
        }
        match kind {
            "seal" => {
                let found = self.seals.event(seq, event, self.origin.as_deref(), root)?;
                if let Some((code, message)) = found {
                    self.find(code, message, Some(seq));
                }
            }
            "note" if event.get("bad") == Some(&Value::Bool(true)) => {
                let (code, text) = (member(event, "code")?, member(event, "text")?);
                self.find("import_finding", format!("{code}: {text}"), Some(seq));
            }
            "drop" => {
                let (number, reason) = (member(event, "exchange")?, member(event, "reason")?);
                let message = format!("exchange {number} is missing: {reason}");
                self.find("drop_present", message, Some(seq));
            }
            _ => self.opens_or_closes(seq, kind, event)?,
        }
        match event.get("body") {
            Some(body) if is_something(body) => self.body(seq, event, members(body)?),
            _ => Ok(()),
        }
    }

    fn first(&mut self, kind: &str, event: &Map<String, Value>) -> Result<(), Lack> {
        if kind != "tape" {
            let message = "the first event does not say what tape this is";
            self.find("schema_mismatch", message, Some(0));
        }
        self.origin = member(event, "origin")?.as_str().map(str::to_owned);
        let settings = text(event, "settings")?;
        if !matches!(strict(settings.as_bytes()), Ok(Value::Object(_))) {
            return Err("`settings` is no object".to_owned());
        }
        self.settings = Some(settings.to_owned());
        Ok(())
    }

    fn opens_or_closes(
        &mut self,
        seq: usize,
        kind: &str,
        event: &Map<String, Value>,
    ) -> Result<(), Lack> {
        for side in self.order.follow(seq, kind, event)? {
            let message = format!("the {side} chunks before event {seq} do not add up");
            self.find("record_malformed", message, Some(seq));
        }
        if kind != "session_end" {
            return Ok(());
        }
        if let Some(past) = bypassed(event)? {
            let session = name(event.get("session"))?;
            let message = format!("session {session} reached {past}");
            self.find("bypass_present", message, Some(seq));
        }
        Ok(())
    }

    fn body(
        &mut self,
        seq: usize,
        event: &Map<String, Value>,
        body: &Map<String, Value>,
    ) -> Result<(), Lack> {
        let (blob, size) = (member(body, "blob")?, member(body, "size")?);
        let blob = name(Some(blob))?;
        match self.blobs.get(&blob) {
            None => self.find("blob_missing", format!("blob {blob} is missing"), Some(seq)),
            Some(found) if found.is_none() || *found != size.as_i64() => {
                let message = format!("blob {blob} does not have {size} bytes");
                self.find("blob_mismatch", message, Some(seq));
            }
            Some(_) => {}
        }
        self.used.insert(blob);
        if body.contains_key("chunks") {
            self.order.piece(event, whole(size)?)?;
        }
        Ok(())
    }
}

/// What a member says that is neither null nor empty, zero or false.
fn is_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(elements) => !elements.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_on_events_are_listed_up_to_a_limit_and_errors_beyond_it() {
        let mut verifier = TapeVerifier::new(Vec::new(), false);
        for _ in 0..MAX_FINDINGS - 1 {
            verifier.find("drop_present", "", Some(1));
        }
        let mut listed = |code, seq| {
            let before = verifier.findings.len();
            verifier.find(code, "", seq);
            verifier.findings.len() > before
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
