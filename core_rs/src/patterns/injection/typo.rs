//! Words nearly written: typos and leetspeak, put right where they meet the vocabulary.
use std::collections::HashSet;

use super::dull::Dull;

/// The letters that a word holds, and the word.
type Known = (u32, Vec<u8>);

/// The vocabulary, indexed for near look-ups.
#[derive(Debug, Default)]
pub struct Speller {
    exact: HashSet<Vec<u8>>,
    real: HashSet<Vec<u8>>,
    /// Hashes of every word of ours and of each with one letter left out, folded into a bit field.
    bloom: Vec<u64>,
    /// Words by length, and by length and first letter.
    lengths: Vec<Vec<Known>>,
    firsts: Vec<Vec<Vec<Known>>>,
}

/// Words of three and four letters that typos are put right to; longer ones all are.
const SHORT: [&str; 34] = [
    "all", "and", "any", "are", "but", "does", "done", "each", "from", "have", "into", "must",
    "never", "not", "now", "only", "over", "rule", "show", "tell", "that", "the", "them", "then",
    "this", "user", "what", "when", "will", "with", "word", "you", "your", "send",
];

impl Speller {
    pub fn new(vocabulary: &[String], real: &[String]) -> Self {
        let mut speller = Speller {
            bloom: vec![0; (1 << 20) / 64],
            ..Speller::default()
        };
        for word in vocabulary {
            let bytes = word.as_bytes().to_vec();
            speller
                .lengths
                .resize(speller.lengths.len().max(bytes.len() + 3), Vec::new());
            if bytes.len() > 4 || SHORT.contains(&word.as_str()) {
                let known = (letters(&bytes), bytes.clone());
                speller
                    .firsts
                    .resize(speller.lengths.len(), vec![Vec::new(); 26]);
                speller.firsts[bytes.len()][usize::from(bytes[0] - b'a')].push(known.clone());
                speller.lengths[bytes.len()].push(known);
            }
            for hash in variants(&bytes) {
                let bit = (hash >> 44) as usize;
                speller.bloom[bit / 64] |= 1 << (bit % 64);
            }
            speller.exact.insert(bytes);
        }
        speller.real = real.iter().map(|word| word.as_bytes().to_vec()).collect();
        speller
    }

    /// What `word` (lower case) was meant to be, if it is no word of ours but nearly one.
    ///
    /// One slip is found through the words with one letter left out; two, in words of eight letters and
    /// more, only among those with the same first letter.
    pub fn correct(&self, word: &[u8]) -> Option<&[u8]> {
        if !(3..=16).contains(&word.len()) {
            return None;
        }
        Dull::with(|dull| {
            let key = Dull::key(word, 0, word.len());
            if dull.holds(key) {
                return None;
            }
            let found = self.search(word);
            if found.is_none() {
                dull.add(key);
            }
            found
        })
    }

    /// The same without the memory of words that are nothing of ours.
    pub fn search(&self, word: &[u8]) -> Option<&[u8]> {
        let one = variants(word).any(|hash| self.holds(hash));
        if !one && word.len() < 7 {
            return None;
        }
        let mask = letters(word);
        let mut best: Option<(usize, &[u8])> = None;
        let reach = if word.len() >= 7 { 2 } else { 1 };
        for length in word.len() - reach..=word.len() + reach {
            let two = length >= 8;
            let likely = match one {
                true => self.lengths.get(length),
                // two slips: only words with the same first letter come into question
                false => self
                    .firsts
                    .get(length)
                    .and_then(|list| list.get(usize::from(word[0].wrapping_sub(b'a')))),
            };
            for (own, known) in likely.map(Vec::as_slice).unwrap_or_default() {
                let most = if two && known[0] == word[0] { 2 } else { 1 };
                let away = (own ^ mask).count_ones() as usize;
                if away > 2 * most || (most == 1 && (!one || length.abs_diff(word.len()) > 1)) {
                    continue;
                }
                if word.starts_with(known) || (known.starts_with(word) && known.ends_with(b"s")) {
                    return None; // an inflection, not a typo
                }
                let away = distance(word, known, most);
                if away <= most && best.is_none_or(|(least, _)| away < least) {
                    best = Some((away, known));
                }
            }
        }
        // Asked last, since most words are near none of ours.
        let meant = |_: &(usize, &[u8])| !self.exact.contains(word) && !self.real.contains(word);
        best.filter(meant).map(|(_, known)| known)
    }

    fn holds(&self, hash: u64) -> bool {
        let bit = (hash >> 44) as usize;
        self.bloom
            .get(bit / 64)
            .is_some_and(|block| block >> (bit % 64) & 1 == 1)
    }

    /// What a word with digits or signs for letters spells, if that is of ours.
    pub fn leet(&self, word: &[u8]) -> Option<Vec<u8>> {
        if word.len() < 3 || word.len() > 16 || !word.iter().any(u8::is_ascii_alphabetic) {
            return None;
        }
        let mut both = [[0; 16]; 2];
        for (spelt, one) in both.iter_mut().zip([b'i', b'l']) {
            for (to, byte) in spelt.iter_mut().zip(word) {
                *to = plain(*byte, one);
            }
        }
        let [i, l] = both.each_ref().map(|spelt| &spelt[..word.len()]);
        // Every sign that stands for no letter is a slip, and two are the most that are put right.
        let odd = i.iter().filter(|byte| !byte.is_ascii_lowercase()).count();
        if i == word || odd > 2 {
            return None;
        }
        let known = |word: &[u8]| self.holds(whole(word)) && self.exact.contains(word);
        match (known(i), known(l)) {
            (true, _) => Some(i.to_vec()),
            (_, true) => Some(l.to_vec()),
            _ => self.correct(i).map(<[u8]>::to_vec),
        }
    }
}

/// The letter that a digit or sign stands for; `one` for those that look like a stroke.
fn plain(byte: u8, one: u8) -> u8 {
    match byte {
        b'0' => b'o',
        b'1' | b'!' | b'|' => one,
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'7' => b't',
        b'8' => b'b',
        b'9' => b'g',
        other => other,
    }
}

const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

fn step(sum: u64, byte: &u8) -> u64 {
    sum.wrapping_add(u64::from(*byte)).wrapping_mul(BASE)
}

/// The hash of a word.
fn whole(word: &[u8]) -> u64 {
    word[..word.len().min(18)].iter().fold(0, step)
}

/// Hashes of the word and of the word without each of its letters.
fn variants(word: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut tail = [0u64; 20];
    let mut power = [1u64; 20];
    let length = word.len().min(18);
    for (at, byte) in word[..length].iter().enumerate().rev() {
        let behind = length - at;
        power[behind] = power[behind - 1].wrapping_mul(BASE);
        tail[at] = u64::from(*byte)
            .wrapping_mul(power[behind])
            .wrapping_add(tail[at + 1]);
    }
    let mut head = 0u64;
    std::iter::once(whole(word)).chain((0..length).map(move |at| {
        let hash = head
            .wrapping_mul(power[length - at - 1])
            .wrapping_add(tail[at + 1]);
        head = step(head, &word[at]);
        hash
    }))
}

fn letters(word: &[u8]) -> u32 {
    word.iter()
        .filter(|byte| byte.is_ascii_lowercase())
        .fold(0, |mask, byte| mask | 1 << (byte - b'a'))
}

/// Optimal string alignment distance, given up beyond `most`.
fn distance(a: &[u8], b: &[u8], most: usize) -> usize {
    if a.len().abs_diff(b.len()) > most {
        return most + 1;
    }
    let (mut before, mut last): ([usize; 20], [usize; 20]) = ([0; 20], std::array::from_fn(|j| j));
    for (i, x) in a.iter().enumerate().take(18) {
        let mut row = [i + 1; 20];
        for (j, y) in b.iter().enumerate().take(18) {
            let mut cost = (last[j] + usize::from(x != y))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x {
                cost = cost.min(before[j - 1] + 1);
            }
            row[j + 1] = cost;
        }
        before = last;
        last = row;
    }
    last[b.len().min(18)]
}
