//! What is packed in a text so that nothing can be replaced inside of it.
//!
//! Base64, Base32, hexadecimal and compressed streams go whole where they hold what must go: nobody would find the
//! end of a placeholder in them.
use super::edit::Edit;
use super::text::Text;
use crate::text::{compressed, packed};

/// What packed bytes say.
#[derive(Debug, Default)]
pub struct Reading {
    pub texts: Vec<String>,
    /// Was there more than is undone?
    pub limited: bool,
}

/// The one layer that knows how values are packed.
pub trait Unpack: Send + Sync {
    /// Every reading of some bytes.
    fn readings(&self, data: &[u8]) -> Reading;

    /// The spans of the compressed streams whose content must go, in order and without overlap.
    fn streams(&self, data: &[u8], must_go: &mut dyn FnMut(&[u8]) -> bool) -> Vec<(usize, usize)>;
}

/// May something be packed in it, other than in HTML?
pub fn is_packed(text: &Text) -> bool {
    let data = text.bytes();
    compressed::any(&data) || packed::any(&data)
}

/// The packed stretches of which a reading `holds` something, or that cannot be read to the end.
pub fn packed_edits(text: &Text, unpack: &dyn Unpack, holds: &dyn Fn(&Text) -> bool) -> Vec<Edit> {
    let stretches = packed::stretches(&text.bytes()).into_iter();
    let going = stretches.filter(|one| must_go(&one.plain, unpack, holds));
    placed(
        text,
        going.map(|one| (one.start, one.end, one.form)).collect(),
    )
}

/// The same of compressed streams.
pub fn compressed_edits(
    text: &Text,
    unpack: &dyn Unpack,
    holds: &dyn Fn(&Text) -> bool,
) -> Vec<Edit> {
    if !text.is_latin() {
        return Vec::new();
    }
    let data = text.bytes();
    if !compressed::any(&data) {
        return Vec::new();
    }
    let spans = unpack.streams(&data, &mut |plain| must_go(plain, unpack, holds));
    placed(
        text,
        spans
            .into_iter()
            .map(|(start, end)| (start, end, "compressed"))
            .collect(),
    )
}

fn placed(text: &Text, mut spans: Vec<(usize, usize, &'static str)>) -> Vec<Edit> {
    let mut places: Vec<&mut usize> = spans
        .iter_mut()
        .flat_map(|one| [&mut one.0, &mut one.1])
        .collect();
    text.places(&mut places);
    let edit = |(start, end, what)| Edit::new(start, end, what, text.part(start, end));
    spans.into_iter().map(edit).collect()
}

fn must_go(plain: &[u8], unpack: &dyn Unpack, holds: &dyn Fn(&Text) -> bool) -> bool {
    let found = unpack.readings(plain);
    found.limited || found.texts.into_iter().any(|text| holds(&Text::new(text)))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Reads UTF-8 only, and knows no compressed stream but one that is all there is.
    pub struct Plain;

    impl Unpack for Plain {
        fn readings(&self, data: &[u8]) -> Reading {
            Reading {
                texts: vec![String::from_utf8_lossy(data).into_owned()],
                limited: data.starts_with(b"limited"),
            }
        }

        fn streams(
            &self,
            data: &[u8],
            must_go: &mut dyn FnMut(&[u8]) -> bool,
        ) -> Vec<(usize, usize)> {
            match must_go(&data[3..]) {
                true => vec![(0, data.len())],
                false => Vec::new(),
            }
        }
    }

    fn marked(text: &Text) -> bool {
        text.plain().contains("marker-7")
    }

    #[test]
    fn a_stretch_that_holds_something_goes_whole_in_any_script() {
        for before in ["", "é ", "漢字 "] {
            let text = Text::new(format!("{before}dGhlIHdvcmQgaXMgbWFya2VyLTc= z"));
            let found = packed_edits(&text, &Plain, &marked);
            let spans: Vec<_> = found
                .iter()
                .map(|one| (one.start, one.what.as_deref()))
                .collect();
            assert_eq!(spans, [(before.len(), Some("base64"))], "{before}");
            assert_eq!(packed_edits(&text, &Plain, &|_| false), []);
        }
        let text = Text::new("x bGltaXRlZCB0ZXh0IGhlcmU=");
        assert_eq!(
            packed_edits(&text, &Plain, &|_| false).len(),
            1,
            "not read to its end"
        );
    }

    #[test]
    fn a_compressed_stream_goes_up_to_its_end() {
        let text = Text::new("\x1f\u{8b}\x08 marker-7");
        assert!(is_packed(&text));
        let found = compressed_edits(&text, &Plain, &marked);
        assert_eq!((found[0].start, found[0].end), (0, text.plain().len()));
        assert_eq!(compressed_edits(&text, &Plain, &|_| false), []);
        assert_eq!(
            compressed_edits(&Text::new("marker-7"), &Plain, &marked),
            []
        );
    }
}
