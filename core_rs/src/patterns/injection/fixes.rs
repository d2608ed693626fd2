//! Where a text nearly says one of our words, and the text with those words put right.
use super::detector::Injection;
use crate::patterns::gate::Mark;
use crate::text::View;

impl Injection {
    /// Words near one of ours that are nearly one of ours, and leetspeak anywhere.
    pub(super) fn fixes(&self, text: &[u8], marks: &[Mark]) -> Vec<(usize, usize, Vec<u8>)> {
        let mut fixes = Vec::new();
        let mut at = 0;
        let mut next = 0;
        while at < text.len() {
            if PART[usize::from(text[at])] == 0 {
                at += 1;
                continue;
            }
            let start = at;
            let (mut letters, mut others) = (0, 0);
            while let Some(part) = text.get(at).map(|byte| PART[usize::from(*byte)]) {
                if part == 0 {
                    break;
                }
                letters += usize::from(part == 1);
                others += usize::from(part == 2);
                at += 1;
            }
            if !(3..=16).contains(&(at - start)) || letters < 2 {
                continue;
            }
            while marks.get(next).is_some_and(|mark| mark.end + 120 < start) {
                next += 1;
            }
            let close = marks.get(next).is_some_and(|mark| mark.start < at + 120);
            if others == 0 && !close {
                continue;
            }
            let joint =
                |place: Option<&u8>| matches!(place, Some(b'_' | b'(' | b'.' | b'=' | b'/'));
            if joint(start.checked_sub(1).map(|before| &text[before])) && others == 0 {
                continue; // part of an identifier or path
            }
            if matches!(text.get(at), Some(b'_' | b'(' | b'=')) && others == 0 {
                continue;
            }
            let mut word = [0; 16];
            let word = &mut word[..at - start];
            word.copy_from_slice(&text[start..at]);
            word.make_ascii_lowercase();
            let fixed = match others {
                0 => self.speller.correct(word).map(<[u8]>::to_vec),
                _ => self.speller.leet(word),
            };
            if let Some(fixed) = fixed {
                fixes.push((start, at, fixed));
            }
        }
        fixes
    }
}

/// What a byte is to a word: 1 a letter, 2 what may stand for a letter, 0 neither.
const PART: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => 1,
            b'0'..=b'9' | b'@' | b'$' | b'|' => 2,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// `from..to` of the text with the fixes put in.
pub(super) fn replaced(
    text: &[u8],
    from: usize,
    to: usize,
    fixes: &[(usize, usize, Vec<u8>)],
) -> View {
    let mut view = View::default();
    let mut at = from;
    for (start, end, word) in fixes {
        (at..*start).for_each(|place| view.put(text[place], place, place + 1));
        word.iter().for_each(|byte| view.put(*byte, *start, *end));
        at = *end;
    }
    (at..to).for_each(|place| view.put(text[place], place, place + 1));
    view
}
