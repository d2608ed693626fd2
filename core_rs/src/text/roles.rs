//! Who does what to whom: the same words in other roles say something else.
use std::collections::HashMap;

use super::reading::{Item, Reading};

/// Whether the shared words keep their roles.
#[derive(Debug, PartialEq, Eq)]
pub enum Roles {
    Kept,
    /// Which two changed places, and what explains it is not seen.
    Moved(String),
    /// Which two have each other's role.
    Swapped(String),
}

/// How many shared words are looked at; the pairs of them are tried.
const MOST: usize = 48;

/// Looks for two shared words that took each other's place.
pub fn roles(a: &Reading, b: &Reading) -> Roles {
    let (own, other) = (single(&a.items), single(&b.items));
    let mut shared: Vec<(usize, usize)> = own
        .iter()
        .filter_map(|(key, at)| other.get(key).map(|there| (*at, *there)))
        .collect();
    shared.sort_unstable();
    shared.truncate(MOST);
    let mut moved = None;
    for (index, (x, there)) in shared.iter().enumerate() {
        for (y, place) in &shared[index + 1..] {
            let who = || {
                format!(
                    "`{}` and `{}` changed places",
                    a.items[*x].word, a.items[*y].word
                )
            };
            match exchanged(a, b, (*x, *y), (*there, *place), &shared) {
                Change::Role => return Roles::Swapped(who()),
                Change::Place => moved = moved.or_else(|| Some(who())),
                Change::None => {}
            }
        }
    }
    moved.map_or(Roles::Kept, Roles::Moved)
}

/// What became of two words.
enum Change {
    None,
    /// They stand the other way round, for no reason that is seen.
    Place,
    Role,
}

/// Words that occur once, with their places; none that say when, how many or whether.
fn single(items: &[Item]) -> HashMap<&str, usize> {
    let mut found: HashMap<&str, Option<usize>> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        let timely = item.class.is_some_and(|(class, _)| class < 9);
        if !timely && !item.soft {
            found
                .entry(item.key.as_str())
                .and_modify(|place| *place = None)
                .or_insert(Some(at));
        }
    }
    found
        .into_iter()
        .filter_map(|(key, at)| Some((key, at?)))
        .collect()
}

/// `x` before `y` on the left: do they swap roles on the right?
fn exchanged(
    a: &Reading,
    b: &Reading,
    (x, y): (usize, usize),
    (there, place): (usize, usize),
    shared: &[(usize, usize)],
) -> Change {
    let mark = |items: &[Item], at: usize| items[at].mark.clone();
    let (ax, ay) = (mark(&a.items, x), mark(&a.items, y));
    let (bx, by) = (mark(&b.items, there), mark(&b.items, place));
    if there < place {
        // the same order: `the client attacked the server`, `the client was attacked by the server`
        let agent = [(&ay, &by), (&by, &ay)]
            .iter()
            .any(|(one, two)| one.is_none() && two.as_deref() == Some("by"));
        let around = y == x + 2 && place == there + 2 && shared.contains(&(x + 1, there + 1));
        let turned = around && a.passive != b.passive && ax.is_none() && bx.is_none() && agent;
        return if turned { Change::Role } else { Change::None };
    }
    let clause = |items: &[Item], one: usize, two: usize| items[one].clause != items[two].clause;
    if clause(&a.items, x, y) || clause(&b.items, there, place) {
        return Change::None; // a clause moved as a whole
    }
    let free = a.passive != b.passive
        || a.existential != b.existential
        || (a.copula && b.copula && !action(a) && !action(b));
    let adjacent = y == x + 1 && there == place + 1;
    if ax != ay && ax == by && ay == bx {
        // `the sandy beach` and `the beach that is sandy` are one, `from A` and `to B` two
        let both = ax.is_some() && ay.is_some();
        return if adjacent && !both {
            Change::Place
        } else {
            Change::Role
        };
    }
    let plain = [&ax, &ay, &bx, &by].iter().all(|mark| mark.is_none());
    if !plain {
        // a phrase that moved as a whole keeps its preposition; the one who acts gets one in the passive
        let kept = ax == bx && ay == by;
        return if kept || free {
            Change::None
        } else {
            Change::Place
        };
    }
    let is = a.copula || b.copula;
    let pivot = shared.iter().any(|(at, to)| {
        (x + 1..y).contains(at)
            && (place + 1..there).contains(to)
            && (!is || a.items[*at].word.ends_with("ing"))
    });
    match pivot && !a.passive && !b.passive {
        true => Change::Role,
        false if free || is || adjacent => Change::None,
        false => Change::Place,
    }
}

/// `is running`: what stands before and after it has different roles.
fn action(reading: &Reading) -> bool {
    reading.items.iter().any(|item| item.word.ends_with("ing"))
}
