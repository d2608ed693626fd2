//! Validators: the published check rule of each numbering scheme, one family a file.
//!
//! A validator sees the bytes that a pattern matched, separators included, and answers whether
//! they can be a real value. It never panics: too short or too long is just `false`.
mod address;
mod americas;
mod asia;
mod baltic;
mod coin;
mod damm;
mod date;
mod digits;
mod europe;
mod generic;
mod iban;
mod iberia;
mod letters;
mod luhn;
mod mod11;
mod mod97;
mod nordic;
mod pacific;
mod slavic;
mod verhoeff;

pub use digits::{Digits, alnum, digits, letters};
use generic::extended;

/// A check rule over the matched bytes.
pub type Check = fn(&[u8]) -> bool;

/// Whether a rule refuses most numbers of its form, so that it proves a value without a context word.
pub fn proves(name: &str) -> bool {
    const LOOSE: [&str; 12] = [
        "",
        "not_uniform",
        "has_digit",
        "mixed",
        "phone",
        "date",
        "calendar",
        "latlon",
        "vn_cccd",
        "nanp",
        "ph_tin",
        "pe_dni",
    ];
    !LOOSE.contains(&name)
}

/// Finds a validator by the name that the data files (and users' patterns) give.
pub fn by_name(name: &str) -> Option<Check> {
    let families: [&[(&str, Check)]; 16] = [
        luhn::CHECKS,
        mod97::CHECKS,
        iban::CHECKS,
        mod11::CHECKS,
        verhoeff::CHECKS,
        damm::CHECKS,
        address::CHECKS,
        coin::CHECKS,
        generic::CHECKS,
        americas::CHECKS,
        asia::CHECKS,
        pacific::CHECKS,
        europe::CHECKS,
        iberia::CHECKS,
        nordic::CHECKS,
        slavic::CHECKS,
    ];
    families
        .iter()
        .flat_map(|family| family.iter())
        .chain(baltic::CHECKS)
        .find(|(known, _)| *known == name)
        .map(|(_, check)| *check)
}
