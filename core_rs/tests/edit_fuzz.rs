//! JSON edits against a model, and heads against a second reading of the rules.
//!
//! Long: `cargo test --release --test edit_fuzz -- --ignored`, or for a time as `framing_fuzz`.

mod dice;

use dice::{Dice, ELEMENTS, JSON, cut, damage, joined, seeds};
use faultwire_core::heads;
use faultwire_core::json::{self, Key, Step};
use serde_json::Value;

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

/// A path to some value, and whether another member of an object on it has the same key.
fn path(dice: &mut Dice, body: &[u8]) -> (Vec<Step>, bool) {
    let (mut path, mut doubled) = (Vec::new(), false);
    for _ in 0..dice.below(4) {
        let children = json::children(body, &path).expect("a document");
        if children.is_empty() {
            break;
        }
        let (key, _) = &children[dice.below(children.len())];
        doubled |= children.iter().filter(|(other, _)| other == key).count() > 1;
        path.push(key.clone());
    }
    (path, doubled)
}

fn at<'a>(value: &'a mut Value, path: &[Step]) -> &'a mut Value {
    path.iter().fold(value, |value, step| match step {
        Key::Key(name) => value.get_mut(name).expect("a member"),
        Key::Index(index) => value.get_mut(index).expect("an element"),
    })
}

fn read(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|error| panic!("{error}: {body:?}"))
}

/// What replaces or removes a value in the bytes does the same to the document, and to nothing else.
#[test]
#[ignore = "long"]
fn edits() {
    let (mut made, mut replaced, mut removed) = (0u64, 0u64, 0u64);
    for seed in seeds() {
        let mut dice = Dice(seed);
        let body = document(&mut dice, 3);
        made += 1;
        let (path, doubled) = path(&mut dice, &body);
        let span = json::span(&body, &path)
            .expect("a document")
            .expect("a value");
        let new = document(&mut dice, 1);
        let written = json::splice(&body, &[(span.clone(), &new)]).expect("one edit");
        let mut model = read(&body);
        *at(&mut model, &path) = read(&new);
        assert_eq!(read(&written), model, "seed {seed}");
        assert_eq!(&written[..span.start], &body[..span.start], "seed {seed}");
        assert!(written.ends_with(&body[span.end..]), "seed {seed}");
        replaced += 1;
        let member = json::member_span(&body, &path).expect("a document");
        assert_eq!(member.is_none(), path.is_empty(), "seed {seed}");
        if let (Some(member), Some((last, parents))) = (member, path.split_last()) {
            let written = json::splice(&body, &[(member, b"")]).expect("one edit");
            let found = read(&written);
            if !doubled {
                let mut model = read(&body);
                match (at(&mut model, parents), last) {
                    (Value::Object(members), Key::Key(name)) => drop(members.remove(name)),
                    (Value::Array(elements), Key::Index(index)) => drop(elements.remove(*index)),
                    _ => panic!("seed {seed}: a step that leads nowhere"),
                }
                assert_eq!(found, model, "seed {seed}");
                removed += 1;
            }
        }
    }
    println!("{made} documents, {replaced} values replaced, {removed} removed");
    assert!(removed > 0);
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
        let found = json::span(&body, &[]);
        // What serde_json reads is JSON (RFC 8259); ours must read no less. A number too large for it is ours.
        if serde_json::from_slice::<Value>(&body).is_ok() {
            assert!(found.is_ok(), "seed {seed}: {body:?}");
        }
        if let Ok(Some(span)) = found {
            taken += 1;
            assert!(
                span.start <= span.end && span.end <= body.len(),
                "seed {seed}"
            );
            assert!(std::str::from_utf8(&body).is_ok(), "seed {seed}");
        }
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
        let _ = heads::response(&head);
        let checked = heads::request(&head);
        if let Err(reason) = &checked {
            assert!(!reason.contains(char::is_control), "seed {seed}");
        } else {
            taken += 1;
            let lines: Vec<&[u8]> = head[..head.len() - 4]
                .split(|byte| *byte == b'\n')
                .collect();
            let (last, ended) = lines.split_last().expect("a line");
            assert!(
                head.ends_with(b"\r\n\r\n") && !last.contains(&b'\r'),
                "seed {seed}"
            );
            for line in ended {
                assert!(line.ends_with(b"\r"), "seed {seed}");
                assert!(!line[..line.len() - 1].contains(&b'\r'), "seed {seed}");
            }
            assert!(!head.contains(&0), "seed {seed}");
        }
        let stream = [head.as_slice(), joined(&mut dice, &LINES, 6).as_slice()].concat();
        let mut whole = heads::RequestCounter::new(false);
        let found = whole.feed(&stream);
        let mut divided = heads::RequestCounter::new(false);
        let sum: usize = cut(&mut dice, &stream)
            .iter()
            .map(|piece| divided.feed(piece))
            .sum();
        assert_eq!(found, sum, "seed {seed}");
        counted += found;
    }
    println!("{made} heads, {taken} of them taken, {counted} requests counted");
    assert!(taken > 0 && counted > 0);
}
