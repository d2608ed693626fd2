//! Secrets in header fields and paths, where a name may tell them and most of what looks random is harmless.
//!
//! A field is looked through as `name : value`, a pair of a query as `name=value`. Identifiers and what servers say
//! about themselves are full of digests and of names of services, so there only shapes count; identifiers of
//! requests, which SDKs read and people quote, are left to shapes of providers' keys.
use std::sync::LazyLock;

use regex::Regex;

use super::edit::{Edit, merged};
use super::known::{Known, known_edits};
use super::packed::Unpack;
use super::search::edits;
use super::suspect::suspects;
use super::text::{Text, is_blank};
use super::url::pair_class;

/// Names of fields that identify a request or a part of one.
static IDENTIFIERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    whole(concat!(
        r"(?:.*[_-])?(?:request|trace|span|parent|correlation|transaction|operation|invocation|message|response)",
        r"[_-]?id(?:-2)?|.*-(?:ray|trace)|traceparent|x-cloud-trace-context|x-b3-.*|uber-trace-id|sentry-trace",
    ))
});

/// Names of fields in which a name of a service says nothing about what stands beside it.
static INFRASTRUCTURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    whole(concat!(
        r".*[_-]?id|.*digest|.*-(?:md5|sha1|sha256|hash|checksum.*)|etag|if-.*|date|expires|last-modified|age|vary",
        r"|content-.*|.*-policy(?:-report-only)?|report-to|reporting-endpoints|nel|server.*|via|x-cache.*|x-served-by",
        r"|x-timer|alt-svc|tracestate|baggage|user-agent|x-stainless-.*|host|accept.*|strict-transport-security",
        r"|x-powered-by|.*ratelimit.*|.*-version|.*-region",
    ))
});

/// Fields that hold URLs.
const ADDRESSES: [&str; 5] = ["location", "content-location", "referer", "origin", "link"];

/// Hosts whose paths are secrets, or hold some right behind a word.
const SECRET_PATHS: [&str; 5] = [
    ".slack.com",
    "discord.com",
    "discordapp.com",
    ".webhook.office.com",
    "api.telegram.org",
];

/// The word: `/bot123456789:…/getMe`.
const BEHIND: &str = "/bot";

/// The same as in a record: what is made of a field there decides whether this looks at all.
const JOINT: &str = " : ";

fn whole(names: &str) -> Option<Regex> {
    Regex::new(&format!(r"\A(?:{names})\z")).ok()
}

/// May a path at this host be a secret as a whole?
pub fn has_secret_path(host: &str) -> bool {
    let host = host.to_lowercase();
    let host = host.trim_end_matches('.');
    SECRET_PATHS.iter().any(|end| host.ends_with(end))
}

/// Where the secrets are in the value of a header field.
pub fn field_edits(name: &str, value: &Text, unpack: &dyn Unpack) -> Vec<Edit> {
    let bare = name.trim_matches(is_blank).to_lowercase();
    let is =
        |names: &LazyLock<Option<Regex>>| names.as_ref().is_some_and(|one| one.is_match(&bare));
    if is(&IDENTIFIERS) {
        return inside(value, Known::None, unpack);
    }
    if ADDRESSES.contains(&&*bare) {
        return address_edits(value, unpack);
    }
    if is(&INFRASTRUCTURE) {
        return inside(value, Known::Shaped, unpack);
    }
    let ahead = name.len() + JOINT.len();
    let field = [
        name.as_bytes(),
        JOINT.as_bytes(),
        value.part(0, value.plain().len()),
    ]
    .concat();
    let mut found = inside(value, Known::All, unpack);
    let named = known_edits(&Text::wtf8(field), Known::All).into_iter();
    found.extend(named.filter(|edit| edit.start >= ahead).map(|edit| {
        let (start, end) = (edit.start - ahead, edit.end - ahead);
        Edit {
            start,
            end,
            lead: None,
            ..edit
        }
    }));
    merged(found)
}

/// Where they are in a path with its query. `origin` (`https://host`): some are known only behind it.
pub fn path_edits(path: &Text, origin: &str, unpack: &dyn Unpack) -> Vec<Edit> {
    let mut found = address_edits(path, unpack);
    if !origin.is_empty() {
        let plain = path.plain();
        let whole = [origin.as_bytes(), path.part(0, plain.len())].concat();
        let mut all = shaped(&Text::wtf8(whole), 0, origin.len());
        if let Some(at) = plain.find(BEHIND) {
            let at = at + BEHIND.len();
            all.extend(shaped(&path.slice(at, plain.len()), at, 0));
        }
        // The slash stays: a path begins with one.
        found.extend(
            all.into_iter()
                .filter(|edit| edit.end > first(plain))
                .map(|edit| {
                    let start = edit.start.max(first(plain));
                    let value = path.part(start, edit.end.max(start)).to_vec();
                    Edit {
                        start,
                        value,
                        ..edit
                    }
                }),
        );
    }
    merged(found)
}

/// How long the first character is.
fn first(text: &str) -> usize {
    text.chars().next().map_or(1, char::len_utf8)
}

/// Those by shape, moved by `ahead` and back by `behind`, from the beginning on.
fn shaped(text: &Text, ahead: usize, behind: usize) -> Vec<Edit> {
    let found = known_edits(text, Known::Shaped).into_iter();
    let moved = found.filter(|edit| edit.end > behind).map(|edit| Edit {
        start: (edit.start + ahead).saturating_sub(behind),
        end: edit.end + ahead - behind,
        lead: None,
        ..edit
    });
    moved.collect()
}

/// Where they are in a URL, or a path with its query: by shape anywhere, by name in the query's pairs.
pub fn address_edits(text: &Text, unpack: &dyn Unpack) -> Vec<Edit> {
    let mut found = inside(text, Known::Shaped, unpack);
    pairs(text, &mut found);
    merged(found)
}

fn pairs(text: &Text, found: &mut Vec<Edit>) {
    let plain = text.plain();
    let Some(mark) = plain.find('?') else {
        return;
    };
    let mut at = mark + 1;
    for pair in plain[at..].split('&') {
        let end = at + pair.len();
        let known = known_edits(&text.slice(at, end), Known::All);
        if known.is_empty() {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let Some(what) = pair_class(name, value) {
                let start = at + name.len() + 1;
                found.push(Edit::new(start, end, what, text.part(start, end)));
            }
        }
        found.extend(known.into_iter().map(|edit| Edit {
            start: edit.start + at,
            end: edit.end + at,
            lead: None,
            ..edit
        }));
        at = end + 1;
    }
}

fn inside(text: &Text, known: Known, unpack: &dyn Unpack) -> Vec<Edit> {
    match suspects(text) {
        true => edits(text, 0, known, unpack),
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::packed::tests::Plain;
    use super::*;

    const KEY: &str = "4f1c9be27a60d83e5b7c19fa02d6e8b4";

    fn found(name: &str, value: &str) -> Vec<String> {
        let edits = field_edits(name, &Text::new(value), &Plain);
        edits
            .iter()
            .map(|edit| value[edit.start..edit.end].to_owned())
            .collect()
    }

    #[test]
    fn a_name_tells_a_secret_where_it_may() {
        assert_eq!(found("X-Datadog-Api-Key", KEY), [KEY]);
        assert_eq!(found("x-request-id", KEY), Vec::<String>::new());
        assert_eq!(
            found("etag", &format!("DATADOG_API_KEY={KEY}")),
            Vec::<String>::new()
        );
        assert_eq!(found("Location", &format!("/a?api_key={KEY}&b=1")), [KEY]);
    }

    #[test]
    fn hosts_whose_paths_are_secrets() {
        assert!(has_secret_path("hooks.SLACK.com.") && !has_secret_path("slack.example"));
        let token = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawX";
        let path = Text::new(format!("/bot{token}/getMe"));
        let edits = path_edits(&path, "https://api.telegram.org", &Plain);
        assert_eq!(edits.iter().map(|edit| edit.start).collect::<Vec<_>>(), [4]);
        assert_eq!(path_edits(&Text::new("/v1/x?a=b"), "", &Plain), []);
    }
}
