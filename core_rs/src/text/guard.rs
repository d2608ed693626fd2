//! What makes two texts different however alike they look, and what leaves it open.
use std::collections::{BTreeSet, HashMap};

use super::arrangement::arrangement;
use super::lexicon::Lexicon;
use super::phrases::PREFIXES;
use super::quantity::Quantity;
use super::reading::{Item, Reading};
use super::roles::{Roles, roles};

/// What the guard has to say.
#[derive(Debug, Default)]
pub struct Findings {
    /// Why the texts differ.
    pub objections: Vec<String>,
    /// Why it cannot be told.
    pub doubts: Vec<String>,
    /// Content of the left text that the right one has nothing for, and the other way round.
    pub left: Vec<String>,
    pub right: Vec<String>,
}

/// Compares two readings.
pub fn findings(
    a: &mut Reading,
    b: &mut Reading,
    texts: (&str, &str),
    lexicon: &Lexicon,
) -> Findings {
    prefixes(a, b);
    prefixes(b, a);
    let mut found = Findings::default();
    numbers(a, b, texts, &mut found);
    classes(&a.items, &b.items, lexicon, &mut found);
    let (left, right) = (rest(&a.items, &b.items), rest(&b.items, &a.items));
    let name = |list: &[&Item], opening: bool| {
        list.iter()
            .find(|item| item.name || (opening && item.upper))
            .map(|item| item.word.clone())
    };
    match (name(&left, false), name(&right, false)) {
        (None, None) => {}
        // the first word of a sentence may be a name: it is where the other text has one
        (own, other) => match (name(&left, true), name(&right, true)) {
            (Some(x), Some(y)) => found.objections.push(format!("name: `{x}` against `{y}`")),
            _ => {
                let one = own.or(other).unwrap_or_default();
                found.doubts.push(format!("name: `{one}` is in one only"));
            }
        },
    }
    signs(a, b, &mut found);
    arrangement(a, b, texts, &mut found);
    let words = |list: Vec<&Item>| list.into_iter().map(|item| item.word.clone()).collect();
    (found.left, found.right) = (words(left), words(right));
    found
}

/// Items of `own` that count and that `other` has nothing for.
fn rest<'a>(own: &'a [Item], other: &[Item]) -> Vec<&'a Item> {
    let keys: BTreeSet<&str> = other.iter().map(|item| item.key.as_str()).collect();
    own.iter()
        .filter(|item| !item.soft && !keys.contains(item.key.as_str()))
        .collect()
}

/// `unhurt` is `hurt` with the other sign where the other text has that word.
fn prefixes(own: &mut Reading, other: &Reading) {
    let keys: HashMap<&str, bool> = other
        .items
        .iter()
        .map(|item| (item.key.as_str(), item.concept))
        .collect();
    for item in own.items.iter_mut().filter(|item| {
        !item.concept && item.class.is_none() && !keys.contains_key(item.key.as_str())
    }) {
        let base = PREFIXES
            .iter()
            .filter_map(|prefix| item.key.strip_prefix(prefix))
            .find(|base| base.len() > 3 && keys.contains_key(*base));
        if let Some(base) = base {
            item.key = base.to_string();
            item.opposite = !item.opposite;
        }
    }
}

fn numbers(a: &Reading, b: &Reading, texts: (&str, &str), found: &mut Findings) {
    let miss = |own: &[Quantity], other: &[Quantity]| {
        let known: BTreeSet<(&str, &str)> = other
            .iter()
            .map(|q| (q.value.as_str(), q.measure))
            .collect();
        own.iter()
            .filter(|q| !known.contains(&(q.value.as_str(), q.measure)))
            .cloned()
            .collect::<Vec<_>>()
    };
    let (mut left, mut right) = (
        miss(&a.quantities, &b.quantities),
        miss(&b.quantities, &a.quantities),
    );
    let mut vague = Vec::new();
    let limit = left.len().min(64);
    left.truncate(64);
    right.truncate(64);
    for _ in 0..limit {
        let pair = left
            .iter()
            .enumerate()
            .find_map(|(i, x)| right.iter().position(|y| compatible(x, y)).map(|j| (i, j)));
        let Some((i, j)) = pair else { break };
        let (x, y) = (left.remove(i), right.remove(j));
        if !(x.measure == "deg" || y.measure == "deg") {
            vague.push(format!("unit: `{}` against `{}`", x.written, y.written));
        }
    }
    found.doubts.extend(vague);
    let hard = |list: &[Quantity]| {
        list.iter()
            .filter(|q| !q.soft)
            .map(|q| q.written.clone())
            .collect::<Vec<_>>()
    };
    let (own, other) = (hard(&left), hard(&right));
    if !own.is_empty() && !other.is_empty() {
        found.objections.push(format!(
            "number: `{}` against `{}`",
            own.join(", "),
            other.join(", ")
        ));
    } else if !left.is_empty() || !right.is_empty() {
        let soft = left
            .iter()
            .chain(&right)
            .next()
            .map_or("", |q| q.written.as_str());
        found
            .doubts
            .push(format!("number: `{soft}` is in one only"));
    }
    trailing(a, b, texts, found);
}

/// The same value, where one side says less of its unit: `5 degrees` and `5 °C`, `45` and `£45`.
fn compatible(x: &Quantity, y: &Quantity) -> bool {
    let general = |q: &Quantity| q.measure.is_empty() || q.measure == "deg";
    x.bare == y.bare && (general(x) || general(y)) && x.measure != y.measure
}

/// `2.10` and `2.1` without a unit: two releases, or one number.
fn trailing(a: &Reading, b: &Reading, texts: (&str, &str), found: &mut Findings) {
    const RELEASES: &[&str] = &[
        "version", "release", "patch", "upgrade", "update", "build", "section", "chapter",
        "python", "node", "java", "api", "library", "package", "install", "firmware", "driver",
    ];
    let odd = |own: &Reading, other: &Reading| {
        let same = |q: &&Quantity| {
            other
                .quantities
                .iter()
                .take(256)
                .any(|o| o.value == q.value && o.measure.is_empty() && o.written != q.written)
        };
        own.quantities
            .iter()
            .take(256)
            .find(|q| q.zeros && same(q))
            .map(|q| q.written.clone())
    };
    let Some(written) = odd(a, b).or_else(|| odd(b, a)) else {
        return;
    };
    let low = format!("{} {}", texts.0, texts.1).to_lowercase();
    if RELEASES.iter().any(|word| low.contains(word)) {
        found.objections.push(format!(
            "number: `{written}` is another release without its last zero"
        ));
    } else {
        found
            .doubts
            .push(format!("number: `{written}` may be a release or a value"));
    }
}

/// Two members of a class of which only one fits.
fn classes(a: &[Item], b: &[Item], lexicon: &Lexicon, found: &mut Findings) {
    let members = |list: &[Item]| {
        let mut all: HashMap<u16, HashMap<u16, String>> = HashMap::new();
        for item in list {
            if let Some((class, member)) = item.class {
                all.entry(class)
                    .or_default()
                    .insert(member, item.word.clone());
            }
        }
        all
    };
    let (own, other) = (members(a), members(b));
    let mut shared: Vec<u16> = own
        .keys()
        .filter(|class| other.contains_key(class))
        .copied()
        .collect();
    shared.sort_unstable();
    for class in shared {
        let (x, y) = (&own[&class], &other[&class]);
        let only = |one: &HashMap<u16, String>, two: &HashMap<u16, String>| {
            one.iter()
                .filter(|(member, _)| !two.contains_key(member))
                .map(|(_, word)| word.clone())
                .min()
        };
        if let Some((left, right)) = only(x, y).zip(only(y, x)) {
            let why = format!("opposite: `{left}` against `{right}`");
            match lexicon.classes[class as usize].doubtful {
                true => found.doubts.push(why),
                false => found.objections.push(why),
            }
        }
    }
}

/// A shared word: how it was written, whether it is on its concept's opposite side, and whether it says the opposite.
type Sign = (String, bool, bool);

/// Negations and opposites: shared concepts must say the same, whichever word carries the minus sign.
fn signs(a: &Reading, b: &Reading, found: &mut Findings) {
    let (own, other) = (signed(&a.items), signed(&b.items));
    let shared: Vec<(&Sign, &Sign)> = own
        .iter()
        .filter_map(|(key, sign)| Some((sign, other.get(key)?)))
        .collect();
    let sides = shared.iter().any(|(x, y)| x.1 != y.1);
    let mut turned: Vec<&(&Sign, &Sign)> = shared.iter().filter(|(x, y)| x.2 != y.2).collect();
    turned.sort();
    let minus = turned.iter().filter(|(x, _)| x.2).count();
    let (no, yes) = (a.negations, b.negations);
    let balanced = if sides {
        2 * minus == turned.len()
    } else {
        turned.is_empty() || no == yes
    };
    let why = turned
        .first()
        .map(|(x, y)| format!("`{}` against `{}`", x.0, y.0))
        .unwrap_or_default();
    match (balanced, roles(a, b)) {
        (true, Roles::Kept) => {
            if turned.len() > 2 || (!sides && no != yes) || apart(a, b, &turned) {
                found
                    .doubts
                    .push(format!("negation: {no} against {yes} {why}"));
            }
        }
        // `A is heavier than B` and `B is lighter than A`
        (false, Roles::Swapped(_)) if turned.len() == 1 => {
            let than = |reading: &Reading| {
                reading
                    .items
                    .iter()
                    .any(|item| item.mark.as_deref() == Some("than"))
            };
            if !(than(a) && than(b)) {
                found.doubts.push(format!("roles: swapped, and {why}"));
            }
        }
        (true, Roles::Moved(who)) => found.doubts.push(format!("order: {who}")),
        (_, Roles::Swapped(who)) => found.objections.push(format!("roles: {who}")),
        // `A lends to B` and `B borrows from A`: two turns that may cancel out
        (false, Roles::Moved(who)) if sides && turned.len() == 1 => {
            found.doubts.push(format!("order: {who}, and {why}"));
        }
        (false, Roles::Kept | Roles::Moved(_)) => found
            .objections
            .push(format!("negation or opposite: {why}")),
    }
}

/// `It has a lock, nothing else is needed` and `it has no lock, something else is needed`: the negation went from
/// one clause to another.
fn apart(a: &Reading, b: &Reading, turned: &[&(&Sign, &Sign)]) -> bool {
    let clause = |reading: &Reading, word: &str| {
        let found = reading.items.iter().find(|item| item.word == word);
        found.map(|item| item.clause)
    };
    turned.iter().any(|(x, y)| {
        turned.iter().any(|(left, right)| {
            x.2 != left.2
                && clause(a, &x.0) != clause(a, &left.0)
                && clause(b, &y.0) != clause(b, &right.0)
        })
    })
}

fn signed(items: &[Item]) -> HashMap<&str, Sign> {
    let mut all: HashMap<&str, Sign> = HashMap::new();
    for item in items.iter().filter(|item| item.class.is_none()) {
        let sign = (item.word.clone(), item.opposite, item.negative());
        all.entry(item.key.as_str())
            .and_modify(|known| {
                known.1 |= item.opposite;
                known.2 |= item.negative();
            })
            .or_insert(sign);
    }
    all
}
