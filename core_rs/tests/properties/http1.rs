//! Messages of HTTP/1.1: the same events however the bytes are divided, and a head that is written is that head.

use std::fmt::Display;

use faultwire_core::heads;
use faultwire_core::http1::{Event, Flaw, Reader};

/// Every event of every message in the pieces, pieces of a body joined, and what ended them.
pub fn events(requests: bool, pieces: &[&[u8]], ends: bool) -> (Vec<Event>, Option<Flaw>) {
    let mut reader = if requests {
        Reader::requests()
    } else {
        Reader::responses()
    };
    let (mut found, mut messages) = (Vec::new(), 0);
    reader.next(false);
    for piece in pieces {
        reader.feed(piece);
        if let Err(flaw) = gather(&mut reader, &mut found, &mut messages) {
            return (found, Some(flaw));
        }
    }
    if ends {
        loop {
            match reader.finish() {
                Ok(Some(event)) => keep(&mut found, event),
                Ok(None) => break,
                Err(flaw) => return (found, Some(flaw)),
            }
        }
    }
    (found, None)
}

fn gather(reader: &mut Reader, found: &mut Vec<Event>, messages: &mut usize) -> Result<(), Flaw> {
    loop {
        match reader.read()? {
            Some(event) => {
                let over = event == Event::End;
                keep(found, event);
                if over {
                    *messages += 1;
                    // Every third answer is one to `HEAD`, whatever it says of its body.
                    reader.next(*messages % 3 == 2);
                }
            }
            None => return Ok(()),
        }
    }
}

fn keep(found: &mut Vec<Event>, event: Event) {
    if let (Event::Data(more), Some(Event::Data(data))) = (&event, found.last_mut()) {
        data.extend_from_slice(more);
    } else {
        found.push(event);
    }
}

/// The stream in one piece and in these; what the one piece gave.
pub fn divided(
    requests: bool,
    stream: &[u8],
    chunks: &[&[u8]],
    ends: bool,
    about: impl Display,
) -> (Vec<Event>, Option<Flaw>) {
    let whole = events(requests, &[stream], ends);
    assert_eq!(whole, events(requests, chunks, ends), "{about}");
    for event in &whole.0 {
        if let Event::Head(head, _) = event {
            read_again(requests, &head.written(), &about);
        }
    }
    whole
}

/// What we write of a head is a head without a flaw, and says the same.
fn read_again(requests: bool, written: &[u8], about: impl Display) {
    let flaw = if requests {
        heads::request(written)
    } else {
        heads::response(written)
    };
    assert_eq!(flaw, Ok(()), "{about}");
    let (again, _) = events(requests, &[written], false);
    assert!(
        matches!(again.first(), Some(Event::Head(head, _)) if head.written() == written),
        "{about}"
    );
}
