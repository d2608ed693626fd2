//! Which header fields, query parameters and body keys are secret by their name.
use std::sync::LazyLock;

use regex::Regex;

use super::text::is_blank;

/// Names that end in a word for a secret, or are one.
const SHAPED: &str = r"(?:[a-z0-9._-]*[._-])?(?:token|key|secret|password|passwd|auth|pwd)";

const HEADERS: &str = concat!(
    r"(?:proxy-)?authorization|authentication|(?:set-)?cookie2?|(?:x-)?api-?key|x-goog-api-key",
    r"|x-amz-(?:security-token|credential|signature)|(?:x-)?(?:auth|access|session|refresh|id)-?token",
    r"|x-(?:csrf|xsrf).*|csrf-token|x-forwarded-for|openai-(?:organization|project)",
    r"|x-(?:vault|gitlab|github|hub|shopify|amzn|plex|figma)-.*(?:token|signature)(?:-\d+)?",
    r"|ocp-apim-subscription-key|private-token|.*-(?:secret|password|api-key|apikey)",
);

/// Names that end so and hold none.
const HARMLESS: &str = concat!(
    r"(?:x-)?(?:idempotency|cache|surrogate|content|routing|partition|sort|primary|foreign|public)[_-]key",
    r"|sec-websocket-(?:key|accept)|.*rate-?limit.*",
);

/// Names of query parameters, without case, as a pattern for the whole name; a few that it covers are harmless,
/// so ask `query_class` in the end.
const QUERIES: &str = concat!(
    r"(?:api|access|auth|subscription)[_-]?key|code|state|sig|signature|x-amz-[a-z-]+|sas|appid",
    r"|x-goog-(?:signature|credential)|(?:[a-z0-9]+_)*secret_key|assertion|samlresponse|authorization",
    r"|(?:access|auth|id|refresh)token|credentials?|private_?key|session[a-z0-9_-]*|",
);

/// Names of body keys, without case, as a pattern for the whole name. `session*` and `*_token` are wide on
/// purpose; `max_tokens` and the bare `token` of log probabilities are not among them.
const BODIES: &str = concat!(
    r"pass(?:word|wd|phrase)|pwd|(?:[a-z0-9_-]*[_-])?secret(?:[_-]?(?:key|access[_-]?key))?",
    r"|[a-z0-9_-]+[_-]token|(?:access|refresh|id|auth|session|bearer|csrf|api)token|clientsecret",
    r"|assertion|samlresponse|private[_-]?key|credentials?|session[a-z0-9_-]*|(?:x-)?api[_-]?key",
    r"|authorization",
);

static HEADER: LazyLock<Option<Regex>> = LazyLock::new(|| whole(&format!("{HEADERS}|{SHAPED}")));
static QUERY: LazyLock<Option<Regex>> = LazyLock::new(|| whole(&query_names()));
static OPEN: LazyLock<Option<Regex>> = LazyLock::new(|| whole(HARMLESS));
static SCHEME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?is)((?:basic|bearer|digest|negotiate|token|apikey|aws4-hmac-sha256) +)(.+)$")
        .ok()
});
static OFFERED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // A key that a browser puts where it can put one nowhere else (`openai-insecure-api-key.KEY`).
    Regex::new(r"^(?is)(.*?\b[a-z-]*api-?key\.)([^,\s\x1c-\x1f]+)(.*)$").ok()
});

pub fn query_names() -> String {
    format!("{QUERIES}{SHAPED}")
}

pub fn body_names() -> &'static str {
    BODIES
}

fn whole(names: &str) -> Option<Regex> {
    Regex::new(&format!(r"\A(?:{names})\z")).ok()
}

fn secret(names: &LazyLock<Option<Regex>>, name: &str) -> bool {
    let bare = name.trim_matches(is_blank).to_lowercase();
    let covers =
        |names: &LazyLock<Option<Regex>>| names.as_ref().is_some_and(|one| one.is_match(&bare));
    covers(names) && !covers(&OPEN)
}

/// `header` if a field of this name is secret.
pub fn header_class(name: &str) -> Option<&'static str> {
    secret(&HEADER, name).then_some("header")
}

/// `query` if a query parameter or form field of this (encoded) name is secret.
pub fn query_class(name: &str) -> Option<&'static str> {
    secret(&QUERY, &unquote_plus(name)).then_some("query")
}

/// Splits a list of WebSocket subprotocols around the key in it; no key, no parts after the first.
pub fn key_offered(value: &str) -> (&str, &str, &str) {
    let found = OFFERED.as_ref().and_then(|one| one.captures(value));
    match found.map(|one| one.extract::<3>().1) {
        Some([before, key, after]) => (before, key, after),
        None => (value, "", ""),
    }
}

/// Splits an authorization value into the scheme, which says nothing secret, and the rest.
pub fn kept_scheme(value: &str) -> (&str, &str) {
    let found = SCHEME.as_ref().and_then(|one| one.captures(value));
    match found.map(|one| one.extract::<2>().1) {
        Some([scheme, rest]) => (scheme, rest),
        None => ("", value),
    }
}

/// What an encoded name or value of a query says; what is no UTF-8 becomes U+FFFD.
pub fn unquote_plus(text: &str) -> String {
    let text = text.replace('+', " ");
    if !text.contains('%') {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let size = rest.find(|one: char| !one.is_ascii()).unwrap_or(rest.len());
        out.push_str(&String::from_utf8_lossy(&unquoted(
            &rest.as_bytes()[..size],
        )));
        let wide = rest[size..].find(|one: char| one.is_ascii());
        let end = wide.map_or(rest.len(), |more| size + more);
        out.push_str(&rest[size..end]);
        rest = &rest[end..];
    }
    out
}

fn unquoted(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    let mut at = 0;
    while let Some(byte) = data.get(at) {
        let code = data
            .get(at + 1..at + 3)
            .filter(|_| *byte == b'%')
            .and_then(hex);
        out.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    out
}

/// What two hexadecimal digits say.
pub fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match digits {
        [high, low] => Some((digit(*high)? * 16 + digit(*low)?) as u8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compile_and_tell() {
        for name in [
            "Authorization",
            " cookie ",
            "X-API-Key",
            "my-token",
            "x-vault-token",
        ] {
            assert_eq!(header_class(name), Some("header"), "{name}");
        }
        for name in [
            "accept",
            "idempotency-key",
            "x-cache-key",
            "authorization-mode",
            "x-id",
        ] {
            assert_eq!(header_class(name), None, "{name}");
        }
        for (name, expected) in [
            ("x%2Damz-date", true),
            ("Code", true),
            ("access+key", false),
            ("q", false),
        ] {
            assert_eq!(query_class(name).is_some(), expected, "{name}");
        }
    }

    #[test]
    fn schemes_stay_and_offered_keys_do_not() {
        assert_eq!(kept_scheme("Bearer  abc\ndef"), ("Bearer  ", "abc\ndef"));
        assert_eq!(kept_scheme("abc def"), ("", "abc def"));
        let value = "realtime, OpenAI-Insecure-API-Key.abc, beta";
        assert_eq!(
            key_offered(value),
            ("realtime, OpenAI-Insecure-API-Key.", "abc", ", beta")
        );
        assert_eq!(key_offered("realtime"), ("realtime", "", ""));
    }

    #[test]
    fn what_is_quoted_is_read_as_utf8_where_it_is() {
        assert_eq!(unquote_plus("a+%C3%A9%2"), "a é%2");
        assert_eq!(unquote_plus("é%C3x%FF"), "é\u{fffd}x\u{fffd}");
    }
}
