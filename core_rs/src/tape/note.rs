//! Verifier keys, signed notes and checkpoints (C2SP signed-note and tlog-checkpoint, Ed25519).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Verifier as _, VerifyingKey};

use crate::digest::{Hash, sha256};

/// The algorithm byte of an Ed25519 key in a signed note.
const ED25519: u8 = 1;
/// Characters of a note.
const MAX_NOTE: usize = 1 << 16;
const MAX_SIGNATURES: usize = 16;
/// Characters of a key's name.
const MAX_NAME: usize = 120;

type KeyId = [u8; 4];

/// Who may have sealed a tape: `NAME+ID+BASE64`, the ID being the first bytes of a digest of the rest.
#[derive(Debug, Clone)]
pub struct VerifierKey {
    name: String,
    id: KeyId,
    public: VerifyingKey,
}

impl VerifierKey {
    /// `None` where the text is no such key, where its ID belongs to another, or where no key of
    /// Ed25519 has these bytes, or none that tells signatures apart.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().splitn(3, '+');
        let (name, id, data) = (parts.next()?, parts.next()?, parts.next()?);
        let data = STANDARD.decode(data).ok()?;
        let (&ED25519, public) = data.split_first()? else {
            return None;
        };
        let digest = sha256(&[name.as_bytes(), b"\n", &data].concat());
        let found: KeyId = digest[..4].try_into().ok()?;
        let hex = format!("{:08x}", u32::from_be_bytes(found));
        let public: [u8; 32] = public.try_into().ok()?;
        let key = VerifyingKey::from_bytes(&public).ok()?;
        // RFC 8032 §5.1.3 knows one text of a point; the library also takes those beyond the field.
        let only = key.to_edwards().compress().to_bytes() == public;
        let plain = is_name(name)
            && name.chars().count() <= MAX_NAME
            && !name.contains(|c: char| c.is_ascii_control());
        // Under a key of small order one signature holds for many texts, and anybody can make it.
        let sound = only && !key.is_weak();
        (plain && id == hex && sound).then(|| Self {
            name: name.to_owned(),
            id: found,
            public: key,
        })
    }

    /// Has the holder of the key signed this text?
    pub fn verifies(&self, text: &[u8], signature: &[u8]) -> bool {
        Signature::from_slice(signature)
            .is_ok_and(|signature| self.public.verify(text, &signature).is_ok())
    }

    /// As `parse` takes it.
    pub fn text(&self) -> String {
        let id = u32::from_be_bytes(self.id);
        let data = STANDARD.encode([&[ED25519], self.public.as_bytes().as_slice()].concat());
        format!("{}+{id:08x}+{data}", self.name)
    }
}

/// A text and who signed it.
pub struct Note<'a> {
    pub text: &'a str,
    signatures: Vec<(&'a str, KeyId, [u8; 64])>,
}

impl<'a> Note<'a> {
    /// `None` where it is no note of Ed25519 signatures only.
    pub fn parse(note: &'a str) -> Option<Self> {
        let cut = note.rfind("\n\n")?;
        let (text, below) = (&note[..=cut], note[cut + 2..].strip_suffix('\n')?);
        let plain = text.chars().all(|c| c >= ' ' || c == '\n');
        if note.chars().count() > MAX_NOTE || text[..cut].contains("\n\n") || !plain {
            return None;
        }
        let signatures: Option<Vec<_>> = below.split('\n').map(signature).collect();
        let signatures = signatures.filter(|found| found.len() <= MAX_SIGNATURES)?;
        Some(Self { text, signatures })
    }

    /// Has it one signature and no more?
    pub fn is_single(&self) -> bool {
        self.signatures.len() == 1
    }

    pub fn signed_by(&self, key: &VerifierKey) -> bool {
        self.signatures.iter().any(|(name, id, signature)| {
            (*name, *id) == (&*key.name, key.id) && key.verifies(self.text.as_bytes(), signature)
        })
    }
}

/// `— NAME BASE64`: four bytes of the key's ID, then the signature.
fn signature(line: &str) -> Option<(&str, KeyId, [u8; 64])> {
    let (name, data) = line.strip_prefix("— ")?.split_once(' ')?;
    let data = STANDARD.decode(data).ok()?;
    let (id, signature) = data.split_first_chunk::<4>()?;
    let signature = signature.try_into().ok()?;
    is_name(name).then_some((name, *id, signature))
}

/// Has it neither a blank nor a `+`? The separators of files and records count as blanks.
fn is_name(name: &str) -> bool {
    let strange = |c: char| c.is_whitespace() || matches!(c, '+' | '\u{1c}'..='\u{1f}');
    !name.is_empty() && !name.contains(strange)
}

/// What a seal signs: which log, of how many events, with which tree head, after which seal.
#[derive(Debug, PartialEq, Eq)]
pub struct Checkpoint<'a> {
    pub origin: &'a str,
    pub size: usize,
    pub root: Hash,
    /// SHA-256 of the note of the seal before, in hex.
    pub previous: Option<&'a str>,
}

impl<'a> Checkpoint<'a> {
    /// `None` where it is no checkpoint, or one with other lines.
    pub fn parse(text: &'a str) -> Option<Self> {
        let lines: Vec<&str> = text.strip_suffix('\n')?.split('\n').collect();
        let (head, previous) = match lines[..] {
            [origin, size, root] => ([origin, size, root], None),
            [origin, size, root, last] => {
                let digest = last.strip_prefix("previous sha256:")?;
                let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                if digest.len() != 64 || !digest.bytes().all(hex) {
                    return None;
                }
                ([origin, size, root], Some(digest))
            }
            _ => return None,
        };
        let [origin, size, root] = head;
        let digits = size.len() <= 16 && size.bytes().all(|byte| byte.is_ascii_digit());
        if origin.is_empty() || !digits || (size.starts_with('0') && size != "0") {
            return None;
        }
        Some(Self {
            origin,
            size: size.parse().ok()?,
            root: STANDARD.decode(root).ok()?.try_into().ok()?,
            previous,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "p+e8181876+Af7BQoZz9q/okmSzgHNErosmnRJaUDhVICaH21pxKFef";

    #[test]
    fn a_key_with_another_id_or_name_is_none() {
        let key = VerifierKey::parse(KEY).expect("a key");
        assert_eq!(key.text(), KEY);
        for other in [
            KEY.replace("e818", "e819"),
            KEY.replace("p+", "q+"),
            KEY.replace("+Af7", "+Av7"),
            KEY[1..].to_owned(),
            KEY[..KEY.len() - 2].to_owned(),
            String::new(),
        ] {
            assert!(VerifierKey::parse(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_key_that_no_point_has_and_a_name_that_nobody_can_write_are_none() {
        let key = |name: &str, public: &[u8]| {
            let data = [&[ED25519], public].concat();
            let id = &sha256(&[name.as_bytes(), b"\n", &data].concat())[..4];
            let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            VerifierKey::parse(&format!("{name}+{id}+{}", STANDARD.encode(data)))
        };
        let sound = VerifierKey::parse(KEY).expect("a key").public.to_bytes();
        assert!(key("p", &sound).is_some());
        assert!(key(&"p".repeat(120), &sound).is_some());
        for name in [
            "a b",
            "a\u{1}b",
            "a\u{1c}b",
            "a\u{7f}b",
            "a\u{a0}b",
            &"p".repeat(121),
        ] {
            assert!(key(name, &sound).is_none(), "{name:?}");
        }
        let mut none = [0; 32];
        none[0] = 2;
        assert!(key("p", &none).is_none());
        let mut beyond = [0xff; 32]; // 2^255 - 18, which is 1 beyond the field
        (beyond[0], beyond[31]) = (0xee, 0x7f);
        assert!(key("p", &beyond).is_none());
    }

    #[test]
    fn a_checkpoint_has_three_or_four_lines_and_nothing_else() {
        let root = STANDARD.encode([7; 32]);
        let digest = "0a".repeat(32);
        let last = format!("previous sha256:{digest}");
        let whole = format!("o\n12\n{root}\n{last}\n");
        let found = Checkpoint::parse(&whole).expect("a checkpoint");
        assert_eq!((found.origin, found.size, found.root), ("o", 12, [7; 32]));
        assert_eq!(found.previous, Some(&*digest));
        for size in ["12", "0", "1234567890123456"] {
            assert!(
                Checkpoint::parse(&format!("o\n{size}\n{root}\n")).is_some(),
                "{size}"
            );
        }
        for other in [
            format!("o\n012\n{root}\n"),
            format!("\n12\n{root}\n"),
            format!("o\n+12\n{root}\n"),
            format!("o\n12\n{}\n", &root[4..]),
            format!("o\n12\n{root}"),
            format!("o\n12\n{root}\n{}\n", last.to_uppercase()),
            format!("o\n12\n{root}\n{last}\nmore\n"),
            format!("o\n12\n{root}\n{}\n", &last[..last.len() - 1]),
            format!("o\n12\n{root}\n{last}0\n"),
            format!("o\n12\n{root}\nprevious sha256:{}\n", "0A".repeat(32)),
            format!("o\n12345678901234567\n{root}\n"),
        ] {
            assert_eq!(Checkpoint::parse(&other), None, "{other:?}");
        }
    }

    #[test]
    fn a_note_without_its_blank_line_or_with_a_strange_signature_is_none() {
        let line = format!("— p {}\n", STANDARD.encode([1; 68]));
        assert!(Note::parse(&format!("text\n\n{line}")).is_some());
        let longest = "x".repeat((1 << 16) - 2 - line.chars().count());
        assert!(Note::parse(&format!("{longest}\n\n{line}")).is_some());
        assert!(Note::parse(&format!("{longest}x\n\n{line}")).is_none());
        assert!(Note::parse(&format!("text\n\n{}", line.repeat(16))).is_some());
        for other in [
            format!("text\n{line}"),
            format!("text\n\n{}", line.replace('—', "-")),
            format!("text\n\n— p {}\n", STANDARD.encode([1; 67])),
            format!("text\n\n{}", line.replace(" p ", " p+q ")),
            format!("text\n\n{}", line.replace(" p ", "  ")),
            format!("text\n\n{}", line.replace(" p ", " p\u{1c}q ")),
            format!("te\u{1}xt\n\n{line}"),
            format!("te\n\nxt\n\n{line}"),
            format!("text\n\n{}", line.repeat(17)),
            format!("text\n\n{}", line.trim_end()),
            format!("{}\n\n{line}", "x".repeat(1 << 16)),
        ] {
            assert!(Note::parse(&other).is_none(), "{other:?}");
        }
    }
}
