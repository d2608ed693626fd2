//! Letters of other scripts that look like Latin ones (a choice from Unicode TR 39's idea, our own table).

/// The Latin letter that `c` imitates; lower case.
pub fn latin(c: char) -> Option<char> {
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
    if c.is_ascii() {
        return None;
    }
    PAIRS
        .iter()
        .find(|(from, _)| from.contains(c))
        .map(|(_, to)| *to)
}

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
