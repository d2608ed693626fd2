//! Secrets that the pattern engine knows: keys of some 350 services, by shape or by the name before them.
use super::edit::{Edit, MARK};
use super::text::Text;
use crate::patterns::{Hit, Kind, Options, engine};

/// What the engine is so sure of, it knows by its own shape; the rest by a name before it.
const BY_SHAPE: f64 = 0.9;

/// A placeholder so close before a hit, or in it, is what was hit.
const NEAR: usize = 12;

/// What tells a secret (its name, a word of its service) stands at most so far before it.
const NAME: usize = 128;

/// Which of them count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    All,
    /// Those that need no name before them.
    Shaped,
    None,
}

/// Where they are in a text of any kind, without those that are placeholders already.
pub fn known_edits(text: &Text, known: Known) -> Vec<Edit> {
    let spans = match known {
        Known::All if text.is_latin() => spans(text, &text.bytes(), true),
        Known::All => spans(text, text.plain().as_bytes(), false),
        Known::Shaped => {
            let mut hits = hits(text.plain().as_bytes());
            hits.retain(|hit| hit.score > BY_SHAPE);
            bounded(text, hits)
        }
        Known::None => Vec::new(),
    };
    let edits = spans
        .into_iter()
        .filter_map(|(start, end, id)| edit(text, start, end, &id));
    edits.collect()
}

fn hits(data: &[u8]) -> Vec<Hit> {
    let options = Options {
        kinds: vec![Kind::Secrets],
        ..Options::default()
    };
    engine()
        .map(|engine| engine.scan(data, &options))
        .unwrap_or_default()
}

fn spans(text: &Text, data: &[u8], latin: bool) -> Vec<(usize, usize, String)> {
    let hits = hits(data);
    if !latin {
        return bounded(text, hits);
    }
    let mut spans: Vec<_> = hits
        .into_iter()
        .map(|hit| (hit.start, hit.end, hit.id))
        .collect();
    let mut places: Vec<&mut usize> = spans
        .iter_mut()
        .flat_map(|one| [&mut one.0, &mut one.1])
        .collect();
    text.places(&mut places);
    spans
}

/// A hit that begins or ends in a character goes on to the next one.
fn bounded(text: &Text, hits: Vec<Hit>) -> Vec<(usize, usize, String)> {
    let plain = text.plain();
    let up = |at: usize| {
        (at..plain.len())
            .find(|at| plain.is_char_boundary(*at))
            .unwrap_or(plain.len())
    };
    hits.into_iter()
        .map(|hit| (up(hit.start), up(hit.end), hit.id))
        .collect()
}

fn edit(text: &Text, start: usize, end: usize, id: &str) -> Option<Edit> {
    let plain = text.plain();
    let near = text.back(start, NEAR);
    if left_alone(&plain[start..end]) || plain[near..end].contains(MARK) {
        return None;
    }
    let what = format!("secret.{id}");
    Some(Edit::new(start, end, what, text.part(start, end)).led(text.back(start, NAME)))
}

/// A value that breaks out of its JSON string if it is replaced in part, or is a number and needs quotes.
fn left_alone(value: &str) -> bool {
    let breaks = |byte: u8| matches!(byte, b'"' | b'\\' | 0..=0x1f | 0x7f);
    let number = |byte: u8| b"-+.0123456789eE".contains(&byte);
    value.bytes().any(breaks) || value.bytes().all(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "4f1c9be27a60d83e5b7c19fa02d6e8b4";

    #[test]
    fn a_key_is_told_by_its_name_in_any_script() {
        for ahead in ["", "é ", "漢字 "] {
            let text = Text::new(format!("{ahead}DATADOG_API_KEY={KEY}"));
            let found = known_edits(&text, Known::All);
            let values: Vec<_> = found
                .iter()
                .map(|edit| (edit.start, &*edit.value))
                .collect();
            assert_eq!(values, [(ahead.len() + 16, KEY.as_bytes())], "{ahead}");
            assert_eq!(found[0].lead, Some(0));
            assert_eq!(known_edits(&text, Known::Shaped), []);
            assert_eq!(known_edits(&text, Known::None), []);
        }
    }

    #[test]
    fn placeholders_numbers_and_what_breaks_out_stay() {
        assert!(left_alone("12e5") && left_alone("a\"b") && left_alone("") && !left_alone("a1"));
        let text = Text::new(format!("DATADOG_API_KEY=redacted:v1:{KEY}"));
        assert_eq!(known_edits(&text, Known::All), []);
    }
}
