//! Crypto addresses: Base58Check (double SHA-256), Bech32/Bech32m (BIP 173, 350).
use sha2::{Digest, Sha256};

use super::Check;

pub const CHECKS: &[(&str, Check)] = &[
    ("base58", |v| base58(v, BITCOIN)),
    ("base58_ripple", |v| base58(v, RIPPLE)),
    ("bech32", bech32),
    ("hex_address", |v| {
        v.len() == 42 && v[2..].windows(2).any(|pair| pair[0] != pair[1])
    }),
];

const BITCOIN: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const RIPPLE: &[u8; 58] = b"rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz";

/// 25 bytes, the last four being the head of SHA-256(SHA-256(rest)).
fn base58(value: &[u8], alphabet: &[u8; 58]) -> bool {
    let mut bytes = [0u8; 25];
    for byte in value {
        let Some(digit) = alphabet.iter().position(|known| known == byte) else {
            return false;
        };
        let mut carry = digit as u32;
        for slot in bytes.iter_mut().rev() {
            carry += u32::from(*slot) * 58;
            *slot = carry as u8;
            carry >>= 8;
        }
        if carry > 0 {
            return false;
        }
    }
    Sha256::digest(Sha256::digest(&bytes[..21]))[..4] == bytes[21..]
}

/// The BCH code of BIP 173 (constant 1) or BIP 350 (constant 0x2bc830a3).
fn bech32(value: &[u8]) -> bool {
    const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    const STEP: [u32; 5] = [
        0x3b6a_57b2,
        0x2650_8e6d,
        0x1ea1_19fa,
        0x3d42_33dd,
        0x2a14_62b3,
    ];
    let lower = value.to_ascii_lowercase();
    if lower != value && value.to_ascii_uppercase() != value {
        return false;
    }
    let Some(one) = lower.iter().rposition(|byte| *byte == b'1') else {
        return false;
    };
    let (prefix, data) = (&lower[..one], &lower[one + 1..]);
    let mut values: Vec<u32> = prefix.iter().map(|byte| u32::from(byte >> 5)).collect();
    values.push(0);
    values.extend(prefix.iter().map(|byte| u32::from(byte & 31)));
    for byte in data {
        let Some(place) = ALPHABET.iter().position(|known| known == byte) else {
            return false;
        };
        values.push(place as u32);
    }
    let sum = values.iter().fold(1u32, |sum, value| {
        let top = sum >> 25;
        let shifted = (sum & 0x01ff_ffff) << 5 ^ value;
        STEP.iter()
            .enumerate()
            .filter(|(bit, _)| top >> bit & 1 == 1)
            .fold(shifted, |s, (_, g)| s ^ g)
    });
    data.len() > 6 && matches!(sum, 1 | 0x2bc8_30a3)
}
