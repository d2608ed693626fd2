//! Values that are secret by their shape: keys of well-known providers, JWTs, private keys, bearers.
//!
//! A fast expression says where a text is suspect; only there the precise shape is tried. Both were written from
//! the providers' own descriptions of their keys.
use std::sync::LazyLock;

use regex::Regex;

use super::edit::MARK;
use super::search::{compiled, starts};
use super::text::{Text, is_blank};

/// No shape is longer; of a longer secret the first part is found.
pub const LONGEST: usize = 16384;

/// The longest first part of a JWT, with how it begins.
const JWT_HEAD: usize = 3 + 4096;

/// The shortest beginnings that make a text suspect. Their matches are short, so that a search for all of them is
/// one pass; a JWT, whose first part may be long, is given away by the dot after it.
pub const SUSPECT: &str = concat!(
    r"(?:-----BEGIN [A-Z ]{0,32}PRIVATE KEY)|(?:\.eyJ[A-Za-z0-9_-]{8})|(?:sk-ant-)|(?:sk-[A-Za-z0-9_-]{16})",
    r"|(?:A(?:KI|SI|BI|CC)A[A-Z0-9]{16})|(?:gh[pousr]_[A-Za-z0-9]{20})|(?:github_pat_)|(?:glpat-)",
    r"|(?:xox[abeoprs]-)|(?:AIza[A-Za-z0-9_-]{35})|(?:hf_[A-Za-z0-9]{20})",
    r"|(?:[srp]k_(?:live|test)_[A-Za-z0-9]{16})|(?:npm_[A-Za-z0-9]{30})|(?:gsk_[A-Za-z0-9]{20})",
    r"|(?:lsv2_[a-z]{2}_)|(?:(?:Bearer|bearer|BEARER)(?: +|%20|\+)[A-Za-z0-9._~+/=-]{16})",
    r#"|(?:://[^\s/?#@:"'<>\\]{0,256}:[^\s/?#@"'<>\\]{1,256}@)"#,
);

static PLACES: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(SUSPECT));

/// A secret's place and class; what tells it begins at `lead`, perhaps further left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    pub start: usize,
    pub end: usize,
    pub what: &'static str,
    pub lead: usize,
}

/// What a shape covers from where it begins, and where the secret in that begins and ends.
type Found = (usize, usize, usize);
type Shape = fn(&str, usize) -> Option<Found>;

/// In order: the first that matches at a place wins.
const SHAPES: [(&str, Shape); 17] = [
    ("private_key", private_key),
    ("jwt", jwt),
    ("anthropic_key", |text, at| {
        plain(text, at, &["sk-ant-"], url64, 12, 256)
    }),
    ("api_key", api_key),
    ("aws_key", |text, at| {
        let upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        plain(text, at, &["AKIA", "ASIA", "ABIA", "ACCA"], upper, 16, 16)
    }),
    ("github_token", |text, at| {
        let heads = ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"];
        plain(text, at, &heads, alphanumeric, 20, 255)
    }),
    ("github_token", |text, at| {
        let word = |byte: u8| alphanumeric(byte) || byte == b'_';
        plain(text, at, &["github_pat_"], word, 20, 255)
    }),
    ("gitlab_token", |text, at| {
        plain(text, at, &["glpat-"], url64, 16, 64)
    }),
    ("slack_token", |text, at| {
        let heads = [
            "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-",
        ];
        let dashed = |byte: u8| alphanumeric(byte) || byte == b'-';
        plain(text, at, &heads, dashed, 10, 255)
    }),
    ("google_key", |text, at| {
        plain(text, at, &["AIza"], url64, 35, 35)
    }),
    ("huggingface_token", |text, at| {
        word(text, at, "hf_", 20, 64)
    }),
    ("stripe_key", |text, at| {
        let heads = [
            "sk_live_", "rk_live_", "pk_live_", "sk_test_", "rk_test_", "pk_test_",
        ];
        plain(text, at, &heads, alphanumeric, 16, 255)
    }),
    ("npm_token", |text, at| word(text, at, "npm_", 30, 64)),
    ("groq_key", |text, at| word(text, at, "gsk_", 20, 128)),
    ("langsmith_key", langsmith_key),
    ("bearer", bearer),
    ("userinfo", userinfo),
];

/// Each secret value in a text, in order; a JWT may come after one that begins in it.
pub fn values(text: &Text) -> Vec<Value> {
    let mut found = Vec::new();
    each(text, &mut |value| {
        found.push(value);
        true
    });
    found
}

/// Is there one?
pub fn any(text: &Text) -> bool {
    let mut none = true;
    each(text, &mut |_| {
        none = false;
        false
    });
    !none
}

fn each(text: &Text, take: &mut dyn FnMut(Value) -> bool) {
    let plain = text.plain();
    let mut at = 0;
    for place in starts(&PLACES, plain) {
        if place < at {
            continue;
        }
        let Some(start) = begin(text, at, place) else {
            continue;
        };
        let shape = SHAPES.iter();
        let hit = shape.filter_map(|(what, shape)| shape(plain, start).map(|found| (*what, found)));
        let Some((what, (covered, from, to))) = hit.into_iter().next() else {
            at = start + 1;
            continue;
        };
        at = covered.max(start + 1);
        let value = Value {
            start: from,
            end: to,
            what,
            lead: start,
        };
        if !plain[from..].starts_with(MARK) && !take(value) {
            return;
        }
    }
}

/// Where the secret begins that a suspect place gives away, if behind `at`.
fn begin(text: &Text, at: usize, place: usize) -> Option<usize> {
    let bytes = text.plain().as_bytes();
    if bytes[place] != b'.' {
        return Some(place);
    }
    let floor = text.back(place, JWT_HEAD).max(at);
    let run = bytes[floor..place]
        .iter()
        .rev()
        .take_while(|byte| url64(**byte));
    let from = place - run.count();
    memchr::memmem::find(&bytes[from..place], b"eyJ").map(|found| from + found)
}

fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn url64(byte: u8) -> bool {
    alphanumeric(byte) || matches!(byte, b'_' | b'-')
}

/// Where a run of `least` to `most` such bytes ends that begins at `at`.
fn run(text: &str, at: usize, is: impl Fn(u8) -> bool, least: usize, most: usize) -> Option<usize> {
    let bytes = text.as_bytes()[at..].iter().take(most);
    let size = bytes.take_while(|byte| is(**byte)).count();
    (size >= least).then_some(at + size)
}

/// The same of characters.
fn wide(
    text: &str,
    at: usize,
    is: impl Fn(char) -> bool,
    least: usize,
    most: usize,
) -> Option<usize> {
    let run = || text[at..].chars().take(most).take_while(|one| is(*one));
    let (count, size) = run().fold((0, 0), |(count, size), one| {
        (count + 1, size + one.len_utf8())
    });
    (count >= least).then_some(at + size)
}

fn after(text: &str, at: usize, head: &str) -> Option<usize> {
    text.as_bytes()[at..]
        .starts_with(head.as_bytes())
        .then_some(at + head.len())
}

/// One of some heads, then a run.
fn plain(
    text: &str,
    at: usize,
    heads: &[&str],
    is: impl Fn(u8) -> bool,
    least: usize,
    most: usize,
) -> Option<Found> {
    let from = heads.iter().find_map(|head| after(text, at, head))?;
    let end = run(text, from, is, least, most)?;
    Some((end, at, end))
}

/// The same where common words may end in the head, so that it needs an edge before it.
fn word(text: &str, at: usize, head: &str, least: usize, most: usize) -> Option<Found> {
    edge(text, at).then_some(())?;
    plain(text, at, &[head], alphanumeric, least, most)
}

/// May a word begin here? Also right after an escape in JSON text or a URL.
fn edge(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match before {
        [.., b'\\', b'b' | b'f' | b'n' | b'r' | b't'] => true,
        [.., b'\\', b'u', b'0', b'0', first, second] if hex(&[*first, *second]) => true,
        [.., b'%', first, second] if hex(&[*first, *second]) => true,
        [.., last] => !(alphanumeric(*last) || *last == b'_'),
        [] => true,
    }
}

fn private_key(text: &str, at: usize) -> Option<Found> {
    let upper = |byte: u8| byte.is_ascii_uppercase() || byte == b' ';
    let from = after(text, at, "-----BEGIN ")?;
    let longest = run(text, from, upper, 0, 32)?;
    let mut ends = (from..=longest).rev().filter_map(|end| {
        let key = after(text, end, "PRIVATE KEY")?;
        let block = after(text, key, " BLOCK").and_then(|block| after(text, block, "-----"));
        block.or_else(|| after(text, key, "-----"))
    });
    let body = wide(text, ends.next()?, |one| one != '-', 0, 16200)?;
    let end = after(text, body, "-----END ")
        .and_then(|named| run(text, named, upper, 0, 32))
        .and_then(|named| after(text, named, "-----"));
    let end = end.unwrap_or(body);
    Some((end, at, end))
}

fn jwt(text: &str, at: usize) -> Option<Found> {
    let head = run(text, after(text, at, "eyJ")?, url64, 8, 4096)?;
    let body = run(text, after(text, head, ".eyJ")?, url64, 8, 8192)?;
    let signed = after(text, body, ".").and_then(|from| run(text, from, url64, 0, 4096));
    let end = signed.unwrap_or(body);
    Some((end, at, end))
}

fn api_key(text: &str, at: usize) -> Option<Found> {
    edge(text, at).then_some(())?;
    let from = after(text, at, "sk-")?;
    let lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let owner = run(text, from, lower, 1, 8).and_then(|end| after(text, end, "-"));
    let end = owner
        .and_then(|from| run(text, from, url64, 16, 256))
        .or_else(|| run(text, from, url64, 16, 256))?;
    Some((end, at, end))
}

fn langsmith_key(text: &str, at: usize) -> Option<Found> {
    let kind = run(
        text,
        after(text, at, "lsv2_")?,
        |byte| byte.is_ascii_lowercase(),
        2,
        2,
    )?;
    let word = |byte: u8| alphanumeric(byte) || byte == b'_';
    let end = run(text, after(text, kind, "_")?, word, 16, 128)?;
    Some((end, at, end))
}

fn bearer(text: &str, at: usize) -> Option<Found> {
    let heads = ["Bearer", "bearer", "BEARER"];
    let named = heads.iter().find_map(|head| after(text, at, head))?;
    let from = run(text, named, |byte| byte == b' ', 1, usize::MAX)
        .or_else(|| after(text, named, "%20"))
        .or_else(|| after(text, named, "+"))?;
    let token = |byte: u8| alphanumeric(byte) || b"._~+/=-".contains(&byte);
    let end = run(text, from, token, 16, 8192)?;
    Some((end, from, end))
}

fn userinfo(text: &str, at: usize) -> Option<Found> {
    let part = |one: char| !is_blank(one) && !"/?#@\"'<>\\".contains(one);
    let from = after(text, at, "://")?;
    let name = wide(text, from, |one| part(one) && one != ':', 0, 256)?;
    let end = wide(text, after(text, name, ":")?, part, 1, 256)?;
    Some((after(text, end, "@")?, from, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&'static str, &str)> {
        let all = values(&Text::new(text)).into_iter();
        all.map(|one| (one.what, &text[one.start..one.end]))
            .collect()
    }

    #[test]
    fn every_shape_is_found_and_what_is_too_short_is_not() {
        let a = "a1B2c".repeat(9);
        for (what, head, size) in [
            ("anthropic_key", "sk-ant-", 12),
            ("api_key", "sk-", 16),
            ("api_key", "sk-proj-", 16),
            ("github_token", "ghp_", 20),
            ("github_token", "github_pat_", 20),
            ("gitlab_token", "glpat-", 16),
            ("slack_token", "xoxb-", 10),
            ("google_key", "AIza", 35),
            ("huggingface_token", "hf_", 20),
            ("stripe_key", "rk_test_", 16),
            ("npm_token", "npm_", 30),
            ("groq_key", "gsk_", 20),
            ("langsmith_key", "lsv2_pt_", 16),
        ] {
            let key = format!("{head}{}", &a[..size]);
            assert_eq!(found(&format!("é {key}!")), [(what, &*key)]);
            if head != "sk-proj-" {
                assert_eq!(found(&format!("é {head}{}!", &a[..size - 1])), []);
            }
        }
        assert_eq!(
            found("AKIAIOSFODNN7EXAMPLE"),
            [("aws_key", "AKIAIOSFODNN7EXAMPLE")]
        );
        assert_eq!(found("https://me:pass@host"), [("userinfo", "me:pass")]);
        assert_eq!(
            found("Bearer%20abcdefghijklmnop,"),
            [("bearer", "abcdefghijklmnop")]
        );
    }

    #[test]
    fn keys_go_up_to_their_end() {
        let key = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY-----";
        assert_eq!(found(&format!("a{key}b")), [("private_key", key)]);
        let block = "-----BEGIN PGP PRIVATE KEY BLOCK-----\nab";
        assert_eq!(found(block), [("private_key", block)]);
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln";
        assert_eq!(found(&format!("x {jwt}")), [("jwt", jwt)]);
    }

    #[test]
    fn words_need_an_edge() {
        let key = "gsk_abcdefghijklmnopqrstuvwx";
        for (before, count) in [
            ("", 1),
            ("x", 0),
            ("\\n", 1),
            ("%2F", 1),
            ("\\u002f", 1),
            ("é", 1),
        ] {
            assert_eq!(found(&format!("{before}{key}")).len(), count, "{before}");
        }
    }

    #[test]
    fn placeholders_are_no_values() {
        assert_eq!(found("https://redacted:v1:00@host"), []);
    }
}
