//! Small words and what they do to the next: negations, prepositions, framing.
use super::lexicon::{Lexicon, Meaning};
use super::words::Word;

const NEGATORS: &[&str] = &[
    "no",
    "not",
    "never",
    "none",
    "nothing",
    "nobody",
    "nowhere",
    "neither",
    "nor",
    "without",
    "unless",
    "unable",
    "hardly",
    "scarcely",
    "barely",
    "impossible",
    "lack",
    "lacks",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "nie",
    "ohne",
    "pas",
    "jamais",
    "non",
    "aucun",
    "aucune",
    "sans",
    "nunca",
    "sin",
    "ningun",
    "ninguna",
    "senza",
    "nao",
    "sem",
    "не",
    "нет",
];
const NEGATING: &[&[&str]] = &[
    &["no", "longer"],
    &["no", "one"],
    &["out", "of"],
    &["not", "any"],
    &["free", "of"],
    &["fail", "to"],
    &["failed", "to"],
    &["by", "no", "means"],
];
/// What turns a word into its opposite.
pub const PREFIXES: &[&str] = &["un", "in", "im", "il", "ir", "non", "dis"];
pub const PREPOSITIONS: &[&str] = &[
    "to", "from", "by", "against", "than", "of", "for", "in", "on", "at", "into", "onto",
    "through", "via", "over", "between", "under", "before", "after", "behind", "toward", "towards",
    "upon", "within", "about", "with", "across",
];
/// Words without content of their own, beyond `stop`.
pub const LIGHT: &[&str] = &[
    "am",
    "being",
    "let",
    "us",
    "s",
    "t",
    "yet",
    "even",
    "ever",
    "own",
    "each",
    "either",
    "whether",
    "upon",
    "within",
    "onto",
    "via",
    "per",
    "as",
    "off",
    "toward",
    "towards",
    "between",
    "against",
    "behind",
    "one",
    "ones",
    "once",
    "both",
    "myself",
    "yourself",
    "itself",
    "themselves",
    "anyone",
    "anybody",
    "any",
    "some",
    "that",
    "through",
    "because",
    "since",
    "though",
    "although",
    "upon",
    "during",
    "until",
    "till",
    "by",
    "over",
    "around",
    "roughly",
    "approximately",
    "done",
    "having",
    "many",
    "much",
    "not",
    "whose",
    "whom",
    "according",
    "o",
    "gets",
    "got",
];
/// Words of place and direction: as often part of another word's phrase.
pub const SOFT: &[&str] = &[
    "up", "down", "above", "below", "under", "inside", "outside", "within", "over", "also", "too",
    "again",
];

/// `invalid` is the opposite of `valid` where the lexicon has that one only.
pub fn turned(stem: &str, lexicon: &Lexicon) -> Option<(usize, Meaning)> {
    let base = PREFIXES
        .iter()
        .filter_map(|prefix| stem.strip_prefix(prefix))
        .filter(|base| base.len() > 2);
    base.filter_map(|base| lexicon.longest(&[base]))
        .find_map(|(count, meaning)| match meaning {
            Meaning::Concept(number, side) => Some((count, Meaning::Concept(number, !side))),
            _ => None,
        })
}

/// Marks the words of `based on the records,` and `according to the report.`; names in them count.
pub fn framed(words: &[Word], used: &mut [bool]) {
    const HEADS: &[[&str; 2]] = &[
        ["based", "on"],
        ["according", "to"],
        ["judging", "by"],
        ["looking", "at"],
        ["going", "by"],
        ["checked", "the"],
        ["checking", "the"],
        ["as", "per"],
    ];
    const LONGEST: usize = 8;
    let mut at = 0;
    while at + 1 < words.len() {
        let pair = [words[at].text.as_str(), words[at + 1].text.as_str()];
        let begins = words[at].opens
            || words[at].apart
            || words[at].text == "according"
            || (at > 0 && ["i", "have"].contains(&words[at - 1].text.as_str()));
        if !begins || !HEADS.contains(&pair) {
            at += 1;
            continue;
        }
        let length = words[at + 1..]
            .iter()
            .take_while(|word| !word.apart)
            .count()
            + 1;
        if length <= LONGEST {
            for (word, used) in words[at..at + length].iter().zip(&mut used[at..]) {
                *used |= !word.name;
            }
        }
        at += length;
    }
}

/// How many words of a negation come next.
pub fn negator(words: &[Word]) -> Option<usize> {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let phrase = NEGATING.iter().find(|phrase| {
        phrase
            .iter()
            .enumerate()
            .all(|(at, part)| text(at) == *part)
    });
    match phrase {
        Some(phrase) => Some(phrase.len()),
        None if text(1) == "more"
            || text(1) == "fewer"
            || text(1) == "less"
            || text(1) == "later"
            || text(1) == "earlier" =>
        {
            None
        }
        None => NEGATORS.contains(&text(0)).then_some(1),
    }
}

/// A participle comes next, perhaps after an adverb: `was sent`, `was never sent`.
pub fn participle(next: &[Word]) -> bool {
    next.iter().take(2).any(|word| {
        word.text.ends_with("ed") || word.text.ends_with("en") || word.text.ends_with("own")
    }) || next.first().is_some_and(|word| {
        !word.text.ends_with("ing") && word.text != word.stem && !word.text.starts_with(&word.stem)
    })
}

/// A filler of one word counts only at a border of its sentence, or as an adverb that is one anywhere.
pub fn framing(words: &[Word], at: usize, count: usize) -> bool {
    const BORDER: &[&str] = &[
        "right", "good", "great", "well", "done", "sure", "yes", "enjoy", "dear",
    ];
    if count > 1 || !BORDER.contains(&words[at].text.as_str()) {
        return true;
    }
    let after = words.get(at + 1).is_none_or(|next| next.apart);
    let first = at == 0 || words[at].opens || words[at].apart;
    first && after
}
