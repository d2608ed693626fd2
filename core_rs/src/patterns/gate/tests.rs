//! The gate against an automaton of another make.
use super::super::word::stands;
use super::*;
use aho_corasick::AhoCorasick;

/// A small generator, so that the texts are the same in every run.
fn draw(state: &mut u64, below: usize) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    (*state >> 33) as usize % below
}

#[test]
fn finds_what_an_automaton_finds() {
    let forms = [
        "@",
        "ab",
        "abc",
        "abcd",
        "bcd",
        "Abcd",
        "abcde",
        "a b",
        "cdé",
        "=a",
        "dab c",
        "é a",
        "éab",
        "a-b",
        "abcdabcdab",
        "abcdcbcdab",
        "=abcd",
    ];
    let alphabet = [
        "a", "b", "c", "d", "e", "A", "B", " ", "=", "@", "é", "1", "_", "\\n",
    ];
    let mut words = Words::default();
    for border in [Border::Free, Border::Whole, Border::Opens] {
        forms.iter().for_each(|form| {
            words.number(form, border);
        });
    }
    let gate = words.gate(|_| true, &HashMap::new()).expect("words");
    let machine = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(words.list.iter().map(|(word, _)| word))
        .expect("words");
    let (mut state, mut seen) = (7, 0);
    for _ in 0..4000 {
        let length = draw(&mut state, 24);
        let text: String = (0..length)
            .map(|_| alphabet[draw(&mut state, alphabet.len())])
            .collect();
        let bytes = text.as_bytes();
        let expected: Vec<(usize, usize, u32)> = machine
            .find_overlapping_iter(bytes)
            .map(|found| (found.start(), found.end(), found.pattern().as_u32()))
            .filter(|(start, end, word)| {
                let (written, border) = words.word(*word);
                stands(bytes, *start, *end, written.as_bytes(), *border)
            })
            .collect();
        let marks = gate.marks(bytes);
        let found: Vec<(usize, usize, u32)> = marks
            .iter()
            .map(|mark| (mark.start, mark.end, mark.word))
            .collect();
        assert_eq!(found, expected, "{text:?}");
        seen += found.len();
    }
    assert!(seen > 1000);
}
