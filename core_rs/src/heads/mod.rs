//! Strict validation of HTTP message heads, before anything is made of them (RFC 9110 §5, RFC 9112
//! §2 to §6, RFC 9113 §8.2 and §8.3). Every function says what is wrong in words that quote no
//! traffic; a head that passes means the same to every recipient.

mod count;
mod fields;
mod grammar;
mod http1;
mod http2;

pub use count::RequestCounter;
pub use http1::{request, response};
pub use http2::{request as http2_request, response as http2_response};

/// A field line: name and value.
pub type Field<'a> = (&'a [u8], &'a [u8]);

/// What is wrong with a head.
pub type Checked = Result<(), String>;

/// Check the trailer section of a message (RFC 9110 §6.5.1, RFC 9113 §8.1): fields only, none of
/// them about framing or routing.
pub fn trailers<'a>(list: impl Iterator<Item = Field<'a>>, http2: bool) -> Checked {
    let mut known = fields::Known::default();
    for (name, value) in list {
        fields::check(name, value, http2, &mut known)?;
    }
    if known.frames() || known.hosts > 0 {
        return Err("a trailer field is about the message's framing or routing".to_owned());
    }
    Ok(())
}
