//! One pattern as the data files write it.
use serde::Deserialize;

/// What a pattern looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    Pii,
    Secrets,
    Injection,
    User,
    /// Dates of any kind, whoever's: only where asked for.
    Dates,
    /// Addresses of pages: only where asked for.
    Urls,
}

impl Kind {
    pub const ALL: [Kind; 6] = [
        Kind::Pii,
        Kind::Secrets,
        Kind::Injection,
        Kind::User,
        Kind::Dates,
        Kind::Urls,
    ];

    /// Whether a scan without chosen kinds looks for it.
    pub fn usual(self) -> bool {
        !matches!(self, Kind::Dates | Kind::Urls)
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Pii => "pii",
            Kind::Secrets => "secrets",
            Kind::Injection => "injection",
            Kind::User => "user",
            Kind::Dates => "dates",
            Kind::Urls => "urls",
        }
    }

    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// How bad it is when the value gets out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Low,
    #[default]
    Medium,
    High,
    Critical,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
            Severity::Critical => "critical",
        }
    }
}

/// A pattern entry. Which fields are set says how it is run:
/// `regex`/`bare` alone → at token starts; `keys` + `regex` → at the key; `keys` + `value` → after the key.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Entry {
    pub id: String,
    pub kind: Kind,
    pub category: String,
    pub severity: Severity,
    /// Country code, or empty for everywhere.
    pub locale: String,
    /// A form that stands by itself.
    pub regex: String,
    /// A form that counts only with a context word near.
    pub bare: String,
    /// Secrets without a prefix of their own: the shape of the value after a key word.
    pub value: String,
    /// Name of a validator in `check`.
    pub check: String,
    pub context: Vec<String>,
    pub keys: Vec<String>,
    /// How far before the key the match may begin.
    pub back: usize,
    /// The key must be followed by an assignment, not just be near.
    pub assigned: bool,
    /// Without a chosen locale the context is needed even by `regex`.
    pub gated: bool,
    /// The context must be the value's label: right before it, or right behind it, with no other value between.
    pub labelled: bool,
    /// Counts only where a miss is worse than a false alarm (`Options::recall`).
    pub wide: bool,
    /// Least Shannon entropy of the value, in bits a character.
    pub entropy: f64,
    /// Injection: how much evidence a match is, 0 to 1.
    pub weight: f64,
    /// Where the rule or shape is published.
    pub source: String,
    /// Examples that must match; `{class count}` is filled with generated characters.
    pub yes: Vec<String>,
    /// Examples that must not match.
    pub no: Vec<String>,
}

impl Entry {
    /// Whether this entry waits for a key word.
    pub fn keyed(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Whether `locales` (none = all) let this entry run.
    pub fn allowed(&self, locales: Option<&[String]>) -> bool {
        self.locale.is_empty()
            || locales.is_none_or(|chosen| {
                chosen.iter().any(|name| {
                    let country = name.rsplit(['-', '_']).next().unwrap_or(name);
                    self.locale
                        .split(' ')
                        .any(|own| own.eq_ignore_ascii_case(country))
                })
            })
    }
}
