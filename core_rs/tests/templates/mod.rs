//! Examples of entries: templates, and how they are filled.

/// Fills `{class count}` with characters of the class, from a fixed sequence.
pub fn fill(template: &str) -> String {
    let mut out = String::new();
    let mut state = 0x9e37_79b9_u64;
    let mut rest = template;
    while let Some((head, tail)) = rest.split_once('{') {
        let Some((body, after)) = tail.split_once('}') else {
            break;
        };
        let Some((class, count)) = body
            .rsplit_once(' ')
            .and_then(|(c, n)| Some((c, n.parse::<usize>().ok()?)))
        else {
            out.push_str(head);
            out.push('{');
            rest = tail;
            continue;
        };
        out.push_str(head);
        let set = alphabet(class);
        for _ in 0..count {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            out.push(set[(state >> 33) as usize % set.len()] as char);
        }
        rest = after;
    }
    out + rest
}

fn alphabet(class: &str) -> &[u8] {
    match class {
        "d" => b"0123456789",
        "hex" => b"0123456789abcdef",
        "HEX" => b"0123456789ABCDEF",
        "l" => b"abcdefghijklmnopqrstuvwxyz",
        "L" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "a" => b"abcdefghijklmnopqrstuvwxyz0123456789",
        "A" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "x" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "u" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        "b64" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "b32" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "b58" => b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
        literal => literal.as_bytes(),
    }
}
