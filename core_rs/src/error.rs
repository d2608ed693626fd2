//! What a caller of the core can have done wrong; each becomes a `ValueError` in Python.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The bytes are not the JSON that was asked for; `offset` is where that became clear.
    Json { offset: usize, reason: String },
    /// A pattern that the linear-time engine refuses.
    Pattern { pattern: String, reason: String },
    /// An argument outside its domain.
    Argument(String),
}

impl Error {
    pub fn json(offset: usize, reason: impl Into<String>) -> Self {
        Self::Json {
            offset,
            reason: reason.into(),
        }
    }

    pub fn argument(reason: impl Into<String>) -> Self {
        Self::Argument(reason.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json { offset, reason } => {
                write!(formatter, "invalid JSON at byte {offset}: {reason}")
            }
            Self::Pattern { pattern, reason } => {
                write!(formatter, "invalid pattern `{pattern}`: {reason}")
            }
            Self::Argument(reason) => formatter.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}
