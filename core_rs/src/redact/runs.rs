//! Runs of one kind of characters: percent-encoding, Base64.
use super::shapes::LONGEST;
use super::text::Text;

/// How long a unit of a run is that begins at `at`; 0 where none does.
pub type Unit = fn(&[u8], usize) -> usize;

/// With what encoders leave as it is: `encodeURIComponent` !*'(), `encodeURI` ;,/:@$ besides, and Go's
/// `PathEscape` :@$. A value ends where its run ends, so what is left out here would stay of a password.
pub fn percent_unit(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        b'%' => match bytes.get(at + 1..at + 3) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => 3,
            _ => 0,
        },
        byte => usize::from(byte.is_ascii_alphanumeric() || b"_.~+/:@!*'()$,;-".contains(&byte)),
    }
}

pub fn base64_unit(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at].is_ascii_alphanumeric() || b"+/_-".contains(&bytes[at]))
}

/// Gives the runs of one kind of characters that the places are in, each once, at most `LONGEST` of one to
/// either side of a place. What lies before the end of the last run is not looked at again.
pub fn runs(
    text: &Text,
    places: impl Iterator<Item = usize>,
    unit: Unit,
    mut take: impl FnMut(usize, usize),
) {
    let bytes = text.plain().as_bytes();
    let mut at = 0;
    for place in places {
        if place < at {
            continue;
        }
        let floor = text.back(place, LONGEST).max(at);
        let parts = |byte: &u8| b"\"\n ?&=".contains(byte); // in no run
        let before = bytes[floor..place].iter().rposition(parts);
        let start = before.map_or(floor, |found| floor + found + 1);
        let limit = text.ahead(place, LONGEST);
        if let Some((from, to)) = run(&bytes[..limit], start, place, unit) {
            at = to;
            take(from, to);
        }
    }
}

/// The first run from `at` on that ends behind `place`.
fn run(bytes: &[u8], mut at: usize, place: usize, unit: Unit) -> Option<(usize, usize)> {
    while at < bytes.len() {
        let from = at;
        while at < bytes.len() {
            match unit(bytes, at) {
                0 => break,
                size => at += size,
            }
        }
        if at > from && at > place {
            return Some((from, at));
        }
        at += usize::from(at == from || at < bytes.len());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_given_once_and_whole() {
        let text = Text::new("a=x%41!%42| %43");
        let mut found = Vec::new();
        runs(&text, [3, 7, 12].into_iter(), percent_unit, |a, b| {
            found.push((a, b))
        });
        assert_eq!(found, [(2, 10), (12, 15)]);
    }
}
