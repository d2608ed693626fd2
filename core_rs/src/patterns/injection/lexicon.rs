//! Word classes and the small language of the injection patterns.
//!
//! `<ignore> ~4 <orders>` reads: a word of class `ignore`, up to four words, a word of class `orders`.
//! A space is any run of separators; everything else is a regular expression over folded text.
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::patterns::Severity;
use crate::patterns::gate::Words;
use crate::patterns::later::Later;
use crate::patterns::word::Border;
use crate::text::fold;

/// Separators between words, and a word.
const GAP: &str = r"[^a-z0-9\x80-\xff.!?]{1,8}";
/// Separators that may be missing.
const LOOSE: &str = r"[^a-z0-9\x80-\xff]{0,8}";
const WORD: &str = r"[a-z0-9'\x80-\xff]{1,24}";

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

/// The regular expression of a pattern, and the classes that every match contains.
fn expand(
    raw: &Raw,
    words: &BTreeMap<String, Vec<String>>,
    names: &BTreeMap<&str, usize>,
) -> Result<(String, Vec<Vec<usize>>), String> {
    let mut out = String::new();
    let mut needs = Vec::new();
    let (mut depth, mut class) = (0i32, false);
    let mut rest = raw.pattern.as_str();
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            ']' if class => {
                class = false;
                out.push(c)
            }
            c if class && c != '\\' => out.push(c),
            '[' => {
                class = true;
                out.push(c)
            }
            '<' if rest.starts_with(|c: char| c.is_ascii_lowercase()) && rest.contains('>') => {
                let (name, after) = rest.split_once('>').unwrap_or((rest, ""));
                let list = words
                    .get(name)
                    .ok_or_else(|| format!("{}: no class <{name}>", raw.id))?;
                out.push_str(&alternatives(list));
                if depth == 0 && !after.starts_with('?') {
                    needs.extend(names.get(name).map(|class| vec![*class]));
                }
                rest = after;
            }
            ' ' if rest.starts_with('~') => {
                let digits: String = rest[1..].chars().take_while(char::is_ascii_digit).collect();
                rest = rest[1 + digits.len()..].trim_start();
                out.push_str(&format!("{GAP}(?:{WORD}{GAP}){{0,{digits}}}"));
            }
            ' ' if rest.starts_with('?') => {
                rest = &rest[1..];
                out.push_str(LOOSE);
            }
            ' ' => out.push_str(GAP),
            '\\' => {
                out.push('\\');
                out.extend(rest.chars().next());
                rest = rest.get(1..).unwrap_or("");
            }
            '(' => {
                if depth == 0 {
                    needs.extend(choice(rest, names));
                }
                depth += 1;
                out.push(c)
            }
            ')' => {
                depth -= 1;
                out.push(c)
            }
            c if c.is_ascii() => out.push(c),
            c => out.push_str(&String::from_utf8_lossy(
                &fold(c.to_string().as_bytes()).text,
            )),
        }
    }
    Ok((out, needs))
}

/// Which set of needs a pattern begins with, if it does: its keys (`loose` = 1) or its first class or choice.
fn lead(raw: &Raw, names: &BTreeMap<&str, usize>, loose: usize) -> Option<usize> {
    if let Some(rest) = raw.pattern.strip_prefix('<') {
        let (name, after) = rest.split_once('>')?;
        return (names.contains_key(name) && !after.starts_with('?')).then_some(loose);
    }
    let rest = raw.pattern.strip_prefix("(?:")?;
    let close = rest.find(')')?;
    let (group, after) = rest.split_at(close);
    if group.contains('(') || after[1..].starts_with(['?', '*', '{']) {
        return None;
    }
    if group
        .split('|')
        .all(|part| part.starts_with('<') && part.ends_with('>'))
    {
        return choice(&raw.pattern[1..], names).map(|_| loose);
    }
    let literal = |part: &str| part.replace('\\', "");
    (loose == 1
        && group
            .split('|')
            .all(|part| raw.keys.contains(&literal(part))))
    .then_some(0)
}

/// The classes of a group all of whose alternatives hold one; `rest` begins after the bracket.
fn choice(rest: &str, names: &BTreeMap<&str, usize>) -> Option<Vec<usize>> {
    let (mut depth, mut start) = (0, rest.find(':').map_or(0, |at| at + 1));
    let mut found = Vec::new();
    let first = start;
    for (at, c) in rest.char_indices().skip_while(|(at, _)| *at < first) {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            '|' | ')' if depth == 0 => {
                let part = &rest[start..at];
                let (name, _) = part.split_once('<')?.1.split_once('>')?;
                found.push(*names.get(name)?);
                start = at + 1;
                if c == ')' {
                    let optional = rest[start..].starts_with(['?', '*', '{']);
                    return (!optional).then_some(found);
                }
            }
            _ => {}
        }
    }
    None
}

fn alternatives(list: &[String]) -> String {
    let mut forms: Vec<String> = list
        .iter()
        .map(|word| String::from_utf8_lossy(&fold(word.as_bytes()).text).into_owned())
        .collect();
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    let written: Vec<String> = forms
        .iter()
        .map(|form| {
            let spelt = form
                .split(' ')
                .map(regex::escape)
                .collect::<Vec<_>>()
                .join(GAP);
            if form.is_ascii() && form.starts_with(|c: char| c.is_ascii_alphabetic()) {
                format!(r"\b{spelt}\b")
            } else {
                spelt
            }
        })
        .collect();
    format!("(?:{})", written.join("|"))
}
