//! One line of an exported tape, and its members as an event must have them.

use serde_json::{Map, Number, Value};

use crate::json::{canonical, strict};

/// Largest integer that a double holds without gaps (I-JSON, RFC 7493 §2.2).
const MAX_SAFE: u64 = (1 << 53) - 1;

/// What an event lacks, in words.
pub type Lack = String;

/// The value of a line, and whether the line is its canonical text (RFC 8785).
///
/// `None` where it is no JSON, where a member comes twice, where it is deeper than 127 levels, and
/// where a number is no integer that a double holds: a tape has none.
pub fn parse(line: &[u8]) -> Option<(Value, bool)> {
    let value = strict(line).ok().filter(is_safe)?;
    let right = canonical(&value).is_ok_and(|text| text == line);
    Some((value, right))
}

fn is_safe(value: &Value) -> bool {
    match value {
        Value::Number(number) => magnitude(number).is_some_and(|size| size <= MAX_SAFE),
        Value::Array(elements) => elements.iter().all(is_safe),
        Value::Object(members) => members.values().all(is_safe),
        _ => true,
    }
}

fn magnitude(number: &Number) -> Option<u64> {
    number.as_u64().or(number.as_i64().map(i64::unsigned_abs))
}

/// The member of this name.
pub fn member<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a Value, Lack> {
    object.get(name).ok_or_else(|| format!("no `{name}`"))
}

/// The members of a value that must be an object.
pub fn members(value: &Value) -> Result<&Map<String, Value>, Lack> {
    value
        .as_object()
        .ok_or_else(|| "no object where one must be".to_owned())
}

/// The text of the member of this name.
pub fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str, Lack> {
    let found = member(object, name)?;
    found.as_str().ok_or_else(|| format!("`{name}` is no text"))
}

/// A count, as a member or as an element.
pub fn whole(value: &Value) -> Result<i64, Lack> {
    value
        .as_i64()
        .ok_or_else(|| format!("`{value}` is no integer"))
}

/// What names a session, an exchange or a body, as one text; an absent name is `null`.
pub fn name(value: Option<&Value>) -> Result<String, Lack> {
    match value {
        None | Some(Value::Null) => Ok("null".to_owned()),
        Some(value @ (Value::String(_) | Value::Number(_))) => Ok(value.to_string()),
        Some(_) => Err("a name that is neither text nor a number".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_text_of_a_value_is_right() {
        let right = |line: &str| parse(line.as_bytes()).map(|(_, right)| right);
        assert_eq!(right(r#"{"a":1,"b":"\n"}"#), Some(true));
        for other in [r#"{"b":1,"a":2}"#, r#"{"a": 1}"#, r#"{"a":"\u0041"}"#, " 1"] {
            assert_eq!(right(other), Some(false), "{other}");
        }
        for none in [
            r#"{"a":1,"a":1}"#,
            "1.5",
            "1e3",
            "[0.0]",
            "",
            "{",
            "-0",
            "NaN",
            "\u{feff}1",
            r#""\ud800""#,
            "\u{7f}",
        ] {
            assert_eq!(right(none), None, "{none}");
        }
    }

    #[test]
    fn an_integer_that_a_double_cannot_hold_is_none() {
        let right = |line: &str| parse(line.as_bytes()).map(|(_, right)| right);
        assert_eq!(right("9007199254740991"), Some(true));
        assert_eq!(right("-9007199254740991"), Some(true));
        for big in [
            "9007199254740992",
            "-9007199254740992",
            "1000000000000000000000000",
            r#"{"a":[{"b":9007199254740992}]}"#,
        ] {
            assert_eq!(right(big), None, "{big}");
        }
    }

    #[test]
    fn lists_in_lists_are_read_127_deep() {
        let right = |depth| parse(&[vec![b'['; depth], vec![b']'; depth]].concat());
        assert!(right(127).is_some_and(|(_, right)| right));
        assert_eq!(right(128), None);
        assert_eq!(right(1_000_000), None);
    }

    #[test]
    fn names_that_differ_stay_different() {
        let text = Value::from("1");
        assert_ne!(name(Some(&text)), name(Some(&Value::from(1))));
        assert_eq!(name(None), name(Some(&Value::Null)));
        assert!(name(Some(&Value::Array(Vec::new()))).is_err());
        assert!(name(Some(&Value::Bool(true))).is_err());
    }
}
