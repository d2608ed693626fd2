//! What is known of words: which mean the same, which the opposite, which exclude each other.
use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// What a word or phrase stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A concept; `true` is its opposite side.
    Concept(u16, bool),
    /// A member of a class of which one fits at most.
    Class(u16, u16),
    /// Framing, without a subject.
    Filler,
}

/// A class: whether a conflict only raises a doubt, and which members may be missing on one side.
#[derive(Debug, Default)]
pub struct Class {
    pub doubtful: bool,
    pub soft: Vec<bool>,
}

/// Phrases by the stem of their first word, longest first.
pub struct Lexicon {
    phrases: HashMap<String, Vec<(Vec<String>, Meaning)>>,
    irregular: HashMap<String, String>,
    pub classes: Vec<Class>,
    /// Concepts that may be missing on one side.
    pub soft: Vec<bool>,
    /// Phrases that two lines name: the first has them.
    pub twice: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    concepts: Vec<String>,
    classes: Vec<String>,
    fillers: Vec<String>,
    irregular: Vec<String>,
}

static LEXICON: LazyLock<Result<Lexicon, String>> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("../../patterns/meaning.toml"))
        .map_err(|error| error.to_string())?;
    Ok(Lexicon::read(&file))
});

/// The lexicon, or why its file cannot be read.
pub fn lexicon() -> Result<&'static Lexicon, &'static str> {
    LEXICON.as_ref().map_err(String::as_str)
}

impl Lexicon {
    fn read(file: &File) -> Self {
        let irregular = file
            .irregular
            .iter()
            .filter_map(|line| line.split_once(' '))
            .map(|(form, base)| (form.to_string(), base.to_string()))
            .collect();
        let mut all = Lexicon {
            phrases: HashMap::new(),
            irregular,
            classes: Vec::new(),
            soft: Vec::new(),
            twice: Vec::new(),
        };
        for phrase in &file.fillers {
            all.add(phrase, ' ', Meaning::Filler);
        }
        for (number, line) in file.classes.iter().enumerate() {
            let doubtful = line.starts_with('?');
            let mut class = Class {
                doubtful,
                soft: Vec::new(),
            };
            for (member, words) in line.trim_start_matches('?').split(',').enumerate() {
                let words = words.trim();
                class.soft.push(words.starts_with('~'));
                for phrase in words.trim_start_matches('~').split(' ') {
                    all.add(phrase, '_', Meaning::Class(number as u16, member as u16));
                }
            }
            all.classes.push(class);
        }
        for (number, line) in file.concepts.iter().enumerate() {
            all.soft.push(line.starts_with('~'));
            for (side, words) in line.trim_start_matches('~').split('|').enumerate() {
                for phrase in words.split_whitespace() {
                    all.add(phrase, '_', Meaning::Concept(number as u16, side == 1));
                }
            }
        }
        for list in all.phrases.values_mut() {
            list.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        }
        all
    }

    /// The first line that names a phrase has it.
    fn add(&mut self, phrase: &str, between: char, meaning: Meaning) {
        let words: Vec<String> = phrase
            .split(between)
            .flat_map(expanded)
            .map(|word| self.stem(&word))
            .collect();
        let list = self.phrases.entry(words[0].clone()).or_default();
        match list.iter().find(|(known, _)| *known == words) {
            None => list.push((words, meaning)),
            Some((_, known)) if *known != meaning => self.twice.push(phrase.to_string()),
            Some(_) => {}
        }
    }

    /// The longest phrase that `stems` begins with, and how many words it has.
    pub fn longest(&self, stems: &[&str]) -> Option<(usize, Meaning)> {
        let list = self.phrases.get(*stems.first()?)?;
        list.iter()
            .find(|(words, _)| {
                words.len() <= stems.len()
                    && words.iter().zip(stems).all(|(word, stem)| word == stem)
            })
            .map(|(words, meaning)| (words.len(), *meaning))
    }

    /// What the inflections of a word share; not always a word.
    pub fn stem(&self, word: &str) -> String {
        let base = self.irregular.get(word).map_or(word, String::as_str);
        let mut stem = if self.irregular.contains_key(word) {
            base.to_string()
        } else {
            stripped(base)
        };
        if stem.len() > 3 && stem.ends_with('e') {
            stem.pop();
        }
        let mut tail = stem.bytes().rev();
        let (last, other) = (tail.next(), tail.next());
        if stem.len() > 3 && last == other && last.is_some_and(|c| c.is_ascii_lowercase()) {
            stem.pop();
        }
        stem
    }
}

/// Without the endings of plurals, verbs and adverbs.
fn stripped(word: &str) -> String {
    let keep = |tail: &str, least: usize| {
        word.strip_suffix(tail)
            .filter(|head| head.len() >= least && head.is_ascii())
    };
    if let Some(head) = keep("ies", 2).or_else(|| keep("ied", 2)) {
        return format!("{head}y");
    }
    if let Some(head) = keep("ing", 3).or_else(|| keep("ed", 3)) {
        return head.to_string();
    }
    if let Some(head) = keep("able", 4).or_else(|| keep("ible", 4)) {
        return head.to_string();
    }
    if let Some(head) = keep("ly", 4) {
        return head.to_string();
    }
    if let Some(head) = keep("es", 3).filter(|head| head.ends_with(['s', 'x', 'z', 'h'])) {
        return head.to_string();
    }
    match keep("s", 3).filter(|head| !head.ends_with(['s', 'u', 'i'])) {
        Some(head) => head.to_string(),
        None => word.to_string(),
    }
}

/// `don't` as `do not`, `we'll` as `we will`; a possessive without its mark.
pub fn expanded(word: &str) -> Vec<String> {
    let two = |a: &str, b: &str| vec![a.to_string(), b.to_string()];
    match word {
        "cannot" | "can't" => return two("can", "not"),
        "won't" => return two("will", "not"),
        "shan't" => return two("shall", "not"),
        _ => {}
    }
    if let Some(head) = word.strip_suffix("n't") {
        return two(head, "not");
    }
    let Some((head, tail)) = word.split_once('\'') else {
        return vec![word.to_string()];
    };
    match tail {
        "m" => two(head, "am"),
        "re" => two(head, "are"),
        "ll" => two(head, "will"),
        "ve" => two(head, "have"),
        "d" => two(head, "would"),
        "s" if [
            "it", "that", "there", "here", "what", "he", "she", "who", "let",
        ]
        .contains(&head) =>
        {
            two(head, "is")
        }
        "s" => vec![head.to_string()],
        _ => vec![word.replace('\'', "")],
    }
}

#[cfg(test)]
mod tests {
    use super::{Meaning, lexicon};

    #[test]
    fn every_phrase_has_one_meaning() {
        let lexicon = lexicon().expect("the file is TOML");
        assert!(
            lexicon.twice.is_empty(),
            "two lines name: {}",
            lexicon.twice.join(", ")
        );
    }

    #[test]
    fn the_longest_phrase_counts() {
        let lexicon = lexicon().expect("the file is TOML");
        let found = |text: &str| {
            let stems: Vec<String> = text.split(' ').map(|word| lexicon.stem(word)).collect();
            lexicon.longest(&stems.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let (count, meaning) = found("turned down flat").expect("known");
        assert_eq!(
            (count, Some(meaning)),
            (2, found("rejects").map(|one| one.1))
        );
        assert!(matches!(meaning, Meaning::Concept(_, true)));
        assert_eq!(found("xylophone"), None);
    }
}
