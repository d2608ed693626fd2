//! Entries that wait for a key word: prefixes of secrets, names of services, `@`, `://`.
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};
use regex_automata::util::syntax;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind};

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

/// A set of bytes.
type Set = [u64; 4];

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
    /// A byte besides the key that every match holds.
    needs: Option<u8>,
    /// How long a match at the key is at least, and what it is made of.
    made_of: Option<(usize, Set)>,
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
            needs: (entry.back > 0)
                .then(|| needed(&source, &entry.keys))
                .flatten(),
            made_of: (entry.back == 0 && entry.value.is_empty())
                .then(|| made_of(&source))
                .flatten(),
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

    /// All that a match can begin with, four bytes each; `None` if it is too much, or shorter.
    pub fn beginnings(&self, most: usize) -> Option<Vec<[u8; 4]>> {
        let config = syntax::Config::new().unicode(false).utf8(false);
        let parsed = syntax::parse_with(&self.source, &config).ok()?;
        let all = Extractor::new()
            .limit_class(256)
            .limit_repeat(4)
            .limit_literal_len(4)
            .limit_total(most)
            .extract(&parsed);
        let four = |one: &[u8]| one.first_chunk().copied();
        all.literals()?
            .iter()
            .map(|literal| four(literal.as_bytes()))
            .collect()
    }

    /// Whether `find` keeps its `barren`.
    pub fn looks_back(&self) -> bool {
        self.back > 0
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
        if let Some((least, set)) = &self.made_of {
            let fits = |byte: &u8| set[usize::from(*byte >> 6)] >> (*byte & 63) & 1 != 0;
            if !part.get(..*least)?.iter().all(fits) {
                return None;
            }
        }
        if self.back > 0 && !self.inner {
            let may = self
                .needs
                .is_none_or(|byte| memchr::memchr(byte, part).is_some());
            match may
                .then(|| regex.find(part))
                .flatten()
                .map(|found| from + found.start())
            {
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

/// The least length of what an expression matches, and every byte that may be in it.
fn made_of(source: &str) -> Option<(usize, Set)> {
    let config = syntax::Config::new().unicode(false).utf8(false);
    let parsed = syntax::parse_with(source, &config).ok()?;
    let mut set = [0; 4];
    let mut waiting = vec![&parsed];
    while let Some(part) = waiting.pop() {
        let mut put = |byte: u8| set[usize::from(byte >> 6)] |= 1 << (byte & 63);
        match part.kind() {
            HirKind::Literal(literal) => literal.0.iter().for_each(|byte| put(*byte)),
            HirKind::Class(Class::Bytes(class)) => class
                .iter()
                .for_each(|range| (range.start()..=range.end()).for_each(&mut put)),
            HirKind::Class(Class::Unicode(_)) => (0..=255).for_each(put),
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Repetition(repeated) => waiting.push(&repeated.sub),
            HirKind::Capture(group) => waiting.push(&group.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => waiting.extend(parts),
        }
    }
    Some((parsed.properties().minimum_len()?, set))
}

/// A byte that stands in every match, and in none of the keys: of those around groups, the last.
fn needed(source: &str, keys: &[String]) -> Option<u8> {
    let config = syntax::Config::new().unicode(false).utf8(false);
    let parsed = syntax::parse_with(source, &config).ok()?;
    let HirKind::Concat(parts) = parsed.kind() else {
        return None;
    };
    let literal = |part: &Hir| match part.kind() {
        HirKind::Literal(literal) => literal.0.last().copied(),
        _ => None,
    };
    let among_keys = |byte: &u8| keys.iter().any(|key| key.as_bytes().contains(byte));
    parts
        .iter()
        .filter_map(literal)
        .rfind(|byte| !among_keys(byte))
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

    #[test]
    fn what_every_match_holds_is_known() {
        let keys = ["://".to_string()];
        assert_eq!(
            needed("[a-z]{2}://[^@]{1,9}:([^@]+)@[a-z]", &keys),
            Some(b'@')
        );
        assert_eq!(needed("[a-z]{2}://(?:@|x)", &keys), None);
    }

    #[test]
    fn what_matches_are_made_of_is_known() {
        let (least, set) = made_of("ab[0-2]{3,9}(?:-|x?)").expect("an expression");
        let bytes: Vec<u8> = (0..=255)
            .filter(|byte| set[usize::from(*byte >> 6)] >> (*byte & 63) & 1 != 0)
            .collect();
        assert_eq!((least, &bytes[..]), (5, &b"-012abx"[..]));
        assert!(made_of("[^a]").expect("an expression").1[3] == u64::MAX);
    }
}
