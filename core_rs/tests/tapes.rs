//! Tapes that are made here, sealed by keys of the tests and then changed: each rule of the verifier on
//! its own, with the findings and the events that they are about.

#[path = "tapes/bodies.rs"]
mod bodies;
#[path = "tapes/events.rs"]
mod events;
mod maker;
#[path = "tapes/seals.rs"]
mod seals;

use faultwire_core::tape::TapeVerifier;
use maker::{Tape, key, signer, stranger};

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
