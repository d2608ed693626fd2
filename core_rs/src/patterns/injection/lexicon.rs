//! The data file of injection patterns: its word classes, and its patterns ready to run (`language`).
use std::collections::BTreeMap;

use serde::Deserialize;

use super::language::{expand, lead};
use crate::patterns::Severity;
use crate::patterns::gate::Words;
use crate::patterns::later::Later;
use crate::patterns::word::Border;
use crate::text::fold;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Real words that are nearly one of ours; never corrected.
    pub real: Vec<String>,
    pub words: BTreeMap<String, Vec<String>>,
    pub entry: Vec<Raw>,
}

/// A pattern as the data file writes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raw {
    pub id: String,
    pub category: String,
    pub weight: f64,
    pub pattern: String,
    #[serde(default)]
    pub keys: Vec<String>,
    #[serde(default)]
    pub severity: Severity,
    #[serde(default)]
    pub yes: Vec<String>,
    #[serde(default)]
    pub no: Vec<String>,
}

/// A pattern ready to run: of each set of `needs` a class must be seen near before the regex is tried.
#[derive(Debug)]
pub struct Pattern {
    pub raw: Raw,
    pub needs: Vec<Vec<usize>>,
    /// The same sets, bit by bit.
    pub masks: Vec<Classes>,
    /// The set of `needs` that every match begins with; then `regex` is anchored.
    pub lead: Option<usize>,
    pub regex: Later,
}

impl Pattern {
    /// Whether of each set of needs a class is present.
    #[inline]
    pub fn may_match(&self, present: &Classes) -> bool {
        let empty = |set: &Classes| set.iter().zip(present).all(|(own, here)| own & here == 0);
        !self.masks.iter().any(empty)
    }
}

/// A set of classes, bit by bit.
pub type Classes = [u64; CLASSES / 64];
/// So many classes there can be.
const CLASSES: usize = 320;

pub const NO_CLASS: Classes = [0; CLASSES / 64];

/// The classes of a set.
pub fn members(set: &Classes) -> impl Iterator<Item = usize> + '_ {
    (0..).step_by(64).zip(set).flat_map(|(first, part)| {
        let mut rest = *part;
        std::iter::from_fn(move || {
            let next = (rest != 0).then(|| first + rest.trailing_zeros() as usize);
            rest &= rest.wrapping_sub(1);
            next
        })
    })
}

/// Adds a class to a set.
#[inline]
pub fn include(set: &mut Classes, class: usize) {
    set[class / 64] |= 1 << (class % 64);
}

/// Classes by number, words by gate number.
#[derive(Debug, Default)]
pub struct Lexicon {
    /// Gate word → classes it belongs to.
    pub classes: Vec<Vec<u16>>,
    /// By class: how many words it has.
    pub sizes: Vec<usize>,
    pub count: usize,
    pub vocabulary: Vec<String>,
    pub real: Vec<String>,
}

/// Compiles the data file and registers its words with the gate.
pub fn compile(text: &str, words: &mut Words) -> Result<(Lexicon, Vec<Pattern>), String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut lexicon = Lexicon::default();
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, list) in &file.words {
        names.insert(name, lexicon.count);
        lexicon.class(list, words);
    }
    let mut patterns = Vec::new();
    for raw in &file.entry {
        let (source, mut needs) = expand(raw, &file.words, &names)?;
        if !raw.keys.is_empty() {
            needs.insert(0, vec![lexicon.count]);
            lexicon.class(&raw.keys, words);
        }
        if needs.is_empty() {
            return Err(format!("{}: no class and no key to wait for", raw.id));
        }
        let lead = lead(raw, &names, usize::from(!raw.keys.is_empty()));
        let source = if lead.is_some() {
            format!(r"\A(?:{source})")
        } else {
            source
        };
        lexicon.literals(&raw.pattern);
        let mask = |classes: &Vec<usize>| {
            let mut set = NO_CLASS;
            classes.iter().for_each(|class| include(&mut set, *class));
            set
        };
        if lexicon.count > CLASSES {
            return Err(format!("more than {CLASSES} classes and keys"));
        }
        patterns.push(Pattern {
            raw: raw.clone(),
            masks: needs.iter().map(mask).collect(),
            needs,
            lead,
            regex: Later::folded(source),
        });
    }
    lexicon.real = file.real;
    lexicon.vocabulary.sort();
    lexicon.vocabulary.dedup();
    Ok((lexicon, patterns))
}

impl Lexicon {
    /// Gives the words of a class the next class number.
    fn class(&mut self, list: &[String], words: &mut Words) {
        for word in list {
            let folded = String::from_utf8(fold(word.as_bytes()).text).unwrap_or_default();
            let plain = word.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
            for form in [word, &folded] {
                let border = if plain && form.is_ascii() {
                    Border::Whole
                } else {
                    Border::Free
                };
                let number = words.number(form, border) as usize;
                self.classes
                    .resize(self.classes.len().max(number + 1), Vec::new());
                self.classes[number].push(self.count as u16);
            }
            self.literals(word);
        }
        self.sizes.push(list.len());
        self.count += 1;
    }

    /// The classes that a word of the gate belongs to.
    #[inline]
    pub fn classes_of(&self, word: u32) -> &[u16] {
        self.classes.get(word as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether it belongs to any.
    pub fn knows(&self, word: u32) -> bool {
        !self.classes_of(word).is_empty()
    }
}

impl Lexicon {
    /// Takes the words of a pattern or class into the vocabulary that typos are put right with.
    fn literals(&mut self, text: &str) {
        let letters = |byte: u8| byte.is_ascii_lowercase();
        let mut inside = false;
        let plain: String = text
            .chars()
            .map(|c| {
                inside = (inside || c == '<') && c != '>';
                if inside { ' ' } else { c }
            })
            .collect();
        let words = plain.split(|c: char| !(c.is_ascii_alphanumeric() || "\\[]{}?*".contains(c)));
        self.vocabulary.extend(
            words
                .filter(|word| word.len() > 2 && word.bytes().all(letters))
                .map(String::from),
        );
    }
}
