//! Seals: which log they sign, what they are made of, and whose they are.

use serde_json::json;

use super::found;
use crate::maker::{self, Tape, key, signer, stranger};

#[test]
fn tape_seals_name_the_one_before() {
    let mut tape = Tape::whole();
    tape.seal(&signer(), |_| {});
    assert_eq!(found(&tape, true), []);
    tape.event(json!({"type": "note", "text": "more"}));
    tape.seal(&signer(), |_| {});
    assert_eq!(found(&tape, true), []);
    for previous in [
        None,
        Some("0".repeat(64)),
        Some(Tape::whole().note_digest()),
    ] {
        let mut other = Tape::whole();
        other.seal(&signer(), |_| {});
        other.seal(&signer(), |seal| seal.previous = previous.clone());
        assert_eq!(
            found(&other, true),
            [("seal_invalid", Some(14))],
            "{previous:?}"
        );
    }
    let mut first = Tape::unsealed();
    first.seal(&signer(), |seal| seal.previous = Some("0".repeat(64)));
    assert_eq!(found(&first, true), [("seal_invalid", Some(12))]);
}

#[test]
fn tape_seals_sign_this_log_and_no_other() {
    let changes: [fn(&mut maker::Seal); 5] = [
        |seal| seal.origin = "p/other".to_owned(),
        |seal| seal.size += 1,
        |seal| seal.root[0] ^= 1,
        |seal| seal.said_size = json!(11),
        |seal| seal.said_root = json!("00"),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut tape = Tape::unsealed();
        tape.seal(&signer(), change);
        assert_eq!(found(&tape, true), [("seal_invalid", Some(12))], "{at}");
    }
}

#[test]
fn tape_seals_have_these_parts_and_one_signature() {
    let changes: [fn(&mut maker::Seal); 5] = [
        |seal| seal.more = Some(("extra", json!(1))),
        |seal| seal.less = Some("size"),
        |seal| (seal.more, seal.less) = (Some(("extra", json!(1))), Some("key")),
        |seal| seal.cosigner = Some(stranger()),
        |seal| seal.broken = true,
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut tape = Tape::unsealed();
        tape.seal(&signer(), change);
        assert_eq!(found(&tape, true), [("seal_invalid", Some(12))], "{at}");
    }
}

/// A file altered and sealed again by somebody else verifies for nobody who trusts the first key.
#[test]
fn tape_sealed_by_a_stranger_is_untrusted() {
    let mut tape = Tape::unsealed();
    tape.seal(&stranger(), |_| {});
    assert_eq!(found(&tape, true), [("seal_untrusted", Some(12))]);
    let verdict = tape.verdict(vec![key(&signer())], true);
    assert_eq!(verdict.key, Some(key(&stranger()).text()));
    assert!(!verdict.trusted);
}

/// The finding names the key that signed and the ones that could have.
#[test]
fn tape_sealed_by_a_stranger_names_both_keys() {
    let mut tape = Tape::unsealed();
    tape.seal(&stranger(), |_| {});
    let (his, ours) = (
        key(&stranger()).text(),
        format!("`{}`", key(&signer()).text()),
    );
    let several = |count: usize| vec![&*ours; count].join(" or ");
    for (count, expected) in [
        (0, "a trusted key, and none is trusted here".to_owned()),
        (1, several(1)),
        (3, several(3)),
        (4, format!("{} or another of 4 trusted keys", several(3))),
    ] {
        let keys = (0..count).map(|_| key(&signer())).collect();
        let message = &tape.verdict(keys, true).findings[0].message;
        let said = format!("the seal at event 12 is signed by `{his}`, expected {expected}");
        assert_eq!(message, &said);
    }
    assert_eq!(tape.verdict(vec![key(&stranger())], true).findings, []);
}

#[test]
fn tape_seal_that_names_another_key_than_signed_it_is_invalid() {
    for (signs, named) in [(signer(), stranger()), (stranger(), signer())] {
        let mut tape = Tape::unsealed();
        tape.seal(&signs, |seal| seal.key = json!(key(&named).text()));
        assert_eq!(found(&tape, true), [("seal_invalid", Some(12))]);
        let verdict = tape.verdict(vec![key(&signer())], true);
        assert_eq!((verdict.key, verdict.trusted), (None, false));
    }
}

/// A signature by another key under the trusted key's name and ID is none.
#[test]
fn tape_seal_with_a_borrowed_name_is_invalid() {
    let mut tape = Tape::unsealed();
    tape.seal(&stranger(), |seal| {
        seal.key = json!(key(&signer()).text());
        seal.name_of = Some(signer());
    });
    assert_eq!(found(&tape, true), [("seal_invalid", Some(12))]);
}

#[test]
fn tape_is_sealed_to_its_end_or_says_so() {
    assert_eq!(found(&Tape::unsealed(), false), [("seal_missing", None)]);
    assert_eq!(found(&Tape::unsealed(), true), [("seal_required", None)]);
    for events in 1..=2 {
        let mut tape = Tape::whole();
        for _ in 0..events {
            tape.event(json!({"type": "note"}));
        }
        assert_eq!(found(&tape, false), [("tail_unsealed", None)]);
        assert_eq!(found(&tape, true), [("seal_required", None)]);
    }
    let mut tape = Tape::whole();
    tape.event(json!({"type": "note"}));
    let said = &tape.verdict(vec![key(&signer())], false).findings[0].message;
    assert_eq!(said, "the events after event 12 are under no seal");
}
