//! What is different where tokens are signed instead of kept (section 6.2).
//!
//! The one thing to know: a signed token that comes with its call for the first time is entered among the tokens, as it
//! would have been at its issue. From then on it is checked, used, taken back, logged and forgotten like any other. So
//! single use needs memory all the same, but only of the tokens that came back.
//!
//! What the signature cannot do, against the store that section 6.2 recommends (AQL-7.2-1):
//!
//! - As long as a token has not come with its call, it can be told that it was issued for another (AQL-4.1-4 to AQL-4.1-6) and
//!   not in what the two differ, unless it is the purpose: [`FailureReason::OtherScope`]. Nor is its status told: it is as
//!   unknown. One that had ended with its adapter before is for another call too, once the adapter's have ended 256 times more.
//! - Such a token can be given back by its holder as long as it lives, and one that was altered or has expired cannot: it
//!   carries its life, and a mark over each of its bits. But the mark has 48 bits, so that one in 2^48 forgeries is taken
//!   back, or refused, as if it had been issued; and the log does not say what a token was for, nor that it had ended with its adapter
//!   before. Where all tokens of an adapter end, or all there are, the log names those that had come, and one entry stands
//!   for all others (AQL-6.4-1), if there are any.
//! - No token may be used more than once, and none is bound to a session. Its entropy is the 128 bits required, not the
//!   256 recommended (AQL-3.1-1, AQL-3.1-2).
//! - The capacity bounds neither what is issued, which takes no memory, nor what is redeemed: who holds a good token is not
//!   sent away. What was redeemed is remembered until it has expired, twenty minutes at most. So the memory is bounded by
//!   what can be issued in that time: by the limit of issuance, which a host that signs should set (AQL-6.5-1).
//! - Where a restart leaves nothing it leaves no key either, for with the key alone what was used would be good again.

use std::num::NonZeroU32;

use super::audit::FailureReason;
use super::digest::ParametersHash;
use super::gated::Gated;
use super::gatekeeper::Handling;
use super::interface::Refusal;
use super::limits::time_to_live;
use super::signed::{Life, SigningKey};
use super::token::{IssuedToken, Phase, Scope};
use super::validate::{Presented, Received, check};
use super::vocabulary::{AdapterName, CheckOrder, ConfirmationToken, OperationName, TokenEvent};
use crate::time::Timestamp;

impl Handling<'_> {
    /// Signs with another key from now on.
    pub(super) fn rotate_key(&mut self, key: SigningKey) -> Result<(), Refusal> {
        let signer = self.signer.as_mut().ok_or(Refusal::NoKey)?;
        signer.rotate(key);
        Ok(())
    }

    /// AQL-5.2-3, AQL-5.4-2: what counts its uses, or ends with a session, has to be remembered from the first.
    pub(super) fn check_session(&self, gated: &Gated) -> Result<(), Refusal> {
        if self.signer.is_some() && gated.bound_to.is_some() {
            return Err(Refusal::SessionWithoutStore);
        }
        Ok(())
    }

    /// AQL-3.1-2, AQL-3.1-3: 256 bits from the host's generator, and nothing else; or 128 of them (AQL-3.1-1), signed.
    pub(super) fn draw(
        &mut self,
        gated: &Gated,
        parameters: ParametersHash,
    ) -> Result<ConfirmationToken, Refusal> {
        let Some(signer) = self.signer else {
            let bits = [self.ids.next_bits(), self.ids.next_bits()];
            return Ok(ConfirmationToken::from_bits(gated.purpose, bits));
        };
        let life = Life {
            expires_at: gated.expires_at,
            seconds: u16::try_from(gated.life_seconds).map_err(|_| Refusal::WithoutExpiry)?,
            danger_level: gated.danger_level,
            tolerance: gated.configuration.tolerance,
        };
        // An expiry that the token cannot carry would be none.
        let signed = signer.sign(&gated.scope(parameters), life, self.ids.next_bits());
        signed.ok_or(Refusal::WithoutExpiry)
    }

    /// Remembers a token that was issued, unless its signature says all there is to say.
    ///
    /// That keeps the memory bounded: of each adapter there are at most as many tokens that can be used as the capacity
    /// says, and as many that have ended when another comes. Beyond that, the one that would expire first is forgotten:
    /// what is not remembered is not honoured, so what was used stays used (AQL-6.1-1).
    pub(super) fn keep(&mut self, token: IssuedToken) {
        if self.signer.is_none() {
            let at_most = self.settings.capacity.ended();
            let adapter = &token.scope.adapter;
            self.tokens.bound_ended(adapter, at_most, Timestamp::MAX);
            self.tokens.add(token);
        }
    }

    /// Remembers a signed token from now on, if it is one that was issued for this very call (AQL-4.3-1). One that was issued
    /// for another is known as that on first sight, for it carries its life and a mark (AQL-6.2-2), and so is one that has long
    /// expired.
    pub(super) fn recall(
        &mut self,
        received: &Received,
        gated: &Gated,
        presented: &Presented<'_>,
    ) -> Result<(), FailureReason> {
        let Some(signer) = self.signer.as_ref() else {
            return Ok(());
        };
        if self.tokens.find(&received.digest).is_some() {
            return Ok(());
        }
        let scope = gated.scope(presented.parameters);
        let (life, bound) = signer.verify(received, &scope)?;
        let token = self.issued(received, scope, life);
        let token = token.ok_or(FailureReason::Unknown)?;
        bound.map_err(|reason| match self.settings.check_order {
            // AQL-4.1-2
            CheckOrder::Table if token.has_expired(self.now) => FailureReason::Expired,
            // It was issued for such a call, so that the sample comes to its expiry, unless the call is rated higher.
            CheckOrder::Sample
                if reason == FailureReason::Revoked && token.has_expired(self.now) =>
            {
                let failed = check(presented, &token, CheckOrder::Sample);
                failed.err().unwrap_or(reason)
            }
            CheckOrder::Table | CheckOrder::Sample => reason,
        })?;
        // AQL-5.5-2: what would be forgotten next is not entered, or old tokens that come again and again would fill the memory.
        if token.valid_until < self.settings.retention.beginning(self.now) {
            return check(presented, &token, self.settings.check_order);
        }
        let (at_most, adapter) = (self.settings.capacity.ended(), &token.scope.adapter);
        self.tokens.make_room(adapter, self.now);
        // AQL-6.1-1: never before it has expired, for its signature would make it good again.
        self.tokens.bound_ended(adapter, at_most, self.now);
        self.tokens.add(token);
        Ok(())
    }

    /// The token as it was when it was issued, unless it cannot have been: another gatekeeper may have the same key.
    fn issued(&self, received: &Received, scope: Scope, life: Life) -> Option<IssuedToken> {
        let Life {
            expires_at,
            seconds,
            danger_level,
            tolerance: _,
        } = life;
        // AQL-5.1-7: the tolerance is that of its issue.
        let valid_until = life.valid_until()?;
        // AQL-5.1-1
        time_to_live(received.token.purpose(), danger_level, Some(seconds.into())).ok()?;
        let issued_at = expires_at.millis() - i64::from(seconds) * 1_000;
        let issued_at = Timestamp::from_millis(issued_at);
        if issued_at > self.now {
            return None;
        }
        Some(IssuedToken {
            digest: received.digest,
            scope,
            danger_level,
            issued_at,
            expires_at,
            valid_until,
            max_uses: NonZeroU32::MIN,
            phase: Phase::Live {
                uses_left: NonZeroU32::MIN,
            },
        })
    }

    /// The expiry of a token, remembered or signed, that was issued here.
    pub(super) fn expiry_of(&self, received: &Received) -> Option<Timestamp> {
        let kept = self.tokens.find(&received.digest);
        kept.map(|number| self.tokens.get(number).expires_at)
            .or_else(|| {
                let life = self.signer.as_ref()?.life_of(&received.token)?;
                Some(life.expires_at)
            })
    }

    /// Takes back a signed token that has not come with its call (AQL-5.3-1, AQL-5.3-3). Nothing, if it is none.
    pub(super) fn revoke_unkept(
        &mut self,
        received: &Received,
    ) -> Option<Result<(), FailureReason>> {
        let now = self.now;
        let signer = self.signer.as_mut();
        signer.and_then(|signer| signer.revoke(received, now))
    }

    /// Takes back all signed tokens of an adapter, whoever has them (AQL-5.3-2).
    pub(super) fn end_unkept_of(&mut self, adapter: &AdapterName) {
        if let Some(signer) = self.signer {
            signer.revoke_adapter(adapter);
            self.audit_all_unkept(adapter.clone());
        }
    }

    /// Takes back all signed tokens, whoever has them (AQL-5.3-2).
    pub(super) fn end_unkept(&mut self) {
        if let Some(signer) = self.signer {
            let bits = [self.ids.next_bits(), self.ids.next_bits()];
            signer.start_anew(SigningKey::from_bits(bits));
            self.audit_all_unkept(AdapterName::all());
        }
    }

    /// AQL-6.4-1: how many there are nobody knows, nor which, so that one entry stands for all.
    fn audit_all_unkept(&mut self, adapter: AdapterName) {
        let (event, operation) = (TokenEvent::TokenRevoked, OperationName::all());
        self.audit(event, None, operation, adapter, None, None);
    }
}
