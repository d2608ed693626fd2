//! How the beginnings of known secrets look in Base64, whatever stands before them, and what runs of it say.
use super::shapes;
use super::text::Text;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const BEGINNINGS: [&str; 30] = [
    "sk-",
    "AKIA",
    "ASIA",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxa-",
    "xoxb-",
    "xoxe-",
    "xoxo-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "AIza",
    "hf_",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "npm_",
    "gsk_",
    "lsv2_",
    "Bearer ",
    "eyJ",
    "bearer ",
    "-----BEGIN ",
];

/// A pattern that every Base64 text of a secret with a known beginning matches.
pub fn wrapped() -> String {
    let each = BEGINNINGS
        .iter()
        .flat_map(|word| (0..3).map(|offset| pattern(word, offset)));
    each.collect::<Vec<_>>().join("|")
}

/// `word` after `offset` unknown bytes (mod 3): each character is known, or one of a few.
fn pattern(word: &str, offset: usize) -> String {
    let mut bits: Vec<Option<bool>> = vec![None; 8 * offset];
    bits.extend(
        word.bytes()
            .flat_map(|byte| (0..8).rev().map(move |bit| Some(byte >> bit & 1 == 1))),
    );
    bits.resize(bits.len().next_multiple_of(6), None);
    let known = |sextet: &&[Option<bool>]| sextet.iter().any(Option::is_some);
    bits.chunks(6).filter(known).map(one).collect()
}

fn one(sextet: &[Option<bool>]) -> String {
    let fits = |value: usize| {
        let bit = |(at, want): (usize, &Option<bool>)| {
            want.is_none_or(|want| want == (value >> (5 - at) & 1 == 1))
        };
        sextet.iter().enumerate().all(bit)
    };
    let mut found: Vec<u8> = (0..64)
        .filter(|value| fits(*value))
        .map(|value| ALPHABET[value])
        .collect();
    // The URL alphabet writes - and _ for + and /.
    for (standard, other) in [(b'+', b'-'), (b'/', b'_')] {
        if found.contains(&standard) {
            found.push(other);
        }
    }
    let written: String = found
        .iter()
        .map(|byte| regex::escape(&char::from(*byte).to_string()))
        .collect();
    match found.len() {
        1 => written,
        _ => format!("[{written}]"),
    }
}

/// Does a run decode to a secret, wherever in it the encoding really begins?
pub fn encodes_secret(run: &[u8]) -> bool {
    (0..4).any(|skip| {
        let raw = decoded(run.get(skip..).unwrap_or_default());
        shapes::any(&Text::latin(&raw))
    })
}

/// What a run in either alphabet says; of what is left over as much as is whole bytes.
fn decoded(run: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(run.len() / 4 * 3 + 2);
    for part in run.chunks(4) {
        let sextets = part.iter().map(|byte| u32::from(sextet(*byte)));
        let bits = sextets.fold(0, |bits, sextet| bits << 6 | sextet) << (6 * (4 - part.len()));
        out.extend_from_slice(&bits.to_be_bytes()[1..][..part.len() - 1]);
    }
    out
}

fn sextet(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beginning_has_its_patterns() {
        use ::base64::Engine as _;
        use ::base64::engine::general_purpose::{STANDARD, URL_SAFE};
        let all = regex::Regex::new(&format!("^(?:{})", wrapped())).unwrap();
        for word in BEGINNINGS {
            for (offset, around) in
                (0..3).flat_map(|offset| [0, 0x55, 0xaa, 0xff].map(|one| (offset, one)))
            {
                let mut data = vec![around; offset];
                data.extend(word.bytes());
                data.extend([around; 3]);
                for encoded in [STANDARD.encode(&data), URL_SAFE.encode(&data)] {
                    assert!(all.is_match(&encoded[offset..]), "{word} {encoded}");
                }
            }
        }
        assert!(!all.is_match("c2si"), "the control: `sk\"`");
    }

    #[test]
    fn what_is_left_over_costs_no_byte() {
        assert_eq!(decoded(b"YWJjZA"), b"abcd");
        assert_eq!(decoded(b"YWJjZGU"), b"abcde");
        assert_eq!(decoded(b"YWJjZ"), b"abc");
        assert_eq!(decoded(b"-_+/"), [0xfb, 0xff, 0xbf]);
    }

    #[test]
    fn a_secret_is_found_wherever_the_encoding_begins() {
        for junk in ["", "a", "abcdE", "abcdEF", "abcdEFG"] {
            let run = format!("{junk}QUtJQUlPU0ZPRE5ON0VYQU1QTEU");
            assert!(encodes_secret(run.as_bytes()), "{junk}");
        }
        assert!(!encodes_secret(b"QUtJQUlPU0ZPRE5ON0VYQU1QTCA"));
    }
}
