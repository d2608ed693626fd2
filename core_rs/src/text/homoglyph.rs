//! Letters of other scripts that look like Latin ones (a choice from Unicode TR 39's idea, our own table).

use std::sync::OnceLock;

/// By code point, the Latin letter that a character imitates, or 0: texts of another script ask for each of theirs.
fn letters() -> &'static [u8] {
    static TABLE: OnceLock<Vec<u8>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Vec::new();
        for (look_alikes, letter) in PAIRS {
            for c in look_alikes.chars() {
                table.resize(table.len().max(c as usize + 1), 0);
                table[c as usize] = *letter as u8;
            }
        }
        table
    })
}

/// The Latin letter that `c` imitates; lower case.
pub fn latin(c: char) -> Option<char> {
    match letters().get(c as usize) {
        None | Some(0) => None,
        Some(letter) => Some(char::from(*letter)),
    }
}

const PAIRS: &[(&str, char)] = &[
    ("аАɑαΑᴀ⍺", 'a'),
    ("ЬВвΒβʙᏴ", 'b'),
    ("сСϲᴄⅽ", 'c'),
    ("ԁɗⅾᴅ", 'd'),
    ("еЕєЄεΕҽℯᴇ", 'e'),
    ("ғƒϝꜰ", 'f'),
    ("ɡցԍɢ", 'g'),
    ("һНнΗհʜ", 'h'),
    ("іІїЇιΙıɩӏɪ", 'i'),
    ("јЈϳᴊ", 'j'),
    ("кКκΚᴋ", 'k'),
    ("ⅼʟ", 'l'),
    ("мМΜᴍⅿ", 'm'),
    ("Νոռпɴ", 'n'),
    ("оОοΟօσᴏ०", 'o'),
    ("рРρΡᴘ", 'p'),
    ("ԛզ", 'q'),
    ("гᴦʀ", 'r'),
    ("ѕЅꜱ", 's'),
    ("тТτΤᴛ", 't'),
    ("υսᴜʋ", 'u'),
    ("ѵνᴠⅴ", 'v'),
    ("ԝѡωᴡ", 'w'),
    ("хХχΧⅹ", 'x'),
    ("уУγΥүʏ", 'y'),
    ("ᴢΖ", 'z'),
];

/// Characters that show nothing: zero-width, bidirectional controls, soft hyphen, variation selectors.
pub fn invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}')
}

/// The ASCII character that a Unicode tag character hides.
pub fn tag(c: char) -> Option<char> {
    matches!(c, '\u{e0020}'..='\u{e007e}').then(|| (c as u32 - 0xe0000) as u8 as char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alikes_are_latin_letters_and_others_are_not() {
        assert_eq!(latin('\u{430}'), Some('a'));
        assert_eq!(latin('\u{a731}'), Some('s'));
        for other in ['a', '\u{e9}', '\u{431}', '\u{ac00}', '\u{1f600}'] {
            assert_eq!(latin(other), None);
        }
        for (look_alikes, letter) in PAIRS {
            assert!(look_alikes.chars().all(|c| latin(c) == Some(*letter)));
        }
    }
}
