//! The strings of a record (canonical JSON), one after another.

/// Between two texts: no expression reaches over it, and no word is in it.
const BETWEEN: &[u8] = b"\n\0\n";

/// Between the two parts of a header field: an assignment, and no word goes over it.
const JOINT: &[u8] = b" : ";

/// What every placeholder begins with.
const PLACEHOLDER: &[u8] = b"redacted:v1:";

/// What the strings of a record say, their escapes undone.
#[derive(Debug, Default)]
pub struct Texts {
    pub joined: Vec<u8>,
    /// Where each text begins.
    pub starts: Vec<usize>,
}

impl Texts {
    /// Of an array of two strings there is one text, `first : second`.
    pub fn of_record(record: &[u8]) -> Self {
        let mut texts = Texts {
            joined: Vec::with_capacity(record.len() + 64),
            starts: Vec::with_capacity(64),
        };
        let (mut at, mut named) = (0, false);
        while let Some(open) = memchr::memchr(b'"', &record[at..]).map(|found| at + found) {
            let first = open > 0 && record[open - 1] == b'[';
            let second = named && open == at + 1 && record[at] == b',';
            match second {
                true => texts.joined.extend_from_slice(JOINT),
                false => texts.begin(),
            }
            at = texts.string(record, open + 1);
            named = first;
        }
        texts
    }

    /// The text that is number `at`, counted from one.
    pub fn part(&self, at: usize) -> &[u8] {
        let start = self.starts[at - 1];
        let end = self
            .starts
            .get(at)
            .map_or(self.joined.len(), |next| next - BETWEEN.len());
        &self.joined[start..end]
    }

    fn begin(&mut self) {
        if !self.starts.is_empty() {
            self.joined.extend_from_slice(BETWEEN);
        }
        self.starts.push(self.joined.len());
    }

    /// Takes in what the string says that begins at `at`; where it has ended.
    fn string(&mut self, record: &[u8], mut at: usize) -> usize {
        while let Some(stop) = memchr::memchr2(b'"', b'\\', &record[at..]).map(|found| at + found) {
            self.joined.extend_from_slice(&record[at..stop]);
            if record[stop] == b'"' {
                return stop + 1;
            }
            at = self.escape(record, stop + 1);
        }
        self.joined.extend_from_slice(&record[at..]);
        record.len()
    }

    /// What is escaped at `at`, after the backslash; where the text goes on. Canonical JSON escapes quotes,
    /// backslashes and control characters only.
    fn escape(&mut self, record: &[u8], at: usize) -> usize {
        let Some(byte) = record.get(at) else {
            return at;
        };
        let digits = record
            .get(at + 1..at + 5)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match (byte, code.and_then(char::from_u32)) {
            (b'u', Some(letter)) => {
                let mut room = [0; 4];
                self.joined
                    .extend_from_slice(letter.encode_utf8(&mut room).as_bytes());
                return at + 5;
            }
            (b'b', _) => self.joined.push(8),
            (b'f', _) => self.joined.push(12),
            (b'n', _) => self.joined.push(b'\n'),
            (b'r', _) => self.joined.push(b'\r'),
            (b't', _) => self.joined.push(b'\t'),
            _ => self.joined.push(*byte),
        }
        at + 1
    }
}

/// Whether a word that ends at `at`, in a record without escapes, says nothing: it is in the name of a member,
/// in the name of a field whose value is a placeholder or a number, or the end of all that is `ahead` of it.
pub fn says_nothing(record: &[u8], at: usize, ahead: bool) -> bool {
    let quote = |from: usize| memchr::memchr(b'"', &record[from..]).map(|found| from + found);
    let Some(end) = quote(at) else {
        return false;
    };
    if record.get(end + 1) == Some(&b':') {
        return true;
    }
    let start = end + 3;
    if record.get(end..start) != Some(b"\",\"") {
        return ahead && end == at;
    }
    quote(start).is_some_and(|end| {
        let value = &record[start..end];
        let number = |byte: &u8| b"-+.0123456789eE".contains(byte);
        value.iter().all(number) || memchr::memmem::find(value, PLACEHOLDER).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_without_escapes_and_fields_as_one() {
        let record =
            br#"{"a":["x-key","v\"1"],"b":"l\n\u0001\\","c":[1,"p"],"d":["q"],"e":["r","s","t"]}"#;
        let texts = Texts::of_record(record);
        let parts: Vec<&[u8]> = (1..=texts.starts.len()).map(|at| texts.part(at)).collect();
        let expected: [&[u8]; 11] = [
            b"a",
            b"x-key : v\"1",
            b"b",
            b"l\n\x01\\",
            b"c",
            b"p",
            b"d",
            b"q",
            b"e",
            b"r : s",
            b"t",
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn what_is_no_json_is_no_reason_to_stop() {
        for record in [
            "",
            "\"",
            "\"a",
            "\"\\",
            "\"\\u00",
            "\"\\ud800\"",
            "[\"\",\"\"]",
            "\"a\"\"b\"",
        ] {
            let texts = Texts::of_record(record.as_bytes());
            (1..=texts.starts.len())
                .for_each(|at| assert!(texts.part(at).len() <= record.len() + 3));
        }
    }

    #[test]
    fn names_say_nothing_of_numbers_and_placeholders() {
        let at = |record: &str| record.find("token").expect("a word") + 5;
        let says = |record: &str| !says_nothing(record.as_bytes(), at(record), true);
        assert!(!says(r#"{"token":"abc"}"#));
        assert!(!says(r#"[["x-token","149984"]]"#));
        assert!(!says(r#"[["token-x","Bearer redacted:v1:00"]]"#));
        assert!(says(r#"[["x-token","149984x"]]"#));
        assert!(says(r#"[["x","token=149984"]]"#));
        assert!(!says(r#"[["x","a token"]]"#));
        assert!(says(r#"[["x","a token "]]"#));
        assert!(!says_nothing(br#"["token"]"#, 7, false));
    }
}
