//! RFC 8785 (JCS) canonical JSON, and the fingerprint of a body under a mask.

use std::cmp::Ordering;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::Error;
use crate::digest::{Hash, sha256};
use crate::json::onepass::{self, Mask};

/// Largest integer that a double holds without gaps (RFC 8785 §3.2.2.3, I-JSON).
const MAX_SAFE: u64 = (1 << 53) - 1;

/// Canonical JSON of one document. Numbers are doubles, as the RFC demands.
pub fn jcs(data: &[u8]) -> Result<Vec<u8>, Error> {
    canonical(&strict(data)?)
}

/// The value of one document in which no member comes twice.
pub(crate) fn strict(data: &[u8]) -> Result<Value, Error> {
    let Strict(value) = serde_json::from_slice(data).map_err(|e| located(data, &e))?;
    Ok(value)
}

/// SHA-256 of the canonical body with masked values set to null: a bare name masks the members of that
/// name at any depth, `$.a.*.b` the one place that it spells (`*` is every element of an array).
///
/// Integers beyond 2^53 keep all their digits: two ids that differ must not share a fingerprint.
/// Duplicate keys: the last one counts. What is not JSON is SHA-256("raw:" ‖ body); no canonical
/// text begins with an `r`, so the two kinds cannot meet.
pub fn fingerprint(body: &[u8], masked: &[&str]) -> Result<Hash, Error> {
    fingerprint_under(body, masked, Mask::of(masked).as_ref())
}

/// The same under a mask that was read before, where it could be.
pub fn fingerprint_under(body: &[u8], masked: &[&str], mask: Option<&Mask>) -> Result<Hash, Error> {
    if let Some(text) = mask.and_then(|mask| onepass::canonical(body, mask)) {
        return Ok(sha256(&text));
    }
    fingerprint_by_value(body, masked)
}

/// The same by way of a parsed value, whatever the body is: the judge of the other way.
pub fn fingerprint_by_value(body: &[u8], masked: &[&str]) -> Result<Hash, Error> {
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else {
        return Ok(sha256(&[b"raw:", body].concat()));
    };
    let (paths, names): (Vec<&str>, Vec<&str>) = masked.iter().partition(|m| m.starts_with("$."));
    for path in paths {
        mask_at(&mut value, &path.split('.').skip(1).collect::<Vec<_>>());
    }
    mask(&mut value, &names);
    canonical(&value).map(|text| sha256(&text))
}

/// The one text of a value (RFC 8785).
pub(crate) fn canonical(value: &Value) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    write(value, &mut text).map_err(|e| Error::json(0, e.to_string()))?;
    Ok(text)
}

/// By hand, but for numbers: the canonicalizer makes a map of bytes for each object, which takes most of the time.
fn write(value: &Value, text: &mut Vec<u8>) -> serde_json::Result<()> {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_by(|(one, _), (other, _)| utf16_order(one, other));
            text.push(b'{');
            for (at, (key, value)) in sorted.into_iter().enumerate() {
                if at > 0 {
                    text.push(b',');
                }
                serde_json::to_writer(&mut *text, key)?;
                text.push(b':');
                write(value, text)?;
            }
            text.push(b'}');
        }
        Value::Array(elements) => {
            text.push(b'[');
            for (at, value) in elements.iter().enumerate() {
                if at > 0 {
                    text.push(b',');
                }
                write(value, text)?;
            }
            text.push(b']');
        }
        Value::Number(_) => text.extend(serde_json_canonicalizer::to_vec(value)?),
        _ => serde_json::to_writer(text, value)?,
    }
    Ok(())
}

/// Members are sorted by the UTF-16 units of their names (RFC 8785, 3.2.3), as which ASCII sorts like its bytes.
fn utf16_order(one: &str, other: &str) -> Ordering {
    if one.is_ascii() && other.is_ascii() {
        return one.cmp(other);
    }
    one.encode_utf16().cmp(other.encode_utf16())
}

fn mask(value: &mut Value, masked: &[&str]) {
    match value {
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                if masked.contains(&key.as_str()) {
                    *value = Value::Null;
                } else {
                    mask(value, masked);
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|value| mask(value, masked)),
        Value::Number(number) if is_big_integer(number) => {
            *value = Value::String(format!("integer:{number}"));
        }
        _ => {}
    }
}

fn mask_at(value: &mut Value, path: &[&str]) {
    match (path.split_first(), value) {
        (None, value) => *value = Value::Null,
        (Some((&"*", rest)), Value::Array(elements)) => {
            elements
                .iter_mut()
                .for_each(|element| mask_at(element, rest));
        }
        (Some((&key, rest)), Value::Object(members)) => {
            if let Some(member) = members.get_mut(key) {
                mask_at(member, rest);
            }
        }
        _ => {}
    }
}

fn is_big_integer(number: &Number) -> bool {
    let magnitude = number.as_u64().or(number.as_i64().map(i64::unsigned_abs));
    magnitude.is_some_and(|magnitude| magnitude > MAX_SAFE)
}

/// serde counts lines and columns; callers of the core count bytes.
fn located(data: &[u8], error: &serde_json::Error) -> Error {
    let before = data
        .split_inclusive(|&b| b == b'\n')
        .take(error.line().saturating_sub(1));
    let offset = before.map(<[u8]>::len).sum::<usize>() + error.column().saturating_sub(1);
    let full = error.to_string();
    let reason = full.split(" at line ").next().unwrap_or_default();
    Error::json(offset, reason)
}

/// A value without duplicate keys (I-JSON, RFC 7493 §2.3, which RFC 8785 builds on).
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(Strict(element)) = access.next_element()? {
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if members.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate key `{key}`")));
            }
            let Strict(value) = access.next_value()?;
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_keys_are_refused_at_any_depth() {
        let error = jcs(b"[\n{\"a\":1,\"\\u0061\":2}]").unwrap_err();
        assert!(error.to_string().contains("duplicate key `a`"), "{error}");
    }

    #[test]
    fn a_path_masks_one_place_only() {
        let masked = ["$.messages.*.id"];
        let print = |body: &[u8]| fingerprint(body, &masked).unwrap();
        let a = print(br#"{"messages": [{"id": 1, "x": {"id": 7}}]}"#);
        assert_eq!(a, print(br#"{"messages": [{"id": 2, "x": {"id": 7}}]}"#));
        assert_ne!(a, print(br#"{"messages": [{"id": 1, "x": {"id": 8}}]}"#));
    }

    #[test]
    fn mask_reaches_any_depth() {
        let print = |body: &str| fingerprint(body.as_bytes(), &["id"]).unwrap();
        let first = print(r#"{"id": 1, "x": [{"id": "a", "y": 2.0}]}"#);
        assert_eq!(first, print(r#"{"x":[{"y":2,"id":{"z":[]}}],"id":null}"#));
        assert_ne!(first, print(r#"{"id": 1, "x": [{"id": "a", "y": 3}]}"#));
    }

    #[test]
    fn big_ids_differ() {
        let print = |body: &[u8]| fingerprint(body, &[]).unwrap();
        assert_ne!(
            print(b"[1234567890123456788]"),
            print(b"[1234567890123456789]")
        );
        assert_eq!(jcs(b"[1234567890123456788]"), jcs(b"[1234567890123456789]"));
    }

    #[test]
    fn text_that_is_not_json_is_hashed_raw() {
        assert_eq!(fingerprint(b"a=1", &["a"]), Ok(sha256(b"raw:a=1")));
    }
}
