//! The ways in which a tape is bent, each with the code that it must be found by.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::SigningKey;
use faultwire_core::digest::sha256_hex;
use serde_json::{Value, json};

use super::choices::Choices;
use crate::maker::{Seal, Tape, key, signer, stranger};

/// Who signs, what is changed before, and what must be found.
type SealBend = (fn() -> SigningKey, fn(&mut Seal), Option<&'static str>);
/// What is changed of an event; whether its text gets a blank besides.
type EventBend = (fn(&mut Value, &Tape) -> bool, &'static str);

pub const SOUND: SealBend = (signer, |_| {}, None);
const INVALID: Option<&str> = Some("seal_invalid");
pub const SEALS: [SealBend; 16] = [
    (stranger, |_| {}, Some("seal_untrusted")),
    (signer, |seal| seal.origin.push('x'), INVALID),
    (signer, |seal| seal.size += 1, INVALID),
    (signer, |seal| seal.size -= 1, INVALID),
    (signer, |seal| seal.root[31] ^= 1, INVALID),
    (signer, |seal| seal.root[0] ^= 0x80, INVALID),
    (
        signer,
        |seal| match seal.previous {
            None => seal.previous = Some("0".repeat(64)),
            Some(_) => seal.previous = None,
        },
        INVALID,
    ),
    (signer, |seal| seal.previous = Some("f".repeat(64)), INVALID),
    (
        signer,
        |seal| seal.said_size = json!(seal.size + 1),
        INVALID,
    ),
    (
        signer,
        |seal| seal.said_root = json!("0".repeat(64)),
        INVALID,
    ),
    (
        signer,
        |seal| seal.key = json!(key(&stranger()).text()),
        INVALID,
    ),
    (
        stranger,
        |seal| seal.key = json!(key(&signer()).text()),
        INVALID,
    ),
    (signer, |seal| seal.name_of = Some(stranger()), INVALID),
    (signer, |seal| seal.cosigner = Some(stranger()), INVALID),
    (
        signer,
        |seal| seal.more = Some(("extra", json!(1))),
        INVALID,
    ),
    (signer, |seal| seal.broken = true, INVALID),
];

pub const EVENTS: [EventBend; 7] = [
    (
        |event, tape| {
            let mut prev = tape.prev().into_bytes();
            prev[63] = if prev[63] == b'0' { b'1' } else { b'0' };
            event["prev"] = json!(String::from_utf8(prev).expect("hex"));
            false
        },
        "chain_broken",
    ),
    (
        |event, tape| {
            event["prev"] = json!(tape.prev().to_uppercase() + "0");
            false
        },
        "chain_broken",
    ),
    (
        |event, tape| {
            event["seq"] = json!(tape.size() + 1);
            false
        },
        "sequence_gap",
    ),
    (
        |event, tape| {
            event["seq"] = json!(tape.size() - 1);
            false
        },
        "sequence_gap",
    ),
    (
        |event, tape| {
            event["seq"] = json!(tape.size().to_string());
            false
        },
        "sequence_gap",
    ),
    (|_, _| true, "record_malformed"),
    (
        |event, _| {
            event["type"] = json!("other");
            false
        },
        "record_malformed",
    ),
];

/// The name of a body that is on no tape.
pub const MISSING: &str = "none";

/// The line of a body, and what an event says of it.
pub fn sound(data: &[u8]) -> (Option<String>, Value) {
    let named = json!({"blob": sha256_hex(data), "size": data.len()});
    (Some(Tape::blob_line(data)), named)
}

/// The same, of one that is not what it says or not there.
pub fn body(
    choices: &mut Choices<'_>,
    data: &[u8],
    wanted: &mut BTreeSet<&'static str>,
) -> (Option<String>, Value) {
    let (line, mut named) = sound(data);
    let line = line.expect("a line");
    let mut value: Value = serde_json::from_str(&line).expect("JSON");
    let mut code = "blob_mismatch";
    let line = match choices.below(6) {
        0 if !data.is_empty() => {
            let mut other = data.to_vec();
            let last = other.len() - 1;
            other[last] ^= 1;
            value["data"] = json!(STANDARD.encode(other));
            Some(value.to_string())
        }
        1 => {
            let longer = [data, b"x"].concat();
            value["data"] = json!(STANDARD.encode(&longer));
            value["size"] = json!(longer.len());
            Some(value.to_string())
        }
        2 => {
            value["size"] = json!(data.len() + 1);
            Some(value.to_string())
        }
        3 => {
            value["more"] = json!(1);
            Some(value.to_string())
        }
        4 => Some(line.replacen(',', ", ", 1)),
        _ => {
            code = "blob_missing";
            named["blob"] = json!(MISSING);
            None
        }
    };
    wanted.insert(code);
    (line, named)
}
