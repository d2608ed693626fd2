//! The tail of a text that may be the beginning of a secret.
use std::sync::LazyLock;

use regex::Regex;

use super::names::body_names;
use super::shapes::LONGEST;
use super::suspect::compiled;
use super::text::Text;

static OPEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let member = format!(
        r#"\\*["'](?i:{})\\*["']?\s*(?::\s*(?:\\*["'](?:[^"'\\]|\\.)*\\?|[-0-9.eE+]*|\[[^\]]*)?)?"#,
        body_names()
    );
    let parts = [
        r#"[!-~&&[^"'<>\\]]+"#,
        r#"[A-Za-z0-9_.-]{2,64}[ \t]{0,3}(?:=|:=|=>|:)[ \t]{0,3}["'`]?[!-~&&[^"'<>\\]]*"#,
        r#"(?:Bearer|bearer|BEARER) +[!-~&&[^"'<>\\]]*"#,
        r"(?:[A-Za-z0-9+/]{32,76}\r?\n[ \t]?){1,256}[A-Za-z0-9+/=]{0,80}",
        r"-----BEGIN[A-Z ]*-{0,4}",
        r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY[^-]*-----[^-]*(?:-{1,5}[A-Z ]*-{0,4})?",
        &member,
    ];
    compiled(&format!("(?:{})$", parts.join("|")))
});

/// The first character that may belong to a secret which has not come whole; the end where there is none.
pub fn open_tail(text: &Text) -> usize {
    let plain = text.plain();
    let from = text.back(plain.len(), LONGEST);
    let found = OPEN.as_ref().map(|open| open.find(&plain[from..]));
    // Without the expression everything may.
    found.map_or(from, |found| {
        found.map_or(plain.len(), |found| from + found.start())
    })
}
