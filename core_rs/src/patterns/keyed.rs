//! Entries that wait for a key word: prefixes of secrets, names of services, `@`, `://`.
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::boundary::{closes, opens};
use super::entropy::{entropy, placeholder};
use super::{Entry, check};

/// How far after the key a match may reach (a PEM block of a 4096 bit key fits).
const REACH: usize = 6000;

/// What may stand between the name of a service and the value: at most 60 bytes, then a border.
const NEAR: &str = r"(?s:[^\x00]{0,60}?)(?:[^A-Za-z0-9]|\\[nrt]|%[0-9A-Fa-f]{2})";

/// What may stand between a name like `password` and its value: the rest of the name and an assignment.
const ASSIGNED: &str = concat!(
    r#"[A-Za-z0-9_.\-]{0,24}(?:\\?["'`\]\)]){0,2}[ \t]{0,8}(?::[ \t]{0,3}[A-Za-z&]{0,12}[ \t]{0,3}=|=>|:=|<-|=|:|>|,|%3D)"#,
    r#"[ \t]{0,8}(?:[A-Za-z.]{0,14}\()?\\?["'`]{0,3}"#,
);

/// A keyed entry, compiled when its key is first seen.
#[derive(Debug)]
pub struct Keyed {
    pub entry: usize,
    source: String,
    back: usize,
    inner: bool,
    least: f64,
    check: Option<check::Check>,
    regex: OnceLock<Option<Regex>>,
}

impl Keyed {
    pub fn new(index: usize, entry: &Entry) -> Result<Self, String> {
        let after = r"(?:[^A-Za-z0-9]|\z)";
        let source = match (entry.value.is_empty(), entry.assigned) {
            (true, _) => entry.regex.clone(),
            (false, false) => format!("{NEAR}({}){after}", entry.value),
            (false, true) => format!("{ASSIGNED}({}){after}", entry.value),
        };
        let check = match entry.check.as_str() {
            "" => None,
            name => Some(
                check::by_name(name).ok_or_else(|| format!("{}: no check `{name}`", entry.id))?,
            ),
        };
        Ok(Keyed {
            entry: index,
            source,
            back: entry.back,
            inner: !entry.value.is_empty(),
            least: entry.entropy,
            check,
            regex: OnceLock::new(),
        })
    }

    /// The regex, compiled once; `None` only if a data file is wrong, which its test shows.
    pub fn regex(&self) -> Option<&Regex> {
        let compile = || {
            let anchored = if self.back == 0 {
                format!(r"\A(?:{})", self.source)
            } else {
                self.source.clone()
            };
            RegexBuilder::new(&anchored)
                .unicode(false)
                .size_limit(4 << 20)
                .build()
                .ok()
        };
        self.regex.get_or_init(compile).as_ref()
    }

    /// The value near the key at `start..end`.
    pub fn find(&self, text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
        let regex = self.regex()?;
        let from = if self.inner {
            end
        } else {
            start.saturating_sub(self.back)
        };
        let part = &text[from..(end + REACH).min(text.len())];
        let span = match regex.captures_len() {
            1 => regex.find(part).map(|found| (found.start(), found.end()))?,
            _ => {
                let groups = regex.captures(part)?;
                let inner = groups.get(1).or_else(|| groups.get(0))?;
                (inner.start(), inner.end())
            }
        };
        let (left, right) = (from + span.0, from + span.1);
        let value = &text[left..right];
        let bordered = self.inner || (opens(text, left) && closes(text, right));
        let covers = self.inner || (left <= start && right >= end) || regex.captures_len() > 1;
        let random = self.least == 0.0 || (entropy(value) >= self.least && !placeholder(value));
        (bordered && covers && random && self.check.is_none_or(|check| check(value)))
            .then_some((left, right))
    }
}
