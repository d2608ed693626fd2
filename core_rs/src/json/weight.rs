//! How many values a JSON text may hold, counted without parsing it.

/// The marks in `text`, those inside strings among them: each of `,`, `[`, `{` and `:`, which part values.
pub fn marks(text: &[u8]) -> usize {
    let in_block = |block: &[u8]| {
        let sum = |sum: u8, &b: &u8| sum + u8::from(matches!(b, b',' | b'[' | b'{' | b':'));
        usize::from(block.iter().fold(0, sum))
    };
    text.chunks(255).map(in_block).sum()
}

/// The marks inside strings of more than `longer` bytes, quotes included; 0 where there are more than `most`
/// strings, or where one never ends.
pub fn marks_in_texts(text: &[u8], longer: usize, most: usize) -> usize {
    let (mut found, mut count, mut at) = (0, 0, 0);
    while let Some(start) = memchr::memchr(b'"', &text[at..]).map(|skip| at + skip) {
        if count > most {
            return 0;
        }
        let Some(end) = end_of_string(text, start) else {
            return 0;
        };
        if end - start > longer {
            found += marks(&text[start..end]);
        }
        at = end;
        count += 1;
    }
    found
}

/// Behind the quote that ends the string which begins at `start`.
fn end_of_string(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_over_blocks() {
        let text = b"[1,{\"a\":2}]".repeat(100);
        assert_eq!(marks(&text), 400);
        assert_eq!(marks(b""), 0);
        assert_eq!(marks(&b",".repeat(1000)), 1000);
    }

    #[test]
    fn only_long_strings_count_and_all_must_end() {
        let text = br#"{"a":"1,2,3","b":"4,\"5,\\"}"#;
        assert_eq!(marks_in_texts(text, 64, 10), 0);
        assert_eq!(marks_in_texts(text, 6, 10), 4);
        assert_eq!(marks_in_texts(text, 6, 3), 4);
        assert_eq!(marks_in_texts(text, 6, 2), 0);
        assert_eq!(marks_in_texts(br#""1,2,3,"and"#, 1, 10), 3);
        assert_eq!(marks_in_texts(br#""1,2,3,"",never"#, 1, 10), 0);
        assert_eq!(marks_in_texts(br#""1,2,3\"#, 1, 10), 0);
    }
}
