//! What a scan is asked for.
use super::{Kind, UserPatterns};

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// No kinds = all that are usual.
    pub kinds: Vec<Kind>,
    /// Country codes; `None` = every country, with stricter rules for ambiguous forms.
    pub locales: Option<Vec<String>>,
    /// Patterns of the user, compiled.
    pub user: UserPatterns,
    /// Takes forms without their context word where a check rule or the form itself speaks for them:
    /// for what leaves the house, where a miss is worse than a false alarm.
    pub recall: bool,
}

impl Options {
    pub fn wants(&self, kind: Kind) -> bool {
        match self.kinds.is_empty() {
            true => kind.usual(),
            false => self.kinds.contains(&kind),
        }
    }

    /// Secrets and nothing else.
    pub(super) fn secrets() -> Self {
        Options {
            kinds: vec![Kind::Secrets],
            ..Options::default()
        }
    }
}
