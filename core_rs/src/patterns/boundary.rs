//! Where a value may begin and end: never inside a longer word, number or identifier.

/// Whether the text before `start` lets a value begin there.
pub fn opens(text: &[u8], start: usize) -> bool {
    let Some(before) = start.checked_sub(1).map(|at| text[at]) else {
        return true;
    };
    if !before.is_ascii_alphanumeric() {
        return true;
    }
    escaped(text, start)
}

/// Whether the letters before `start` are the end of an escape: `\n`, `%3D`, `\u001b`.
fn escaped(text: &[u8], start: usize) -> bool {
    let back = |count: usize| start.checked_sub(count).map(|at| text[at]);
    let hex = |count: usize| back(count).is_some_and(|byte| byte.is_ascii_hexdigit());
    (matches!(back(1), Some(b'n' | b'r' | b't')) && back(2) == Some(b'\\'))
        || (hex(1) && hex(2) && back(3) == Some(b'%'))
        || (hex(1) && hex(2) && hex(3) && hex(4) && back(5) == Some(b'u') && back(6) == Some(b'\\'))
}

/// Whether the text from `end` on lets a value end there.
pub fn closes(text: &[u8], end: usize) -> bool {
    text.get(end)
        .is_none_or(|after| !after.is_ascii_alphanumeric())
}

/// A number's stricter left side: not the later part of an identifier, a decimal or a path of digits.
pub fn number_opens(text: &[u8], start: usize) -> bool {
    if !opens(text, start) {
        return false;
    }
    let back = |count: usize| start.checked_sub(count).map(|at| text[at]);
    match (back(2), back(1)) {
        (_, Some(b'_')) => false,
        (Some(far), Some(b'/')) => !far.is_ascii_digit(),
        (Some(far), Some(b'-' | b'.' | b'+')) => !far.is_ascii_alphanumeric(),
        (Some(far), Some(b':' | b',')) => !far.is_ascii_digit(),
        _ => true,
    }
}

/// A word with one capital at its beginning: the `Office` of `555-0134-Office` says whose number it is.
fn label(text: &[u8]) -> bool {
    let small = text[1..]
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase())
        .count();
    small > 1 && closes(text, small + 1)
}

/// A number's stricter right side.
pub fn number_closes(text: &[u8], end: usize) -> bool {
    if !closes(text, end) {
        return false;
    }
    match (text.get(end), text.get(end + 1)) {
        (Some(b'_' | b'@'), _) => false,
        (Some(b'-'), Some(next)) if next.is_ascii_uppercase() => label(&text[end + 1..]),
        (Some(b'-' | b'/'), Some(next)) => !next.is_ascii_alphanumeric(),
        (Some(b'.' | b':' | b','), Some(next)) => !next.is_ascii_digit(),
        _ => true,
    }
}
