//! Redaction: where the secrets are in text of any kind, and what becomes of them.
//!
//! Nothing is parsed: keys and values are found where they stand and only they are replaced, so every other byte
//! survives, malformed input included. What is wrapped (JSON in a JSON string, `\u` escapes, percent-encoding,
//! Base64, HTML) is unwrapped with a map back to where each character stood.
//!
//! A value becomes `redacted:v1:<32 hex digits>`, HMAC-SHA256 over class, length and value under a key: equal
//! values stay equal, and guessing one needs the key.
mod base64;
mod edit;
mod fields;
mod joined;
mod known;
mod markup;
mod members;
mod names;
mod packed;
mod pieces;
mod placeholder;
mod quoted;
mod runs;
mod search;
mod shape;
mod shapes;
mod stream;
mod suspect;
mod tail;
mod text;
mod unwrap;
mod url;

pub use edit::{Edit, MARK, merged, moved};
pub use fields::{address_edits, field_edits, has_secret_path, path_edits};
pub use joined::across;
pub use known::{Known, known_edits};
pub use markup::{unmarked, unprinted};
pub use names::{body_names, header_class, kept_scheme, key_offered, query_class};
pub use packed::{Reading, Unpack, compressed_edits, is_packed, packed_edits};
pub use pieces::Piece;
pub use placeholder::{Counts, Move, Placeholders};
pub use search::edits;
pub use shapes::{LONGEST, Value, values};
pub use stream::{Stream, secrets};
pub use suspect::{encodes, suspects, suspects_record};
pub use tail::open_tail;
pub use text::Text;
pub use unwrap::unquote;
pub use unwrap::{Inner, unescape};
pub use url::{form_edits, pair_class, url_edits};
