//! JSON: an edit of the bytes is that edit of the document, and what is read as JSON is JSON.

use std::fmt::Display;

use faultwire_core::json::{self, Key, Step};
use serde_json::Value;

use crate::dice::Dice;

/// A path to some value less than `deepest` steps down, and whether another member of an object on it has the
/// same key.
pub fn path(dice: &mut Dice, body: &[u8], deepest: usize) -> (Vec<Step>, bool) {
    let (mut path, mut doubled) = (Vec::new(), false);
    for _ in 0..dice.below(deepest) {
        let children = json::children(body, &path).expect("a document");
        if children.is_empty() {
            break;
        }
        let (key, _) = &children[dice.below(children.len())];
        doubled |= children.iter().filter(|(other, _)| other == key).count() > 1;
        path.push(key.clone());
    }
    (path, doubled)
}

fn at<'a>(value: &'a mut Value, path: &[Step]) -> &'a mut Value {
    path.iter().fold(value, |value, step| match step {
        Key::Key(name) => value.get_mut(name).expect("a member"),
        Key::Index(index) => value.get_mut(index).expect("an element"),
    })
}

fn read(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|error| panic!("{error}: {body:?}"))
}

/// What replaces or removes the value at a path does that to the document, and nothing else. Whether it was
/// removed: not where it is the whole document, or where another member has the same key (`doubled`).
pub fn edited(body: &[u8], path: &[Step], doubled: bool, new: &[u8], about: impl Display) -> bool {
    let span = json::span(body, path)
        .expect("a document")
        .expect("a value");
    let written = json::splice(body, &[(span.clone(), new)]).expect("one edit");
    let mut model = read(body);
    *at(&mut model, path) = read(new);
    assert_eq!(read(&written), model, "{about}");
    assert_eq!(written[..span.start], body[..span.start], "{about}");
    assert!(written.ends_with(&body[span.end..]), "{about}");
    let member = json::member_span(body, path).expect("a document");
    assert_eq!(member.is_none(), path.is_empty(), "{about}");
    let (Some(member), Some((last, parents))) = (member, path.split_last()) else {
        return false;
    };
    let found = read(&json::splice(body, &[(member, b"")]).expect("one edit"));
    if doubled {
        return false;
    }
    let mut model = read(body);
    match (at(&mut model, parents), last) {
        (Value::Object(members), Key::Key(name)) => drop(members.remove(name)),
        (Value::Array(elements), Key::Index(index)) => drop(elements.remove(*index)),
        _ => panic!("{about}: a step that leads nowhere"),
    }
    assert_eq!(found, model, "{about}");
    true
}

/// Text is refused, or its span lies within it; two readers agree on which it is.
pub fn is_json(body: &[u8], about: impl Display) -> bool {
    let found = json::span(body, &[]);
    // What serde_json reads is JSON (RFC 8259); ours must read no less. A number too large for it is ours.
    if serde_json::from_slice::<Value>(body).is_ok() {
        assert!(found.is_ok(), "{about}: {body:?}");
    }
    let Ok(Some(span)) = found else {
        return false;
    };
    assert!(span.start <= span.end && span.end <= body.len(), "{about}");
    assert!(std::str::from_utf8(body).is_ok(), "{about}");
    true
}

pub fn read_json(text: &[u8]) {
    if let Ok(children) = json::children(text, &[]) {
        for (_, span) in children {
            assert!(span.start <= span.end && span.end <= text.len());
        }
    }
}

/// A fingerprint in one pass is the one of the parsed value, whatever the body and its mask.
pub fn fingerprints_agree(body: &[u8], about: impl Display) {
    const MASKS: [&[&str]; 3] = [
        &[],
        &["$.a", "$.*", "$.b.*.a", "$.a.b"],
        &["$.*.*", "$.*.a.*"],
    ];
    for mask in MASKS {
        let found = json::fingerprint(body, mask);
        assert_eq!(
            found,
            json::fingerprint_by_value(body, mask),
            "{about}: {body:?}"
        );
    }
}
