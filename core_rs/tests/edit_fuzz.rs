//! JSON edits against a model, and heads against a second reading of the rules.
//!
//! Long: `cargo test --release --test edit_fuzz -- --ignored`, or for a time as `framing_fuzz`.

mod dice;
mod properties;

use dice::{Dice, ELEMENTS, JSON, Seed, cut, damage, joined, seeds};
use properties::heads::{count, request};
use properties::json::{edited, fingerprints_agree, is_json, path};

/// A document of a few levels. Its keys come twice now and then.
fn document(dice: &mut Dice, depth: usize) -> Vec<u8> {
    let blanks: [&[u8]; 4] = [b"", b"", b" ", b"\r\n\t"];
    let keys: [&[u8]; 5] = [b"\"a\"", b"\"b\"", b"\"\"", b"\"\\u00e9\"", b"\"\xC3\xA9\""];
    if depth == 0 || dice.below(4) == 0 {
        return dice.pick(&ELEMENTS).to_vec();
    }
    let object = dice.below(2) == 0;
    let mut made = vec![if object { b'{' } else { b'[' }];
    for at in 0..dice.below(4) {
        if at > 0 {
            made.push(b',');
        }
        made.extend(dice.pick(&blanks));
        if object {
            made.extend([dice.pick(&keys), dice.pick(&blanks), b":"].concat());
            made.extend(dice.pick(&blanks));
        }
        made.extend(document(dice, depth - 1));
        made.extend(dice.pick(&blanks));
    }
    made.push(if object { b'}' } else { b']' });
    made
}

/// What replaces or removes a value in the bytes does the same to the document, and to nothing else.
#[test]
#[ignore = "long"]
fn edits() {
    let (mut made, mut removed) = (0u64, 0u64);
    for seed in seeds() {
        let mut dice = Dice(seed);
        let body = document(&mut dice, 3);
        made += 1;
        let (path, doubled) = path(&mut dice, &body, 4);
        let new = document(&mut dice, 1);
        removed += u64::from(edited(&body, &path, doubled, &new, Seed(seed)));
    }
    println!("{made} documents, {removed} values removed");
    assert!(removed > 0);
}

/// Made documents and damaged ones have one fingerprint, in one pass or by way of a value.
#[test]
fn fingerprints() {
    for seed in 0..20_000 {
        let mut dice = Dice(seed);
        let mut body = document(&mut dice, 5);
        fingerprints_agree(&body, Seed(seed));
        damage(&mut dice, &mut body);
        fingerprints_agree(&body, Seed(seed));
        fingerprints_agree(&joined(&mut dice, &JSON, 24), Seed(seed));
    }
}

/// Damaged text is refused, or its spans lie within it; two readers agree on which it is.
#[test]
#[ignore = "long"]
fn damaged_documents() {
    let (mut made, mut taken) = (0u64, 0u64);
    for seed in seeds() {
        let mut dice = Dice(seed);
        let mut body = document(&mut dice, 3);
        damage(&mut dice, &mut body);
        if dice.below(4) == 0 {
            body = joined(&mut dice, &JSON, 24);
        }
        made += 1;
        taken += u64::from(is_json(&body, Seed(seed)));
    }
    println!("{made} texts, {taken} of them JSON");
    assert!(taken > 0);
}

const LINES: [&[u8]; 22] = [
    b"GET / HTTP/1.1\r\n",
    b"POST /a HTTP/1.1\r\n",
    b"GET / HTTP/1.0\r\n",
    b"HTTP/1.1 200 OK\r\n",
    b"Host: x\r\n",
    b"host:x\r\n",
    b"Content-Length: 3\r\n",
    b"Content-Length: 3, 3\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer_Encoding: chunked\r\n",
    b"X: y\r\n",
    b"X: y\n",
    b" folded\r\n",
    b"X\r: y\r\n",
    b"X: \0\r\n",
    b"X: \x80\xFF\r\n",
    b"\r\n",
    b"\n",
    b"\r",
    b":\r\n",
    b"Connection: close\r\n",
    b"3\r\nabc\r\n0\r\n\r\n",
];

/// A head that is taken has nothing in it that some parser takes for the end of a line or of the head, and
/// counting requests in written bytes does not depend on how they are divided.
#[test]
#[ignore = "long"]
fn request_heads() {
    let (mut made, mut taken, mut counted) = (0u64, 0u64, 0usize);
    for seed in seeds() {
        let mut dice = Dice(seed);
        let mut head = dice.pick(&LINES[..3]).to_vec();
        if dice.below(2) == 0 {
            head.extend(b"Host: x\r\n");
        }
        head.extend(joined(&mut dice, &LINES, 5));
        head.extend(b"\r\n");
        if seed % 2 == 1 {
            damage(&mut dice, &mut head);
        }
        made += 1;
        taken += u64::from(request(&head, Seed(seed)));
        let stream = [head.as_slice(), joined(&mut dice, &LINES, 6).as_slice()].concat();
        let chunks = cut(&mut dice, &stream);
        counted += count(&stream, &chunks, false, Seed(seed));
    }
    println!("{made} heads, {taken} of them taken, {counted} requests counted");
    assert!(taken > 0 && counted > 0);
}
