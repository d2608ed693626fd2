//! Values that are secret by their shape: keys of well-known providers, JWTs, private keys, bearers.
//!
//! A fast expression says where a text is suspect; only there the precise shape is tried. Both were written from
//! the providers' own descriptions of their keys.
use std::sync::LazyLock;

use regex::Regex;

use super::edit::MARK;
use super::shape::{
    Found, alphanumeric, api_key, bearer, jwt, langsmith_key, plain, private_key, url64, userinfo,
    word,
};
use super::suspect::{compiled, starts};
use super::text::Text;

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
