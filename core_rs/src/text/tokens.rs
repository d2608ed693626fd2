//! Words of a text, folded, with their places.
use super::fold;

/// A word or number and the span of the original it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub start: usize,
    pub end: usize,
}

/// Words and numbers of `text`: lower case, without accents and look-alikes; `1,000.5` and `don't` stay whole.
pub fn tokens(text: &str) -> Vec<Token> {
    let view = fold(text.as_bytes());
    let bytes = &view.text;
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !wordly(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && (wordly(bytes[at]) || joins(bytes, at)) {
            at += 1;
        }
        let (from, to) = view.original(start, at);
        found.push(Token {
            text: String::from_utf8_lossy(&bytes[start..at]).into_owned(),
            start: from,
            end: to,
        });
    }
    found
}

fn wordly(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// An apostrophe between letters, a point or comma between digits.
fn joins(bytes: &[u8], at: usize) -> bool {
    let Some((left, right)) = at
        .checked_sub(1)
        .map(|l| bytes[l])
        .zip(bytes.get(at + 1).copied())
    else {
        return false;
    };
    match bytes[at] {
        b'\'' => left.is_ascii_alphabetic() && right.is_ascii_alphabetic(),
        b'.' | b',' => left.is_ascii_digit() && right.is_ascii_digit(),
        _ => false,
    }
}

/// A word that carries no content of its own.
pub fn stop(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
        "but", "by", "can", "could", "did", "do", "does", "for", "from", "get", "had", "has",
        "have", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just",
        "may", "me", "more", "most", "my", "of", "on", "only", "or", "other", "our", "out", "she",
        "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
        "these", "they", "this", "those", "to", "up", "was", "we", "were", "what", "when", "where",
        "which", "while", "who", "will", "with", "would", "you", "your",
    ];
    WORDS.binary_search(&word).is_ok()
}

/// The head of a word that its inflections share.
pub fn stem(word: &str) -> &str {
    let cut = word
        .strip_suffix("ing")
        .or_else(|| word.strip_suffix("ed"))
        .or_else(|| word.strip_suffix("es"))
        .or_else(|| word.strip_suffix('s'))
        .unwrap_or(word);
    if cut.len() >= 4 { cut } else { word }
}
