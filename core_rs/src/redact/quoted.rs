//! JSON strings in a text of any kind: where they begin and end.
use super::members::said_end;

/// A JSON string: where it begins, where its inside ends, and where it does, with its quote if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quoted {
    pub start: usize,
    pub inner: usize,
    pub end: usize,
}

/// The first string that begins at `at` or behind it.
pub fn string_at(text: &str, at: usize) -> Option<Quoted> {
    let bytes = text.as_bytes();
    let start = at + memchr::memchr(b'"', bytes.get(at..)?)?;
    let inner = said_end(bytes, start + 1, b'"');
    let end = inner + usize::from(bytes.get(inner) == Some(&b'"'));
    Some(Quoted { start, inner, end })
}

/// Which places of a text are inside of a JSON string. Asked in ascending order, it reads on from the last
/// answer: a text of nothing but such places is read once.
#[derive(Debug)]
pub struct Strings<'a> {
    text: &'a str,
    asked: usize,
    start: usize,
    end: usize,
}

impl<'a> Strings<'a> {
    pub fn new(text: &'a str) -> Self {
        Strings {
            text,
            asked: 0,
            start: 0,
            end: 0,
        }
    }

    /// Is this inside? Then a bare double quote after it ends that string.
    pub fn holds(&mut self, place: usize) -> bool {
        let bytes = self.text.as_bytes();
        if let Some(found) = memchr::memrchr(b'\n', &bytes[self.asked..place]) {
            let line = self.asked + found + 1;
            if line > self.end {
                (self.start, self.end) = (line, line);
            }
        }
        self.asked = place;
        while self.end <= place {
            // Where no string follows, none will be looked for again.
            let none = (usize::MAX, usize::MAX);
            let found = string_at(self.text, self.end);
            (self.start, self.end) = found.map_or(none, |string| (string.start, string.end));
        }
        self.start <= place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_strings_are_those_that_a_search_from_the_beginning_finds() {
        let mut seed = 7u32;
        let mut draw = |most: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) as usize % most
        };
        for _ in 0..4000 {
            let size = draw(14);
            let text: String = (0..size)
                .map(|_| ['"', '"', '\\', '\n', '\'', 'a'][draw(6)])
                .collect();
            let mut spans = Vec::new();
            let mut at = 0;
            while let Some(string) = string_at(&text, at) {
                spans.push(string.start..string.end);
                at = string.end;
            }
            let mut strings = Strings::new(&text);
            for place in (0..=size).filter(|_| draw(3) == 0) {
                let expected = spans.iter().any(|span| span.contains(&place));
                assert_eq!(strings.holds(place), expected, "{text:?} {place}");
            }
        }
    }
}
