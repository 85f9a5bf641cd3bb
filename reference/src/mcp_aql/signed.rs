//! Signed tokens: the alternative of section 6.2, for a host that does not keep what it issues (AQL-7.3-2).
//!
//! The one thing to know: the grammar leaves 64 characters, so a token carries only what a call cannot repeat (key,
//! expiry, life, danger level, 128 random bits), a mark that it was issued here, and a signature over what it carries
//! *and* over everything that the call has to repeat: purpose, operation, hash of the parameters, adapter. Nothing of
//! the payload is left unsigned (AQL-6.2-4), and nothing of the operation can be read off the token (AQL-6.3-3).
//!
//! How the gatekeeper uses it, and what it costs against the store that section 6.2 recommends, is in `stateless`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::audit::FailureReason;
use super::base64url;
use super::digest::{Digest, TokenDigest};
use super::token::Scope;
use super::validate::Received;
use super::vocabulary::{AdapterName, ConfirmationToken, DangerLevel};
use crate::time::Timestamp;

/// What a token carries in the open: key 1, expiry 6, life 2, danger level 1, random 16.
const CARRIED_BYTES: usize = 26;

/// What fits behind it: 48 bits of the mark, by which alone nothing is run, and 128 of the signature.
const MARK_BYTES: usize = 6;

/// The longest tolerance there can be, in seconds.
const LONGEST_TOLERANCE: u32 = 300;

/// Signs tokens, and knows its own.
///
/// Serialised it holds the keys: keep the document from clients as you keep the keys (AQL-6.2-3).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Signer {
    current: NumberedKey,
    /// Signed what may still be on its way.
    previous: Option<NumberedKey>,
    /// How often all tokens of an adapter were taken back. It is signed along, so that none from before is good.
    generations: BTreeMap<AdapterName, u64>,
    revoked: Revoked,
}

/// A secret of 256 bits. It does not show itself when it is printed.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SigningKey(Digest);

/// A key, with the number that its tokens carry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NumberedKey {
    number: u8,
    key: SigningKey,
}

/// What a token says of its own life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) expires_at: Timestamp,
    /// How long before that it was issued.
    pub(super) seconds: u16,
    /// Which the bounds of that life depend on.
    pub(super) danger_level: DangerLevel,
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
            current: NumberedKey { number: 0, key },
            previous: None,
            generations: BTreeMap::new(),
            revoked: Revoked::default(),
        }
    }

    /// Signs with another key from now on. Tokens signed with the one before are honoured as long as they live;
    /// those signed with still earlier ones are not any more.
    pub(super) fn rotate(&mut self, key: SigningKey) {
        let number = self.current.number.wrapping_add(1);
        let current = NumberedKey { number, key };
        self.previous = Some(std::mem::replace(&mut self.current, current));
    }

    /// Signs with another key from now on, and honours nothing that was signed before.
    pub(super) fn start_anew(&mut self, key: SigningKey) {
        let number = self.current.number.wrapping_add(1);
        *self = Self::new(key);
        self.current.number = number;
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
        let NumberedKey { number, key } = &self.current;
        let carried = life.carried(*number, random)?;
        let mark = key.mark(&carried, scope.purpose.prefix());
        let signature = key.sign(&carried, scope, self.generation(&scope.adapter));
        let (mark, signature) = (
            mark.finalize().into_bytes(),
            signature.finalize().into_bytes(),
        );
        let parts = carried.iter().chain(&mark[..MARK_BYTES]).chain(&signature);
        let mut bytes = [0; base64url::BYTES];
        bytes
            .iter_mut()
            .zip(parts)
            .for_each(|(byte, &part)| *byte = part);
        let identifier = base64url::encode(&bytes);
        Some(ConfirmationToken::with_identifier(
            scope.purpose,
            &identifier,
        ))
    }

    /// What a token says of its life, if it was signed for `scope`, which is made anew from the call that it came with
    /// (AQL-4.3-1).
    pub(super) fn verify(&self, received: &Received, scope: &Scope) -> Result<Life, FailureReason> {
        let token = Parts::of(&received.token).ok_or(FailureReason::Unknown)?;
        let key = self.key_of(&token).ok_or(FailureReason::Unknown)?;
        // AQL-2.1-1: the prefix is not covered by the bytes, but the purpose is by the signature.
        let is_for_scope = received.token.purpose() == scope.purpose;
        let expected = key.sign(token.carried(), scope, self.generation(&scope.adapter));
        // AQL-6.2-2: compared in constant time. AQL-1.2-4, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6: as a whole.
        let verified = expected.verify_truncated_left(token.signature());
        if verified.is_err() || !is_for_scope {
            return Err(FailureReason::Unknown);
        }
        if self.revoked.until.contains_key(&received.digest) {
            return Err(FailureReason::Revoked);
        }
        Life::carried_in(token.carried()).ok_or(FailureReason::Unknown)
    }

    /// Honours a token no more, whatever it is for (AQL-5.3-1). Nothing, if it was not issued here.
    pub(super) fn revoke(
        &mut self,
        received: &Received,
        now: Timestamp,
    ) -> Option<Result<(), FailureReason>> {
        let token = Parts::of(&received.token)?;
        self.key_of(&token)?;
        let life = Life::carried_in(token.carried())?;
        // Which tolerance it has depends on what it is for.
        let until = life.expires_at.checked_plus_seconds(LONGEST_TOLERANCE);
        let until = until.unwrap_or(Timestamp::MAX);
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
        let (&number, _) = token.carried().split_first()?;
        let mut keys = std::iter::once(&self.current).chain(&self.previous);
        let key = &keys.find(|numbered| numbered.number == number)?.key;
        let expected = key.mark(token.carried(), token.prefix);
        expected
            .verify_truncated_left(token.mark())
            .ok()
            .map(|()| key)
    }

    fn generation(&self, adapter: &AdapterName) -> u64 {
        self.generations.get(adapter).copied().unwrap_or_default()
    }
}

impl SigningKey {
    /// That it was issued here, whatever for. It keeps strangers from filling the list of what was given back.
    fn mark(&self, carried: &[u8], prefix: &str) -> Hmac<Sha256> {
        self.over(&[carried, prefix.as_bytes()])
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
    bytes: [u8; base64url::BYTES],
}

impl Parts {
    fn of(token: &ConfirmationToken) -> Option<Self> {
        Some(Self {
            prefix: token.purpose().prefix(),
            bytes: base64url::decode(token.identifier())?,
        })
    }

    fn carried(&self) -> &[u8] {
        &self.bytes[..CARRIED_BYTES]
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
    fn carried(self, key_number: u8, random: u128) -> Option<[u8; CARRIED_BYTES]> {
        let millis = u64::try_from(self.expires_at.millis()).ok()?;
        let [0, 0, millis @ ..] = millis.to_be_bytes() else {
            return None;
        };
        let level = DangerLevel::ALL
            .iter()
            .position(|&level| level == self.danger_level)?;
        let mut bytes = [0; CARRIED_BYTES];
        bytes[0] = key_number;
        bytes[1..7].copy_from_slice(&millis);
        bytes[7..9].copy_from_slice(&self.seconds.to_be_bytes());
        bytes[9] = u8::try_from(level).ok()?;
        bytes[10..].copy_from_slice(&random.to_be_bytes());
        Some(bytes)
    }

    /// What was carried. Key and random bits only have to be there for the signature to be right.
    fn carried_in(bytes: &[u8]) -> Option<Self> {
        let &[_, e0, e1, e2, e3, e4, e5, s0, s1, level, ..] = bytes else {
            return None;
        };
        let millis = u64::from_be_bytes([0, 0, e0, e1, e2, e3, e4, e5]);
        Some(Self {
            expires_at: Timestamp::from_millis(i64::try_from(millis).ok()?),
            seconds: u16::from_be_bytes([s0, s1]),
            danger_level: *DangerLevel::ALL.get(usize::from(level))?,
        })
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
