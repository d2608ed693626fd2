//! Tapes that are made of seeds, sound and bent, as coverage makes them in `fuzz/fuzz_targets/tape.rs`.

mod dice;
mod made;
mod maker;

use dice::{Dice, seeds};
use made::judged;

/// Choices of a seed; the first numbers make many short tapes.
fn choices(seed: u64) -> Vec<u8> {
    let mut dice = Dice(seed);
    let size = dice.below(200);
    (0..size).map(|_| dice.next() as u8).collect()
}

/// How many of these seeds make a sound tape.
fn sound(seeds: impl Iterator<Item = u64>) -> (usize, usize) {
    let judged: Vec<bool> = seeds.map(|seed| judged(&choices(seed))).collect();
    (judged.iter().filter(|one| **one).count(), judged.len())
}

#[test]
fn made_tapes_are_found_to_be_what_they_are() {
    let (sound, all) = sound(0..60);
    assert!(sound > all / 30 && sound < all / 2, "{sound} of {all}");
}

#[test]
fn a_tape_of_no_choices_is_sound() {
    assert!(judged(b""));
}

#[test]
#[ignore = "minutes; FAULTWIRE_FUZZ_S says how many seconds"]
fn fuzz_made_tapes() {
    let (sound, all) = sound(seeds());
    println!("{all} tapes, {sound} of them sound");
}
