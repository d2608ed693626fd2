//! Finding secrets in text of any kind: JSON (whole, cut short, or inside of events), forms, plain text.
use std::sync::LazyLock;

use regex::Regex;

use super::base64::{encodes_secret, wrapped};
use super::edit::{Edit, merged};
use super::known::{Known, known_edits};
use super::markup::{unmarked, unprinted};
use super::members::member_edits;
use super::packed::{Unpack, compressed_edits, packed_edits};
use super::quoted::string_at;
use super::runs::{base64_unit, percent_unit, runs};
use super::shapes;
use super::suspect::{compiled, escape, percented, starts, suspects};
use super::text::Text;
use super::unwrap::{Inner, in_markup, in_string, in_word, unescape, unescaped, unquote};
use super::url;

/// Texts within each other that are looked into.
pub const DEPTH: usize = 6;

static WRAPPED: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(&format!(r#"{}|\\["'/]"#, escape())));
static PERCENTS: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(&percented()));
static BASE64S: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(&wrapped()));

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
}
