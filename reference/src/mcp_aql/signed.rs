//! Signed tokens: the alternative of section 6.2, for a host that does not keep what it issues (AQL-7.3-2).
//!
//! The one thing to know: the grammar leaves 64 characters, so a token carries only what a call cannot repeat (expiry,
//! life, danger level, tolerance, 128 random bits), a signature over what it carries *and* over everything that the
//! call has to repeat (purpose, operation, hash of the parameters, adapter), and a mark over both that it was issued here.
//! Nothing of the payload is left unsigned (AQL-6.2-4), and nothing of the operation can be read off the token (AQL-6.3-3).
//! Where the mark is right and the signature is not, the token was issued for another call (AQL-4.1-4, AQL-4.1-5, AQL-4.1-6).
//!
//! How the gatekeeper uses it, and what it costs against the store that section 6.2 recommends, is in `stateless`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::audit::FailureReason;
use super::digest::{Digest, TokenDigest};
use super::settings::Tolerance;
use super::token::Scope;
use super::validate::Received;
use super::vocabulary::{AdapterName, ConfirmationToken, DangerLevel};
use crate::time::Timestamp;

/// What is written as the identifier of a token, in base64 for URLs (AQL-2.2-1). It fills the 64 characters exactly, without
/// padding or spare bits, so that each identifier stands for one value and each value has one identifier.
const TOKEN_BYTES: usize = 48;

/// What a token carries in the open: generation 1, expiry 6, life and danger level and tolerance 3, random 16.
const CARRIED_BYTES: usize = 26;

/// What fits behind it: 48 bits of the mark, by which alone nothing is run, and 128 of the signature.
const MARK_BYTES: usize = 6;

/// How many of the 24 bits the tolerance takes, 300 at most, and the danger level. The rest is for the life, 900 at most.
const TOLERANCE_BITS: u32 = 9;
const LEVEL_BITS: u32 = 3;

/// Signs tokens, and knows its own.
///
/// Serialised it holds the keys: keep the document from clients as you keep the keys (AQL-6.2-3).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signer {
    current: SigningKey,
    /// Signed what may still be on its way.
    previous: Option<SigningKey>,
    /// How often all tokens of an adapter were taken back. It is signed along, so that none from before is good; its last
    /// eight bits are carried, so that one from before is known.
    generations: BTreeMap<AdapterName, u64>,
    revoked: Revoked,
}

/// A secret of 256 bits. It does not show itself when it is printed.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SigningKey(Digest);

/// What a token says of its own life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) expires_at: Timestamp,
    /// How long before that it was issued.
    pub(super) seconds: u16,
    /// Which the bounds of that life depend on.
    pub(super) danger_level: DangerLevel,
    /// That of its adapter when it was issued.
    pub(super) tolerance: Tolerance,
}

/// The tokens that were given back one by one, until they could not be honoured anyway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(
    from = "BTreeMap<TokenDigest, Timestamp>",
    into = "BTreeMap<TokenDigest, Timestamp>"
)]
struct Revoked {
    until: BTreeMap<TokenDigest, Timestamp>,
    by_time: BTreeSet<(Timestamp, TokenDigest)>,
}

impl SigningKey {
    /// The key made of those bits, which come from a cryptographic generator.
    pub fn from_bits(bits: [u128; 2]) -> Self {
        Self(Digest::from_bits(bits))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // AQL-6.2-3
        formatter.write_str("SigningKey(secret)")
    }
}

impl Signer {
    /// Signs with that key from now on.
    pub(super) fn new(key: SigningKey) -> Self {
        Self {
            current: key,
            previous: None,
            generations: BTreeMap::new(),
            revoked: Revoked::default(),
        }
    }

    /// Signs with another key from now on. Tokens signed with the one before are honoured as long as they live;
    /// those signed with still earlier ones are not any more.
    pub(super) fn rotate(&mut self, key: SigningKey) {
        self.previous = Some(std::mem::replace(&mut self.current, key));
    }

    /// Signs with another key from now on, and honours nothing that was signed before.
    pub(super) fn start_anew(&mut self, key: SigningKey) {
        *self = Self::new(key);
    }

    /// Honours nothing that was signed for that adapter before.
    pub(super) fn revoke_adapter(&mut self, adapter: &AdapterName) {
        *self.generations.entry(adapter.clone()).or_default() += 1;
    }

    /// A token that is bound to `scope` and nothing else (AQL-3.2-1), unless it cannot carry its expiry.
    pub(super) fn sign(
        &self,
        scope: &Scope,
        life: Life,
        random: u128,
    ) -> Option<ConfirmationToken> {
        let (key, generation) = (&self.current, self.generation(&scope.adapter));
        let carried = life.carried(generation, random)?;
        let signature = key.sign(&carried, scope, generation);
        let signature = signature.finalize().into_bytes();
        let signature = &signature[..TOKEN_BYTES - CARRIED_BYTES - MARK_BYTES];
        let mark = key.mark(&carried, signature, scope.purpose.prefix());
        let mark = mark.finalize().into_bytes();
        let parts = carried.iter().chain(&mark[..MARK_BYTES]).chain(signature);
        let mut bytes = [0; TOKEN_BYTES];
        bytes
            .iter_mut()
            .zip(parts)
            .for_each(|(byte, &part)| *byte = part);
        let identifier = URL_SAFE_NO_PAD.encode(bytes);
        Some(ConfirmationToken::with_identifier(
            scope.purpose,
            &identifier,
        ))
    }

    /// What a token that was issued here and not given back says of its life, and whether it is good for `scope`, which is
    /// made anew from the call that it came with (AQL-4.3-1), or why not.
    pub(super) fn verify(
        &self,
        received: &Received,
        scope: &Scope,
    ) -> Result<(Life, Result<(), FailureReason>), FailureReason> {
        let token = Parts::of(&received.token).ok_or(FailureReason::Unknown)?;
        let key = self.key_of(&token).ok_or(FailureReason::Unknown)?;
        if self.revoked.until.contains_key(&received.digest) {
            return Err(FailureReason::Revoked);
        }
        let life = Life::carried_in(token.carried()).ok_or(FailureReason::Unknown)?;
        // AQL-2.1-1: the prefix is not covered by the bytes, but the purpose is by the signature.
        if received.token.purpose() != scope.purpose {
            return Ok((life, Err(FailureReason::OtherPurpose)));
        }
        let current = self.generation(&scope.adapter);
        let ago = current.to_be_bytes()[7].wrapping_sub(token.generation());
        let generation = current.wrapping_sub(ago.into());
        let expected = key.sign(token.carried(), scope, generation);
        // AQL-6.2-2: compared in constant time. AQL-1.2-4, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6: as a whole.
        let verified = expected.verify_truncated_left(token.signature());
        match (verified, ago) {
            (Err(_), _) => Ok((life, Err(FailureReason::OtherScope))),
            (Ok(()), 0) => Ok((life, Ok(()))),
            // AQL-5.3-2: with all others of its adapter.
            (Ok(()), _) => Ok((life, Err(FailureReason::Revoked))),
        }
    }

    /// What a token that was issued here says of its life, whatever it is for.
    pub(super) fn life_of(&self, token: &ConfirmationToken) -> Option<Life> {
        let token = Parts::of(token)?;
        self.key_of(&token)?;
        Life::carried_in(token.carried())
    }

    /// Honours a token no more, whatever it is for (AQL-5.3-1). Nothing, if it was not issued here: each of its bits is
    /// under the mark.
    pub(super) fn revoke(
        &mut self,
        received: &Received,
        now: Timestamp,
    ) -> Option<Result<(), FailureReason>> {
        let until = self.life_of(&received.token)?.valid_until()?;
        if until < now {
            return Some(Err(FailureReason::Expired));
        }
        if self.revoked.until.contains_key(&received.digest) {
            return Some(Err(FailureReason::Revoked));
        }
        self.revoked.add(received.digest, until);
        Some(Ok(()))
    }

    /// Forgets up to `at_most` of what was given back and could not be honoured at `now` anyway (AQL-5.5-1).
    pub(super) fn forget_expired(&mut self, now: Timestamp, at_most: usize) {
        self.revoked.forget_before(now, at_most);
    }

    /// When the next is due to be forgotten.
    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        let first = self.revoked.by_time.first();
        first.map(|(until, _)| Timestamp::from_millis(until.millis() + 1))
    }

    /// The key that a token was marked with, if it was.
    fn key_of(&self, token: &Parts) -> Option<&SigningKey> {
        let mut keys = std::iter::once(&self.current).chain(&self.previous);
        keys.find(|key| {
            let expected = key.mark(token.carried(), token.signature(), token.prefix);
            expected.verify_truncated_left(token.mark()).is_ok()
        })
    }

    fn generation(&self, adapter: &AdapterName) -> u64 {
        self.generations.get(adapter).copied().unwrap_or_default()
    }
}

impl SigningKey {
    /// That it was issued here, whatever for, bit by bit. It keeps strangers from filling the list of what was given back.
    fn mark(&self, carried: &[u8], signature: &[u8], prefix: &str) -> Hmac<Sha256> {
        self.over(&[carried, signature, prefix.as_bytes()])
    }

    /// The signature over what the token carries and what the call repeats (AQL-6.2-2, AQL-6.2-4).
    fn sign(&self, carried: &[u8], scope: &Scope, generation: u64) -> Hmac<Sha256> {
        let Scope {
            purpose,
            operation,
            parameters,
            adapter,
            // A signed token is used once, and what is used once is bound to no session.
            session_id: _,
        } = scope;
        self.over(&[
            carried,
            purpose.prefix().as_bytes(),
            operation.as_str().as_bytes(),
            parameters.bytes(),
            adapter.as_str().as_bytes(),
            &generation.to_be_bytes(),
        ])
    }

    fn over(&self, fields: &[&[u8]]) -> Hmac<Sha256> {
        // HMAC fills a short key up with zeros; a whole block cannot be refused.
        let mut block = [0; 64];
        block[..32].copy_from_slice(self.0.bytes());
        let mut mac = Hmac::<Sha256>::new(&block.into());
        for field in fields {
            // With its length before it no field can pass for part of another.
            mac.update(&(field.len() as u64).to_be_bytes());
            mac.update(field);
        }
        mac
    }
}

/// A signed token taken apart.
struct Parts {
    prefix: &'static str,
    bytes: [u8; TOKEN_BYTES],
}

impl Parts {
    fn of(token: &ConfirmationToken) -> Option<Self> {
        Some(Self {
            prefix: token.purpose().prefix(),
            bytes: URL_SAFE_NO_PAD
                .decode(token.identifier())
                .ok()
                .and_then(|bytes| bytes.try_into().ok())?,
        })
    }

    fn carried(&self) -> &[u8] {
        &self.bytes[..CARRIED_BYTES]
    }

    fn generation(&self) -> u8 {
        self.bytes[0]
    }

    fn mark(&self) -> &[u8] {
        &self.bytes[CARRIED_BYTES..][..MARK_BYTES]
    }

    fn signature(&self) -> &[u8] {
        &self.bytes[CARRIED_BYTES + MARK_BYTES..]
    }
}

impl Life {
    /// What a token carries, unless its expiry is out of range.
    fn carried(self, generation: u64, random: u128) -> Option<[u8; CARRIED_BYTES]> {
        let millis = u64::try_from(self.expires_at.millis()).ok()?;
        let [0, 0, millis @ ..] = millis.to_be_bytes() else {
            return None;
        };
        let level = DangerLevel::ALL
            .iter()
            .position(|&level| level == self.danger_level)?;
        let mut bytes = [0; CARRIED_BYTES];
        bytes[0] = generation.to_be_bytes()[7];
        bytes[1..7].copy_from_slice(&millis);
        let seconds = u32::from(self.seconds) << LEVEL_BITS;
        let packed = (seconds | u32::try_from(level).ok()?) << TOLERANCE_BITS;
        let [0, packed @ ..] = (packed | self.tolerance.seconds()).to_be_bytes() else {
            return None;
        };
        bytes[7..10].copy_from_slice(&packed);
        bytes[10..].copy_from_slice(&random.to_be_bytes());
        Some(bytes)
    }

    /// What was carried. Generation and random bits only have to be there for the signature to be right.
    fn carried_in(bytes: &[u8]) -> Option<Self> {
        let &[_, e0, e1, e2, e3, e4, e5, p0, p1, p2, ..] = bytes else {
            return None;
        };
        let packed = u32::from_be_bytes([0, p0, p1, p2]);
        let tolerance = packed & ((1 << TOLERANCE_BITS) - 1);
        let level = (packed >> TOLERANCE_BITS) & ((1 << LEVEL_BITS) - 1);
        let seconds = packed >> (TOLERANCE_BITS + LEVEL_BITS);
        let millis = u64::from_be_bytes([0, 0, e0, e1, e2, e3, e4, e5]);
        Some(Self {
            expires_at: Timestamp::from_millis(i64::try_from(millis).ok()?),
            seconds: u16::try_from(seconds).ok()?,
            danger_level: *DangerLevel::ALL.get(usize::try_from(level).ok()?)?,
            tolerance: Tolerance::from_seconds(tolerance.into()).ok()?,
        })
    }

    /// AQL-5.1-7: until when the token is taken, unless the calendar cannot hold it.
    pub(super) fn valid_until(self) -> Option<Timestamp> {
        let seconds = self.tolerance.seconds();
        self.expires_at.checked_plus_seconds(seconds)
    }
}

impl Revoked {
    fn add(&mut self, digest: TokenDigest, until: Timestamp) {
        self.until.insert(digest, until);
        self.by_time.insert((until, digest));
    }

    fn forget_before(&mut self, now: Timestamp, at_most: usize) {
        for _ in 0..at_most {
            match self.by_time.first() {
                Some(&(until, digest)) if until < now => {
                    self.by_time.pop_first();
                    self.until.remove(&digest);
                }
                Some(_) | None => return,
            }
        }
    }
}

impl From<BTreeMap<TokenDigest, Timestamp>> for Revoked {
    fn from(until: BTreeMap<TokenDigest, Timestamp>) -> Self {
        let by_time = until
            .iter()
            .map(|(&digest, &time)| (time, digest))
            .collect();
        Self { until, by_time }
    }
}

impl From<Revoked> for BTreeMap<TokenDigest, Timestamp> {
    fn from(revoked: Revoked) -> Self {
        revoked.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp_aql::digest::ParametersHash;
    use crate::mcp_aql::vocabulary::{OperationName, Purpose};

    fn key(number: u128) -> SigningKey {
        SigningKey::from_bits([number, !number])
    }

    fn adapter(name: &str) -> AdapterName {
        AdapterName::parse(name).expect("a name")
    }

    fn mac(fields: &[Vec<u8>]) -> Vec<u8> {
        let fields: Vec<_> = fields.iter().map(Vec::as_slice).collect();
        key(1).over(&fields).finalize().into_bytes().to_vec()
    }

    /// AQL-6.2-4: fields that read alike one behind the other are signed apart, wherever one ends and the next begins, and
    /// however long they are.
    #[test]
    fn every_border_between_fields_is_signed() {
        // As many as a signature covers. Each is so long that its length takes two bytes, and reads like the last of them.
        let bytes: Vec<u8> = std::iter::repeat_n(44, 6 * (256 + 44)).collect();
        let even: Vec<_> = bytes.chunks(300).map(<[u8]>::to_vec).collect();
        let concatenated = even.concat();
        let signed = mac(&even);
        for border in 1..even.len() {
            for moved in [1, 255, 256, 257, 300] {
                let mut shifted = even.clone();
                let kept = shifted[border - 1].len() - moved;
                let tail = shifted[border - 1].split_off(kept);
                shifted[border].splice(..0, tail);
                assert_eq!(shifted.concat(), concatenated);
                assert_ne!(mac(&shifted), signed, "{border}: {moved}");
            }
        }
        // Nor does a field more or less go unnoticed.
        assert_ne!(mac(&[even.clone(), vec![vec![]]].concat()), signed);
        assert_ne!(mac(&[concatenated]), signed);
    }

    /// AQL-2.2-1, AQL-2.2-3: an identifier is a value in one way only, and nothing shorter or longer, or in other letters, is.
    #[test]
    fn an_identifier_of_64_characters_is_one_value() {
        let parts = |identifier: &str| {
            let token = ConfirmationToken::parse(&format!("conf_{identifier}")).expect("a token");
            Parts::of(&token).map(|parts| parts.bytes)
        };
        let mut bytes = [0; TOKEN_BYTES];
        bytes[..3].copy_from_slice(b"foo");
        bytes[45..].copy_from_slice(&[0xfb, 0xff, 0xfe]);
        // By the digits of RFC 4648.
        assert_eq!(parts(&format!("Zm9v{}-__-", "A".repeat(56))), Some(bytes));
        assert_ne!(parts(&format!("ZM9v{}-__-", "A".repeat(56))), Some(bytes));
        for length in [4, 60, 62, 63] {
            assert_eq!(parts(&"A".repeat(length)), None, "{length}");
        }
        assert!(parts(&"A".repeat(64)).is_some());
    }

    /// AQL-6.2-4: each field has its length before it, in eight bytes.
    #[test]
    fn every_length_is_signed() {
        let fields = [b"a".to_vec(), vec![], b"bc".to_vec(), vec![7; 32]];
        let written = [
            &b"\0\0\0\0\0\0\0\x01a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02bc\0\0\0\0\0\0\0\x20"[..],
            &[7; 32],
        ];
        let expected = Hmac::<Sha256>::new_from_slice(key(1).0.bytes()).map(|mut expected| {
            expected.update(&written.concat());
            expected.finalize().into_bytes().to_vec()
        });
        assert_eq!(Ok(mac(&fields)), expected);
    }

    fn scope() -> Scope {
        Scope {
            purpose: Purpose::Confirmation,
            operation: OperationName::parse("delete_repo").expect("a name"),
            parameters: ParametersHash::of_canonical("{}"),
            adapter: adapter("github"),
            session_id: None,
        }
    }

    /// AQL-6.2-4, AQL-4.3-1, AQL-5.3-2: the signature covers each part of what a token is for, and of when it was issued.
    #[test]
    fn every_part_is_signed() {
        let carried = [7; CARRIED_BYTES];
        let signature = |carried: &[u8], scope: &Scope, generation| {
            let mac = key(1).sign(carried, scope, generation);
            mac.finalize().into_bytes().to_vec()
        };
        let signed = signature(&carried, &scope(), 1);
        assert_eq!(signature(&carried, &scope(), 1), signed);
        let changes: [fn(&mut Scope); 6] = [
            |scope| scope.purpose = Purpose::QuotaContinue,
            |scope| scope.operation = OperationName::parse("Delete_repo").expect("a name"),
            |scope| scope.operation = OperationName::parse("delete_org").expect("a name"),
            |scope| scope.parameters = ParametersHash::of_canonical("{ }"),
            |scope| scope.adapter = adapter("Github"),
            |scope| scope.adapter = adapter("gitlab"),
        ];
        for change in changes {
            let mut other = scope();
            change(&mut other);
            assert_ne!(signature(&carried, &other, 1), signed, "{other:?}");
        }
        for generation in [0, 2, 1 + (1 << 8), 1 + (1 << 32), 1 + (1 << 56)] {
            assert_ne!(signature(&carried, &scope(), generation), signed);
        }
        for at in 0..CARRIED_BYTES {
            let mut other = carried;
            other[at] ^= 1;
            assert_ne!(signature(&other, &scope(), 1), signed, "{at}");
        }
    }

    /// AQL-5.1-1, AQL-5.1-5, AQL-5.1-7: a token carries its life, whatever that is, and nothing that could not be one.
    #[test]
    fn a_token_carries_its_life() {
        for danger_level in DangerLevel::ALL {
            for (seconds, tolerance) in [(1, 0), (120, 30), (900, 300), (0xfff, 255)] {
                let life = Life {
                    expires_at: Timestamp::from_millis(1_779_632_540_123),
                    seconds,
                    danger_level,
                    tolerance: Tolerance::from_seconds(tolerance).expect("in bounds"),
                };
                let carried = life.carried(7, 9).expect("in range");
                assert_eq!(Life::carried_in(&carried), Some(life));
            }
        }
        // AQL-5.3-2: the last eight bits of the generation.
        let life = Life::carried_in(&[0; CARRIED_BYTES]).expect("a life");
        let carried = life.carried((7 << 8) + 3, 0).expect("in range");
        assert_eq!(carried[0], 3);
        // A level of 5, a tolerance of 301 s.
        for packed in [5 << TOLERANCE_BITS, 301_u32] {
            let mut carried = [0; CARRIED_BYTES];
            carried[7..10].copy_from_slice(&packed.to_be_bytes()[1..]);
            assert_eq!(Life::carried_in(&carried), None, "{packed}");
        }
    }

    /// AQL-6.2-2, AQL-5.3-1: keys, generations and what was given back survive storage.
    #[test]
    fn every_field_survives_storage() {
        let new = Signer::new(key(1));
        let mut signer = new.clone();
        signer.rotate(key(2));
        signer.revoke_adapter(&adapter("github"));
        let life = Life {
            expires_at: Timestamp::from_millis(1),
            seconds: 1,
            danger_level: DangerLevel::Dangerous,
            tolerance: Tolerance::default(),
        };
        let token = signer.sign(&scope(), life, 5).expect("signed");
        let received = Received::parse(token.as_str()).expect("a token");
        let revoked = signer.revoke(&received, Timestamp::MIN);
        assert_eq!(revoked, Some(Ok(())));
        assert_every_field_differs!(
            Signer {
                current,
                previous,
                generations,
                revoked
            },
            &signer,
            new
        );
        let written = serde_json::to_string(&signer).expect("serialises");
        let read: Signer = serde_json::from_str(&written).expect("written by a signer");
        assert_eq!(read, signer);
    }
}
