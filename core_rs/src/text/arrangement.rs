//! What the arrangement of a text says beyond its words: the order of numbers, of deeds, and what leads to a number.
use std::collections::{BTreeSet, HashMap};

use super::guard::Findings;
use super::quantity::Quantity;
use super::reading::Reading;

/// How many numbers of a text are looked at; the pairs of them are tried.
const MOST: usize = 48;
/// `by 8 %` and `to 8 %` are two statements.
const LEADS: &[(&str, &str)] = &[("by", "to"), ("from", "to"), ("by", "from")];

/// Adds what the arrangement of both texts speaks against.
pub fn arrangement(a: &Reading, b: &Reading, found: &mut Findings) {
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
