//! What one shape of a secret covers, from where it begins: keys of providers, private keys, JWTs, bearers.
use super::text::is_blank;

/// What a shape covers from where it begins, and where the secret in that begins and ends.
pub type Found = (usize, usize, usize);

pub fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

pub fn url64(byte: u8) -> bool {
    alphanumeric(byte) || matches!(byte, b'_' | b'-')
}

/// Where a run of `least` to `most` such bytes ends that begins at `at`.
pub fn run(
    text: &str,
    at: usize,
    is: impl Fn(u8) -> bool,
    least: usize,
    most: usize,
) -> Option<usize> {
    let bytes = text.as_bytes()[at..].iter().take(most);
    let size = bytes.take_while(|byte| is(**byte)).count();
    (size >= least).then_some(at + size)
}

/// The same of characters.
pub fn wide(
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

pub fn after(text: &str, at: usize, head: &str) -> Option<usize> {
    text.as_bytes()[at..]
        .starts_with(head.as_bytes())
        .then_some(at + head.len())
}

/// One of some heads, then a run.
pub fn plain(
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
pub fn word(text: &str, at: usize, head: &str, least: usize, most: usize) -> Option<Found> {
    edge(text, at).then_some(())?;
    plain(text, at, &[head], alphanumeric, least, most)
}

/// May a word begin here? Also right after an escape in JSON text or a URL.
pub fn edge(text: &str, at: usize) -> bool {
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

pub fn private_key(text: &str, at: usize) -> Option<Found> {
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

pub fn jwt(text: &str, at: usize) -> Option<Found> {
    let head = run(text, after(text, at, "eyJ")?, url64, 8, 4096)?;
    let body = run(text, after(text, head, ".eyJ")?, url64, 8, 8192)?;
    let signed = after(text, body, ".").and_then(|from| run(text, from, url64, 0, 4096));
    let end = signed.unwrap_or(body);
    Some((end, at, end))
}

pub fn api_key(text: &str, at: usize) -> Option<Found> {
    edge(text, at).then_some(())?;
    let from = after(text, at, "sk-")?;
    let lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let owner = run(text, from, lower, 1, 8).and_then(|end| after(text, end, "-"));
    let end = owner
        .and_then(|from| run(text, from, url64, 16, 256))
        .or_else(|| run(text, from, url64, 16, 256))?;
    Some((end, at, end))
}

pub fn langsmith_key(text: &str, at: usize) -> Option<Found> {
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

pub fn bearer(text: &str, at: usize) -> Option<Found> {
    let heads = ["Bearer", "bearer", "BEARER"];
    let named = heads.iter().find_map(|head| after(text, at, head))?;
    let from = run(text, named, |byte| byte == b' ', 1, usize::MAX)
        .or_else(|| after(text, named, "%20"))
        .or_else(|| after(text, named, "+"))?;
    let token = |byte: u8| alphanumeric(byte) || b"._~+/=-".contains(&byte);
    let end = run(text, from, token, 16, 8192)?;
    Some((end, from, end))
}

pub fn userinfo(text: &str, at: usize) -> Option<Found> {
    let part = |one: char| !is_blank(one) && !"/?#@\"'<>\\".contains(one);
    let from = after(text, at, "://")?;
    let name = wide(text, from, |one| part(one) && one != ':', 0, 256)?;
    let end = wide(text, after(text, name, ":")?, part, 1, 256)?;
    Some((after(text, end, "@")?, from, end))
}
