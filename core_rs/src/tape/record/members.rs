//! Two members more for an object of canonical JSON, without reading it as JSON again.

use memchr::memchr2;

use crate::Error;
use crate::digest::{Hash, hex};

const PREV: &[u8] = b"prev";
const SEQ: &[u8] = b"seq";

/// The record of event `seq` behind the one with the hash `prev`: `event` with these two members, at the places
/// that their names have among its sorted ones.
///
/// `event` is canonical JSON of an object. Fails where it is no object, or has one of the members already.
pub fn with_place(event: &[u8], seq: u64, prev: &Hash) -> Result<Vec<u8>, Error> {
    let places = places(event).ok_or_else(|| Error::argument("an event is a canonical object"))?;
    let [at_prev, at_seq] = places?;
    let mut record = Vec::with_capacity(event.len() + 100);
    record.extend_from_slice(&event[..at_prev]);
    insert(
        &mut record,
        event[at_prev],
        format!(r#""prev":"{}""#, hex(prev)).as_bytes(),
    );
    record.extend_from_slice(&event[at_prev..at_seq]);
    // Where nothing stood between the two, the first has left a comma already, or there is only `}` after both.
    insert(
        &mut record,
        event[at_seq],
        format!(r#""seq":{seq}"#).as_bytes(),
    );
    record.extend_from_slice(&event[at_seq..]);
    Ok(record)
}

/// Adds a member before `next`, which is the quote of the next member's name or the closing brace.
fn insert(record: &mut Vec<u8>, next: u8, member: &[u8]) {
    if next == b'}' && record.last() != Some(&b'{') {
        record.push(b',');
    }
    record.extend_from_slice(member);
    if next != b'}' {
        record.push(b',');
    }
}

/// Where the two members belong: at the quote of the first name that is greater, or at the last brace.
fn places(event: &[u8]) -> Option<Result<[usize; 2], Error>> {
    let mut found: [Option<usize>; 2] = [None, None];
    let mut at = 1;
    if event.first() != Some(&b'{') {
        return None;
    }
    while *event.get(at)? != b'}' {
        let end = after_string(event, at)?;
        let name = &event[at + 1..end - 1];
        for (place, member) in found.iter_mut().zip([PREV, SEQ]) {
            if name == member {
                let name = String::from_utf8_lossy(member);
                return Some(Err(Error::argument(format!(
                    "an event has no `{name}` of its own"
                ))));
            }
            if place.is_none() && name > member {
                *place = Some(at);
            }
        }
        if event.get(end) != Some(&b':') {
            return None;
        }
        at = after_value(event, end + 1)?;
        match event.get(at)? {
            b',' => at += 1,
            b'}' => {}
            _ => return None,
        }
    }
    (at + 1 == event.len()).then_some(Ok(found.map(|place| place.unwrap_or(at))))
}

/// The place after the string that begins at `at`.
fn after_string(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at) != Some(&b'"') {
        return None;
    }
    let mut next = at + 1;
    loop {
        next += memchr2(b'"', b'\\', text.get(next..)?)?;
        if text[next] == b'"' {
            return Some(next + 1);
        }
        next += 2;
    }
}

/// The place after the value that begins at `at`: that of the comma or the brace behind it.
fn after_value(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match *text.get(at)? {
            b'"' => {
                at = after_string(text, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            b',' | b'}' if depth == 0 => return Some(at),
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(event: &str) -> String {
        String::from_utf8(with_place(event.as_bytes(), 7, &[0xab; 32]).unwrap()).unwrap()
    }

    #[test]
    fn the_two_stand_where_sorted_names_do() {
        let prev = format!(r#""prev":"{}""#, "ab".repeat(32));
        for (event, expected) in [
            (r#"{}"#, format!(r#"{{{prev},"seq":7}}"#)),
            (r#"{"a":1}"#, format!(r#"{{"a":1,{prev},"seq":7}}"#)),
            (r#"{"z":1}"#, format!(r#"{{{prev},"seq":7,"z":1}}"#)),
            (r#"{"q":[]}"#, format!(r#"{{{prev},"q":[],"seq":7}}"#)),
            (
                r#"{"n":{"prev":1,"z":"}"},"q":"a\"},\\","s":null,"type":[[1,"]"]]}"#,
                format!(
                    r#"{{"n":{{"prev":1,"z":"}}"}},{prev},"q":"a\"}},\\","s":null,"seq":7,"type":[[1,"]"]]}}"#
                ),
            ),
        ] {
            assert_eq!(placed(event), expected);
        }
    }

    #[test]
    fn the_result_is_canonical() {
        for event in [
            r#"{}"#,
            r#"{"provider":"x","session":"\u0001é","type":"end"}"#,
            r#"{"a":{"b":[{"c":"d"}]},"pre":1,"prevail":2,"se":3,"seqs":4}"#,
        ] {
            let record = placed(event);
            assert_eq!(
                crate::json::jcs(record.as_bytes()).unwrap(),
                record.as_bytes()
            );
        }
    }

    #[test]
    fn what_is_no_event_is_refused() {
        for event in [
            "",
            "[]",
            "{",
            r#"{"a"}"#,
            r#"{"a":1"#,
            r#"{"a":1}}"#,
            r#"{"a":"}"#,
            r#"{1:2}"#,
        ] {
            assert!(
                with_place(event.as_bytes(), 0, &[0; 32]).is_err(),
                "{event}"
            );
        }
        for member in ["prev", "seq"] {
            let event = format!(r#"{{"{member}":1}}"#);
            let error = with_place(event.as_bytes(), 0, &[0; 32]).unwrap_err();
            assert!(error.to_string().contains(member));
        }
    }
}
