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
///
/// A sign outside ASCII (`£`, `€`, `°`, `–`) is no part of a word.
pub fn tokens(text: &str) -> Vec<Token> {
    let view = fold(text.as_bytes());
    let folded = String::from_utf8_lossy(&view.text);
    let mut found = Vec::new();
    let mut open: Option<usize> = None;
    let mut last = ' ';
    let mut chars = folded.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        let inside = c.is_alphanumeric() || (open.is_some() && joins(last, c, next));
        match (inside, open) {
            (true, None) => open = Some(at),
            (false, Some(start)) => {
                push(&mut found, &view, &folded, start, at);
                open = None;
            }
            _ => {}
        }
        last = c;
    }
    if let Some(start) = open {
        push(&mut found, &view, &folded, start, folded.len());
    }
    found
}

fn push(found: &mut Vec<Token>, view: &super::View, folded: &str, start: usize, end: usize) {
    let (from, to) = view.original(start, end);
    found.push(Token {
        text: folded[start..end].to_string(),
        start: from,
        end: to,
    });
}

/// An apostrophe between letters, a point or comma between digits.
fn joins(left: char, c: char, right: char) -> bool {
    match c {
        '\'' => left.is_ascii_alphabetic() && right.is_ascii_alphabetic(),
        '.' | ',' => left.is_ascii_digit() && right.is_ascii_digit(),
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
