//! Secrets in what the pieces of a stream say joined, as edits of the stream.
use super::edit::Edit;
use super::pieces::Piece;
use super::text::Text;
use super::unwrap::{in_string, unescape, unescaped};

/// Where secrets are looked for in a joined text.
pub type Look<'a> = &'a dyn Fn(&Text) -> Vec<Edit>;

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
