//! What an expression says about its matches before it is run: how long they are, what they are made of.
use regex_automata::util::syntax;
use regex_syntax::hir::{Class, HirKind};

/// How far after the key a match may reach (a PEM block of a 4096 bit key fits).
const REACH: usize = 6000;

/// Bytes after a match that say whether it ends there.
pub const BORDER: usize = 4;

/// A set of bytes.
pub type Set = [u64; 4];

/// How far a match of this can reach: a key that stands in the text a thousand times, without what
/// belongs around it, must not have the regex read on for thousands of bytes each time.
pub fn reach(source: &str) -> Result<usize, String> {
    let config = syntax::Config::new().unicode(false).utf8(false);
    let parsed = syntax::parse_with(source, &config).map_err(|error| error.to_string())?;
    let longest = parsed.properties().maximum_len().unwrap_or(REACH);
    Ok(longest.min(REACH) + BORDER)
}

/// The least length of what an expression matches, and every byte that may be in it.
pub fn made_of(source: &str) -> Option<(usize, Set)> {
    let config = syntax::Config::new().unicode(false).utf8(false);
    let parsed = syntax::parse_with(source, &config).ok()?;
    let mut set = [0; 4];
    let mut waiting = vec![&parsed];
    while let Some(part) = waiting.pop() {
        let mut put = |byte: u8| set[usize::from(byte >> 6)] |= 1 << (byte & 63);
        match part.kind() {
            HirKind::Literal(literal) => literal.0.iter().for_each(|byte| put(*byte)),
            HirKind::Class(Class::Bytes(class)) => class
                .iter()
                .for_each(|range| (range.start()..=range.end()).for_each(&mut put)),
            HirKind::Class(Class::Unicode(_)) => (0..=255).for_each(put),
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Repetition(repeated) => waiting.push(&repeated.sub),
            HirKind::Capture(group) => waiting.push(&group.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => waiting.extend(parts),
        }
    }
    Some((parsed.properties().minimum_len()?, set))
}

/// A byte that stands in every match, and in none of the keys: of those around groups, the last.
pub fn needed(source: &str, keys: &[String]) -> Option<u8> {
    let config = syntax::Config::new().unicode(false).utf8(false);
    let parsed = syntax::parse_with(source, &config).ok()?;
    let among_keys = |byte: u8| {
        let same = |own: &u8| own.eq_ignore_ascii_case(&byte);
        keys.iter().any(|key| key.as_bytes().iter().any(same))
    };
    let mut found = None;
    let mut waiting = vec![&parsed];
    while let Some(part) = waiting.pop() {
        match part.kind() {
            HirKind::Literal(literal) => {
                let telling = literal.0.iter().rev().copied();
                found = found.or_else(|| telling.into_iter().find(|byte| !among_keys(*byte)));
            }
            HirKind::Capture(group) => waiting.push(&group.sub),
            HirKind::Concat(parts) => waiting.extend(parts), // the last is looked at first
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_entry_reads_on_for_longer_than_it_can_match() {
        let mail = r"[a-z]{1,64}@[a-z]{1,63}(?:\.[a-z]{1,63}){1,6}";
        assert_eq!(reach(mail), Ok(64 + 1 + 63 + 6 * 64 + BORDER));
        assert_eq!(reach("a+"), Ok(REACH + BORDER));
    }

    #[test]
    fn what_every_match_holds_is_known() {
        let keys = ["://".to_string()];
        assert_eq!(
            needed("[a-z]{2}://[^@]{1,9}:([^@]+)@[a-z]", &keys),
            Some(b'@')
        );
        assert_eq!(needed("[a-z]{2}://(?:@|x)", &keys), None);
        assert_eq!(needed("[a-z]{2}://(a[0-9]@[0-9])", &keys), Some(b'@'));
        assert_eq!(needed("tok(?:.)?[a-z]", &["tok".to_string()]), None);
    }

    #[test]
    fn what_matches_are_made_of_is_known() {
        let (least, set) = made_of("ab[0-2]{3,9}(?:-|x?)").expect("an expression");
        let bytes: Vec<u8> = (0..=255)
            .filter(|byte| set[usize::from(*byte >> 6)] >> (*byte & 63) & 1 != 0)
            .collect();
        assert_eq!((least, &bytes[..]), (5, &b"-012abx"[..]));
        assert!(made_of("[^a]").expect("an expression").1[3] == u64::MAX);
    }
}
