//! Finding secrets in text of any kind: JSON (whole, cut short, or inside of events), forms, plain text.
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use super::base64::{encodes_secret, wrapped};
use super::edit::{Edit, merged};
use super::known::{Known, known_edits};
use super::markup::{self, unmarked, unprinted};
use super::members::member_edits;
use super::names::body_names;
use super::packed::{Unpack, compressed_edits, is_packed, packed_edits};
use super::shapes;
use super::text::Text;
use super::unwrap::{
    Inner, base64_unit, in_markup, in_string, in_word, percent_unit, runs, string_at, unescape,
    unescaped, unquote,
};
use super::url;
use crate::patterns::engine;
use crate::text::packed;

/// Texts within each other that are looked into.
pub const DEPTH: usize = 6;

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
static WRAPPED: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(&format!(r#"{}|\\["'/]"#, escape())));
static PERCENTS: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(&percented()));
static BASE64S: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(&wrapped()));

fn escape() -> String {
    format!(r"\\u00{CODES}")
}

/// The blanks of a private key's first line are all that a form or a URL must write otherwise.
fn percented() -> String {
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

/// Where the secrets are, in order, without overlap; `known` says which of those of services count.
pub fn edits(text: &Text, depth: usize, known: Known, unpack: &dyn Unpack) -> Vec<Edit> {
    let mut found: Vec<Edit> = Vec::new();
    for value in shapes::values(text) {
        let secret = text.part(value.start, value.end);
        found.push(Edit::new(value.start, value.end, value.what, secret).led(value.lead));
    }
    found.extend(member_edits(text));
    found.extend(url::url_edits(text));
    found.extend(known_edits(text, known));
    if depth < DEPTH {
        let search = Search {
            text,
            depth,
            known,
            unpack,
        };
        search.in_strings(&mut found);
        search.in_percent(&mut found);
        search.in_base64(&mut found);
        let holds = |one: &Text| !edits(one, DEPTH, known, unpack).is_empty();
        found.extend(packed_edits(text, unpack, &holds));
        found.extend(compressed_edits(text, unpack, &holds));
        search.in_markup(&mut found);
    }
    merged(found)
}

/// A search in what a text holds in other words.
struct Search<'a> {
    text: &'a Text<'a>,
    depth: usize,
    known: Known,
    unpack: &'a dyn Unpack,
}

impl Search<'_> {
    /// In JSON strings that hold escapes: most of all JSON within JSON.
    fn in_strings(&self, found: &mut Vec<Edit>) {
        let plain = self.text.plain();
        let mut at = 0;
        for place in starts(&WRAPPED, plain) {
            // The string around it begins after the last line break: JSON strings hold none.
            let line = plain
                .as_bytes()
                .get(at..place)
                .and_then(|part| memchr::memrchr(b'\n', part));
            at = line.map_or(at, |line| at + line + 1);
            while at <= place {
                let Some(string) = string_at(plain, at) else {
                    return;
                };
                // One that begins further on is looked at again, for the places in it.
                at = if string.start < place {
                    string.end
                } else {
                    string.start
                };
                if string.start < place && place < at {
                    let said = unescaped(self.text, string.start + 1, string.inner, None);
                    let inner = || unescape(self.text, string.start + 1, string.inner);
                    self.inner(&said, self.known, in_string, inner, found);
                }
            }
        }
    }

    /// In words with percent-encoded letters, digits or what joins names and values.
    fn in_percent(&self, found: &mut Vec<Edit>) {
        let plain = self.text.plain();
        runs(
            self.text,
            starts(&PERCENTS, plain),
            percent_unit,
            |start, end| {
                self.in_word(start, end, b'+', found);
                if plain[start..end].contains('+') {
                    self.in_word(start, end, b' ', found);
                }
            },
        );
    }

    fn in_word(&self, start: usize, end: usize, plus: u8, found: &mut Vec<Edit>) {
        let inner = unquote(self.text, start, end, plus);
        self.mapped(inner, Known::All, in_word, found);
    }

    /// Runs of Base64 that say a secret; the whole run goes.
    fn in_base64(&self, found: &mut Vec<Edit>) {
        let plain = self.text.plain();
        runs(
            self.text,
            starts(&BASE64S, plain),
            base64_unit,
            |start, end| {
                let run = &plain.as_bytes()[start..end];
                if encodes_secret(run) {
                    found.push(Edit::new(start, end, "base64", run));
                }
            },
        );
    }

    /// In what HTML and quoted-printable say.
    fn in_markup(&self, found: &mut Vec<Edit>) {
        for inner in [unmarked(self.text), unprinted(self.text)]
            .into_iter()
            .flatten()
        {
            self.mapped(inner, self.known, in_markup, found);
        }
    }

    fn mapped(
        &self,
        inner: Inner,
        known: Known,
        encode: fn(&str) -> String,
        found: &mut Vec<Edit>,
    ) {
        if suspects(&inner.text) {
            let edits = edits(&inner.text, self.depth + 1, known, self.unpack);
            found.extend(edits.into_iter().map(|edit| inner.outward(edit, encode)));
        }
    }

    /// The same where the map is made only for what holds something: most strings hold nothing.
    fn inner(
        &self,
        said: &Text,
        known: Known,
        encode: fn(&str) -> String,
        inner: impl FnOnce() -> Inner,
        found: &mut Vec<Edit>,
    ) {
        if !suspects(said) {
            return;
        }
        let edits = edits(said, self.depth + 1, known, self.unpack);
        if !edits.is_empty() {
            let inner = inner();
            found.extend(edits.into_iter().map(|edit| inner.outward(edit, encode)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::packed::tests::Plain;
    use super::*;

    const KEY: &str = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA";

    fn found(text: &str) -> Vec<String> {
        let edits = edits(&Text::new(text), 0, Known::All, &Plain);
        edits
            .iter()
            .map(|edit| text[edit.start..edit.end].to_owned())
            .collect()
    }

    #[test]
    fn the_expressions_compile() {
        assert!(PATTERNS.is_some());
        assert!(WRAPPED.is_some() && PERCENTS.is_some() && BASE64S.is_some());
    }

    #[test]
    fn secrets_are_found_in_what_wraps_them() {
        for (text, expected) in [
            (format!("x {KEY} y"), KEY.to_owned()),
            (
                r#"{"a":"{\"pwd\":\"x\",\"n\":1}"}"#.to_owned(),
                "x".to_owned(),
            ),
            (
                r#"["é\u0073k-ant-api03-AAAAAAAAAAAAAAAA"]"#.to_owned(),
                r"\u0073k-ant-api03-AAAAAAAAAAAAAAAA".to_owned(),
            ),
            (format!("a s%6b{}", &KEY[2..]), format!("s%6b{}", &KEY[2..])),
            (
                format!("a s<b>k-</b>&#97;{}", &KEY[4..]),
                format!("s<b>k-</b>&#97;{}", &KEY[4..]),
            ),
            (
                "v: QUtJQUlPU0ZPRE5ON0VYQU1QTEU".to_owned(),
                "QUtJQUlPU0ZPRE5ON0VYQU1QTEU".to_owned(),
            ),
        ] {
            assert!(suspects(&Text::new(&*text)), "{text}");
            assert_eq!(found(&text), [expected], "{text}");
        }
        for text in [
            "",
            "a risk-based task-oriented approach",
            r#"{"max_tokens": 5}"#,
        ] {
            assert!(!suspects(&Text::new(text)), "{text}");
            assert_eq!(found(text), Vec::<String>::new());
        }
    }

    #[test]
    fn only_strings_that_hold_an_escape_are_looked_into_again() {
        let outside = r"\u0073k-ant-api03-AAAAAAAAAAAAAAAA";
        assert_eq!(found(outside), Vec::<String>::new());
        assert_eq!(found(&format!(r#""a" {outside}"#)), Vec::<String>::new());
        let behind = format!(r#"\" {{"a": "\"{outside}"}}"#);
        assert_eq!(found(&behind), [outside]);
    }

    #[test]
    fn records_are_suspect_by_what_their_strings_say() {
        assert!(!suspects_record(br#"{"password":1,"type":"note"}"#));
        assert!(suspects_record(br#"{"note":"{\"password\":1}"}"#));
        assert!(suspects_record(format!(r#"{{"note":"{KEY}"}}"#).as_bytes()));
        assert!(encodes(&Text::new("a%2Db")) && !encodes(&Text::new("100% a")));
    }
}
