//! SHA-256 digests: of a token, and of what a token is bound to.
//!
//! The one thing to know: a secret is never compared with a guess. Tokens are stored and looked up by their digest,
//! so that the time of a look-up tells nothing of how much of a guess was right; digests of parameters are compared
//! in constant time.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::vocabulary::{ConfirmationToken, TokenId};

/// 256 bits, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Digest([u8; 32]);

/// What a token is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct TokenDigest(Digest);

/// What a token, kept or signed, is bound to: the operation and its critical parameters (AQL-3.2-1, AQL-3.2-2).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ParametersHash(Digest);

impl Digest {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Not of anything: a secret of the same size.
    pub(super) fn from_bits(bits: [u128; 2]) -> Self {
        let mut bytes = [0; 32];
        let (high, low) = bytes.split_at_mut(16);
        high.copy_from_slice(&bits[0].to_be_bytes());
        low.copy_from_slice(&bits[1].to_be_bytes());
        Self(bytes)
    }

    /// The bytes, the most significant first.
    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl TokenDigest {
    pub(super) fn of(token: &ConfirmationToken) -> Self {
        Self::of_text(token.as_str())
    }

    /// Of what came as a token, whether it has the form of one or not.
    pub(super) fn of_text(text: &str) -> Self {
        Self(Digest::of(text.as_bytes()))
    }

    /// The beginning of the digest, which names the token and does not redeem it.
    pub(super) fn id(&self) -> TokenId {
        let (first, _) = self.0.0.as_chunks::<8>();
        TokenId(first[0])
    }
}

impl ParametersHash {
    /// The hash of a canonical form.
    pub(super) fn of_canonical(form: &str) -> Self {
        Self(Digest::of(form.as_bytes()))
    }

    /// The bytes, the most significant first.
    pub(super) fn bytes(&self) -> &[u8; 32] {
        self.0.bytes()
    }
}

/// AQL-4.3-1: compared as a whole, however early the two differ.
impl PartialEq for ParametersHash {
    fn eq(&self, other: &Self) -> bool {
        self.bytes().ct_eq(other.bytes()).into()
    }
}

impl Eq for ParametersHash {}

impl Hash for ParametersHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}

impl fmt::Display for ParametersHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("expected 64 lower-case digits"))
    }
}

impl Digest {
    fn parse(text: &str) -> Option<Self> {
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
            return None;
        };
        let bytes: Option<Vec<u8>> = pairs
            .iter()
            .map(|&[high, low]| Some(nibble(high)? << 4 | nibble(low)?))
            .collect();
        bytes?.try_into().ok().map(Self)
    }
}

/// The value of a lower-case hexadecimal digit.
fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    /// AQL-3.2-2: SHA-256, by the example of its standard.
    #[test]
    fn the_hash_is_sha_256() {
        assert_eq!(Digest::of(b"abc").to_string(), OF_ABC);
    }

    #[test]
    fn a_digest_is_read_as_it_is_written_and_in_no_other_way() {
        let digest = Digest::of(b"abc");
        assert_eq!(Digest::parse(OF_ABC), Some(digest));
        let upper_case = OF_ABC.to_uppercase();
        for bad in [
            "",
            &OF_ABC[..62],
            &OF_ABC[..63],
            &format!("{OF_ABC}0"),
            &format!("{OF_ABC}00"),
            &upper_case,
            &OF_ABC.replacen('b', "g", 1),
        ] {
            assert_eq!(Digest::parse(bad), None, "{bad}");
        }
    }

    /// AQL-4.3-1: every bit counts.
    #[test]
    fn hashes_that_differ_in_one_bit_are_different() {
        let hash = ParametersHash::of_canonical("{}");
        for bit in 0..256 {
            let mut other = hash;
            other.0.0[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(hash, other, "bit {bit}");
        }
        assert_eq!(hash, ParametersHash::of_canonical("{}"));
    }
}
