//! Secrets in the queries of URLs and in forms, wherever they stand.
use std::sync::LazyLock;

use regex::Regex;

use super::edit::{Edit, MARK};
use super::known::{Known, known_edits};
use super::names::{query_class, query_names, unquote_plus};
use super::suspect::{compiled, starts};
use super::text::{Text, is_blank};

/// Under a common name (`?state=open`, `?code=404`) a text must be so long to be taken for a secret.
const COMMON: [&str; 3] = ["code", "state", "key"];
const SHORTEST: usize = 8;

static PAIRS: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(&suspect()));

/// A pair of a query (or of the fragment, as OAuth's answers) whose name may be secret.
pub fn suspect() -> String {
    format!(r#"[?&#](?:amp;)?(?i:{})=[^&#\s"'<>\\]"#, query_names())
}

/// Values of secret query parameters in a text that holds URLs.
pub fn url_edits(text: &Text) -> Vec<Edit> {
    let mut found = Vec::new();
    for place in starts(&PAIRS, text.plain()) {
        found.extend(pair(text, place));
    }
    found
}

fn pair(text: &Text, place: usize) -> Option<Edit> {
    let plain = text.plain();
    let after = &plain[place + 1..];
    let named = after.strip_prefix("amp;").unwrap_or(after);
    let size = named.find(['=', '&', '#', '?'])?;
    let name = &named[..size];
    if name.is_empty() || named.as_bytes()[size] != b'=' {
        return None;
    }
    let start = plain.len() - named.len() + size + 1;
    let ends = |one: char| is_blank(one) || "&#\"'<>\\".contains(one);
    let end = plain[start..]
        .find(ends)
        .map_or(plain.len(), |size| start + size);
    let value = &plain[start..end];
    if value.is_empty() || value.starts_with(MARK) || query_class(name).is_none() {
        return None;
    }
    let long = value.chars().take(SHORTEST).count() == SHORTEST;
    let counts = long || !COMMON.contains(&&*name.to_lowercase());
    counts.then(|| Edit::new(start, end, "query", text.part(start, end)).led(place))
}

/// The class of a pair's value if it is secret: by its name, or by what it says when decoded.
pub fn pair_class(name: &str, value: &str) -> Option<String> {
    if value.is_empty() {
        return None;
    }
    if let Some(what) = query_class(name) {
        return Some(what.to_owned());
    }
    if !value.contains(['%', '+']) || value.starts_with(MARK) {
        return None;
    }
    let name = unquote_plus(name);
    let text = Text::new(format!("{name}={}", unquote_plus(value)));
    let behind = |edit: &Edit| edit.end > name.len() + 1;
    let found = known_edits(&text, Known::All).into_iter().find(behind);
    found
        .and_then(|edit| edit.what)
        .map(|what| what.into_owned())
}

/// Values of secret fields in a form body.
pub fn form_edits(text: &Text) -> Vec<Edit> {
    let mut found = Vec::new();
    let mut at = 0;
    for pair in text.plain().split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if let Some(what) = pair_class(name, value) {
            let (start, end) = (at + name.len() + 1, at + pair.len());
            found.push(Edit::new(start, end, what, text.part(start, end)));
        }
        at += pair.len() + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let edits = url_edits(&Text::new(text));
        edits
            .iter()
            .map(|edit| text[edit.start..edit.end].to_owned())
            .collect()
    }

    #[test]
    fn pairs_are_found_where_they_stand() {
        assert_eq!(found("<a href=\"/?a=1&amp;sig=abc\">"), ["abc"]);
        assert_eq!(
            found("/cb?code=SECRETCODE123&state=zz#pwd=x"),
            ["SECRETCODE123", "x"]
        );
        assert_eq!(
            found("?key=redacted:v1:0&sort_key=12345678"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn forms() {
        let edits = form_edits(&Text::new("a=1&password=x&token=&key=%20"));
        let expected = [
            Edit::new(13, 14, "query", "x"),
            Edit::new(26, 29, "query", "%20"),
        ];
        assert_eq!(edits, expected);
    }
}
