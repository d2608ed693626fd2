//! Where in the text the value at a path stands, found in one pass.

use std::ops::Range;

use crate::Error;
use crate::json::token::{Token, Tokens};

/// Byte offsets into the body that was given.
pub type Span = Range<usize>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Key(String),
    Index(usize),
}

/// The name of a container's child: a member's key or an element's index.
pub type Key = Step;

/// A child of a container, with the span of its value.
pub type Child = (Key, Span);

/// The span of the value at `path`; of duplicate keys the last one counts.
///
/// The whole body is checked, since a later duplicate may stand anywhere behind the match.
pub fn span(body: &[u8], path: &[Step]) -> Result<Option<Span>, Error> {
    Ok(locate(body, path)?.map(|found| found.value))
}

/// The span to remove so that the member or element at `path` is gone and the JSON stays valid.
///
/// With a follower it reaches up to that one; else it starts at the comma before, if there is one.
/// The root is no member: `None`.
pub fn member_span(body: &[u8], path: &[Step]) -> Result<Option<Span>, Error> {
    let Some(found) = locate(body, path)?.filter(|_| !path.is_empty()) else {
        return Ok(None);
    };
    let (start, end) = (found.start, found.value.end);
    let comma = skip_blanks(body, end);
    if body.get(comma) == Some(&b',') {
        return Ok(Some(start..skip_blanks(body, comma + 1)));
    }
    // The body is valid JSON, so only a comma or the opening bracket can stand before the blanks.
    let before = body[..start].trim_ascii_end();
    match before.last() {
        Some(b',') => Ok(Some(before.len() - 1..end)),
        _ => Ok(Some(start..end)),
    }
}

/// The children of the container at `path`, in order, duplicates included; none for a scalar.
pub fn children(body: &[u8], path: &[Step]) -> Result<Vec<Child>, Error> {
    let Some(container) = span(body, path)? else {
        return Ok(Vec::new());
    };
    let base = container.start;
    let text = &body[container];
    let mut tokens = Tokens::new(text)?;
    let mut found = Vec::new();
    let mut key = None;
    let (mut depth, mut start) = (0, 0);
    while let Some(token) = tokens.next()? {
        let value = match token {
            Token::Key(span) if depth == 1 => {
                key = Some(decode(&text[span.clone()], base + span.start)?);
                continue;
            }
            Token::Key(_) => continue,
            Token::Open { at, .. } => {
                if depth == 1 {
                    start = at;
                }
                depth += 1;
                continue;
            }
            Token::Close { end } => {
                depth -= 1;
                start..end
            }
            Token::Scalar(span) => span,
        };
        if depth == 1 {
            let key = key.take().map_or(Key::Index(found.len()), Key::Key);
            found.push((key, base + value.start..base + value.end));
        }
    }
    Ok(found)
}

struct Found {
    /// Where the member begins: at its key, or at the value of an element.
    start: usize,
    value: Span,
}

/// An open container all of whose ancestors lie on the path.
struct Frame {
    object: bool,
    index: usize,
    key: Span,
}

fn locate(body: &[u8], path: &[Step]) -> Result<Option<Found>, Error> {
    let mut tokens = Tokens::new(body)?;
    let mut frames: Vec<Frame> = Vec::new();
    let mut open = 0;
    let mut target = None; // (start of the member, start of the value) while inside the target
    let mut found = None;
    while let Some(token) = tokens.next()? {
        match token {
            Token::Key(key) => {
                let on_path = frames.len() == open;
                if let Some(frame) = frames.last_mut().filter(|_| on_path) {
                    frame.key = key;
                }
            }
            Token::Scalar(value) => {
                if let Some(start) = arrive(body, path, &mut frames, open, value.start) {
                    found = (open == path.len()).then_some(Found { start, value });
                }
            }
            Token::Open { at, object } => {
                if let Some(start) = arrive(body, path, &mut frames, open, at) {
                    found = None; // whatever an earlier duplicate held is gone
                    if open == path.len() {
                        target = Some((start, at));
                    } else {
                        frames.push(Frame {
                            object,
                            index: 0,
                            key: 0..0,
                        });
                    }
                }
                open += 1;
            }
            Token::Close { end } => {
                open -= 1;
                frames.truncate(open);
                if open == path.len()
                    && let Some((start, from)) = target.take()
                {
                    found = Some(Found {
                        start,
                        value: from..end,
                    });
                }
            }
        }
    }
    Ok(found)
}

/// Whether the value that begins at `at` is the path's next step; if so, where its member begins.
fn arrive(
    body: &[u8],
    path: &[Step],
    frames: &mut [Frame],
    open: usize,
    at: usize,
) -> Option<usize> {
    if frames.len() != open {
        return None; // some ancestor is off the path
    }
    let Some(frame) = frames.last_mut() else {
        return Some(at); // the root
    };
    let index = frame.index;
    frame.index += 1;
    match path.get(open - 1)? {
        Step::Index(wanted) => (!frame.object && index == *wanted).then_some(at),
        Step::Key(wanted) => {
            let same = frame.object && is_key(&body[frame.key.clone()], wanted);
            same.then_some(frame.key.start)
        }
    }
}

fn is_key(quoted: &[u8], wanted: &str) -> bool {
    let raw = &quoted[1..quoted.len() - 1];
    match memchr::memchr(b'\\', raw) {
        None => raw == wanted.as_bytes(),
        // A lone surrogate equals no text that a caller could ask for.
        Some(_) => decode(quoted, 0).is_ok_and(|key| key == wanted),
    }
}

fn decode(quoted: &[u8], offset: usize) -> Result<String, Error> {
    serde_json::from_slice(quoted).map_err(|_| Error::json(offset, "lone surrogate in a key"))
}

fn skip_blanks(body: &[u8], from: usize) -> usize {
    from + (body.len() - from) - body[from..].trim_ascii_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(steps: &str) -> Vec<Step> {
        let steps = steps.split('/').filter(|step| !step.is_empty());
        steps
            .map(|step| match step.parse() {
                Ok(index) => Step::Index(index),
                Err(_) => Step::Key(step.to_owned()),
            })
            .collect()
    }

    fn value<'a>(body: &'a str, at: &str) -> Option<&'a str> {
        span(body.as_bytes(), &path(at))
            .unwrap()
            .map(|span| &body[span])
    }

    #[test]
    fn values_by_path() {
        let body = r#" {"a" : [1, {"b\u0063": "x" }], "d": {"a": [7, 8]}} "#;
        for (at, expected) in [
            ("", Some(body.trim())),
            ("a", Some(r#"[1, {"b\u0063": "x" }]"#)),
            ("a/0", Some("1")),
            ("a/1/bc", Some(r#""x""#)),
            ("d/a/1", Some("8")),
            ("a/2", None),
            ("a/b", None),
            ("0", None),
            ("d/a/1/x", None),
        ] {
            assert_eq!(value(body, at), expected, "{at}");
        }
    }

    #[test]
    fn last_duplicate_wins_at_every_level() {
        assert_eq!(value(r#"{"a":1,"a":2}"#, "a"), Some("2"));
        assert_eq!(value(r#"{"a":{"b":1},"a":{"c":2}}"#, "a/b"), None);
        assert_eq!(value(r#"{"a":{"b":1},"a":7}"#, "a/b"), None);
        assert_eq!(value(r#"{"a":[1],"a":[2,{"a":[9]}]}"#, "a/0"), Some("2"));
    }

    #[test]
    fn removal_leaves_valid_json() {
        for (body, at, expected) in [
            (r#"{"a": 1, "b": 2}"#, "a", r#"{"b": 2}"#),
            (r#"{"a": 1 , "b": 2 }"#, "b", r#"{"a": 1  }"#),
            (r#"{ "a": {"x": []} }"#, "a", "{  }"),
            ("[1,2,3]", "1", "[1,3]"),
            ("[1,\n2]", "1", "[1]"),
        ] {
            let span = member_span(body.as_bytes(), &path(at)).unwrap().unwrap();
            let left = [&body[..span.start], &body[span.end..]].concat();
            assert_eq!(left, expected);
        }
        assert_eq!(member_span(b"{}", &[]), Ok(None));
    }

    #[test]
    fn children_in_order() {
        let body = br#"{"x": {"a": 1, "b": [2, [3]], "a": null}}"#;
        let found = children(body, &path("x")).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|(key, span)| {
                (
                    key.clone(),
                    std::str::from_utf8(&body[span.clone()]).unwrap(),
                )
            })
            .collect();
        let key = |name: &str| Key::Key(name.to_owned());
        assert_eq!(
            shown,
            [(key("a"), "1"), (key("b"), "[2, [3]]"), (key("a"), "null")]
        );
        assert_eq!(children(body, &path("x/a")), Ok(vec![]));
        assert_eq!(children(b"[[1],2]", &[]).unwrap()[1], (Key::Index(1), 5..6));
    }
}
