//! Makes tapes line by line, with seals that can be bent before they are signed.

#![allow(dead_code)] // each test file uses a part of it

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use faultwire_core::digest::{Hash, hex, leaf_hash, merkle_root, sha256, sha256_hex};
use faultwire_core::json::jcs;
use faultwire_core::tape::{TapeVerifier, Verdict, VerifierKey};
use serde_json::{Value, json};

/// The key that the tests trust.
pub fn signer() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

/// A key that nobody trusts.
pub fn stranger() -> SigningKey {
    SigningKey::from_bytes(&[8; 32])
}

pub fn key(signer: &SigningKey) -> VerifierKey {
    VerifierKey::parse(&key_text(signer)).expect("a key")
}

fn key_text(signer: &SigningKey) -> String {
    let data = [&[1], signer.verifying_key().as_bytes().as_slice()].concat();
    let id: String = key_id(signer)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("p+{id}+{}", STANDARD.encode(data))
}

fn key_id(signer: &SigningKey) -> Vec<u8> {
    let data = [b"p\n\x01".as_slice(), signer.verifying_key().as_bytes()].concat();
    sha256(&data)[..4].to_vec()
}

/// A seal before it is signed: what the note says, and what the event says beside it.
pub struct Seal {
    pub origin: String,
    pub size: usize,
    pub root: Hash,
    pub previous: Option<String>,
    pub said_size: Value,
    pub said_root: Value,
    pub key: Value,
    pub more: Option<(&'static str, Value)>,
    pub less: Option<&'static str>,
    pub cosigner: Option<SigningKey>,
    /// Whose name and ID the signature carries, if not the signer's.
    pub name_of: Option<SigningKey>,
    pub broken: bool,
}

#[derive(Default)]
pub struct Tape {
    pub lines: Vec<String>,
    leaves: Vec<Hash>,
    note: Option<String>,
}

impl Tape {
    /// A first event.
    pub fn opened() -> Self {
        let mut tape = Self::default();
        tape.event(json!({"type": "tape", "origin": "p/t", "settings": r#"{"a":1}"#}));
        tape
    }

    /// Two sessions and three exchanges, two of them with bodies, as 12 events.
    pub fn unsealed() -> Self {
        let mut tape = Self::opened();
        let blob = tape.blob(b"{}");
        let other = tape.blob(b"[1]");
        tape.event(json!({"type": "session_start", "session": "a"}));
        tape.event(json!({"type": "session_start", "session": "b"}));
        for (session, number) in [("a", 1), ("a", 2), ("b", 1)] {
            tape.event(
                json!({"type": "request", "session": session, "exchange": number,
                              "body": {"blob": blob, "size": 2}}),
            );
        }
        tape.event(
            json!({"type": "response", "session": "a", "exchange": 1, "side": "upstream",
                          "body": {"blob": other, "size": 3, "chunks": [[1, 0], [2, 9]]}}),
        );
        for (session, number) in [("a", 1), ("a", 2), ("b", 1)] {
            tape.event(json!({"type": "end", "session": session, "exchange": number}));
        }
        tape.event(json!({"type": "session_end", "session": "a"}));
        tape.event(
            json!({"type": "session_end", "session": "b", "bypassed": [], "bypassed_more": 0}),
        );
        tape
    }

    /// The same, sealed.
    pub fn whole() -> Self {
        let mut tape = Self::unsealed();
        tape.seal(&signer(), |_| {});
        tape
    }

    pub fn line(&mut self, line: String) {
        self.leaves.push(leaf_hash(line.as_bytes()));
        self.lines.push(line);
    }

    /// Events so far.
    pub fn size(&self) -> usize {
        self.leaves.len()
    }

    /// What the next event follows.
    pub fn prev(&self) -> String {
        self.leaves.last().map_or("0".repeat(64), hex)
    }

    /// The line of an event; its place and what it follows are put in where they are not there.
    pub fn event_line(&self, mut event: Value) -> String {
        let members = event.as_object_mut().expect("an object");
        members.entry("prev").or_insert(json!(self.prev()));
        members.entry("seq").or_insert(json!(self.size()));
        let line = jcs(event.to_string().as_bytes()).expect("canonical JSON");
        String::from_utf8(line).expect("text")
    }

    pub fn event(&mut self, event: Value) {
        self.line(self.event_line(event));
    }

    pub fn blob_line(data: &[u8]) -> String {
        let encoded = STANDARD.encode(data);
        json!({"blob": sha256_hex(data), "data": encoded, "size": data.len()}).to_string()
    }

    /// A body; its name.
    pub fn blob(&mut self, data: &[u8]) -> String {
        self.lines.push(Self::blob_line(data));
        sha256_hex(data)
    }

    pub fn root(&self) -> Hash {
        merkle_root(&self.leaves)
    }

    /// SHA-256 of the last seal's note.
    pub fn note_digest(&self) -> String {
        sha256_hex(self.note.as_deref().expect("a seal").as_bytes())
    }

    pub fn seal(&mut self, signer: &SigningKey, bend: impl Fn(&mut Seal)) {
        let (size, root) = (self.leaves.len(), self.root());
        let mut seal = Seal {
            origin: "p/t".to_owned(),
            size,
            root,
            previous: self.note.as_ref().map(|note| sha256_hex(note.as_bytes())),
            said_size: json!(size),
            said_root: json!(hex(&root)),
            key: json!(key_text(signer)),
            more: None,
            less: None,
            cosigner: None,
            name_of: None,
            broken: false,
        };
        bend(&mut seal);
        let note = seal.note(signer);
        let mut event = json!({"type": "seal", "size": seal.said_size, "root": seal.said_root,
                               "note": note, "key": seal.key});
        let members = event.as_object_mut().expect("an object");
        if let Some((name, value)) = seal.more {
            members.insert(name.to_owned(), value);
        }
        if let Some(name) = seal.less {
            members.remove(name);
        }
        self.note = Some(note);
        self.event(event);
    }

    pub fn verdict(&self, keys: Vec<VerifierKey>, demanded: bool) -> Verdict {
        let mut verifier = TapeVerifier::new(keys, demanded);
        for line in &self.lines {
            verifier.line(line.as_bytes());
        }
        verifier.close()
    }
}

impl Seal {
    fn note(&self, signer: &SigningKey) -> String {
        let mut text = format!(
            "{}\n{}\n{}\n",
            self.origin,
            self.size,
            STANDARD.encode(self.root)
        );
        if let Some(previous) = &self.previous {
            text += &format!("previous sha256:{previous}\n");
        }
        let sign = |by: &SigningKey, name_of: &SigningKey| {
            let signature = by.sign(text.as_bytes()).to_bytes();
            let data = [key_id(name_of).as_slice(), &signature].concat();
            format!("— p {}\n", STANDARD.encode(data))
        };
        let mut lines = sign(signer, self.name_of.as_ref().unwrap_or(signer));
        if let Some(cosigner) = &self.cosigner {
            lines += &sign(cosigner, cosigner);
        }
        if self.broken {
            lines = lines.replace('—', "-");
        }
        format!("{text}\n{lines}")
    }
}
