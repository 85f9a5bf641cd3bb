//! What the gatekeeper does with a query: `introspect`, to revoke a token or to ask for its status.

use super::bounds::Disturbance;
use super::message::Carried;
use super::output::{Output, Outputs, Status};
use super::readings::TokenStorage;
use super::rules::{Code, Guard};
use super::state::Phase;
use super::step::{StepSoFar, Tried};
use super::validate::Memory;
use super::words::{Slot, Which};

/// The adapter that is asked about tokens.
const ASKED: Which = Which::First;

impl StepSoFar<'_> {
    /// `introspect`, `revoke_token`.
    pub(super) fn revoke_by_hand(&mut self, carried: Carried) -> Option<()> {
        // AQL-6.5-1: whatever comes of it.
        if self.is_limited(Tried::Revocation) {
            self.required.push(Output::Limited);
            return Some(());
        }
        self.count(Tried::Revocation);
        let known = self.known(carried, Memory::Remembers);
        let live = known.filter(|&slot| self.is_live(self.state.token(slot)));
        if let Some(slot) = live {
            self.state.budgets.spend(Disturbance::Revoke)?;
            // AQL-5.3-3
            if self.model.rules.forbid(Guard::IgnoresRevocation) {
                self.revoke(slot);
            } else {
                self.required.push(Output::Revoked(slot));
            }
            self.required.push(Output::AnswerRevocation);
            return Some(());
        }
        self.required = self.nothing_to_revoke(known.is_some());
        if self.known(carried, Memory::Purged).is_none() {
            self.instead = Some(self.nothing_to_revoke(false));
        }
        Some(())
    }

    /// What comes out when there is nothing to revoke: a token that is not live any more, or an unknown one. In the mode
    /// without oracle the two are answered alike (AQL-6.3-2).
    fn nothing_to_revoke(&self, known: bool) -> Outputs {
        let mut outputs = Outputs::none();
        // AQL-6.4-1: this too is an operation on a token.
        if self.model.rules.forbid(Guard::RevokesUnaudited) {
            outputs.push(Output::NotRevoked);
        }
        let uniform = self.is_uniform() && self.model.rules.forbid(Guard::TellsCheck);
        outputs.push(if known || uniform {
            Output::AnswerRevocation
        } else {
            Output::Fail(Code::Invalid)
        });
        outputs
    }

    /// A live token is revoked.
    pub(super) fn revoke(&mut self, slot: Slot) {
        self.state.tokens[slot.index()].phase = Phase::Revoked;
        // AQL-6.4-1: every revocation is logged.
        if self.model.rules.forbid(Guard::RevokesUnaudited) {
            self.required.push(Output::Revoked(slot));
        }
    }

    /// `introspect`, `token_status`.
    pub(super) fn ask_status(&mut self, carried: Carried) {
        // AQL-6.5-1: to tell of a token whether it is good is to validate it.
        if self.is_limited(Tried::Validation(ASKED)) {
            self.required.push(Output::Limited);
            return;
        }
        let known = self.known(carried, Memory::Remembers);
        let is_good = known.is_some_and(|slot| self.is_live(self.state.token(slot)));
        let is_good = is_good && self.model.reading.token_storage == TokenStorage::Kept;
        if !is_good && self.model.rules.forbid(Guard::CountsNoStatus) {
            self.count(Tried::Validation(ASKED));
        }
        for memory in [Memory::Remembers, Memory::Purged] {
            let mut outputs = Outputs::none();
            outputs.push(Output::AnswerStatus(self.status(carried, memory)));
            match memory {
                Memory::Remembers => self.required = outputs,
                Memory::Purged => self.instead = Some(outputs),
            }
        }
    }

    /// AQL-7.3-1: what is told of a token; revoked before expired before consumed, as a call would find.
    fn status(&self, carried: Carried, memory: Memory) -> Status {
        let status = match self.known(carried, memory) {
            None => Status::Unknown,
            Some(slot) => {
                let token = self.state.token(slot);
                if token.phase == Phase::Revoked {
                    Status::Revoked
                } else if self.is_past(token) {
                    Status::Expired
                } else if token.phase == Phase::Consumed {
                    Status::Consumed
                } else if self.model.reading.token_storage == TokenStorage::Signed {
                    // AQL-7.3-2: of one that never came with its call nothing is kept.
                    Status::Unknown
                } else {
                    return Status::Live {
                        uses_left: token.uses_left(),
                    };
                }
            }
        };
        let rules = self.model.rules;
        if rules.allow(Guard::MisstatesStatus) {
            Status::Live { uses_left: 1 }
        } else if self.is_uniform() && rules.forbid(Guard::TellsStatus) {
            // AQL-6.3-2
            Status::Unknown
        } else {
            status
        }
    }
}
