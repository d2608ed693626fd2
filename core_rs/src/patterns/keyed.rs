//! Entries that wait for a key word: prefixes of secrets, names of services, `@`, `://`.
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};
use regex_automata::util::syntax;

use super::boundary::{closes, opens};
use super::entropy::{entropy, placeholder};
use super::{Entry, check};

/// How far after the key a match may reach (a PEM block of a 4096 bit key fits).
const REACH: usize = 6000;

/// How many times as far is looked ahead where a match may begin before its key.
const AHEAD: usize = 16;

/// Bytes after a match that say whether it ends there.
const BORDER: usize = 4;

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
    /// Bytes after the key that a match may cover.
    reach: usize,
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
            reach: reach(&source)?,
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
    ///
    /// `barren` is kept over the keys of one text, in their order: no match begins before it. Without
    /// it, a text of nothing but keys would be read anew for each of them.
    pub fn find(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        barren: &mut usize,
    ) -> Option<(usize, usize)> {
        if start < *barren {
            return None;
        }
        let regex = self.regex()?;
        let from = if self.inner {
            end
        } else {
            start.saturating_sub(self.back)
        };
        let ahead = match self.back {
            0 => self.reach,
            _ => self.reach * AHEAD,
        };
        let part = &text[from..(end + ahead).min(text.len())];
        if self.back > 0 && !self.inner {
            match regex.find(part).map(|found| from + found.start()) {
                Some(first) if first <= start => {}
                Some(first) => {
                    *barren = first;
                    return None;
                }
                None => {
                    *barren = match from + part.len() == text.len() {
                        true => text.len(),
                        false => from + part.len() - self.reach,
                    };
                    return None;
                }
            }
        }
        let whole = if self.inner || self.back == 0 {
            regex.find(part)?
        } else {
            // Looked for from further back, the first match may be another one right before the key.
            regex
                .find_iter(part)
                .take_while(|found| from + found.start() <= start)
                .find(|found| from + found.end() >= end)?
        };
        let span = match regex.captures_len() {
            1 => whole.range(),
            _ => {
                let groups = regex.captures_at(part, whole.start())?;
                groups.get(1).unwrap_or(whole).range()
            }
        };
        let (left, right) = (from + span.start, from + span.end);
        let value = &text[left..right];
        let bordered = self.inner || (opens(text, left) && closes(text, right));
        let covers = self.inner || (left <= start && right >= end) || regex.captures_len() > 1;
        let random = self.least == 0.0 || (entropy(value) >= self.least && !placeholder(value));
        (bordered && covers && random && self.check.is_none_or(|check| check(value)))
            .then_some((left, right))
    }
}

/// How far a match of this can reach: a key that stands in the text a thousand times, without what
/// belongs around it, must not have the regex read on for thousands of bytes each time.
fn reach(source: &str) -> Result<usize, String> {
    let config = syntax::Config::new().unicode(false).utf8(false);
    let parsed = syntax::parse_with(source, &config).map_err(|error| error.to_string())?;
    let longest = parsed.properties().maximum_len().unwrap_or(REACH);
    Ok(longest.min(REACH) + BORDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_entry_reads_on_for_longer_than_it_can_match() {
        let mail = r"[a-z]{1,64}@[a-z]{1,63}(?:\.[a-z]{1,63}){1,6}";
        assert_eq!(reach(mail), Ok(64 + 1 + 63 + 6 * 64 + BORDER));
        assert_eq!(reach("a+"), Ok(REACH + BORDER));
    }
}
