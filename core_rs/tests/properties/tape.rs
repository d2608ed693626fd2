//! Tapes, line by line: whoever has not the key makes none that the verifier finds sound.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use faultwire_core::digest::{Hash, sha256_hex, to_hash};
use faultwire_core::tape::{TapeVerifier, Verdict, VerifierKey};
use serde_json::Value;

/// The tapes of `tests/vectors`: the key that sealed them, and the roots of those without a finding.
pub struct Sealed {
    key: VerifierKey,
    roots: BTreeSet<Hash>,
}

impl Sealed {
    pub fn read() -> Self {
        let text = include_bytes!("../../../tests/vectors/tapes.json");
        let file: Value = serde_json::from_slice(text).expect("JSON");
        let key = VerifierKey::parse(file["key"].as_str().expect("a key")).expect("a key");
        let sound = |case: &&Value| case["codes"].as_array().is_some_and(Vec::is_empty);
        let cases = file["tapes"].as_array().expect("tapes");
        let roots: BTreeSet<Hash> = cases.iter().filter(sound).map(root).collect();
        assert!(!roots.is_empty());
        Self { key, roots }
    }

    /// Whether the lines are a sound tape, which they are only as those who have the key made them.
    pub fn judge(&self, text: &[u8]) -> bool {
        let with = verdict(vec![self.key.clone()], text);
        if with.findings.is_empty() {
            assert!(with.trusted && self.roots.contains(&with.root));
            // A body is no part of the tree: the events name its digest.
            assert!(lines(text).all(|line| !is_spoilt(line)));
        }
        let without = verdict(Vec::new(), text);
        assert!(!without.trusted && !without.findings.is_empty());
        assert_eq!(without.root, with.root);
        with.findings.is_empty()
    }
}

fn root(case: &Value) -> Hash {
    let text = case["root"].as_str().expect("a root");
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
    let bytes: Vec<u8> = (0..64).step_by(2).map(byte).collect();
    to_hash(&bytes, "root").expect("32 bytes")
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
}

/// Whether a line holds a body that is not the one of its digest.
fn is_spoilt(line: &[u8]) -> bool {
    let Ok(Value::Object(members)) = serde_json::from_slice::<Value>(line) else {
        return false;
    };
    let text = |name| members.get(name).and_then(Value::as_str);
    match (members.contains_key("seq"), text("blob"), text("data")) {
        (false, Some(digest), Some(data)) => {
            STANDARD.decode(data).map(|data| sha256_hex(&data)) != Ok(digest.to_owned())
        }
        _ => false,
    }
}

fn verdict(keys: Vec<VerifierKey>, text: &[u8]) -> Verdict {
    let mut verifier = TapeVerifier::new(keys, true);
    let mut found = 0;
    for line in lines(text) {
        let more = verifier.line(line);
        assert!(more >= found);
        found = more;
    }
    verifier.close()
}
