//! Patterns that users write: linear time, whatever the text.

use crate::Error;

/// Compiled size above which a pattern is refused, so that a profile cannot eat the engine.
const SIZE_LIMIT: usize = 4 << 20;

/// A regular expression without look-around or back-references, which is what buys linear time.
pub struct Regex(regex::Regex);

impl Regex {
    pub fn new(pattern: &str) -> Result<Self, Error> {
        let built = regex::RegexBuilder::new(pattern)
            .size_limit(SIZE_LIMIT)
            .dfa_size_limit(SIZE_LIMIT)
            .build();
        built.map(Self).map_err(|error| Error::Pattern {
            pattern: pattern.to_owned(),
            reason: reason(&error),
        })
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// The leftmost match as character offsets, which is how Python counts.
    pub fn search(&self, text: &str) -> Option<(usize, usize)> {
        let found = self.0.find(text)?;
        let start = text[..found.start()].chars().count();
        Some((start, start + found.as_str().chars().count()))
    }

    /// Where matches begin, in characters: the leftmost, then the leftmost that begins after that, and
    /// so on. One pass for patterns whose matches are of bounded length.
    pub fn starts(&self, text: &str) -> Vec<usize> {
        let mut places = Vec::new();
        let (mut at, mut bytes, mut characters) = (0, 0, 0);
        while let Some(found) = self.0.find_at(text, at) {
            characters += text[bytes..found.start()].chars().count();
            bytes = found.start();
            places.push(characters);
            match text[bytes..].chars().next() {
                Some(one) => at = bytes + one.len_utf8(),
                None => break,
            }
        }
        places
    }

    pub fn pattern(&self) -> &str {
        self.0.as_str()
    }
}

/// The crate draws the pattern with a caret over several lines; the last one says what is wrong.
fn reason(error: &regex::Error) -> String {
    let full = error.to_string();
    let last = full.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_characters() {
        let regex = Regex::new("b+").unwrap();
        assert_eq!(regex.search("é€😀bb"), Some((3, 5)));
        assert_eq!(regex.search("aaa"), None);
    }

    #[test]
    fn a_pattern_matches_or_not_and_is_kept() {
        let regex = Regex::new("b+").unwrap();
        assert!(regex.is_match("abb") && !regex.is_match("aaa"));
        assert_eq!(regex.pattern(), "b+");
    }

    #[test]
    fn matches_may_begin_inside_others() {
        let regex = Regex::new("aba|é").unwrap();
        assert_eq!(regex.starts("éababa-aba"), vec![0, 1, 3, 7]);
        assert_eq!(regex.starts("xyz"), Vec::<usize>::new());
        assert_eq!(Regex::new("$").unwrap().starts("é"), vec![1]);
        assert_eq!(Regex::new("").unwrap().starts("é€"), vec![0, 1, 2]);
    }

    #[test]
    fn refusals_say_why() {
        let reason = |pattern| Regex::new(pattern).err().unwrap().to_string();
        assert!(
            reason("(?=a)").contains("look-around"),
            "{}",
            reason("(?=a)")
        );
        assert!(reason(r"(a)\1").contains("backreferences"));
        assert!(reason(r"\w{5000}").contains("size limit"));
    }
}
