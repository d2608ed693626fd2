//! A text as redaction sees it: code points, of which some may be lone surrogates, in any script.
use std::borrow::Cow;

/// What stands for a lone surrogate where a text must be UTF-8; as long as that is in WTF-8.
const LONE: char = '\u{FFFD}';

/// How wide the widest character is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    Ascii,
    Latin,
    Wide,
}

/// Code points with byte offsets into their UTF-8. A lone surrogate is U+FFFD in `plain` and itself in `raw`.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    plain: Cow<'a, str>,
    raw: Option<Cow<'a, [u8]>>,
    width: Width,
}

impl<'a> Text<'a> {
    pub fn new(plain: impl Into<Cow<'a, str>>) -> Self {
        let plain = plain.into();
        let width = width(&plain);
        Text {
            plain,
            raw: None,
            width,
        }
    }

    /// A character for each byte.
    pub fn latin(data: &'a [u8]) -> Self {
        match std::str::from_utf8(data) {
            Ok(plain) if plain.is_ascii() => Text::new(plain),
            _ => Text::new(
                data.iter()
                    .map(|byte| char::from(*byte))
                    .collect::<String>(),
            ),
        }
    }

    /// From UTF-8 in which lone surrogates are encoded like other characters (WTF-8, or CESU-8 in pairs).
    pub fn wtf8(raw: impl Into<Cow<'a, [u8]>>) -> Self {
        let raw = raw.into();
        if let Ok(plain) = std::str::from_utf8(&raw) {
            return Text::new(plain.to_owned());
        }
        let plain = without_lone(&raw);
        Text {
            plain: plain.into(),
            raw: Some(raw),
            width: Width::Wide,
        }
    }

    pub fn plain(&self) -> &str {
        &self.plain
    }

    pub fn is_ascii(&self) -> bool {
        self.width == Width::Ascii
    }

    /// Is each character a byte in Latin-1?
    pub fn is_latin(&self) -> bool {
        self.width <= Width::Latin
    }

    /// A part, as UTF-8 with lone surrogates.
    pub fn part(&self, start: usize, end: usize) -> &[u8] {
        match &self.raw {
            Some(raw) => &raw[start..end],
            None => &self.plain.as_bytes()[start..end],
        }
    }

    /// The same as a text of its own.
    pub fn slice(&self, start: usize, end: usize) -> Text<'_> {
        match &self.raw {
            Some(raw) => Text::wtf8(&raw[start..end]),
            None => Text::new(&self.plain[start..end]),
        }
    }

    /// A byte for each character: Latin-1, or ASCII with `?` for the others where one does not fit.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match self.width {
            Width::Ascii => Cow::Borrowed(self.plain.as_bytes()),
            Width::Latin => self.plain.chars().map(|one| one as u8).collect(),
            Width::Wide => self
                .plain
                .chars()
                .map(|one| if one.is_ascii() { one as u8 } else { b'?' })
                .collect(),
        }
    }

    /// Where `count` characters before `at` are, not before the beginning.
    pub fn back(&self, at: usize, count: usize) -> usize {
        if self.is_ascii() {
            return at.saturating_sub(count);
        }
        let before = self.plain[..at].char_indices().rev();
        match count {
            0 => at,
            _ => before.take(count).last().map_or(at, |(place, _)| place),
        }
    }

    /// Where `count` characters behind `at` are, not behind the end.
    pub fn ahead(&self, at: usize, count: usize) -> usize {
        if self.is_ascii() {
            return (at + count).min(self.plain.len());
        }
        let after = self.plain[at..].char_indices();
        after
            .skip(count)
            .map(|(place, _)| at + place)
            .next()
            .unwrap_or(self.plain.len())
    }

    /// Turns places in `bytes` into places in the text.
    pub fn places(&self, counts: &mut [&mut usize]) {
        if self.is_ascii() {
            return;
        }
        counts.sort_unstable_by_key(|count| **count);
        let mut at = 0;
        let mut done = 0;
        for count in counts {
            at = self.ahead(at, **count - done);
            done = **count;
            **count = at;
        }
    }

    /// Turns places in the text into numbers of characters.
    pub fn characters(&self, places: &mut [&mut usize]) {
        if self.is_ascii() {
            return;
        }
        places.sort_unstable_by_key(|place| **place);
        let (mut at, mut count) = (0, 0);
        for place in places {
            let target = **place;
            count += self.plain.as_bytes()[at..target]
                .iter()
                .filter(|byte| **byte & 0xc0 != 0x80)
                .count();
            at = target;
            **place = count;
        }
    }
}

/// UTF-8 of the same length, with U+FFFD for a lone surrogate.
fn without_lone(raw: &[u8]) -> String {
    let mut plain = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Err(error) = std::str::from_utf8(rest) {
        let (valid, bad) = rest.split_at(error.valid_up_to());
        plain.push_str(std::str::from_utf8(valid).unwrap_or_default());
        let size = bad.len().min(LONE.len_utf8());
        match size == LONE.len_utf8() {
            true => plain.push(LONE),
            false => plain.extend(std::iter::repeat_n('?', size)),
        }
        rest = &bad[size..];
    }
    plain.push_str(std::str::from_utf8(rest).unwrap_or_default());
    plain
}

fn width(text: &str) -> Width {
    if text.is_ascii() {
        return Width::Ascii;
    }
    // The first byte of what is behind U+00FF is above 0xC3.
    match text.bytes().any(|byte| byte > 0xc3) {
        true => Width::Wide,
        false => Width::Latin,
    }
}

/// A blank as Python counts them: those of Unicode, and the four separators of ASCII.
pub fn is_blank(one: char) -> bool {
    one.is_whitespace() || ('\x1c'..='\x1f').contains(&one)
}

/// Text that may hold lone surrogates while it is being put together.
#[derive(Debug, Default)]
pub struct Builder {
    raw: Vec<u8>,
    lone: bool,
}

impl Builder {
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    pub fn push(&mut self, part: &[u8]) {
        self.raw.extend_from_slice(part);
    }

    /// A code point, which may be a surrogate.
    pub fn code(&mut self, code: u32) {
        match char::from_u32(code) {
            Some(one) => {
                let mut room = [0; 4];
                self.push(one.encode_utf8(&mut room).as_bytes());
            }
            None => {
                self.lone = true;
                let low = |shift: u32| 0x80 | (code >> shift & 0x3f) as u8;
                self.push(&[0xe0 | (code >> 12 & 0xf) as u8, low(6), low(0)]);
            }
        }
    }

    /// The text; `lone` where a part that was pushed may hold surrogates.
    pub fn done(self, lone: bool) -> Text<'static> {
        if self.lone || lone {
            return Text::wtf8(self.raw);
        }
        match String::from_utf8(self.raw) {
            Ok(plain) => Text::new(plain),
            Err(error) => Text::wtf8(error.into_bytes()),
        }
    }
}

impl Text<'_> {
    pub fn has_lone(&self) -> bool {
        self.raw.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_any_script() {
        let text = Text::new("aé€😀b");
        assert_eq!(text.back(10, 1), 6);
        assert_eq!(
            (text.back(10, 9), text.ahead(0, 2), text.ahead(3, 9)),
            (0, 3, 11)
        );
        assert_eq!(&*text.bytes(), b"a???b");
        let (mut first, mut second) = (4, 1);
        text.places(&mut [&mut first, &mut second]);
        assert_eq!((first, second), (10, 1));
        text.characters(&mut [&mut first, &mut second]);
        assert_eq!((first, second), (4, 1));
    }

    #[test]
    fn lone_surrogates_keep_their_value_and_take_no_place() {
        let text = Text::wtf8(b"a\xed\xa0\xbdb".as_slice());
        assert_eq!(
            (text.plain(), text.part(1, 4)),
            ("a\u{fffd}b", &b"\xed\xa0\xbd"[..])
        );
        for odd in [&b"\xff"[..], b"a\xff\xff", b"\xed\xa0\xc3\xa9x"] {
            assert_eq!(Text::wtf8(odd).plain().len(), odd.len());
        }
        let mut built = Builder::default();
        built.code(0xd83d);
        built.code(0xe9);
        let built = built.done(false);
        assert_eq!(built.part(0, 5), b"\xed\xa0\xbd\xc3\xa9");
        assert_eq!(built.slice(3, 5).plain(), "é");
    }

    #[test]
    fn latin_is_a_character_for_each_byte() {
        let text = Text::latin(b"a\xe4\xff");
        assert_eq!((text.plain(), text.is_latin()), ("aäÿ", true));
        assert_eq!(&*text.bytes(), b"a\xe4\xff");
        assert!(!Text::new("€").is_latin());
    }
}
