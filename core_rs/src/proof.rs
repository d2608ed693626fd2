//! Proofs about RFC 6962 trees: that a leaf is in one, and that one grew out of another.
//!
//! The makers follow the recursive definitions of RFC 6962 §2.1.1 and §2.1.2; the checkers follow
//! RFC 9162 §2.1.3.2 and §2.1.4.2, so that neither can inherit the other's mistake.

use crate::Error;
use crate::digest::{Hash, merkle_root, node_hash};

/// The hashes that lead from leaf `index` to the root of the tree over `leaves`.
pub fn inclusion_proof(leaves: &[Hash], index: usize) -> Result<Vec<Hash>, Error> {
    if index >= leaves.len() {
        let size = leaves.len();
        return Err(Error::argument(format!(
            "`index` is {index}, expected less than {size}"
        )));
    }
    let mut proof = Vec::new();
    let (mut leaves, mut index) = (leaves, index);
    while leaves.len() > 1 {
        let (left, right) = leaves.split_at(split(leaves.len()));
        if index < left.len() {
            proof.push(merkle_root(right));
            leaves = left;
        } else {
            proof.push(merkle_root(left));
            index -= left.len();
            leaves = right;
        }
    }
    proof.reverse();
    Ok(proof)
}

/// Is `leaf` number `index` of the tree of `size` leaves with this root?
pub fn verify_inclusion(
    leaf: &Hash,
    index: usize,
    size: usize,
    proof: &[Hash],
    root: &Hash,
) -> bool {
    if index >= size {
        return false;
    }
    let (mut node, mut last) = (index, size - 1);
    let mut hash = *leaf;
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if node & 1 == 1 || node == last {
            hash = node_hash(sibling, &hash);
            while node & 1 == 0 && node != 0 {
                node >>= 1;
                last >>= 1;
            }
        } else {
            hash = node_hash(&hash, sibling);
        }
        node >>= 1;
        last >>= 1;
    }
    last == 0 && hash == *root
}

/// The hashes that show that the tree over `leaves` grew out of its first `first` leaves.
pub fn consistency_proof(leaves: &[Hash], first: usize) -> Result<Vec<Hash>, Error> {
    if first == 0 || first > leaves.len() {
        let size = leaves.len();
        return Err(Error::argument(format!(
            "`first` is {first}, expected 1 to {size}"
        )));
    }
    let mut proof = Vec::new();
    let (mut leaves, mut first, mut known) = (leaves, first, true);
    while first < leaves.len() {
        let (left, right) = leaves.split_at(split(leaves.len()));
        if first <= left.len() {
            proof.push(merkle_root(right));
            leaves = left;
        } else {
            proof.push(merkle_root(left));
            first -= left.len();
            leaves = right;
            known = false;
        }
    }
    if !known {
        proof.push(merkle_root(leaves));
    }
    proof.reverse();
    Ok(proof)
}

/// Did the tree of `second` leaves grow out of the one of `first` leaves?
pub fn verify_consistency(
    first: usize,
    second: usize,
    proof: &[Hash],
    first_root: &Hash,
    second_root: &Hash,
) -> bool {
    if first == 0 || first > second {
        return false;
    }
    if first == second {
        return proof.is_empty() && first_root == second_root;
    }
    let whole = first.is_power_of_two();
    let mut hashes = whole.then_some(first_root).into_iter().chain(proof);
    let Some(start) = hashes.next() else {
        return false;
    };
    let (mut node, mut last) = (first - 1, second - 1);
    while node & 1 == 1 {
        node >>= 1;
        last >>= 1;
    }
    let (mut old, mut new) = (*start, *start);
    for hash in hashes {
        if last == 0 {
            return false;
        }
        if node & 1 == 1 || node == last {
            old = node_hash(hash, &old);
            new = node_hash(hash, &new);
            while node & 1 == 0 && node != 0 {
                node >>= 1;
                last >>= 1;
            }
        } else {
            new = node_hash(&new, hash);
        }
        node >>= 1;
        last >>= 1;
    }
    last == 0 && old == *first_root && new == *second_root
}

/// A tree that grows by one leaf at a time and keeps only the roots of its full subtrees.
#[derive(Default)]
pub struct Frontier {
    size: usize,
    /// Roots of full subtrees, the largest first; their sizes are the bits of `size`.
    peaks: Vec<Hash>,
}

impl Frontier {
    pub fn push(&mut self, leaf: Hash) {
        let mut hash = leaf;
        let mut size = self.size;
        while size & 1 == 1 {
            let left = self
                .peaks
                .pop()
                .expect("every set bit of the size has its peak");
            hash = node_hash(&left, &hash);
            size >>= 1;
        }
        self.peaks.push(hash);
        self.size += 1;
    }

    pub fn size(&self) -> usize {
        self.size
    }

    pub fn root(&self) -> Hash {
        let mut peaks = self.peaks.iter().rev();
        match peaks.next() {
            None => merkle_root(&[]),
            Some(last) => peaks.fold(*last, |right, left| node_hash(left, &right)),
        }
    }
}

/// The largest power of two smaller than `size` (RFC 6962 §2.1); `size` is at least 2.
fn split(size: usize) -> usize {
    size.next_power_of_two() / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::leaf_hash;

    fn leaves(count: usize) -> Vec<Hash> {
        (0..count).map(|n| leaf_hash(&n.to_be_bytes())).collect()
    }

    #[test]
    fn every_leaf_of_every_tree_is_proven_and_no_other() {
        for size in 1..=40 {
            let all = leaves(size);
            let root = merkle_root(&all);
            for index in 0..size {
                let proof = inclusion_proof(&all, index).unwrap();
                assert!(verify_inclusion(&all[index], index, size, &proof, &root));
                for other in (0..size).filter(|&other| other != index) {
                    assert!(!verify_inclusion(&all[other], index, size, &proof, &root));
                    assert!(!verify_inclusion(&all[index], other, size, &proof, &root));
                }
            }
        }
    }

    #[test]
    fn every_growth_is_proven_and_a_rewrite_is_not() {
        for second in 1..=40 {
            let all = leaves(second);
            for first in 1..=second {
                let proof = consistency_proof(&all, first).unwrap();
                let (old, new) = (merkle_root(&all[..first]), merkle_root(&all));
                assert!(
                    verify_consistency(first, second, &proof, &old, &new),
                    "{first} {second}"
                );
                let mut rewritten = all.clone();
                rewritten[first - 1] = leaf_hash(b"rewritten");
                let forged = merkle_root(&rewritten[..first]);
                assert!(!verify_consistency(first, second, &proof, &forged, &new));
            }
        }
    }

    #[test]
    fn a_proof_with_a_hash_more_or_less_or_changed_is_refused() {
        let all = leaves(21);
        let root = merkle_root(&all);
        let proof = inclusion_proof(&all, 20).unwrap();
        let longer: Vec<Hash> = proof.iter().copied().chain([root]).collect();
        assert!(!verify_inclusion(&all[20], 20, 21, &longer, &root));
        assert!(!verify_inclusion(
            &all[20],
            20,
            21,
            &proof[..proof.len() - 1],
            &root
        ));
        for at in 0..proof.len() {
            let mut changed = proof.clone();
            changed[at][0] ^= 1;
            assert!(!verify_inclusion(&all[20], 20, 21, &changed, &root));
        }
    }

    #[test]
    fn the_frontier_has_the_root_of_the_whole_tree() {
        let all = leaves(130);
        let mut frontier = Frontier::default();
        assert_eq!(frontier.root(), merkle_root(&[]));
        for (count, leaf) in all.iter().enumerate() {
            frontier.push(*leaf);
            assert_eq!(frontier.root(), merkle_root(&all[..=count]));
        }
        assert_eq!(frontier.size(), 130);
    }

    #[test]
    fn what_is_outside_the_tree_has_no_proof() {
        assert!(inclusion_proof(&leaves(3), 3).is_err());
        assert!(consistency_proof(&leaves(3), 0).is_err());
        assert!(consistency_proof(&leaves(3), 4).is_err());
        assert!(!verify_inclusion(&[0; 32], 3, 3, &[], &[0; 32]));
        assert!(!verify_consistency(0, 3, &[], &[0; 32], &[0; 32]));
        assert!(!verify_consistency(0, 0, &[], &[0; 32], &[0; 32]));
        assert!(!verify_consistency(2, 1, &[], &[0; 32], &[0; 32]));
    }
}
