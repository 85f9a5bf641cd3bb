//! All tokens that are remembered, and the ways to find them.
//!
//! The one thing to know: the tokens by number are the truth; the indexes beside them follow from what never changes
//! in a token, and from whether it has ended. Only [`Tokens::add`], [`Tokens::transition`] and [`Tokens::forget`] touch
//! them. Only the tokens are serialised.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::digest::TokenDigest;
use super::token::{IllegalTransition, IssuedToken, Phase, TokenNumber};
use super::vocabulary::{AdapterName, SessionId, TokenId};
use crate::time::Timestamp;

/// Tokens by the time until which they are taken, then in the order of issue.
type ByExpiry = BTreeSet<(Timestamp, TokenNumber)>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub(super) struct Tokens {
    /// How many were ever issued.
    issued: u64,
    /// A tree that grows at its end stays half empty: with the tokens in boxes, what is empty is small.
    by_number: BTreeMap<TokenNumber, Box<IssuedToken>>,
    /// Short keys make a look-up among a million twice as fast. Two tokens may have the same, so the digest decides.
    by_id: BTreeSet<(TokenId, TokenNumber)>,
    by_expiry: ByExpiry,
    /// Those that are neither used up nor taken back. No adapter has an empty set, here and below.
    unended: BTreeMap<AdapterName, ByExpiry>,
    /// Those that were used up. They are remembered for that, and take no place of one that can be used (AQL-5.5-3).
    used: BTreeMap<AdapterName, ByExpiry>,
    /// Those that were taken back; the same of them. A call with one is told what a call with an unknown one is.
    revoked: BTreeMap<AdapterName, ByExpiry>,
    /// Those that are bound to a session. No session has an empty set.
    of_session: BTreeMap<SessionId, ByExpiry>,
}

/// What is written down of it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    issued: u64,
    tokens: BTreeMap<TokenNumber, Box<IssuedToken>>,
}

/// The list of tokens contradicts itself, so no gatekeeper can have written it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Inconsistent {
    #[error("two tokens are the same")]
    TokenTwice,
    #[error("more tokens are remembered than were issued")]
    NeverIssued,
}

impl Tokens {
    /// Enters a new token, which must not be remembered already.
    pub(super) fn add(&mut self, token: IssuedToken) -> TokenNumber {
        let number = TokenNumber(self.issued);
        self.issued += 1;
        self.enter(number, Box::new(token));
        number
    }

    fn enter(&mut self, number: TokenNumber, mut token: Box<IssuedToken>) {
        let place = (token.valid_until, number);
        self.by_id.insert((token.id(), number));
        self.by_expiry.insert(place);
        let index = match token.phase {
            Phase::Live { .. } => &mut self.unended,
            Phase::Consumed => &mut self.used,
            Phase::Revoked { .. } => &mut self.revoked,
        };
        let of_adapter = index.entry(token.scope.adapter);
        // All tokens of an adapter share the text of its name.
        token.scope.adapter = of_adapter.key().clone();
        of_adapter.or_default().insert(place);
        if let Some(session_id) = &token.scope.session_id {
            let of_session = self.of_session.entry(session_id.clone());
            of_session.or_default().insert(place);
        }
        self.by_number.insert(number, token);
    }

    /// Leaves nothing of a token.
    fn forget(&mut self, number: TokenNumber) {
        let Some(token) = self.by_number.remove(&number) else {
            return;
        };
        let place = (token.valid_until, number);
        self.by_id.remove(&(token.id(), number));
        self.by_expiry.remove(&place);
        remove_from(&mut self.unended, &token.scope.adapter, place);
        remove_from(&mut self.used, &token.scope.adapter, place);
        remove_from(&mut self.revoked, &token.scope.adapter, place);
        if let Some(session_id) = &token.scope.session_id {
            remove_from(&mut self.of_session, session_id, place);
        }
    }

    /// Forgets up to `at_most` tokens that were not taken any more at `time`, the oldest first (AQL-5.5-1).
    pub(super) fn forget_expired(&mut self, time: Timestamp, at_most: usize) {
        for _ in 0..at_most {
            match self.by_expiry.first() {
                Some(&(valid_until, number)) if valid_until < time => self.forget(number),
                Some(_) | None => return,
            }
        }
    }

    /// Forgets one token of that adapter that was not used, and is not taken any more at `now`, if there is one.
    pub(super) fn make_room(&mut self, adapter: &AdapterName, now: Timestamp) {
        let first = self.unended.get(adapter).and_then(BTreeSet::first);
        match first {
            Some(&(valid_until, number)) if valid_until < now => self.forget(number),
            Some(_) | None => {}
        }
    }

    /// Forgets one token of that adapter that has ended and is not taken any more at the time `before` either, if `at_most` or more
    /// of them are remembered: one that was taken back before one that was used.
    pub(super) fn bound_ended(&mut self, adapter: &AdapterName, at_most: usize, before: Timestamp) {
        let (revoked, used) = (self.revoked.get(adapter), self.used.get(adapter));
        let ended = revoked.iter().chain(&used);
        if ended.clone().map(|tokens| tokens.len()).sum::<usize>() < at_most {
            return;
        }
        let first = ended.filter_map(|tokens| tokens.first().copied());
        if let Some((_, number)) = { first }.find(|(valid_until, _)| *valid_until < before) {
            self.forget(number);
        }
    }

    /// Forgets everything, as a process without a store does when it dies. The numbers go on.
    pub(super) fn forget_all(&mut self) {
        *self = Self {
            issued: self.issued,
            ..Self::default()
        };
    }

    pub(super) fn get(&self, number: TokenNumber) -> &IssuedToken {
        &self.by_number[&number]
    }

    pub(super) fn find(&self, digest: &TokenDigest) -> Option<TokenNumber> {
        let from = (digest.id(), TokenNumber(0));
        let to = (digest.id(), TokenNumber(u64::MAX));
        let mut candidates = self.by_id.range(from..=to).map(|&(_, number)| number);
        candidates.find(|&number| self.get(number).digest == *digest)
    }

    /// Everything remembered, in the order of issue.
    pub(super) fn all(&self) -> impl ExactSizeIterator<Item = &IssuedToken> {
        self.by_number.values().map(Box::as_ref)
    }

    /// How many tokens of an adapter are neither used up nor taken back.
    pub(super) fn unended_of(&self, adapter: &AdapterName) -> usize {
        self.unended.get(adapter).map_or(0, BTreeSet::len)
    }

    /// Until when the first to be forgotten is taken.
    pub(super) fn first_expiry(&self) -> Option<Timestamp> {
        self.by_expiry.first().map(|&(valid_until, _)| valid_until)
    }

    /// All live tokens, in the order of issue. What has expired is passed over at once, however much it is.
    pub(super) fn live(&self, now: Timestamp) -> BTreeSet<TokenNumber> {
        self.live_among(Some(&self.by_expiry), now)
    }

    /// The live tokens of an adapter, in the order of issue.
    pub(super) fn live_of_adapter(
        &self,
        adapter: &AdapterName,
        now: Timestamp,
    ) -> BTreeSet<TokenNumber> {
        self.live_among(self.unended.get(adapter), now)
    }

    /// The live tokens that are bound to a session, in the order of issue.
    pub(super) fn live_of_session(
        &self,
        session_id: &SessionId,
        now: Timestamp,
    ) -> BTreeSet<TokenNumber> {
        self.live_among(self.of_session.get(session_id), now)
    }

    /// The live tokens that are bound to any session, in the order of issue.
    pub(super) fn live_of_sessions(&self, now: Timestamp) -> BTreeSet<TokenNumber> {
        let all = self.of_session.values();
        all.flat_map(|tokens| self.live_among(Some(tokens), now))
            .collect()
    }

    fn live_among(&self, tokens: Option<&ByExpiry>, now: Timestamp) -> BTreeSet<TokenNumber> {
        let unexpired = tokens.map(|tokens| tokens.range((now, TokenNumber(0))..));
        unexpired
            .into_iter()
            .flatten()
            .map(|&(_, number)| number)
            .filter(|&number| self.get(number).is_live(now))
            .collect()
    }

    /// Takes one token to its next phase. An illegal transition changes nothing.
    pub(super) fn transition(
        &mut self,
        number: TokenNumber,
        next: impl FnOnce(Phase) -> Result<Phase, IllegalTransition>,
    ) -> Result<(), IllegalTransition> {
        let token = self.by_number.get_mut(&number).ok_or(IllegalTransition)?;
        token.phase = next(token.phase)?;
        let ended = match token.phase {
            Phase::Live { .. } => return Ok(()),
            Phase::Consumed => &mut self.used,
            Phase::Revoked { .. } => &mut self.revoked,
        };
        let (adapter, place) = (&token.scope.adapter, (token.valid_until, number));
        ended.entry(adapter.clone()).or_default().insert(place);
        remove_from(&mut self.unended, adapter, place);
        Ok(())
    }
}

fn remove_from<Key: Ord>(
    index: &mut BTreeMap<Key, ByExpiry>,
    key: &Key,
    place: (Timestamp, TokenNumber),
) {
    if let Some(tokens) = index.get_mut(key) {
        tokens.remove(&place);
        if tokens.is_empty() {
            index.remove(key);
        }
    }
}

impl TryFrom<Written> for Tokens {
    type Error = Inconsistent;

    fn try_from(written: Written) -> Result<Self, Inconsistent> {
        let mut tokens = Self {
            issued: written.issued,
            ..Self::default()
        };
        for (number, token) in written.tokens {
            if number.0 >= written.issued {
                return Err(Inconsistent::NeverIssued);
            }
            if tokens.find(&token.digest).is_some() {
                return Err(Inconsistent::TokenTwice);
            }
            tokens.enter(number, token);
        }
        Ok(tokens)
    }
}

impl From<Tokens> for Written {
    fn from(tokens: Tokens) -> Self {
        Self {
            issued: tokens.issued,
            tokens: tokens.by_number,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::mcp_aql::digest::ParametersHash;
    use crate::mcp_aql::token::Scope;
    use crate::mcp_aql::vocabulary::{
        ConfirmationToken, DangerLevel, OperationName, Purpose, Revoker,
    };

    fn adapter(number: u32) -> AdapterName {
        AdapterName::parse(&format!("adapter {number}")).expect("a name")
    }

    fn session(number: u32) -> SessionId {
        SessionId::parse(&format!("session {number}")).expect("a name")
    }

    fn at(seconds: u32) -> Timestamp {
        Timestamp::from_millis(i64::from(seconds) * 1_000)
    }

    /// Valid until that many seconds, and the number among two adapters and two sessions.
    fn token(number: u32, valid_until: u32) -> IssuedToken {
        let bits = [0, u128::from(number)];
        let token = ConfirmationToken::from_bits(Purpose::Confirmation, bits);
        IssuedToken {
            digest: TokenDigest::of(&token),
            scope: Scope {
                purpose: Purpose::Confirmation,
                operation: OperationName::parse("delete").expect("a name"),
                parameters: ParametersHash::of_canonical("{}"),
                adapter: adapter(number % 2),
                session_id: (!number.is_multiple_of(3)).then(|| session(number % 3)),
            },
            danger_level: DangerLevel::Dangerous,
            issued_at: at(0),
            expires_at: at(valid_until),
            valid_until: at(valid_until),
            max_uses: NonZeroU32::MIN,
            phase: Phase::Live {
                uses_left: NonZeroU32::MIN,
            },
        }
    }

    fn tokens() -> Tokens {
        let mut tokens = Tokens::default();
        for (number, valid_until) in [(0, 5), (1, 1), (2, 3), (3, 3), (4, 2), (5, 4)] {
            tokens.add(token(number, valid_until));
        }
        tokens
    }

    fn numbers(numbers: &[u64]) -> BTreeSet<TokenNumber> {
        numbers.iter().copied().map(TokenNumber).collect()
    }

    /// AQL-5.3-2: those of an adapter, of a session, and all; what has expired is not among them.
    #[test]
    fn live_tokens_are_found_by_what_they_belong_to() {
        let mut tokens = tokens();
        assert_eq!(tokens.live(at(0)), numbers(&[0, 1, 2, 3, 4, 5]));
        assert_eq!(
            tokens.live_of_adapter(&adapter(1), at(0)),
            numbers(&[1, 3, 5])
        );
        assert_eq!(tokens.live_of_session(&session(2), at(0)), numbers(&[2, 5]));
        assert_eq!(tokens.live_of_session(&session(3), at(0)), numbers(&[]));
        let of_sessions = [1, 2].map(|name| tokens.live_of_session(&session(name), at(0)));
        assert_eq!(
            tokens.live_of_sessions(at(0)),
            of_sessions.into_iter().flatten().collect()
        );
        assert_eq!(tokens.live(at(3)), numbers(&[0, 2, 3, 5]));
        assert_eq!(tokens.transition(TokenNumber(2), Phase::use_once), Ok(()));
        let revoke = |phase: Phase| phase.revoke(Revoker::Logout);
        assert_eq!(tokens.transition(TokenNumber(3), revoke), Ok(()));
        assert_eq!(tokens.live(at(3)), numbers(&[0, 5]));
    }

    /// AQL-6.1-1: what is used stays used.
    #[test]
    fn an_illegal_transition_changes_nothing() {
        let mut tokens = tokens();
        assert_eq!(tokens.transition(TokenNumber(1), Phase::use_once), Ok(()));
        let before = tokens.clone();
        let again = tokens.transition(TokenNumber(1), Phase::use_once);
        assert_eq!(again, Err(IllegalTransition));
        let revoked = tokens.transition(TokenNumber(1), |phase| phase.revoke(Revoker::Logout));
        assert_eq!(revoked, Err(IllegalTransition));
        let unknown = tokens.transition(TokenNumber(9), Phase::use_once);
        assert_eq!(unknown, Err(IllegalTransition));
        assert_eq!(tokens, before);
    }

    /// AQL-5.5-1: not at the time until which a token is taken, but after it; and no more than so many at once.
    #[test]
    fn what_has_expired_is_forgotten_bit_by_bit() {
        let mut tokens = tokens();
        for (time, at_most, left) in [
            (1, 9, 6),
            (2, 9, 5),
            (2, 9, 5),
            (5, 2, 3),
            (5, 0, 3),
            (5, 9, 1),
            (6, 9, 0),
        ] {
            tokens.forget_expired(at(time), at_most);
            assert_eq!(tokens.all().len(), left, "at {time}");
            assert_eq!(
                Tokens::try_from(Written::from(tokens.clone())),
                Ok(tokens.clone())
            );
        }
        let issued = Tokens {
            issued: 6,
            ..Tokens::default()
        };
        assert_eq!(tokens, issued);
    }

    /// AQL-5.5-3: room is made among what has expired of that adapter, one at a time.
    #[test]
    fn room_is_made_where_it_is_needed() {
        let mut tokens = tokens();
        for (time, left) in [(1, 3), (2, 2), (3, 2), (4, 1), (4, 1), (5, 0)] {
            tokens.make_room(&adapter(1), at(time));
            assert_eq!(tokens.unended_of(&adapter(1)), left, "at {time}");
        }
        assert_eq!(tokens.unended_of(&adapter(0)), 3);
    }

    /// AQL-5.5-3: what has ended has no place among the others, is read back as that, and is forgotten where it is too much.
    #[test]
    fn what_has_ended_has_a_place_of_its_own() {
        let mut tokens = tokens();
        assert_eq!(tokens.transition(TokenNumber(1), Phase::use_once), Ok(()));
        let revoke = |phase: Phase| phase.revoke(Revoker::Logout);
        assert_eq!(tokens.transition(TokenNumber(3), revoke), Ok(()));
        assert_eq!(tokens.unended_of(&adapter(1)), 1);
        let read = Tokens::try_from(Written::from(tokens.clone()));
        assert_eq!(read, Ok(tokens.clone()));
        for (at_most, time, left) in [
            (3, 9, 6),
            (2, 1, 6),
            (2, 2, 5),
            (2, 9, 5),
            (1, 9, 4),
            (0, 9, 4),
        ] {
            tokens.bound_ended(&adapter(1), at_most, at(time));
            assert_eq!(tokens.all().len(), left, "{at_most} at {time}");
        }
        assert_eq!(tokens.unended_of(&adapter(1)), 1);
    }

    /// AQL-6.1-1: a list that no gatekeeper can have written is not read.
    #[test]
    fn a_list_that_contradicts_itself_is_not_read() {
        let written = Written::from(tokens());
        let mut twice = Written::from(tokens());
        twice.tokens.insert(TokenNumber(0), token(1, 1).into());
        assert_eq!(Tokens::try_from(twice), Err(Inconsistent::TokenTwice));
        let never = Written {
            issued: 5,
            ..written
        };
        assert_eq!(Tokens::try_from(never), Err(Inconsistent::NeverIssued));
    }
}
