//! The checks of a token, in the order of the reading.
//!
//! The one thing to know: the first check that fails is the one that the audit names and the code tells. A check whose
//! guard is left out passes everything.

use super::message::{Call, Carried};
use super::readings::{PurgeCode, RatingAtRedemption};
use super::rules::{Check, Guard};
use super::state::{Phase, Token};
use super::step::StepSoFar;
use super::words::{List, Parameters, Scope, Slot};

/// Whether a store that may have purged a token is taken to remember it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// It remembers what it may.
    Remembers,
    /// It has purged all that can never be valid again.
    Purged,
}

impl StepSoFar<'_> {
    /// The checks in their order, each unless its guard is left out. A call that passes names the token that admits it.
    pub(super) fn validate(&self, call: Call, memory: Memory) -> Result<Slot, Check> {
        let slot = self.issued_token(call, memory)?;
        let token = self.state.token(slot);
        let order = self.model.reading.check_order.checks();
        match order.iter().find(|&&check| self.fails(check, call, token)) {
            Some(&check) => Err(check),
            None => Ok(slot),
        }
    }

    /// AQL-4.1-1: the token that the call carries, if the gatekeeper knows it. Left out, a stray one falls to any live one.
    fn issued_token(&self, call: Call, memory: Memory) -> Result<Slot, Check> {
        if let Some(slot) = self.known(call.token, memory) {
            return Ok(slot);
        }
        let stray = self.state.slots_where(|token| self.is_live(token));
        stray
            .into_iter()
            .flatten()
            .next()
            .filter(|_| self.model.rules.allow(Guard::HonoursGuessed))
            .ok_or(Check::Exists)
    }

    /// The slot of a token that the gatekeeper knows.
    pub(super) fn known(&self, carried: Carried, memory: Memory) -> Option<Slot> {
        let Carried::Token(slot) = carried else {
            return None;
        };
        let token = self.state.token(slot);
        let held = match token.phase {
            Phase::Unissued | Phase::Lost => false,
            Phase::Live | Phase::Consumed | Phase::Revoked => true,
        };
        let forgotten = if self.is_past(token) {
            match self.model.reading.purge_code {
                PurgeCode::Either => memory == Memory::Purged,
                PurgeCode::Unknown => token.purged,
                PurgeCode::Remembered => false,
            }
        } else {
            token.purged
        };
        (held && !forgotten).then_some(slot)
    }

    /// Whether the call fails this check.
    fn fails(&self, check: Check, call: Call, token: &Token) -> bool {
        let rules = self.model.rules;
        let (named, bound) = (call.scope, token.scope);
        match check {
            Check::Exists => false,
            // AQL-5.3-1
            Check::NotRevoked => {
                token.phase == Phase::Revoked && rules.forbid(Guard::HonoursRevoked)
            }
            // AQL-4.1-2, AQL-5.1-3
            Check::NotExpired => self.is_past(token) && rules.forbid(Guard::HonoursExpired),
            // AQL-4.1-3, AQL-5.2-1
            Check::NotUsed => token.phase == Phase::Consumed && rules.forbid(Guard::HonoursUsed),
            // AQL-2.1-1
            Check::Purpose => {
                named.purpose != bound.purpose && rules.forbid(Guard::HonoursOtherPurpose)
            }
            // AQL-4.1-4
            Check::Operation => {
                named.operation != bound.operation && rules.forbid(Guard::HonoursOtherOperation)
            }
            // AQL-4.1-5, AQL-4.3-1
            Check::Parameters => {
                self.differs(named, bound) && rules.forbid(Guard::HonoursOtherParameters)
            }
            // AQL-4.1-6
            Check::Adapter => {
                named.adapter != bound.adapter && rules.forbid(Guard::HonoursOtherAdapter)
            }
            // AQL-5.1-1, unless the reading does not ask for it.
            Check::Rating => {
                let asks = self.model.reading.rating_at_redemption == RatingAtRedemption::Checked;
                call.rated_higher && asks
            }
            // AQL-5.4-4
            Check::Session => {
                let elsewhere = bound.session.is_some() && named.session != bound.session;
                elsewhere && rules.forbid(Guard::HonoursOtherSession)
            }
        }
    }

    /// AQL-3.2-4: whether a parameter that counts differs, as this gatekeeper reckons.
    fn differs(&self, named: Scope, bound: Scope) -> bool {
        let rules = self.model.rules;
        let is_third = named.parameters == Parameters::Third;
        if self.state.lists_nothing(bound) {
            let counts = rules.forbid(Guard::BindsNothing);
            return counts && self.state.differs(named, bound);
        }
        match self.state.list(bound) {
            List::Narrow if is_third && rules.allow(Guard::CountsUnlisted) => true,
            List::Wide if is_third && rules.allow(Guard::OverlooksListed) => false,
            List::Unset if is_third && rules.allow(Guard::OverlooksUnsaid) => false,
            List::Unset | List::Narrow | List::Wide => self.state.differs(named, bound),
        }
    }

    /// AQL-5.1-7: whether expiry and tolerance have passed, as this gatekeeper reckons.
    pub(super) fn is_past(&self, token: &Token) -> bool {
        let rules = self.model.rules;
        let configured = self.state.tolerance();
        let tolerance = if rules.allow(Guard::ExpiresEarly) {
            0
        } else if configured == 0 && rules.allow(Guard::TakesZeroForDefault) {
            // The default is 30 seconds and is taken to be a tick: what matters is that it is more than none.
            1
        } else {
            configured
        };
        token.is_past(self.now, tolerance)
    }

    /// Whether it can still admit a call, as this gatekeeper reckons.
    pub(super) fn is_live(&self, token: &Token) -> bool {
        token.phase == Phase::Live && !token.purged && !self.is_past(token)
    }
}
