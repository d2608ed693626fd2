//! Bodies: each is what its name says, and belongs to an event that says the same.

use serde_json::{Value, json};

use super::{Found, found};
use crate::maker::Tape;

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
        ("seal_missing", None),
        ("blob_missing", Some(2)), // after all seals: one of them may sign that it was erased
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
