//! What a stream must keep back until more has come: the tail that may be the beginning of a secret.
//!
//! Two texts are watched. One is the stream itself. The other is what it says: models send a few letters per event,
//! so a key that a model repeats stands in no single event, but in their texts joined.
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::edit::{Edit, merged};
use super::known::Known;
use super::names::body_names;
use super::packed::Unpack;
use super::search::{compiled, edits, suspects};
use super::shapes::LONGEST;
use super::text::Text;
use super::unwrap::{in_string, unescape, unescaped};

static OPEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let member = format!(
        r#"\\*["'](?i:{})\\*["']?\s*(?::\s*(?:\\*["'](?:[^"'\\]|\\.)*\\?|[-0-9.eE+]*|\[[^\]]*)?)?"#,
        body_names()
    );
    let parts = [
        r#"[!-~&&[^"'<>\\]]+"#,
        r#"[A-Za-z0-9_.-]{2,64}[ \t]{0,3}(?:=|:=|=>|:)[ \t]{0,3}["'`]?[!-~&&[^"'<>\\]]*"#,
        r#"(?:Bearer|bearer|BEARER) +[!-~&&[^"'<>\\]]*"#,
        r"(?:[A-Za-z0-9+/]{32,76}\r?\n[ \t]?){1,256}[A-Za-z0-9+/=]{0,80}",
        r"-----BEGIN[A-Z ]*-{0,4}",
        r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY[^-]*-----[^-]*(?:-{1,5}[A-Z ]*-{0,4})?",
        &member,
    ];
    compiled(&format!("(?:{})$", parts.join("|")))
});

/// A piece of a stream's text: member name, and its place in the stream (escapes and all). A line of bare text
/// has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub name: &'a str,
    pub start: usize,
    pub end: usize,
}

/// Where secrets are looked for in a joined text.
type Look<'a> = &'a dyn Fn(&Text) -> Vec<Edit>;

/// The first character that may belong to a secret which has not come whole; the end where there is none.
pub fn open_tail(text: &Text) -> usize {
    let plain = text.plain();
    let from = text.back(plain.len(), LONGEST);
    let found = OPEN.as_ref().map(|open| open.find(&plain[from..]));
    // Without the expression everything may.
    found.map_or(from, |found| {
        found.map_or(plain.len(), |found| from + found.start())
    })
}

/// Members that carry pieces of text in the streams of some protocols.
#[derive(Clone, Debug)]
pub struct Stream {
    names: Vec<String>,
}

impl Stream {
    pub fn new(mut names: Vec<String>) -> Self {
        names.sort_unstable();
        Stream { names }
    }

    /// The pieces: those of members in order, then those of bare lines.
    pub fn pieces<'a>(&'a self, text: &str) -> Vec<Piece<'a>> {
        let mut found = self.members(text);
        bare_lines(text, &mut found);
        found
    }

    fn members<'a>(&'a self, text: &str) -> Vec<Piece<'a>> {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        // A quote that ended a text begins no name.
        let (mut at, mut done) = (0, 0);
        // `"name": "`: looked for by the end of the name, of which there are the fewest.
        while let Some(colon) = memchr::memmem::find(&bytes[at..], b"\":").map(|size| at + size) {
            let next = colon + 1;
            let start = match bytes.get(colon + 2..) {
                Some([b'"', ..]) => colon + 3,
                Some([b' ', b'"', ..]) => colon + 4,
                _ => {
                    at = next;
                    continue;
                }
            };
            at = next;
            let Some(name) = self.name_before(&bytes[done.min(colon)..colon]) else {
                continue;
            };
            if let Some(end) = closed(bytes, start) {
                found.push(Piece { name, start, end });
                (at, done) = (end + 1, end + 1);
            }
        }
        found
    }

    /// The name that ends here behind a quote, if it is one of them.
    fn name_before(&self, before: &[u8]) -> Option<&str> {
        let quote = memchr::memrchr(b'"', &before[before.len().saturating_sub(64)..])?;
        let name = &before[before.len().saturating_sub(64) + quote + 1..];
        let at = self
            .names
            .binary_search_by(|one| one.as_bytes().cmp(name))
            .ok()?;
        Some(&self.names[at])
    }

    /// The stream's texts by member name, escapes as they are, in the order in which the names come.
    pub fn texts<'a>(&'a self, text: &Text) -> Vec<(&'a str, Text<'static>)> {
        let mut joined: Vec<(&str, Vec<u8>)> = Vec::new();
        for piece in self.pieces(text.plain()) {
            let part = text.part(piece.start, piece.end);
            match joined.iter_mut().find(|(name, _)| *name == piece.name) {
                Some((_, said)) => said.extend_from_slice(part),
                None => joined.push((piece.name, part.to_vec())),
            }
        }
        joined
            .into_iter()
            .map(|(name, said)| (name, Text::wtf8(said)))
            .collect()
    }

    /// Where in the stream the earliest open tail of its texts begins; its length if there is none. `tail` gives
    /// how many bytes of a text are open at least.
    pub fn open_from(&self, text: &Text, texts: &[(&str, Text)], least: usize) -> usize {
        let open = |text: &Text| {
            let size = text.plain().len();
            size - open_tail(text).min(text.back(size, least))
        };
        let mut tails: HashMap<&str, usize> =
            texts.iter().map(|(name, one)| (*name, open(one))).collect();
        let mut start = text.plain().len();
        for piece in self.pieces(text.plain()).iter().rev() {
            if let Some(left) = tails.get_mut(piece.name).filter(|left| **left > 0) {
                start = start.min(piece.start);
                *left = left.saturating_sub(piece.end - piece.start);
            }
        }
        start
    }

    /// Where the secrets are, in the stream itself and in what it says.
    pub fn edits(&self, text: &Text, unpack: &dyn Unpack) -> Vec<Edit> {
        let look = |one: &Text| secrets(one, unpack);
        merged(self.with_joined(text, look(text), &look))
    }

    /// The same of a stream that has ended, perhaps in the middle of a string.
    pub fn last_edits(&self, text: &Text, unpack: &dyn Unpack) -> Vec<Edit> {
        let size = text.plain().len();
        // Two quotes: the first may be escaped.
        let closed = [text.part(0, size), b"\"\""].concat();
        let mut found = self.edits(&Text::wtf8(closed), unpack);
        found.retain(|edit| edit.start < size);
        for edit in &mut found {
            edit.end = edit.end.min(size);
        }
        found
    }

    /// What was found in a text, and what its pieces say joined. What goes on in another piece comes first: of two
    /// in one place `merged` keeps the first, and in a piece alone there was only the beginning.
    pub fn with_joined(&self, text: &Text, found: Vec<Edit>, look: Look) -> Vec<Edit> {
        let pieces = self.pieces(text.plain());
        let mut names: Vec<&str> = Vec::new();
        for piece in &pieces {
            if !names.contains(&piece.name) {
                names.push(piece.name);
            }
        }
        let (mut ahead, mut alone) = (Vec::new(), Vec::new());
        for name in names {
            let own: Vec<Piece> = pieces
                .iter()
                .filter(|piece| piece.name == name)
                .copied()
                .collect();
            for parts in across(text, &own, look) {
                match parts.len() {
                    1 => alone.extend(parts),
                    _ => ahead.extend(parts),
                }
            }
        }
        ahead.extend(found);
        ahead.extend(alone);
        ahead
    }
}

/// The secrets in a text, without a long search where there can be none.
pub fn secrets(text: &Text, unpack: &dyn Unpack) -> Vec<Edit> {
    match suspects(text) {
        true => edits(text, 0, Known::All, unpack),
        false => Vec::new(),
    }
}

/// The edits of each secret in the joined pieces. The first piece gets the placeholder, the others lose their part.
pub fn across(text: &Text, pieces: &[Piece], look: Look) -> Vec<Vec<Edit>> {
    let mut said = Vec::new();
    for piece in pieces {
        let raw = text.part(piece.start, piece.end);
        match !piece.name.is_empty() && raw.contains(&b'\\') {
            true => {
                let inner = unescaped(text, piece.start, piece.end, None);
                said.extend_from_slice(inner.part(0, inner.plain().len()));
            }
            false => said.extend_from_slice(raw),
        }
    }
    let joined = Text::wtf8(said);
    let found = look(&joined);
    if found.is_empty() {
        return Vec::new();
    }
    // A number for each byte: many times the text, so made only for one that holds something.
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for piece in pieces {
        let places = match piece.name.is_empty() {
            true => (piece.start..=piece.end).collect(),
            false => unescape(text, piece.start, piece.end).starts,
        };
        starts.extend_from_slice(&places[..places.len() - 1]);
        ends.extend_from_slice(&places[1..]);
    }
    let parts = found
        .into_iter()
        .map(|edit| split(&joined, edit, &starts, &ends));
    parts.filter(|parts| !parts.is_empty()).collect()
}

/// One edit of joined text as edits of the runs that are contiguous in the stream.
fn split(joined: &Text, edit: Edit, starts: &[usize], ends: &[usize]) -> Vec<Edit> {
    let lead = starts.get(edit.begin()).copied();
    let mut out: Vec<Edit> = Vec::new();
    let inside = joined.plain()[edit.start..edit.end].char_indices();
    for (offset, one) in inside {
        let at = edit.start + offset;
        let last = at + one.len_utf8() - 1;
        match out.last_mut() {
            Some(run) if run.end == starts[at] => run.end = ends[last],
            _ => out.push(Edit {
                start: starts[at],
                end: ends[last],
                lead,
                ..Edit::default()
            }),
        }
    }
    if let Some(first) = out.first_mut() {
        first.quote = in_string(&edit.quote);
        first.what = edit.what;
        first.value = edit.value;
    }
    out
}

/// Where the inside of a string ends that begins at `at`, if its quote comes before a bare backslash.
fn closed(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => return Some(at),
            (_, Some(next)) if *next != b'\n' => at += 2,
            _ => return None,
        }
    }
}

/// Data lines that are no JSON: some servers send bare text.
fn bare_lines<'a>(text: &str, found: &mut Vec<Piece<'a>>) {
    const DATA: &str = "data:";
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(size) = memchr::memmem::find(&bytes[at..], DATA.as_bytes()) {
        let place = at + size;
        at = place + DATA.len();
        if place > 0 && bytes[place - 1] != b'\n' {
            continue;
        }
        let start = at + usize::from(bytes.get(at) == Some(&b' '));
        if matches!(bytes.get(start), Some(b'{' | b'[')) {
            continue;
        }
        let end =
            memchr::memchr2(b'\r', b'\n', &bytes[start..]).map_or(bytes.len(), |size| start + size);
        if start < end {
            found.push(Piece {
                name: "",
                start,
                end,
            });
        }
        at = at.max(end);
    }
}

#[cfg(test)]
mod tests {
    use super::super::packed::tests::Plain;
    use super::*;

    const KEY: &str = "sk-ant-api03-Wm5Qx8Zt2Vb7Nk1RWm5Qx8Zt2Vb7Nk1R";

    fn stream() -> Stream {
        Stream::new(["text", "content", "arguments"].map(str::to_owned).to_vec())
    }

    fn events(texts: &[&str]) -> String {
        let event = |text: &&str| {
            format!(
                "data: {{\"content\": {}}}\n\n",
                serde_json::to_string(text).unwrap()
            )
        };
        texts.iter().map(event).collect()
    }

    #[test]
    fn what_a_stream_says() {
        let text = events(&["Hel", "l\"o"])
            + "data: {\"arguments\":\"{\\\"a\"}\ndata: bare\r\ndata:{}\ndata: [DONE]";
        let (stream, text) = (stream(), Text::new(text));
        let texts = stream.texts(&text);
        let said: Vec<_> = texts
            .iter()
            .map(|(name, one)| (*name, one.plain()))
            .collect();
        assert_eq!(
            said,
            [
                ("content", "Hell\\\"o"),
                ("arguments", "{\\\"a"),
                ("", "bare")
            ]
        );
        let open = "\"text\": \"a}\n{\"text\": \"b\"}";
        assert_eq!(
            stream.pieces(open).len(),
            1,
            "its quote ends the text before it"
        );
        for odd in [
            "\"text\":\"a",
            "\"text\":\"a\\",
            "\"text\" : \"a\"",
            "x data: a",
            "data: \n",
            "\"texts\":\"a\"",
        ] {
            assert_eq!(stream.pieces(odd), [], "{odd}");
        }
    }

    #[test]
    fn a_secret_over_several_events_is_replaced_in_the_first() {
        let text = events(&["a key ", &KEY[..9], &KEY[9..20], &KEY[20..], " bye"]);
        let found = stream().edits(&Text::new(&*text), &Plain);
        let spans: Vec<_> = found
            .iter()
            .map(|edit| (&text[edit.start..edit.end], edit.what.is_some()))
            .collect();
        assert_eq!(
            spans,
            [(&KEY[..9], true), (&KEY[9..20], false), (&KEY[20..], false)]
        );
        assert_eq!(found[0].value, KEY.as_bytes());
        assert!(found.iter().all(|edit| edit.lead == Some(found[0].start)));
    }

    #[test]
    fn tails_stay_open() {
        let open = |text: &str| text[open_tail(&Text::new(text))..].to_owned();
        for (text, tail) in [
            ("hello ", ""),
            ("hello wor", "wor"),
            ("x Bearer abc", "Bearer abc"),
            ("{\"password\": \"a b", "\"password\": \"a b"),
            ("{\"password\": \"a\", ", ""),
            ("-----BEGIN RSA ", "-----BEGIN RSA "),
        ] {
            assert_eq!(open(text), tail, "{text}");
        }
        let text = Text::new(events(&["say ", "sk-", "ant-", "api"]));
        let stream = stream();
        let start = stream.open_from(&text, &stream.texts(&text), 0);
        assert!(text.plain()[start..].starts_with("sk-"));
        assert_eq!(stream.open_from(&text, &[], 0), text.plain().len());
        let ended = Text::new(events(&["all of it "]));
        assert_eq!(
            stream.open_from(&ended, &stream.texts(&ended), 0),
            ended.plain().len()
        );
        assert!(stream.open_from(&ended, &stream.texts(&ended), 3) < ended.plain().len());
    }

    #[test]
    fn a_stream_may_end_in_a_string() {
        let text = format!("data: {{\"password\":\"é{KEY}");
        let found = stream().last_edits(&Text::new(&*text), &Plain);
        assert_eq!(found.last().map(|edit| edit.end), Some(text.len()));
    }
}
