//! What is compiled when it is first needed: most processes ever need a few of some hundred patterns.
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::automaton::Automaton;

/// A pattern of the data files, compiled once.
#[derive(Debug)]
pub struct Later {
    source: String,
    limit: usize,
    /// Whether `.` matches the end of a line.
    lines: bool,
    built: OnceLock<Option<Regex>>,
}

impl Later {
    /// A pattern over folded text.
    pub fn folded(source: String) -> Self {
        Later {
            source,
            limit: 16 << 20,
            lines: true,
            built: OnceLock::new(),
        }
    }

    /// A pattern at a key: `anchored`, or looked for around it.
    pub fn keyed(source: &str, anchored: bool) -> Self {
        let source = match anchored {
            true => format!(r"\A(?:{source})"),
            false => source.to_string(),
        };
        Later {
            source,
            limit: 4 << 20,
            lines: false,
            built: OnceLock::new(),
        }
    }

    /// The expression; `None` only if a data file is wrong, which its test shows.
    pub fn get(&self) -> Option<&Regex> {
        let compile = || {
            RegexBuilder::new(&self.source)
                .unicode(false)
                .dot_matches_new_line(self.lines)
                .size_limit(self.limit)
                .build()
                .ok()
        };
        self.built.get_or_init(compile).as_ref()
    }
}

/// Patterns at the start of a token, compiled once to one automaton.
#[derive(Debug)]
pub struct LaterAutomaton {
    sources: Vec<String>,
    built: OnceLock<Option<Automaton>>,
}

impl LaterAutomaton {
    pub fn new(sources: Vec<String>) -> Self {
        LaterAutomaton {
            sources,
            built: OnceLock::new(),
        }
    }

    /// The automaton; `None` only if a data file is wrong, which its test shows.
    pub fn get(&self) -> Option<&Automaton> {
        let compile = || {
            let sources: Vec<&str> = self.sources.iter().map(String::as_str).collect();
            Automaton::new(&sources).ok()
        };
        self.built.get_or_init(compile).as_ref()
    }
}
