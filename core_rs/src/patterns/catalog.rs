//! The data files, compiled in.
use std::sync::LazyLock;

use serde::Deserialize;

use super::{Engine, Entry, Kind};

const PII: [&str; 7] = [
    include_str!("../../patterns/pii.toml"),
    include_str!("../../patterns/pii_company.toml"),
    include_str!("../../patterns/pii_americas.toml"),
    include_str!("../../patterns/pii_asia.toml"),
    include_str!("../../patterns/pii_europe.toml"),
    include_str!("../../patterns/pii_phone.toml"),
    include_str!("../../patterns/pii_post.toml"),
];
const SECRETS: [&str; 4] = [
    include_str!("../../patterns/secrets.toml"),
    include_str!("../../patterns/secrets_named.toml"),
    include_str!("../../patterns/secrets_services.toml"),
    include_str!("../../patterns/secrets_generic.toml"),
];
const DATES: [&str; 1] = [include_str!("../../patterns/pii_dates.toml")];
const URLS: [&str; 1] = [include_str!("../../patterns/pii_urls.toml")];
pub(super) const INJECTION: &str = include_str!("../../patterns/injection.toml");

#[derive(Deserialize)]
struct File {
    entry: Vec<Entry>,
}

static ENGINE: LazyLock<Result<Engine, String>> =
    LazyLock::new(|| Engine::new(catalog()?, INJECTION));

/// Every entry of personal data and secrets.
pub fn catalog() -> Result<Vec<Entry>, String> {
    let mut all = Vec::new();
    for (kind, files) in [
        (Kind::Pii, &PII[..]),
        (Kind::Secrets, &SECRETS[..]),
        (Kind::Dates, &DATES[..]),
        (Kind::Urls, &URLS[..]),
    ] {
        for text in files {
            let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
            all.extend(file.entry.into_iter().map(|entry| Entry { kind, ..entry }));
        }
    }
    Ok(all)
}

/// The engine over the built-in catalogue, built on first use.
pub fn engine() -> Result<&'static Engine, &'static str> {
    ENGINE.as_ref().map_err(String::as_str)
}
