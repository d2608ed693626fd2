//! What the arrangement of a text says beyond its words: the order of numbers, of deeds, what leads to a number
//! or a place, and whether it is only possible.
use std::collections::{BTreeSet, HashMap};

use super::guard::Findings;
use super::quantity::Quantity;
use super::reading::Reading;

/// How many numbers of a text are looked at; the pairs of them are tried.
const MOST: usize = 48;
/// `by 8 %` and `to 8 %` are two statements.
const LEADS: &[(&str, &str)] = &[("by", "to"), ("from", "to"), ("by", "from")];

/// Words that make a statement only possible, and those that may stand for them.
const HEDGES: &[&str] = &["may", "might", "could", "maybe", "perhaps", "possibly"];
const ALLOWS: &[&str] = &[
    "can",
    "allowed",
    "permitted",
    "likely",
    "probably",
    "possible",
    "expected",
    "allow",
    "able",
];

/// Adds what the arrangement of both texts speaks against.
pub fn arrangement(a: &Reading, b: &Reading, texts: (&str, &str), found: &mut Findings) {
    let (own, other) = (unique(&a.quantities), unique(&b.quantities));
    let mut shared: Vec<(usize, usize)> = own
        .iter()
        .filter_map(|(key, at)| other.get(key).map(|there| (*at, *there)))
        .collect();
    shared.sort_unstable();
    for (at, there) in &shared {
        leads(&a.quantities[*at], &b.quantities[*there], found);
    }
    if let Some(why) = exchanged(a, b, &shared) {
        found.doubts.push(why);
    }
    if let Some(why) = sequence(a, b) {
        found.objections.push(why);
    }
    found.doubts.extend(direction(a, b));
    found.doubts.extend(hedged(texts.0, texts.1));
    found.doubts.extend(steps(a, b, texts));
}

/// `from the archive` and `in the archive`: what one text leaves is where the other arrives.
fn direction(a: &Reading, b: &Reading) -> Option<String> {
    const THERE: &[&str] = &["to", "into", "in", "at", "on"];
    let places: HashMap<&str, &str> = b
        .items
        .iter()
        .filter_map(|item| Some((item.key.as_str(), item.mark.as_deref()?)))
        .collect();
    let turned = |one: &str, two: &str| one == "from" && THERE.contains(&two);
    a.items.iter().take(256).find_map(|item| {
        let (one, two) = (item.mark.as_deref()?, *places.get(item.key.as_str())?);
        (turned(one, two) || turned(two, one))
            .then(|| format!("direction: `{one} {0}` against `{two} {0}`", item.word))
    })
}

/// Words in lower case, as they are written: `May` is a month.
fn written(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric())
}

/// `has confirmed` and `may confirm`: only one of them is certain.
fn hedged(a: &str, b: &str) -> Option<String> {
    // who could not was unable: that is certain
    let hedge = |text: &str| {
        let next = written(text).skip(1).chain([""]);
        written(text)
            .zip(next)
            .any(|(word, next)| HEDGES.contains(&word) && (word != "could" || next != "not"))
    };
    let open = |text: &str| written(text).any(|word| ALLOWS.contains(&word));
    let (own, other) = (hedge(a), hedge(b));
    (own != other && !open(if own { b } else { a }))
        .then(|| "certainty: only one of them is certain".to_string())
}

/// `A, then B` and `B, then A`.
fn steps(a: &Reading, b: &Reading, texts: (&str, &str)) -> Option<String> {
    let (own, other) = (halves(a, texts.0)?, halves(b, texts.1)?);
    let crossed = |x: usize, y: usize| own[x].intersection(&other[y]).next().is_some();
    (crossed(0, 1) && crossed(1, 0)).then(|| "order: what comes `then`".to_string())
}

/// The words before and behind a single `then`.
fn halves<'a>(reading: &'a Reading, text: &str) -> Option<[BTreeSet<&'a str>; 2]> {
    let mut parts = text.split(" then ");
    let (first, second) = (parts.next()?.to_lowercase(), parts.next()?.to_lowercase());
    if parts.next().is_some() {
        return None;
    }
    let words =
        [first, second].map(|half| written(&half).map(str::to_string).collect::<BTreeSet<_>>());
    Some([0, 1].map(|side: usize| {
        let only = |word: &str| words[side].contains(word) && !words[1 - side].contains(word);
        let items = reading.items.iter().take(256).filter(|item| !item.soft);
        items
            .filter(|item| item.word.split(' ').any(only))
            .map(|item| item.key.as_str())
            .collect()
    }))
}

/// Numbers that occur once, with their places.
fn unique(list: &[Quantity]) -> HashMap<(&str, &str), usize> {
    let mut found: HashMap<(&str, &str), Option<usize>> = HashMap::new();
    for (at, one) in list.iter().take(MOST).enumerate() {
        found
            .entry((one.value.as_str(), one.measure))
            .and_modify(|place| *place = None)
            .or_insert(Some(at));
    }
    found
        .into_iter()
        .filter_map(|(key, at)| Some((key, at?)))
        .collect()
}

fn leads(x: &Quantity, y: &Quantity, found: &mut Findings) {
    if ["time", "date"].contains(&x.measure) {
        return;
    }
    let (one, two) = (x.lead.as_str(), y.lead.as_str());
    if LEADS.contains(&(one, two)) || LEADS.contains(&(two, one)) {
        found.objections.push(format!(
            "number: `{one} {}` against `{two} {}`",
            x.written, y.written
        ));
    }
}

/// `Route 7 is quicker than Route 9`: two numbers of one measure that took each other's place.
fn exchanged(a: &Reading, b: &Reading, shared: &[(usize, usize)]) -> Option<String> {
    shared.iter().enumerate().find_map(|(index, (x, there))| {
        shared[index + 1..].iter().find_map(|(y, place)| {
            let (first, second) = (&a.quantities[*x], &a.quantities[*y]);
            let kept = |at: usize, to: usize| a.quantities[at].lead == b.quantities[to].lead;
            // `from 5 to 7` and `to 7 from 5` are one
            let explained = kept(*x, *there) && kept(*y, *place) && first.lead != second.lead;
            (place < there && first.measure == second.measure && !explained).then(|| {
                format!(
                    "order: `{}` and `{}` changed places",
                    first.written, second.written
                )
            })
        })
    })
}

/// `A before B` and `B before A`.
fn sequence(a: &Reading, b: &Reading) -> Option<String> {
    let ((mark, own), (same, other)) = (sides(a)?, sides(b)?);
    let crossed = |x: usize, y: usize| own[x].intersection(&other[y]).next();
    let (left, right) = (crossed(0, 1)?, crossed(1, 0)?);
    let plain = crossed(0, 0).is_none() && crossed(1, 1).is_none();
    (mark == same && plain && left != right)
        .then(|| format!("order: what comes `{mark}` the other is exchanged"))
}

type Sides<'a> = (&'a str, [BTreeSet<&'a str>; 2]);

/// The words of what comes first in `A before B`, and those of the other.
fn sides(reading: &Reading) -> Option<Sides<'_>> {
    let marks = |word: &str| ["before", "after"].contains(&word);
    let mut places = (0..reading.items.len()).filter(|at| marks(&reading.items[*at].word));
    let at = places.next()?;
    if places.next().is_some() {
        return None;
    }
    let clause = reading.items[at].clause;
    let opens = at == 0;
    let mut sides = [BTreeSet::new(), BTreeSet::new()];
    for (place, item) in reading.items.iter().enumerate() {
        let second = if opens {
            item.clause == clause
        } else {
            place > at
        };
        if place != at && !item.soft {
            sides[usize::from(second)].insert(item.key.as_str());
        }
    }
    Some((reading.items[at].word.as_str(), sides))
}
