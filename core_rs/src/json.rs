//! JSON as bytes: canonical form, fingerprints, and edits that leave the rest untouched.

mod canonical;
mod edit;
mod span;
mod token;
mod weight;

pub(crate) use canonical::{canonical, strict};
pub use canonical::{fingerprint, jcs};
pub use edit::{Edit, splice};
pub use span::{Child, Key, Span, Step, children, member_span, span};
pub use weight::{marks, marks_in_texts};
