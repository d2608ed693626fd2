//! Entries that wait for a key word: prefixes of secrets, names of services, `@`, `://`.

use std::sync::{Arc, OnceLock};

use regex::bytes::{Match, Regex};
use regex_automata::util::syntax;
use regex_syntax::hir::literal::Extractor;

use super::boundary::{closes, opens};
use super::entropy::{at_most, entropy, placeholder};
use super::later::Later;
use super::memory::{Memory, may_be_assigned, run};
use super::shape::{BORDER, Set, made_of, needed, reach};
use super::{Entry, Kind, base64, check};
use crate::text::decode;

/// How many times as far is looked ahead where a match may begin before its key.
const AHEAD: usize = 16;

/// What may stand between the name of a service and the value: at most 40 bytes, then a border.
const NEAR: &str = r"(?s:[^\x00]{0,40}?)(?:[^A-Za-z0-9]|\\[nrt]|%[0-9A-Fa-f]{2})";

/// What may stand between a name like `password` and its value: the rest of the name and an assignment.
const ASSIGNED: &str = concat!(
    r#"[A-Za-z0-9_.\-]{0,24}(?:\\?["'`\]\)]){0,2}[ \t]{0,8}(?:string[ \t]{1,3})?"#,
    r#"(?::[ \t]{0,3}[A-Za-z&]{0,12}[ \t]{0,3}=|=>|:{1,3}=|[?.+|]{1,2}=|<-|=|:|>\s{1,48}|>|,|%3D|- ["'])"#,
    r#"[ \t]{0,8}(?:[A-Za-z.]{0,14}\()?\\?["'`]{0,3}[ ]?(?:Bearer[ ])?"#,
);

/// What may follow a value near the name of its service: anything that ends it. A question or exclamation mark does
/// where a query or a new sentence begins behind it, or nothing; brackets and the like continue it.
const AFTER_NEAR: &str =
    r#"(?:[^A-Za-z0-9?!\[{^$~+%]|%[0-9A-Fa-f]{2}|[?!](?:[\s"'`)]|[A-Za-z_]{1,24}=|\z)|\z)"#;

/// What may follow an assigned value: as above, and no sign that the value could hold and does not go on with.
const AFTER_ASSIGNED: &str = concat!(
    r#"(?:[^A-Za-z0-9?!\[{^$~+%./_=:\-]|%[0-9A-Fa-f]{2}"#,
    r#"|[.:](?:[\s"'`<)]|\z)|[?!](?:[\s"'`)]|[A-Za-z_]{1,24}=|\z)|\z)"#,
);

/// What stands before `key` and the like where the value is no secret.
const OPEN: [&[u8]; 14] = [
    b"public",
    b"cache",
    b"idempotency",
    b"sort",
    b"partition",
    b"primary",
    b"foreign",
    b"object",
    b"row",
    b"index",
    b"unique",
    b"storage",
    b"message",
    b"shard",
];

/// Up to this length the name of a service must begin a word: `okta` is in `bookTable`.
const SHORT: usize = 5;

/// A keyed entry at one of its keys.
#[derive(Debug)]
pub struct Keyed {
    pub entry: usize,
    pattern: Arc<Pattern>,
    /// The key is the Base64 of the real key, at the beginning of an encoded value.
    encoded: bool,
}

/// What the keys of an entry share. Its expression is read and compiled when one of them is first seen.
#[derive(Debug)]
struct Pattern {
    source: String,
    back: usize,
    inner: bool,
    assigned: bool,
    least: f64,
    check: Option<check::Check>,
    /// What the value near the key is, as the data file writes it.
    written: String,
    keys: Vec<String>,
    shape: OnceLock<Option<Shape>>,
    regex: Later,
}

/// What is known of every match without looking for it.
#[derive(Debug)]
struct Shape {
    /// Bytes after the key that a match may cover.
    reach: usize,
    /// A byte besides the key that every match holds.
    needs: Option<u8>,
    /// How long a match at the key is at least, and what it is made of.
    made_of: Option<(usize, Set)>,
    /// The same of the value near the key.
    value: Option<(usize, Set)>,
}

impl Pattern {
    fn new(entry: &Entry) -> Result<Self, String> {
        let source = match (entry.value.is_empty(), entry.assigned) {
            (true, _) => entry.regex.clone(),
            (false, false) => format!("{NEAR}({}){AFTER_NEAR}", entry.value),
            (false, true) => format!("{ASSIGNED}({}){AFTER_ASSIGNED}", entry.value),
        };
        let check = match entry.check.as_str() {
            "" => None,
            name => Some(
                check::by_name(name).ok_or_else(|| format!("{}: no check `{name}`", entry.id))?,
            ),
        };
        Ok(Pattern {
            regex: Later::keyed(&source, entry.back == 0),
            source,
            back: entry.back,
            inner: !entry.value.is_empty(),
            assigned: entry.assigned,
            least: entry.entropy,
            check,
            written: entry.value.clone(),
            keys: entry.keys.clone(),
            shape: OnceLock::new(),
        })
    }

    /// Its shape; `None` only if a data file is wrong, which its test shows.
    fn shape(&self) -> Option<&Shape> {
        let read = || {
            Some(Shape {
                reach: reach(&self.source).ok()?,
                needs: needed(&self.source, &self.keys),
                made_of: (self.back == 0 && !self.inner)
                    .then(|| made_of(&self.source))
                    .flatten(),
                value: match self.inner {
                    false => None,
                    true => made_of(&self.written).filter(|(least, _)| *least > 0),
                },
            })
        };
        self.shape.get_or_init(read).as_ref()
    }
}

impl Keyed {
    /// An entry at each of its keys.
    pub fn all(index: usize, entry: &Entry) -> Result<impl Iterator<Item = Self>, String> {
        let pattern = Arc::new(Pattern::new(entry)?);
        Ok(entry.keys.iter().map(move |_| Keyed {
            entry: index,
            pattern: Arc::clone(&pattern),
            encoded: false,
        }))
    }

    /// The same entry behind Base64, if its key is long enough to tell: the encoded key and what looks for it.
    pub fn encoded(&self, entry: &Entry, key: &str) -> Option<(String, Self)> {
        let plain = entry.value.is_empty() && entry.back == 0 && !entry.regex.contains("(?i");
        let start = base64::beginning(key.as_bytes());
        (entry.kind == Kind::Secrets && plain && start.len() >= 4).then(|| {
            let encoded = Keyed {
                entry: self.entry,
                pattern: Arc::clone(&self.pattern),
                encoded: true,
            };
            (start, encoded)
        })
    }

    /// Whether its entry can be read and compiled.
    #[cfg(test)]
    pub fn compiles(&self) -> bool {
        self.pattern.shape().is_some() && self.pattern.regex.get().is_some()
    }

    /// All that a match can begin with, four bytes each; `None` if it is too much, or shorter.
    pub fn beginnings(&self, most: usize) -> Option<Vec<[u8; 4]>> {
        let config = syntax::Config::new().unicode(false).utf8(false);
        let parsed = syntax::parse_with(&self.pattern.source, &config).ok()?;
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

    /// Whether a match may begin before the key.
    pub fn looks_back(&self) -> bool {
        self.pattern.back > 0
    }

    /// The value near the key at `start..end`.
    pub fn find(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        memory: &mut Memory,
    ) -> Option<(usize, usize)> {
        if (!self.pattern.inner && start < memory.barren)
            || (self.pattern.back == 0 && memory.tired(start))
        {
            return None;
        }
        if self.encoded {
            return self.inside(text, start);
        }
        if !self.names(text, start, end) {
            return None;
        }
        let shape = self.pattern.shape()?;
        let regex = self.pattern.regex.get()?;
        let from = if self.pattern.inner {
            end
        } else {
            start.saturating_sub(self.pattern.back)
        };
        let ahead = match self.pattern.back {
            0 => shape.reach,
            _ => shape.reach * AHEAD,
        };
        let part = &text[from..(end + ahead).min(text.len())];
        if self.pattern.inner && self.pattern.assigned && !may_be_assigned(part) {
            return None;
        }
        if let Some((least, set)) = &shape.value {
            let to = from + part.len();
            let begin = from.max(memory.barren);
            match run(&text[begin.min(to)..to], *least, set) {
                Some(at) => memory.barren = begin + at,
                None => {
                    memory.barren = begin.max((to + 1).saturating_sub(*least));
                    return None;
                }
            }
        }
        if let Some((least, set)) = &shape.made_of {
            let fits = |byte: &u8| set[usize::from(*byte >> 6)] >> (*byte & 63) & 1 != 0;
            if !part.get(..*least)?.iter().all(fits) {
                return None;
            }
        }
        let may = shape
            .needs
            .is_none_or(|byte| memchr::memchr(byte, part).is_some());
        if self.pattern.back == 0 && !may {
            return None;
        }
        if self.pattern.back > 0 && !self.pattern.inner {
            match may
                .then(|| regex.find(part))
                .flatten()
                .map(|found| from + found.start())
            {
                Some(first) if first <= start => {}
                Some(first) => {
                    memory.barren = first;
                    return None;
                }
                None => {
                    memory.barren = match from + part.len() == text.len() {
                        true => text.len(),
                        false => from + part.len() - shape.reach,
                    };
                    return None;
                }
            }
        }
        let whole = if self.pattern.inner || self.pattern.back == 0 {
            regex.find(part)?
        } else {
            // Looked for from further back, the first match may be another one right before the key.
            regex
                .find_iter(part)
                .take_while(|found| from + found.start() <= start)
                .find(|found| from + found.end() >= end)?
        };
        let found = self.judged(text, regex, (start, end), from, part, whole);
        if found.is_none() && self.pattern.back == 0 {
            memory.refuse(from + whole.end());
        }
        found
    }

    /// The value of a match, if it is one.
    fn judged(
        &self,
        text: &[u8],
        regex: &Regex,
        (start, end): (usize, usize),
        from: usize,
        part: &[u8],
        whole: Match<'_>,
    ) -> Option<(usize, usize)> {
        // Where the value is within the match is dear to find out.
        if at_most(whole.as_bytes()) < self.pattern.least {
            return None;
        }
        let span = match regex.captures_len() {
            1 => whole.range(),
            _ => {
                let groups = regex.captures_at(part, whole.start())?;
                groups.get(1).unwrap_or(whole).range()
            }
        };
        let (left, right) = (from + span.start, from + span.end);
        let value = &text[left..right];
        let bordered = self.pattern.inner || (opens(text, left) && closes(text, right));
        let covers =
            self.pattern.inner || (left <= start && right >= end) || regex.captures_len() > 1;
        let random = self.pattern.least == 0.0
            || (entropy(value) >= self.pattern.least && !placeholder(value));
        (bordered && covers && random && self.pattern.check.is_none_or(|check| check(value)))
            .then_some((left, right))
    }

    /// Whether the key at `start..end` names what is looked for: a short name of a service begins a word, and what
    /// is called public, or the key of a cache, is no secret.
    fn names(&self, text: &[u8], start: usize, end: usize) -> bool {
        let before = &text[start.saturating_sub(OPEN[2].len() + 1)..start];
        if self.pattern.assigned {
            let bare = before
                .strip_suffix(b"_")
                .or(before.strip_suffix(b"-"))
                .unwrap_or(before)
                .to_ascii_lowercase();
            return !OPEN.iter().any(|open| bare.ends_with(open));
        }
        if !self.pattern.inner {
            return true;
        }
        let inside = before.last().is_some_and(u8::is_ascii_alphabetic);
        let hump =
            before.last().is_some_and(u8::is_ascii_lowercase) && text[start].is_ascii_uppercase();
        end - start > SHORT || !inside || hump
    }

    /// The Base64 run at `start`, if what it holds begins with a match.
    fn inside(&self, text: &[u8], start: usize) -> Option<(usize, usize)> {
        let most = self.pattern.shape()?.reach * 4 / 3 + BORDER;
        let size = base64::run(&text[start..(start + most).min(text.len())]);
        let plain = decode::base64(&text[start..start + size])?;
        let found = self.pattern.regex.get()?.find(&plain)?;
        let value = &plain[found.range()];
        let random = self.pattern.least == 0.0
            || (entropy(value) >= self.pattern.least && !placeholder(value));
        (closes(&plain, found.end())
            && random
            && self.pattern.check.is_none_or(|check| check(value)))
        .then_some((start, start + size))
    }
}
