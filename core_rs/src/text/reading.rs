//! What a text says, word by word: concepts with their signs, what they stand after, numbers, names.
use super::lexicon::{Lexicon, Meaning};
use super::phrases::{LIGHT, PREPOSITIONS, SOFT, framed, framing, negator, participle, turned};
use super::quantity::{Quantity, quantities};
use super::tokens::stop;
use super::words::{Word, words};

/// One word or phrase that carries content.
#[derive(Clone, Debug)]
pub struct Item {
    pub key: String,
    /// The opposite side of its concept.
    pub opposite: bool,
    /// A negation stands before it.
    pub negated: bool,
    /// The word's concept has an opposite side.
    pub concept: bool,
    /// The preposition right before it.
    pub mark: Option<String>,
    /// Class and member.
    pub class: Option<(u16, u16)>,
    /// It may be missing on the other side.
    pub soft: bool,
    pub name: bool,
    /// Written with a capital: a name, or the first word of a sentence.
    pub upper: bool,
    /// Which clause it stands in, by punctuation.
    pub clause: usize,
    pub word: String,
}

/// A text as the comparison reads it.
#[derive(Debug, Default)]
pub struct Reading {
    pub items: Vec<Item>,
    pub quantities: Vec<Quantity>,
    /// `was sent by`: the one who acts comes last.
    pub passive: bool,
    /// `is`, `are`, `was`: both sides may change places.
    pub copula: bool,
    /// `there is`: the thing comes last.
    pub existential: bool,
    /// Negations, whatever they belong to.
    pub negations: usize,
}

impl Item {
    /// It says the opposite: negated, or an opposite that is not negated.
    pub fn negative(&self) -> bool {
        self.negated != self.opposite
    }
}

impl Reading {
    /// Nothing in it can be compared.
    pub fn silent(&self) -> bool {
        self.items.is_empty() && self.quantities.is_empty()
    }
}

/// Reads `text`. Time grows with its length.
pub fn read(text: &str, lexicon: &Lexicon) -> Reading {
    let words = words(text, lexicon);
    let mut used = vec![false; words.len()];
    let quantities = quantities(text, &words, &mut used);
    let stems: Vec<&str> = words.iter().map(|word| word.stem.as_str()).collect();
    let mut reading = Reading {
        quantities,
        ..Reading::default()
    };
    framed(&words, &mut used);
    let (mut at, mut clause, mut negated, mut mark) = (0, 0, false, None);
    while at < words.len() {
        let word = &words[at];
        if word.apart {
            clause += 1;
            negated = false;
            mark = None;
        }
        if used[at] {
            at += 1;
            mark = None;
            continue;
        }
        if let Some(count) = negator(&words[at..]) {
            negated = !negated;
            reading.negations += 1;
            at += count;
            continue;
        }
        let is = ["is", "are", "was", "were"].contains(&word.text.as_str());
        reading.copula |= is;
        reading.existential |=
            is && at > 0 && words[at - 1].text == "there" || word.stem == "exist";
        reading.passive |=
            (is || ["be", "been"].contains(&word.text.as_str())) && participle(&words[at + 1..]);

        let free = used[at..].iter().take(8).take_while(|one| !**one).count();
        let last = words.get(at + 1).is_none_or(|next| next.apart);
        let known = if word.text == "on" && last && !word.apart {
            lexicon.longest(&["enabl"]).map(|(_, meaning)| (1, meaning)) // `the light is on`
        } else {
            lexicon
                .longest(&stems[at..at + free])
                .or_else(|| turned(&word.stem, lexicon))
        };
        let count = known.map_or(1, |(count, _)| count);
        match known.map(|(_, meaning)| meaning) {
            Some(Meaning::Filler) if framing(&words, at, count) => {
                reading.existential |= count > 1 && word.text == "there";
            }
            meaning => {
                let meaning = meaning.filter(|one| *one != Meaning::Filler);
                if let Some(mut item) = item(word, meaning, lexicon) {
                    item.mark = mark.take();
                    item.clause = clause;
                    let parts: Vec<&str> = words[at..at + count]
                        .iter()
                        .map(|word| word.text.as_str())
                        .collect();
                    item.word = parts.join(" ");
                    if !item.soft && item.class.is_none() {
                        item.negated = std::mem::take(&mut negated);
                    }
                    reading.items.push(item);
                } else if PREPOSITIONS.contains(&word.text.as_str()) {
                    let after = at.checked_sub(1).map(|last| &words[last]);
                    reading.passive |=
                        word.text == "by" && after.is_some_and(|last| last.stem != last.text);
                    mark = Some(word.text.clone());
                }
            }
        }
        at += count;
    }
    reading
}

fn item(word: &Word, meaning: Option<Meaning>, lexicon: &Lexicon) -> Option<Item> {
    let mut item = Item {
        key: word.stem.clone(),
        opposite: false,
        negated: false,
        concept: false,
        mark: None,
        class: None,
        soft: SOFT.contains(&word.text.as_str()),
        name: word.name,
        upper: word.upper && meaning.is_none(),
        clause: 0,
        word: word.text.clone(),
    };
    match meaning {
        Some(Meaning::Class(class, member)) => {
            item.key = format!("#{class}.{member}");
            item.class = Some((class, member));
            item.soft = lexicon.classes[class as usize].soft[member as usize];
            item.name = false;
        }
        Some(Meaning::Concept(number, opposite)) => {
            item.key = format!("@{number}");
            item.soft |= lexicon.soft[number as usize];
            item.opposite = opposite;
            item.concept = true;
            item.name = false;
        }
        _ => {
            let light = stop(&word.text) || LIGHT.contains(&word.text.as_str());
            let letter =
                word.text.chars().count() == 1 && word.upper && word.text != "i" && !word.opens;
            if light && !letter {
                return None;
            }
            item.name |= letter;
        }
    }
    Some(item)
}
