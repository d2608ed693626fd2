//! May there be a secret in a text? One search for all that gives one away, never wrong with no.
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use super::base64::wrapped;
use super::known::{Known, known_edits};
use super::markup;
use super::names::body_names;
use super::packed::is_packed;
use super::shapes;
use super::text::Text;
use super::url;
use crate::patterns::engine;
use crate::text::packed;

/// Size of a compiled expression, and of the memory of a search, at most.
const SIZE_LIMIT: usize = 8 << 20;

// Letters, digits, quotes, what joins names and values or the parts of a token, or stands in Base64:
// & + - . / = ? _; and %, as what is percent-encoded twice writes all of them.
const CODES: &str = "(?:2[2567bBdDeEfF]|3[0-9dDfF]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF])";

struct Patterns {
    body: Regex,
    record: Regex,
    encodes: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let name = format!(r#"\\*["'](?i:{})\\*["']\s*:"#, body_names());
    let bare = format!(r"'(?i:{})'\s*:", body_names());
    let (escaped, percent, base64) = (escape(), percented(), wrapped());
    let (shapes, urls) = (shapes::SUSPECT, url::suspect());
    let body = [
        shapes,
        &urls,
        &name,
        &escaped,
        &percent,
        &base64,
        markup::SUSPECT,
    ]
    .join("|");
    // A record's own keys are quoted plainly; a secret's name inside one of its strings is not.
    let (named, again) = (format!(r"\\{name}"), format!(r"\\{escaped}"));
    let record = [
        shapes,
        &urls,
        &named,
        &bare,
        &again,
        &percent,
        &base64,
        markup::SUSPECT,
    ]
    .join("|");
    let encodes = [&*escaped, &percent, markup::SUSPECT].join("|");
    Some(Patterns {
        body: compiled(&body)?,
        record: compiled(&record)?,
        encodes: compiled(&encodes)?,
    })
});

pub fn escape() -> String {
    format!(r"\\u00{CODES}")
}

/// The blanks of a private key's first line are all that a form or a URL must write otherwise.
pub fn percented() -> String {
    format!(r"%{CODES}|BEGIN(?:%20|\+)[A-Z]")
}

pub fn compiled(pattern: &str) -> Option<Regex> {
    let built = RegexBuilder::new(pattern)
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(SIZE_LIMIT)
        .build();
    built.ok()
}

/// Where matches begin: the leftmost, then the leftmost that begins after that, and so on. One pass for patterns
/// whose matches are of bounded length.
pub fn starts<'a>(
    regex: &'a LazyLock<Option<Regex>>,
    text: &'a str,
) -> impl Iterator<Item = usize> + 'a {
    let regex = regex.as_ref();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = regex?.find_at(text, at)?.start();
        let size = text[start..].chars().next().map_or(1, char::len_utf8);
        at = (start + size).min(text.len());
        Some(start)
    })
}

/// May there be a secret in this text? Fast, and never wrong with no.
pub fn suspects(text: &Text) -> bool {
    // Without the expressions everything is suspect.
    PATTERNS
        .as_ref()
        .is_none_or(|one| one.body.is_match(text.plain()))
        || is_packed(text)
        || !known_edits(text, Known::All).is_empty()
}

/// Does a text hold escapes, percent-encoding or HTML, in which a shape does not stand out?
pub fn encodes(text: &Text) -> bool {
    PATTERNS
        .as_ref()
        .is_none_or(|one| one.encodes.is_match(text.plain()))
}

/// The same as `suspects` for a record: canonical JSON, in whose strings a quote is always escaped.
pub fn suspects_record(record: &[u8]) -> bool {
    PATTERNS
        .as_ref()
        .is_none_or(|one| one.record.is_match(Text::latin(record).plain()))
        || packed::any(record)
        || engine().is_ok_and(|engine| engine.record_holds_secret(record))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA";

    #[test]
    fn the_expressions_compile() {
        assert!(PATTERNS.is_some());
    }

    #[test]
    fn records_are_suspect_by_what_their_strings_say() {
        assert!(!suspects_record(br#"{"password":1,"type":"note"}"#));
        assert!(suspects_record(br#"{"note":"{\"password\":1}"}"#));
        assert!(suspects_record(format!(r#"{{"note":"{KEY}"}}"#).as_bytes()));
        assert!(encodes(&Text::new("a%2Db")) && !encodes(&Text::new("100% a")));
    }
}
