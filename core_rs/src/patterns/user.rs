//! Patterns from the user's configuration, on the same linear-time engine.
use regex::bytes::{Regex, RegexBuilder};

use super::{Hit, Kind, Severity};

/// Hits a pattern may have in one window; the verdict needs one, and iterating over matches can be
/// quadratic where a single search is linear.
const MOST: usize = 32;
/// Largest compiled program, in bytes: keeps the slowest pattern linear with a small factor.
const PROGRAM: usize = 256 << 10;
const NEAR: usize = 72;

/// One entry of `patterns:`.
#[derive(Clone, Debug, Default)]
pub struct UserPattern {
    pub id: String,
    pub regex: String,
    pub category: String,
    pub severity: Severity,
    /// Words of which one must stand near; none = always.
    pub context: Vec<String>,
}

/// The compiled `patterns:` list.
#[derive(Clone, Debug, Default)]
pub struct UserPatterns {
    list: Vec<(UserPattern, Regex)>,
}

impl UserPatterns {
    /// Compiles the list; the error names the pattern and what is wrong with it.
    pub fn new(patterns: Vec<UserPattern>) -> Result<Self, String> {
        let compile = |pattern: UserPattern| {
            let regex = RegexBuilder::new(&pattern.regex)
                .size_limit(PROGRAM)
                .dfa_size_limit(8 << 20)
                .build()
                .map_err(|error| format!("pattern `{}`: {}", pattern.id, brief(&error)))?;
            if regex.is_match(b"") {
                return Err(format!("pattern `{}`: matches the empty text", pattern.id));
            }
            Ok((pattern, regex))
        };
        Ok(UserPatterns {
            list: patterns
                .into_iter()
                .map(compile)
                .collect::<Result<_, String>>()?,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn scan(&self, text: &[u8], hits: &mut Vec<Hit>) {
        for (pattern, regex) in &self.list {
            let found = regex
                .find_iter(text)
                .take(MOST)
                .filter(|found| !found.is_empty());
            hits.extend(
                found
                    .filter(|found| near(pattern, text, found.start(), found.end()))
                    .map(|found| Hit {
                        kind: Kind::User,
                        id: pattern.id.clone(),
                        category: pattern.category.clone(),
                        severity: pattern.severity,
                        start: found.start(),
                        end: found.end(),
                        score: 1.0,
                        contextual: !pattern.context.is_empty(),
                        masked: String::new(),
                    }),
            );
        }
    }
}

fn near(pattern: &UserPattern, text: &[u8], start: usize, end: usize) -> bool {
    let around = &text[start.saturating_sub(NEAR)..(end + NEAR).min(text.len())];
    let around = around.to_ascii_lowercase();
    pattern.context.is_empty()
        || pattern
            .context
            .iter()
            .map(|word| word.to_lowercase())
            .any(|word| memchr::memmem::find(&around, word.as_bytes()).is_some())
}

fn brief(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => format!("compiles to more than {limit} bytes"),
        other => other
            .to_string()
            .lines()
            .last()
            .unwrap_or("not a regular expression")
            .trim()
            .to_string(),
    }
}
