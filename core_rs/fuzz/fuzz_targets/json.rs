//! JSON: a document, the places of its values, an edit at one of them, and its canonical form.
#![no_main]

#[path = "../../tests/dice/mod.rs"]
mod dice;
#[path = "../../tests/properties/mod.rs"]
mod properties;

use dice::Dice;
use faultwire_core::json;
use libfuzzer_sys::fuzz_target;
use properties::json::{edited, is_json, path, read_json};

/// Deeper than any text that is edited here: the model recurses.
const DEEPEST: usize = 8;

fuzz_target!(|data: &[u8]| {
    let Some((seed, body)) = data.split_first_chunk::<8>() else {
        return;
    };
    read_json(body);
    let ours = is_json(body, "this input");
    if let Ok(written) = json::jcs(body) {
        assert_eq!(json::jcs(&written), Ok(written.clone()));
        assert!(ours && is_json(&written, "its canonical form"));
    }
    // What serde_json does not read (a number too large, a text of half a surrogate) has no model.
    if !ours || serde_json::from_slice::<serde_json::Value>(body).is_err() {
        return;
    }
    let mut dice = Dice(u64::from_le_bytes(*seed));
    let (path, doubled) = path(&mut dice, body, DEEPEST);
    let new: [&[u8]; 4] = [b"null", b"{\"x\":[1]}", b"\"\\u00e9\"", b"-0.5e9"];
    edited(body, &path, doubled, dice.pick(&new), "this input");
});
