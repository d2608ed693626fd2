//! Tapes that are made here, sealed by keys of the tests and then changed: each rule of the verifier on
//! its own, with the findings and the events that they are about.

mod maker;

use faultwire_core::tape::TapeVerifier;
use maker::{Tape, key, signer, stranger};
use serde_json::{Value, json};

type Found = Vec<(&'static str, Option<usize>)>;

/// Codes and events, under the key of the tests.
fn found(tape: &Tape, demanded: bool) -> Found {
    let verdict = tape.verdict(vec![key(&signer())], demanded);
    let findings = verdict.findings.into_iter();
    findings.map(|found| (found.code, found.seq)).collect()
}

#[test]
fn tape_that_is_sound_has_no_finding() {
    let tape = Tape::whole();
    let verdict = tape.verdict(vec![key(&stranger()), key(&signer())], true);
    assert_eq!(verdict.findings, []);
    assert_eq!((verdict.events, verdict.blobs), (13, 2));
    assert_eq!((verdict.sessions, verdict.exchanges), (2, 3));
    assert_eq!(verdict.origin.as_deref(), Some("p/t"));
    assert_eq!(verdict.settings.as_deref(), Some(r#"{"a":1}"#));
    assert_eq!(verdict.key, Some(key(&signer()).text()));
    assert!(verdict.trusted);
    assert_eq!(verdict.root, tape.root());
}

#[test]
fn tape_lines_may_end_in_a_line_feed_and_are_answered_with_the_findings_so_far() {
    let mut verifier = TapeVerifier::new(Vec::new(), false);
    let tape = Tape::whole();
    assert_eq!(verifier.line(format!("{}\n", tape.lines[0]).as_bytes()), 0);
    assert_eq!(verifier.line(b"{}"), 3); // neither follows, nor says where it is, nor what
    assert_eq!(verifier.line(b"nothing"), 4);
    assert_eq!(verifier.line(b"[]"), 5);
}

#[test]
fn tape_without_events_misses_its_first() {
    let empty: Found = vec![("sequence_gap", Some(0)), ("seal_missing", None)];
    assert_eq!(found(&Tape::default(), false), empty);
}

// ---------------------------------------------------------------- seals

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

// ---------------------------------------------------------------- events

#[test]
fn tape_events_have_one_text_follow_each_other_and_count() {
    let mut tape = Tape::opened();
    tape.event(json!({"type": "note", "prev": "0".repeat(64)}));
    tape.event(json!({"type": "note", "seq": 9}));
    tape.line(r#"{"type": "note"}"#.to_owned());
    tape.line("[1]".to_owned());
    let expected: Found = vec![
        ("chain_broken", Some(1)),
        ("sequence_gap", Some(2)),
        ("record_malformed", Some(3)),
        ("chain_broken", Some(3)),
        ("sequence_gap", Some(3)),
        ("record_malformed", Some(4)),
        ("seal_missing", None),
    ];
    assert_eq!(found(&tape, false), expected);
}

#[test]
fn tape_events_are_of_a_known_kind() {
    for (kind, told) in [
        (json!("other"), "event 1 is of no kind"),
        (json!(7), "event 1 is of no kind"),
        (
            json!(["note"]),
            "event 1 lacks what its kind must have: a kind that is no text",
        ),
        (
            json!({}),
            "event 1 lacks what its kind must have: a kind that is no text",
        ),
    ] {
        let mut tape = Tape::opened();
        tape.event(json!({"type": kind}));
        let findings = tape.verdict(Vec::new(), false).findings;
        let said: Vec<_> = findings
            .iter()
            .map(|one| (one.code, &*one.message))
            .collect();
        assert_eq!(
            said,
            [
                ("record_malformed", told),
                ("seal_missing", "the tape has no seal")
            ]
        );
    }
}

#[test]
fn tape_begins_with_what_it_is() {
    let first = |event: Value| {
        let mut tape = Tape::default();
        tape.event(event);
        let verdict = tape.verdict(Vec::new(), false);
        let codes: Vec<_> = verdict.findings.iter().map(|one| one.code).collect();
        (codes, verdict.origin, verdict.settings)
    };
    let (codes, ..) = first(json!({"type": "note", "origin": "o", "settings": "{}"}));
    assert_eq!(codes, ["schema_mismatch", "seal_missing"]);
    for settings in ["[]", "1", "", r#"{"a":1,"a":1}"#] {
        let (codes, origin, found) =
            first(json!({"type": "tape", "origin": "o", "settings": settings}));
        assert_eq!(codes, ["record_malformed", "seal_missing"], "{settings}");
        assert_eq!((origin.as_deref(), found), (Some("o"), None));
    }
    let (codes, origin, _) = first(json!({"type": "tape", "settings": "{}"}));
    assert_eq!(
        (codes, origin),
        (vec!["record_malformed", "seal_missing"], None)
    );
    let mut twice = Tape::opened();
    twice.event(json!({"type": "tape", "origin": "q", "settings": "[]"}));
    assert_eq!(found(&twice, false), [("seal_missing", None)]);
}

#[test]
fn tape_sessions_and_exchanges_end_once_and_last() {
    let mut tape = Tape::opened();
    for session in ["a", "b"] {
        tape.event(json!({"type": "session_start", "session": session}));
    }
    tape.event(json!({"type": "request", "session": "a", "exchange": 1}));
    tape.event(json!({"type": "request", "session": "a", "exchange": 2}));
    tape.event(json!({"type": "end", "session": "a", "exchange": 1}));
    tape.event(json!({"type": "trailers", "session": "a", "exchange": 1}));
    tape.event(json!({"type": "trailers", "session": "a", "exchange": 2}));
    tape.event(json!({"type": "session_end", "session": "b"}));
    tape.event(json!({"type": "note", "session": "b"}));
    tape.event(json!({"type": "drop", "session": "a", "exchange": 3, "reason": "full"}));
    let verdict = tape.verdict(Vec::new(), false);
    let said: Vec<_> = verdict
        .findings
        .iter()
        .map(|one| (one.code, one.seq, &*one.message))
        .collect();
    assert_eq!(
        said,
        [
            (
                "event_after_end",
                Some(6),
                r#"event 6 comes after the end of exchange 1 of session "a""#
            ),
            (
                "event_after_end",
                Some(9),
                r#"event 9 comes after the end of session "b""#
            ),
            ("drop_present", Some(10), r#"exchange 3 is missing: "full""#),
            ("session_open", Some(1), r#"session "a" never ended"#),
            (
                "exchange_open",
                Some(4),
                r#"exchange 2 of session "a" never ended"#
            ),
            ("seal_missing", None, "the tape has no seal"),
        ]
    );
}

#[test]
fn tape_says_what_was_reached_past_the_proxy() {
    let one = json!({"address": "192.0.2.1", "host": "h", "port": 443, "transport": "tcp"});
    let six: Vec<Value> = vec![one.clone(); 6];
    let told = |event: Value| {
        let mut tape = Tape::opened();
        tape.event(event);
        let findings = tape.verdict(Vec::new(), false).findings.into_iter();
        let said: Vec<_> = findings.map(|one| (one.code, one.message)).collect();
        said[0].clone()
    };
    let listed = ["192.0.2.1 port 443"; 5].join(", ");
    assert_eq!(
        told(json!({"type": "session_end", "session": "a", "bypassed": six, "bypassed_more": 3})),
        (
            "bypass_present",
            format!(r#"session "a" reached 9 addresses past the proxy: {listed}"#)
        )
    );
    // only the end of a session says so
    assert_eq!(
        told(json!({"type": "note", "session": "a", "bypassed": [one]})).0,
        "seal_missing"
    );
}

// ---------------------------------------------------------------- bodies

#[test]
fn tape_bodies_are_what_their_names_say() {
    let sound = Tape::blob_line(b"{}");
    let changes = [
        ("data", json!("e31="), false),
        ("data", json!("e3s="), false),
        ("size", json!(3), false),
        ("size", json!("2"), false),
        ("more", json!(1), false),
        ("size", json!(2), true),
    ];
    for (member, value, holds) in changes {
        let mut line: Value = serde_json::from_str(&sound).expect("JSON");
        line[member] = value;
        let mut tape = Tape::opened();
        tape.lines.push(line.to_string());
        tape.event(json!({"type": "message", "body": {"blob": line["blob"], "size": 2}}));
        let expected: Found = match holds {
            true => vec![("seal_missing", None)],
            false => vec![
                ("blob_mismatch", None),
                ("blob_mismatch", Some(1)),
                ("seal_missing", None),
            ],
        };
        assert_eq!(found(&tape, false), expected, "{line}");
    }
    let mut spaced = Tape::opened();
    spaced.lines.push(sound.replace(",", ", "));
    assert_eq!(found(&spaced, false)[0], ("blob_mismatch", None));
}

#[test]
fn tape_bodies_have_the_size_that_the_event_says_and_belong_to_one() {
    let mut tape = Tape::opened();
    let blob = tape.blob(b"{}");
    tape.event(json!({"type": "message", "body": {"blob": blob, "size": 3}}));
    tape.event(json!({"type": "message", "body": {"blob": "none", "size": 3}}));
    tape.blob(b"[]");
    let expected: Found = vec![
        ("blob_mismatch", Some(1)),
        ("blob_missing", Some(2)),
        ("seal_missing", None),
        ("blob_unreferenced", None),
    ];
    assert_eq!(found(&tape, false), expected);
}

#[test]
fn tape_event_that_has_a_member_blob_is_an_event() {
    let mut tape = Tape::opened();
    tape.event(json!({"type": "note", "blob": "b"}));
    assert_eq!(found(&tape, false), [("seal_missing", None)]);
    assert_eq!(tape.verdict(Vec::new(), false).events, 2);
}

#[test]
fn tape_event_without_a_body_says_so_in_any_way() {
    for none in [
        json!(null),
        json!(false),
        json!(0),
        json!(""),
        json!([]),
        json!({}),
    ] {
        let mut tape = Tape::opened();
        tape.event(json!({"type": "message", "body": none}));
        assert_eq!(found(&tape, false), [("seal_missing", None)], "{none}");
    }
    for some in [
        json!(true),
        json!(1),
        json!("x"),
        json!([0]),
        json!({"size": 1}),
    ] {
        let mut tape = Tape::opened();
        tape.event(json!({"type": "message", "body": some}));
        let expected: Found = vec![("record_malformed", Some(1)), ("seal_missing", None)];
        assert_eq!(found(&tape, false), expected, "{some}");
    }
}

#[test]
fn tape_chunks_add_up_to_the_bodies_of_their_side() {
    for (chunks, wrong) in [
        (json!([[2, 5]]), false),
        (json!([[1, 5]]), true),
        (json!([]), true),
    ] {
        let mut tape = Tape::opened();
        let blob = tape.blob(b"{}");
        let named =
            |kind: &str| json!({"type": kind, "session": "a", "exchange": 1, "side": "upstream"});
        let mut chunk = named("stream_chunk");
        chunk["body"] = json!({"blob": blob, "size": 2, "chunks": chunks});
        tape.event(chunk);
        tape.event(named("end"));
        let mut expected: Found = vec![("seal_missing", None)];
        if wrong {
            expected.insert(0, ("record_malformed", Some(2)));
        }
        assert_eq!(found(&tape, false), expected, "{chunks}");
    }
}
