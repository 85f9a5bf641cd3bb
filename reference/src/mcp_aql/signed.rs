//! Signed tokens: the alternative of section 6.2, for a host that cannot keep what it issues (AQL-7.3-2).
//!
//! The one thing to know: the grammar leaves 64 characters, so a token carries only what a call cannot repeat (key,
//! expiry, life, 128 random bits) and a signature over that *and* over everything that the call has to repeat:
//! purpose, operation, hash of the parameters, adapter, session. Nothing of the payload is left unsigned
//! (AQL-6.2-4), and nothing of the operation can be read off the token (AQL-6.3-3).
//!
//! What that costs, against the store that section 6.2 recommends (AQL-7.2-1):
//!
//! - A token for something else and a forged one cannot be told apart: both are [`FailureReason::Unknown`].
//! - Single use needs memory all the same, but only of tokens that were used, and only until they would have expired.
//! - A token can only be revoked by someone who knows what it is for; all can be, by rotating the key twice.
//! - No token may be used more than once, and its entropy is the 128 bits required, not the 256 recommended
//!   (AQL-3.1-1, AQL-3.1-2).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::audit::FailureReason;
use super::base64url;
use super::digest::{Digest, TokenDigest};
use super::interface::Refusal;
use super::limits::time_to_live;
use super::settings::Tolerance;
use super::token::Scope;
use super::vocabulary::{ConfirmationToken, DangerLevel};
use crate::ids::IdSource;
use crate::time::Timestamp;

/// What a token carries in the open: key 1, expiry 6, life 2, random 16.
const CARRIED_BYTES: usize = 25;

/// What fits behind it: 184 bits of the signature.
const SIGNATURE_BYTES: usize = base64url::BYTES - CARRIED_BYTES;

/// The longest tolerance there can be, in seconds.
const LONGEST_TOLERANCE: u32 = 300;

/// How many spent tokens a call forgets at most.
const FORGOTTEN_PER_CALL: usize = 256;

/// Issues tokens that need no store, and redeems each of them once.
///
/// Serialised it holds the keys: keep the document from clients as you keep the keys (AQL-6.2-3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedTokens {
    current: NumberedKey,
    /// Signed what may still be on its way.
    previous: Option<NumberedKey>,
    /// The greatest time that any call came with.
    now: Timestamp,
    spent: Spent,
}

/// A secret of 256 bits. It does not show itself when it is printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SigningKey(Digest);

/// A key, with the number that its tokens carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct NumberedKey {
    number: u8,
    key: SigningKey,
}

/// A signed token and when it expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedToken {
    /// The token.
    pub token: ConfirmationToken,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// The tokens that must not be honoured again, until they could not be anyway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    from = "BTreeMap<TokenDigest, Timestamp>",
    into = "BTreeMap<TokenDigest, Timestamp>"
)]
struct Spent {
    until: BTreeMap<TokenDigest, Timestamp>,
    by_time: BTreeSet<(Timestamp, TokenDigest)>,
}

/// What stands in a token in the open.
struct Carried {
    key_number: u8,
    expires_at: Timestamp,
    life_seconds: u16,
    random: u128,
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

impl SignedTokens {
    /// Signs with that key from now on.
    pub fn new(key: SigningKey) -> Self {
        Self {
            current: NumberedKey { number: 0, key },
            previous: None,
            now: Timestamp::MIN,
            spent: Spent::default(),
        }
    }

    /// Signs with another key from now on. Tokens signed with the one before are honoured as long as they live;
    /// those signed with still earlier ones are not any more.
    pub fn rotate(&mut self, key: SigningKey) {
        let number = self.current.number.wrapping_add(1);
        let current = NumberedKey { number, key };
        self.previous = Some(std::mem::replace(&mut self.current, current));
    }

    /// Issues a token that is bound to `scope` and nothing else (AQL-3.2-1), for the time that section 5.1 allows.
    ///
    /// # Errors
    ///
    /// [`Refusal`] where the time asked for is not allowed (AQL-5.1-1, AQL-5.1-2).
    pub fn issue(
        &mut self,
        now: Timestamp,
        ids: &mut impl IdSource,
        scope: &Scope,
        danger_level: DangerLevel,
        ttl_seconds: Option<u64>,
    ) -> Result<SignedToken, Refusal> {
        self.advance(now);
        let seconds = time_to_live(scope.purpose, danger_level, ttl_seconds)?;
        let expires_at = self.now.checked_plus_seconds(seconds);
        let expires_at = expires_at.ok_or(Refusal::WithoutExpiry)?;
        let carried = Carried {
            key_number: self.current.number,
            expires_at,
            life_seconds: u16::try_from(seconds).map_err(|_| Refusal::WithoutExpiry)?,
            random: ids.next_bits(),
        };
        // A time that the token cannot carry would be no expiry.
        let carried = carried.to_bytes().ok_or(Refusal::WithoutExpiry)?;
        let signature = self.current.key.sign(&carried, scope).finalize();
        let signature = signature.into_bytes();
        let mut bytes = [0; base64url::BYTES];
        let (open, signed) = bytes.split_at_mut(CARRIED_BYTES);
        open.copy_from_slice(&carried);
        signed.copy_from_slice(&signature[..SIGNATURE_BYTES]);
        let token = ConfirmationToken::with_identifier(scope.purpose, &base64url::encode(&bytes));
        Ok(SignedToken { token, expires_at })
    }

    /// Honours a token for `scope`, once. `scope` is made anew from the call that the token came with (AQL-4.3-1).
    ///
    /// # Errors
    ///
    /// Why the token is not honoured; it is then as it was.
    pub fn redeem(
        &mut self,
        now: Timestamp,
        token: &str,
        scope: &Scope,
        tolerance: Tolerance,
    ) -> Result<(), FailureReason> {
        self.advance(now);
        let (digest, expires_at) = self.verify(token, scope)?;
        // AQL-4.1-2, AQL-5.1-7: expired only after the expiry and the tolerance.
        let valid_until = after(expires_at, tolerance.seconds());
        if self.now > valid_until {
            return Err(FailureReason::Expired);
        }
        // AQL-4.1-3, AQL-6.1-1, AQL-5.2-2: whoever is first has it, before anything is run.
        self.spend(digest, expires_at)
    }

    /// Makes a token for `scope` worthless (AQL-5.3-1, AQL-7.2-2).
    ///
    /// # Errors
    ///
    /// Why there is nothing to revoke.
    pub fn revoke(
        &mut self,
        now: Timestamp,
        token: &str,
        scope: &Scope,
    ) -> Result<(), FailureReason> {
        self.advance(now);
        let (digest, expires_at) = self.verify(token, scope)?;
        self.spend(digest, expires_at)
    }

    /// How many spent tokens are remembered.
    pub fn spent(&self) -> usize {
        self.spent.until.len()
    }

    /// Time has passed.
    fn advance(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        self.spent.forget_before(self.now);
    }

    /// The signature is checked before anything that it signs is believed.
    fn verify(
        &self,
        token: &str,
        scope: &Scope,
    ) -> Result<(TokenDigest, Timestamp), FailureReason> {
        // AQL-2.2-1
        let token = ConfirmationToken::parse(token).map_err(|_| FailureReason::Malformed)?;
        let bytes = base64url::decode(token.identifier()).ok_or(FailureReason::Unknown)?;
        let (open, signature) = bytes.split_at(CARRIED_BYTES);
        let (number, expires_at) = Carried::key_and_expiry(open).ok_or(FailureReason::Unknown)?;
        let key = self.key(number).ok_or(FailureReason::Unknown)?;
        // AQL-2.1-1: the prefix is not covered by the bytes, but the purpose is by the signature.
        let is_for_scope = token.purpose() == scope.purpose;
        // AQL-6.2-2: compared in constant time.
        let verified = key.sign(open, scope).verify_truncated_left(signature);
        // AQL-1.2-4, AQL-4.1-4, AQL-4.1-5, AQL-4.1-6
        if verified.is_err() || !is_for_scope {
            return Err(FailureReason::Unknown);
        }
        Ok((TokenDigest::of(&token), expires_at))
    }

    fn key(&self, number: u8) -> Option<&SigningKey> {
        let keys = std::iter::once(&self.current).chain(&self.previous);
        let mut matching = keys.filter(|numbered| numbered.number == number);
        matching.next().map(|numbered| &numbered.key)
    }

    fn spend(&mut self, digest: TokenDigest, expires_at: Timestamp) -> Result<(), FailureReason> {
        if self.spent.until.contains_key(&digest) {
            return Err(FailureReason::AlreadyUsed);
        }
        // Not only for the tolerance of today: were a longer one chosen tomorrow, the token would be good again.
        self.spent.add(digest, after(expires_at, LONGEST_TOLERANCE));
        Ok(())
    }
}

impl SigningKey {
    /// The signature over what the token carries and what the call repeats (AQL-6.2-2, AQL-6.2-4).
    fn sign(&self, carried: &[u8], scope: &Scope) -> Hmac<Sha256> {
        let Scope {
            purpose,
            operation,
            parameters,
            adapter,
            session_id,
        } = scope;
        // HMAC fills a short key up with zeros; a whole block cannot be refused.
        let mut block = [0; 64];
        block[..32].copy_from_slice(self.0.bytes());
        let mut mac = Hmac::<Sha256>::new(&block.into());
        let session = session_id
            .as_ref()
            .map(|session| session.as_str().as_bytes());
        for field in [
            Some(carried),
            Some(purpose.prefix().as_bytes()),
            Some(operation.as_str().as_bytes()),
            Some(parameters.bytes()),
            Some(adapter.as_str().as_bytes()),
            session,
        ] {
            // With its length before it no field can pass for part of another, and none for one that is absent.
            let length = field.map_or(u64::MAX, |field| field.len() as u64);
            mac.update(&length.to_be_bytes());
            mac.update(field.unwrap_or_default());
        }
        mac
    }
}

impl Carried {
    fn to_bytes(&self) -> Option<[u8; CARRIED_BYTES]> {
        let millis = u64::try_from(self.expires_at.millis()).ok()?;
        let [0, 0, millis @ ..] = millis.to_be_bytes() else {
            return None;
        };
        let mut bytes = [0; CARRIED_BYTES];
        bytes[0] = self.key_number;
        bytes[1..7].copy_from_slice(&millis);
        bytes[7..9].copy_from_slice(&self.life_seconds.to_be_bytes());
        bytes[9..].copy_from_slice(&self.random.to_be_bytes());
        Some(bytes)
    }

    /// The number of the key and the expiry. The rest only has to be there for the signature to be right.
    fn key_and_expiry(bytes: &[u8]) -> Option<(u8, Timestamp)> {
        let (&key_number, rest) = bytes.split_first()?;
        let expiry = rest.first_chunk::<6>()?;
        let millis = expiry
            .iter()
            .fold(0, |sum, &byte| sum << 8 | i64::from(byte));
        Some((key_number, Timestamp::from_millis(millis)))
    }
}

/// Later than a time by so many seconds, or the last time there is.
fn after(time: Timestamp, seconds: u32) -> Timestamp {
    time.checked_plus_seconds(seconds).unwrap_or(Timestamp::MAX)
}

impl Spent {
    fn add(&mut self, digest: TokenDigest, until: Timestamp) {
        self.until.insert(digest, until);
        self.by_time.insert((until, digest));
    }

    /// Forgets some of those that could not be honoured any more before `now`.
    fn forget_before(&mut self, now: Timestamp) {
        for _ in 0..FORGOTTEN_PER_CALL {
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

impl From<BTreeMap<TokenDigest, Timestamp>> for Spent {
    fn from(until: BTreeMap<TokenDigest, Timestamp>) -> Self {
        let by_time = until
            .iter()
            .map(|(&digest, &time)| (time, digest))
            .collect();
        Self { until, by_time }
    }
}

impl From<Spent> for BTreeMap<TokenDigest, Timestamp> {
    fn from(spent: Spent) -> Self {
        spent.until
    }
}
