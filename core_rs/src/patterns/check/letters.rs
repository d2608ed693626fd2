//! Pairs of letters that words of English and names in source code hardly contain.

/// For each first letter, the second letters that make a rare pair (bit 0 is `a`): pairs that are less than 0.02 %
/// of those in the 12,226 words of comments and names of the Python standard library.
const RARE: [u32; 26] = [
    0x2010201, 0x2e124e0, 0x2c10242, 0x2c10680, 0x2000200, 0x2e136c2, 0x3e1062a, 0x2e1a6e6,
    0x1510380, 0x3efbfee, 0x3b3d6ee, 0x2c312c0, 0x2e306e4, 0x2c10200, 0x3010200, 0x2a11602,
    0x3efffff, 0x2810280, 0x2800200, 0x0810640, 0x3f10680, 0x3ffbeee, 0x3f99e62, 0x3f336ca,
    0x3b106cb, 0x3ffbeee,
];
/// Least length of a value that is judged by its letters.
const LEAST: usize = 16;
/// How many rare pairs there must be at least, and how many pairs one of them must come upon at most.
const FEWEST: usize = 4;
const SHARE: usize = 4;

/// Whether the letters of a value follow each other as they do by chance, not as in words: a quarter of all pairs
/// is rare. The border between two words of a name (`tokenValue`) is no pair.
pub fn random_letters(value: &[u8]) -> bool {
    let (mut pairs, mut rare) = (0, 0);
    for pair in value.windows(2) {
        let letters = pair.iter().all(u8::is_ascii_alphabetic);
        if !letters || (pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()) {
            continue;
        }
        let number = |byte: u8| usize::from(byte.to_ascii_lowercase() - b'a');
        pairs += 1;
        rare += (RARE[number(pair[0])] >> number(pair[1]) & 1) as usize;
    }
    value.len() >= LEAST && rare >= FEWEST && rare * SHARE >= pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_told_from_words() {
        for value in [
            "QhdWkzvTgNbLpXsRfMjc",
            "kq7vzpj2mxw4tdgh9bnc",
            "gVwxRkTqLmZpbNcHsd",
        ] {
            assert!(random_letters(value.as_bytes()), "{value}");
        }
        for value in [
            "created_at_descending_order",
            "myServiceAccountTokenV2",
            "HTTPSConnectionPoolManagerXML",
            "kubernetes_service_account_jwt_path",
            "gVwxRkTq",
        ] {
            assert!(!random_letters(value.as_bytes()), "{value}");
        }
    }
}
