//! Network addresses: only those that can point at somebody.
use std::net::{Ipv4Addr, Ipv6Addr};

use super::Check;

pub const CHECKS: &[(&str, Check)] = &[
    ("ipv4", ipv4),
    ("ipv6", ipv6),
    ("mac", mac),
    ("email", email),
];

fn parse<T: std::str::FromStr>(value: &[u8]) -> Option<T> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// A public unicast address (RFC 6890): not private, loopback, link-local, test or multicast.
fn ipv4(value: &[u8]) -> bool {
    parse::<Ipv4Addr>(value).is_some_and(|ip| {
        let [a, b, _, d] = ip.octets();
        !(ip.is_private()
            || ip.is_loopback()
            || ip.is_link_local()
            || ip.is_documentation()
            || ip.is_multicast()
            || ip.is_broadcast()
            || !(11..=223).contains(&a)
            || d == 0
            || (a == 100 && (64..128).contains(&b))
            || (a == 198 && (18..20).contains(&b)))
    })
}

/// A global unicast address (2000::/3) outside the documentation prefix.
fn ipv6(value: &[u8]) -> bool {
    parse::<Ipv6Addr>(value).is_some_and(|ip| {
        let [first, second, ..] = ip.segments();
        first >> 13 == 1 && !(first == 0x2001 && second == 0xdb8)
    })
}

/// Not all zero, not broadcast, one separator throughout.
fn mac(value: &[u8]) -> bool {
    let separators: Vec<u8> = value
        .iter()
        .copied()
        .filter(|b| !b.is_ascii_hexdigit())
        .collect();
    let body: Vec<u8> = value
        .iter()
        .copied()
        .filter(u8::is_ascii_hexdigit)
        .collect();
    body.len() == 12
        && separators.windows(2).all(|pair| pair[0] == pair[1])
        && body
            .windows(2)
            .any(|pair| !pair[0].eq_ignore_ascii_case(&pair[1]))
}

/// A local part without stray dots and a domain whose labels and ending can exist.
fn email(value: &[u8]) -> bool {
    let Some(at) = value.iter().rposition(|byte| *byte == b'@') else {
        return false;
    };
    let (local, domain) = (&value[..at], &value[at + 1..]);
    let ending = domain
        .rsplit(|byte| *byte == b'.')
        .next()
        .unwrap_or_default();
    const FILES: [&[u8]; 8] = [
        b"png", b"jpg", b"svg", b"gif", b"webp", b"js", b"css", b"json",
    ];
    !local.is_empty()
        && local.len() <= 64
        && !local.starts_with(b".")
        && !local.ends_with(b".")
        && !local.windows(2).any(|pair| pair == b"..")
        && domain
            .split(|byte| *byte == b'.')
            .all(|label| !label.is_empty() && label[0] != b'-')
        && ending.len() > 1
        && !ending.iter().any(u8::is_ascii_digit)
        && !FILES.contains(&ending)
}
