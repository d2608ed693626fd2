"""What makes a tape evidence: hash chain, seals, proofs, verification."""
