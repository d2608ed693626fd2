//! Events: their text and order, what opens and ends, and what they say besides.

use serde_json::{Value, json};

use super::{Found, found};
use crate::maker::Tape;

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
