//! JSON as bytes: canonical form, fingerprints, and edits that leave the rest untouched.

mod canonical;
mod edit;
mod onepass;
mod span;
mod token;
mod weight;

pub(crate) use canonical::{canonical, strict};
pub use canonical::{fingerprint, fingerprint_by_value, fingerprint_under, jcs};
pub use edit::{Edit, splice};
pub use onepass::Mask;
pub use span::{Child, Key, Span, Step, children, member_span, span};
pub use weight::{marks, marks_in_texts};
