//! Every rule of an exported tape, line by line; nothing stops at the first finding.

use memchr::memmem;
use serde_json::{Map, Value};

use crate::digest::{Hash, hex, leaf_hash};
use crate::json::strict;
use crate::proof::Frontier;
use crate::tape::bodies::{Bodies, Named};
use crate::tape::erasures::Erasures;
use crate::tape::findings::{Findings, Verdict};
use crate::tape::line::{self, Lack, member, members, name, text, whole};
use crate::tape::note::VerifierKey;
use crate::tape::order::{Order, bypassed};
use crate::tape::sealed::Seals;

const KINDS: [&str; 17] = [
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
    "erasure",
];

/// Takes the lines of an export, without its first, one after the other.
pub struct TapeVerifier {
    seals: Seals,
    findings: Findings,
    tree: Frontier,
    /// The leaf hash of the event before, in hex.
    prev: String,
    bodies: Bodies,
    erasures: Erasures,
    order: Order,
    origin: Option<String>,
    settings: Option<String>,
}

impl TapeVerifier {
    /// Trusts the seals of these keys; `demanded` says that the tape must be sealed to its end.
    pub fn new(keys: Vec<VerifierKey>, demanded: bool) -> Self {
        Self {
            seals: Seals::new(keys, demanded),
            findings: Findings::default(),
            tree: Frontier::default(),
            prev: "0".repeat(64),
            bodies: Bodies::default(),
            erasures: Erasures::default(),
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
                if let Some((code, message)) = self.bodies.add(&value, right) {
                    self.find(code, message, None);
                }
            }
            parsed => self.event(line, parsed),
        }
        self.findings.count()
    }

    /// What is to be said once all lines are read.
    pub fn close(mut self) -> Verdict {
        let events = self.tree.size();
        let (sessions, exchanges) = (self.order.begun, self.order.asked);
        let blobs = self.bodies.count();
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
        let erasures = std::mem::take(&mut self.erasures);
        let bodies = &self.bodies;
        for (code, message, seq) in erasures.close(self.seals.last(), |blob| bodies.is_there(blob))
        {
            self.findings.add(code, message, Some(seq));
        }
        for blob in std::mem::take(&mut self.bodies).unused() {
            let message = format!("blob {blob} belongs to no event");
            self.find("blob_unreferenced", message, None);
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
            findings: self.findings.into_list(),
        }
    }

    fn find(&mut self, code: &'static str, message: impl Into<String>, seq: Option<usize>) {
        self.findings.add(code, message, seq);
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
            "erasure" => {
                let bodies = &self.bodies;
                let is_named = |blob: &str| bodies.is_named(blob);
                self.erasures.event(seq, event, is_named)?;
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
        match self.bodies.named(body)? {
            Named::Sound => (),
            Named::Missing(blob) => self.erasures.missing(blob, seq),
            Named::Wrong((code, message)) => self.find(code, message, Some(seq)),
        }
        if body.contains_key("chunks") {
            self.order.piece(event, whole(member(body, "size")?)?)?;
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
