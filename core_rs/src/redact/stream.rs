//! What a stream must keep back until more has come: the tail that may be the beginning of a secret.
//!
//! Two texts are watched. One is the stream itself. The other is what it says: models send a few letters per event,
//! so a key that a model repeats stands in no single event, but in their texts joined.
use std::collections::HashMap;

use super::edit::{Edit, merged};
use super::joined::{Look, across};
use super::known::Known;
use super::packed::Unpack;
use super::pieces::Piece;
use super::search::edits;
use super::suspect::suspects;
use super::tail::open_tail;
use super::text::Text;

/// Members that carry pieces of text in the streams of some protocols.
#[derive(Clone, Debug)]
pub struct Stream {
    pub(super) names: Vec<String>,
}

impl Stream {
    pub fn new(mut names: Vec<String>) -> Self {
        names.sort_unstable();
        Stream { names }
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
