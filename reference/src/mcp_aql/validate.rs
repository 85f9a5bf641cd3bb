//! The checks of section 4.1, and the two orders in which they can be made.
//!
//! The one thing to know: a [`ValidToken`] is proof that every check was passed, for nothing else can make one. Each
//! check is one function; an order is a list of them, and the first that fails gives the reason.

use super::audit::FailureReason;
use super::digest::{ParametersHash, TokenDigest};
use super::token::{IssuedToken, Phase, TokenNumber};
use super::tokens::Tokens;
use super::vocabulary::{
    AdapterName, CheckOrder, ConfirmationToken, DangerLevel, OperationName, Purpose, SessionId,
    TokenId,
};
use crate::time::Timestamp;

/// What a client sent as a token, if it has the form of one, and what it is found by.
pub(super) struct Received {
    pub(super) token: ConfirmationToken,
    pub(super) digest: TokenDigest,
}

/// A token as it comes with a call, and all of the call that it may be bound to.
pub(super) struct Presented<'a> {
    /// What the token is found by, if it has the form of one.
    pub(super) digest: Option<TokenDigest>,
    pub(super) purpose: Purpose,
    pub(super) operation: &'a OperationName,
    /// Hashed anew from what came with this call (AQL-4.3-1).
    pub(super) parameters: ParametersHash,
    pub(super) adapter: &'a AdapterName,
    pub(super) danger_level: DangerLevel,
    pub(super) session_id: Option<&'a SessionId>,
    pub(super) now: Timestamp,
}

/// A token that has passed every check for the very call that it came with.
#[derive(Debug)]
pub(super) struct ValidToken(TokenNumber);

type Check = fn(&Presented<'_>, &IssuedToken) -> Result<(), FailureReason>;

/// Section 4.1, and what it leaves out where it belongs: life first, then scope.
const TABLE: [Check; 9] = [
    is_not_revoked,
    has_not_expired,
    is_not_consumed,
    is_for_this_purpose,
    is_for_this_operation,
    is_for_these_parameters,
    is_for_this_adapter,
    is_for_this_rating,
    is_for_this_session,
];

/// Section 4.3, and what it leaves out where it belongs: scope first, then life.
const SAMPLE: [Check; 9] = [
    is_not_revoked,
    is_for_this_purpose,
    is_for_this_operation,
    is_for_these_parameters,
    is_for_this_adapter,
    is_for_this_rating,
    is_for_this_session,
    has_not_expired,
    is_not_consumed,
];

/// Makes all checks in order. AQL-7.1-1: one that fails is enough.
pub(super) fn validate(
    presented: &Presented<'_>,
    tokens: &Tokens,
    order: CheckOrder,
) -> Result<ValidToken, FailureReason> {
    let number = exists(presented, tokens)?;
    check(presented, tokens.get(number), order)?;
    Ok(ValidToken(number))
}

/// Makes all checks of a token that exists, in order.
pub(super) fn check(
    presented: &Presented<'_>,
    token: &IssuedToken,
    order: CheckOrder,
) -> Result<(), FailureReason> {
    let checks = match order {
        CheckOrder::Table => TABLE,
        CheckOrder::Sample => SAMPLE,
    };
    checks.iter().try_for_each(|check| check(presented, token))
}

/// AQL-4.1-1: the token was issued here and is remembered. AQL-2.2-1, AQL-2.2-2: what does not have the form of a
/// token was not.
fn exists(presented: &Presented<'_>, tokens: &Tokens) -> Result<TokenNumber, FailureReason> {
    let digest = presented.digest.ok_or(FailureReason::Malformed)?;
    tokens.find(&digest).ok_or(FailureReason::Unknown)
}

/// AQL-5.3-1: not taken back.
fn is_not_revoked(_: &Presented<'_>, token: &IssuedToken) -> Result<(), FailureReason> {
    match token.phase {
        Phase::Revoked { .. } => Err(FailureReason::Revoked),
        Phase::Live { .. } | Phase::Consumed => Ok(()),
    }
}

/// AQL-4.1-2, AQL-5.1-3, AQL-5.1-7: not after its expiry and the tolerance. AQL-5.4-3: also in a session.
fn has_not_expired(presented: &Presented<'_>, token: &IssuedToken) -> Result<(), FailureReason> {
    unless(token.has_expired(presented.now), FailureReason::Expired)
}

/// AQL-4.1-3: not used as often as it can be.
fn is_not_consumed(_: &Presented<'_>, token: &IssuedToken) -> Result<(), FailureReason> {
    match token.phase {
        Phase::Consumed => Err(FailureReason::AlreadyUsed),
        Phase::Live { .. } | Phase::Revoked { .. } => Ok(()),
    }
}

/// AQL-2.1-1: who goes on past a quota has not confirmed a deletion.
fn is_for_this_purpose(
    presented: &Presented<'_>,
    token: &IssuedToken,
) -> Result<(), FailureReason> {
    let is_other = token.scope.purpose != presented.purpose;
    unless(is_other, FailureReason::OtherPurpose)
}

/// AQL-4.1-4
fn is_for_this_operation(
    presented: &Presented<'_>,
    token: &IssuedToken,
) -> Result<(), FailureReason> {
    let is_other = token.scope.operation != *presented.operation;
    unless(is_other, FailureReason::OtherOperation)
}

/// AQL-4.1-5, AQL-4.3-1
fn is_for_these_parameters(
    presented: &Presented<'_>,
    token: &IssuedToken,
) -> Result<(), FailureReason> {
    let is_other = token.scope.parameters != presented.parameters;
    unless(is_other, FailureReason::OtherParameters)
}

/// AQL-4.1-6
fn is_for_this_adapter(
    presented: &Presented<'_>,
    token: &IssuedToken,
) -> Result<(), FailureReason> {
    let is_other = token.scope.adapter != *presented.adapter;
    unless(is_other, FailureReason::OtherAdapter)
}

/// AQL-5.1-1, AQL-3.2-1: who has confirmed what is dangerous has not confirmed what is forbidden. What is less dangerous than
/// it was is confirmed all the more.
fn is_for_this_rating(presented: &Presented<'_>, token: &IssuedToken) -> Result<(), FailureReason> {
    let is_higher = presented.danger_level > token.danger_level;
    unless(is_higher, FailureReason::OtherRating)
}

/// AQL-6.1-2, AQL-5.4-4: a token that is bound to a session is good in no other, nor outside of any.
fn is_for_this_session(
    presented: &Presented<'_>,
    token: &IssuedToken,
) -> Result<(), FailureReason> {
    let bound_to = token.scope.session_id.as_ref();
    let is_other = bound_to.is_some() && bound_to != presented.session_id;
    unless(is_other, FailureReason::OtherSession)
}

fn unless(fails: bool, reason: FailureReason) -> Result<(), FailureReason> {
    if fails { Err(reason) } else { Ok(()) }
}

impl Received {
    /// AQL-2.2-1, AQL-2.2-2, AQL-2.2-3: the grammar.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let token = ConfirmationToken::parse(text).ok()?;
        let digest = TokenDigest::of(&token);
        Some(Self { token, digest })
    }

    /// AQL-6.4-1: what names the text that came, whether it has the form of a token or not.
    pub(super) fn id(received: Option<&Self>, text: &str) -> TokenId {
        let digest = received.map(|received| received.digest);
        digest.unwrap_or_else(|| TokenDigest::of_text(text)).id()
    }
}

impl ValidToken {
    /// The token, which can be used for this one call. Whoever takes the number gives the proof away.
    pub(super) fn redeem(self) -> TokenNumber {
        self.0
    }
}
