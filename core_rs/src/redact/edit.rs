//! What redaction is going to do to a text: spans, and what becomes of them.
use std::borrow::Cow;

/// What every placeholder begins with.
pub const MARK: &str = "redacted:v1:";

/// A secret's place, in bytes of the text's UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    pub start: usize,
    pub end: usize,
    /// `None` for the rest of one that is replaced further left.
    pub what: Option<Cow<'static, str>>,
    /// As UTF-8 with lone surrogates.
    pub value: Vec<u8>,
    /// What must surround the placeholder, where a number becomes a string.
    pub quote: String,
    /// Where that begins which tells that this is a secret, if further left: its name, its first part.
    pub lead: Option<usize>,
}

impl Edit {
    pub fn new(
        start: usize,
        end: usize,
        what: impl Into<Cow<'static, str>>,
        value: impl Into<Vec<u8>>,
    ) -> Self {
        Edit {
            start,
            end,
            what: Some(what.into()),
            value: value.into(),
            ..Edit::default()
        }
    }

    pub fn led(self, lead: usize) -> Self {
        Edit {
            lead: Some(lead),
            ..self
        }
    }

    pub fn quoted(self, quote: impl Into<String>) -> Self {
        Edit {
            quote: quote.into(),
            ..self
        }
    }

    /// How far left one must look to find this again.
    pub fn begin(&self) -> usize {
        self.lead.unwrap_or(self.start)
    }
}

/// Sorted, overlaps joined: the first of several keeps its class and swallows the others. Of two in one place,
/// that stands which knows the quotes that must surround the placeholder.
pub fn merged(mut found: Vec<Edit>) -> Vec<Edit> {
    found.sort_by_key(|edit| (edit.start, usize::MAX - edit.end, edit.quote.is_empty()));
    let mut out: Vec<Edit> = Vec::with_capacity(found.len());
    for edit in found {
        match out.last_mut() {
            Some(last) if edit.start < last.end => {
                let begin = last.begin().min(edit.begin());
                last.lead = (begin < last.start).then_some(begin);
                last.end = last.end.max(edit.end);
            }
            _ => out.push(edit),
        }
    }
    out
}

/// Where ascending places went. One inside a replaced span goes to the end of what replaced it.
pub fn moved(places: &[usize], moves: &[(usize, usize, usize)]) -> Vec<usize> {
    // What is added and what is taken away: neither alone can be negative.
    let (mut grown, mut shrunk, mut at) = (0, 0, 0);
    let go = |place: &usize| {
        while let Some((start, end, size)) = moves.get(at).filter(|one| one.1 <= *place) {
            grown += size;
            shrunk += end - start;
            at += 1;
        }
        match moves.get(at).filter(|one| one.0 < *place) {
            Some((start, _, size)) => start + size + grown - shrunk,
            None => place + grown - shrunk,
        }
    };
    places.iter().map(go).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_joined() {
        let found = vec![
            Edit::new(5, 9, "b", "y"),
            Edit::new(0, 6, "a", "x"),
            Edit::new(9, 10, "c", "z"),
            Edit::new(0, 3, "d", "w").led(0),
        ];
        let expected = vec![Edit::new(0, 9, "a", "x"), Edit::new(9, 10, "c", "z")];
        assert_eq!(merged(found), expected);
        let two = vec![
            Edit::new(2, 3, "a", "x"),
            Edit::new(2, 3, "b", "x").quoted("\""),
        ];
        assert_eq!(merged(two)[0].what.as_deref(), Some("b"));
        let led = vec![Edit::new(2, 5, "a", "x"), Edit::new(4, 6, "b", "x").led(1)];
        assert_eq!(merged(led)[0].lead, Some(1));
    }

    #[test]
    fn places_move_with_what_is_replaced() {
        let moves = [(2, 4, 7), (6, 9, 0)];
        let places = [0, 2, 3, 4, 5, 6, 7, 9, 12];
        assert_eq!(moved(&places, &moves), [0, 2, 9, 9, 10, 11, 11, 11, 14]);
        assert_eq!(moved(&[], &moves), Vec::<usize>::new());
    }
}
