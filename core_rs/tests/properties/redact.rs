//! Redaction: edits are in order, apart, and cut no character; where there is one the text was suspect; what is
//! replaced is gone.

use faultwire_core::redact::{
    self, Counts, Edit, Known, Placeholders, Reading, Stream, Text, Unpack,
};

/// Reads UTF-8 only.
pub struct Plain;

impl Unpack for Plain {
    fn readings(&self, data: &[u8]) -> Reading {
        Reading {
            texts: vec![String::from_utf8_lossy(data).into_owned()],
            limited: false,
        }
    }

    fn streams(&self, data: &[u8], must_go: &mut dyn FnMut(&[u8]) -> bool) -> Vec<(usize, usize)> {
        match must_go(data) {
            true => vec![(0, data.len())],
            false => Vec::new(),
        }
    }
}

fn apart(text: &Text, edits: &[Edit], why: &str) {
    let mut at = 0;
    for edit in edits {
        assert!(at <= edit.start && edit.start <= edit.end, "{why}");
        assert!(text.plain().is_char_boundary(edit.start), "{why}");
        assert!(text.plain().is_char_boundary(edit.end), "{why}");
        assert!(edit.begin() <= text.plain().len(), "{why}");
        at = edit.end;
    }
}

/// How many secrets were found in bytes, as Latin-1 and as text.
pub fn redacted(data: &[u8], why: &str) -> usize {
    let stream = Stream::new(["content", "text", "arguments"].map(str::to_owned).to_vec());
    let mut count = 0;
    let lossy = String::from_utf8_lossy(data);
    for text in [Text::latin(data), Text::new(&*lossy), Text::wtf8(data)] {
        let found = redact::edits(&text, 0, Known::All, &Plain);
        apart(&text, &found, why);
        assert!(found.is_empty() || redact::suspects(&text), "{why}");
        let last = stream.last_edits(&text, &Plain);
        apart(&text, &last, why);
        apart(&text, &stream.edits(&text, &Plain), why);
        let texts = stream.texts(&text);
        assert!(
            stream.open_from(&text, &texts, 512) <= text.plain().len(),
            "{why}"
        );
        apart(&text, &redact::field_edits("x-a", &text, &Plain), why);
        apart(
            &text,
            &redact::path_edits(&text, "https://api.telegram.org", &Plain),
            why,
        );
        apart(&text, &redact::form_edits(&text), why);
        let mut counts = Counts::new();
        let raw = text.part(0, text.plain().len());
        let (out, moves) = Placeholders::new(b"k").apply(raw, &last, &mut counts);
        let shrunk: usize = moves.iter().map(|(start, end, _)| end - start).sum();
        let grown: usize = moves.iter().map(|(_, _, size)| size).sum();
        assert_eq!(out.len(), raw.len() - shrunk + grown, "{why}");
        assert_eq!(redact::moved(&[raw.len()], &moves), [out.len()], "{why}");
        count += last.len();
    }
    redact::suspects_record(data);
    redact::kept_scheme(&lossy);
    redact::key_offered(&lossy);
    redact::header_class(&lossy);
    redact::query_class(&lossy);
    count
}
