//! Where the text of AAEP can be read in more than one way, as far as it is carried here. The first way is the default.

use crate::aaep::alphabet::Decision;
use crate::readings::ambiguities;

/// What the text's tables say. The default is the text's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Numbers {
    /// 6.4.1: the default decision of what cannot be undone, by its risk, low first.
    pub irreversible: [DefaultRule; 3],
    /// The same of what can be.
    pub reversible: [DefaultRule; 3],
    /// AAEP-6.3.4-6: what may be replied where a confirmation has no list of it.
    pub unlisted: Unlisted,
}

/// What the table of 6.4.1 says of a default decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DefaultRule {
    /// It is reject.
    MustReject,
    /// It should be reject: a producer need not ask with another, and may.
    ShouldReject,
    /// It is either.
    Either,
}

/// What may be replied where `allowed_replies` is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unlisted {
    /// Either.
    AcceptOrReject,
    /// Accept alone.
    Accept,
    /// Reject alone.
    Reject,
}

impl Unlisted {
    /// These.
    pub fn replies(self) -> &'static [Decision] {
        match self {
            Self::AcceptOrReject => &[Decision::Accept, Decision::Reject],
            Self::Accept => &[Decision::Accept],
            Self::Reject => &[Decision::Reject],
        }
    }
}

impl Default for Numbers {
    fn default() -> Self {
        use DefaultRule::{Either, MustReject, ShouldReject};
        Self {
            irreversible: [ShouldReject, MustReject, MustReject],
            reversible: [Either, Either, ShouldReject],
            unlisted: Unlisted::AcceptOrReject,
        }
    }
}

ambiguities! {
    [Numbers]
    late_reply LateReply "late-reply" ["AAEP-6.3.4-4", "AAEP-6.4-1"] open
        "A reply claims a time before the deadline and arrives at or after it, the default not yet applied: is it in time? Once the default is applied, timeout-uses-token decides, so that the two hang together."
        ByArrival "by-arrival" "Once the deadline has passed the default is applied first, whatever a reply claims that arrives then.",
        ByClaim "by-claim" "The claimed time alone decides, as check 4 of 6.3.4 words it, as long as the default has not been applied.";
        "6.4 applies the default when no valid reply arrives in time; a claimed time can be backdated."
    deadline_boundary DeadlineBoundary "deadline-boundary" ["AAEP-6.3.4-4", "AAEP-6.4-1"]
        "A reply arrives in time and claims the very instant of the deadline: does it pass check 4?"
        Strict "strict" "The claimed time lies before the deadline.",
        Inclusive "inclusive" "The claimed time lies no later than the deadline: 6.4 has the time elapse first, and at its last instant it has not.";
        "6.3.4 wants the claimed time to precede the deadline; at the deadline itself 6.4 applies the default."
    reply_lower_bound ReplyLowerBound "reply-lower-bound" ["AAEP-6.3.4-4", "AAEP-6.3.1-5", "AAEP-6.9-2"]
        "A reply claims a time before its question was asked: does it pass check 4?"
        None "none" "No claimed time is too early.",
        NotBeforeAsked "not-before-asked" "A decision that was made before the question is none on it: 6.3.1 has the timestamp be that of the decision, and 6.9 counts it among what stops replays.";
        "Check 4 compares the claimed time with the deadline alone; a clock that is behind would void honest replies."
    clock_tolerance ClockTolerance "clock-tolerance" ["AAEP-6.3.4-4", "AAEP-6.4-1"]
        "A reply arrives in time and claims a time past the deadline: does it pass check 4, by less than a second, or whatever it claims?"
        None "none" "What claims to be later than the deadline fails check 4.",
        OneTick "one-tick" "A claim of less than a second past the deadline passes, for the clock of the sender may be ahead; no word of 6.3.4 has a tolerance.",
        Any "any" "Whatever arrives in time passes: 6.4 asks whether a reply has arrived, and the schema whether it arrives within the time.";
        "6.3.4 compares the claimed time with the deadline itself, whoever's clock is ahead."
    sender_binding SenderBinding "sender-binding" ["AAEP-6.3.4-5", "AAEP-6.6-3", "AAEP-6.6-5", "AAEP-6.9-1", "AAEP-REPLY-14"]
        "Somebody who is authenticated replies in the name of another's subscription: does the reply count?"
        Own "own" "A reply counts on the subscription of its sender alone.",
        Named "named" "A reply counts on any active subscription that it names: 6.6 has the producer not know from whom it comes, and honour any valid token.";
        "6.3.1 has a reply name the subscription that it is sent on. 6.6 honours any valid token, whoever was forwarded the question, and has the reply sent on the replier's own subscription."
    timeout_uses_token TimeoutUsesToken "timeout-uses-token" ["AAEP-6.3.4-3", "AAEP-6.4-1"] open
        "The default was applied, and then a reply arrives that claims a time before the deadline: is its token used? Check 4 compares what it claims, and late-reply is about a default that has not been applied yet."
        Yes "yes" "An applied default uses the token up, as a reply does.",
        No "no" "Only a reply uses the token up: 6.3.4 and 6.3.5 speak of consuming it by replies alone.";
        "Otherwise a backdated reply decides the same confirmation a second time."
    cancellation_releases CancellationReleases "cancellation-releases" ["AAEP-6.1-6", "AAEP-6.4-1", "AAEP-6.8-1"] open
        "One confirmation was cancelled: is its action released from the block and its default dropped?"
        Yes "yes" "A cancelled question blocks nothing any more and has no default.",
        No "no" "Block and default last until the timeout: 6.1 has a block released by reply or timeout alone, and 6.4 has no exception.";
        "A default that fires after the cancellation would perform an action that nobody wants any more."
    session_end_cancels SessionEndCancels "session-end-cancels" ["AAEP-6.8-2", "AAEP-A.1-3"] open
        "A session is completed or errored with a confirmation pending: is that cancelled, as where the session is?"
        All "all" "Every end of a session cancels what is pending.",
        CancelledOnly "cancelled-only" "Only session.cancelled does: 6.8 names no other end.";
        "A confirmation that outlives its session would be resolved by events after the terminal one."
    early_default_on_close EarlyDefaultOnClose "early-default-on-close" ["AAEP-EV-11", "AAEP-6.1-1"] open
        "The last subscription that could answer closes, and whatever stays open cannot reply: does the default apply before its time?"
        RejectOnly "reject-only" "A default of reject applies at the closing, one of accept at its time.",
        AsDefault "as-default" "Either default applies at the closing, as the wire facts have it (AAEP-EV-11); no document says so.",
        Never "never" "Every default waits for its time, as 6.1 and 6.4 word it; what that breaks is of the wire facts (AAEP-EV-11) and of no document.";
        "A default of accept before the timeout has elapsed is what 6.1 forbids; no passage speaks of a reject before it."
    courtesy_notice CourtesyNotice "courtesy-notice" ["AAEP-6.3.4-9", "AAEP-6.3.5-2"] open
        "A reply comes behind the resolution, by another reply or by the default: may it be answered with a notice of that?"
        Permitted "permitted" "Such a reply may be answered with a notice: 6.7.1 has late replies answered so, and not duplicates alone.",
        Forbidden "forbidden" "It may not: 6.3.4 forbids to tell the sender which check has failed, and the notice tells that it was check 3.";
        "6.3.5 allows it of a late duplicate in so many words, and 6.7.1 of late replies."
    incapable_subscriptions IncapableSubscriptions "incapable-subscriptions" ["AAEP-6.7-1", "AAEP-6.1-1", "AAEP-EV-16"] open
        "A subscription cannot reply: is it asked, and does a confirmation wait where none is open that can?"
        Asked "asked" "Every subscription gets the question, and the default waits for its time.",
        Withheld "withheld" "The event is put out, but not sent to one that cannot reply, and where nobody is there that can the default applies at once: 6.7 asks those whose capabilities permit, and the wire facts say so outright (AAEP-EV-16).";
        "6.6 has it hand the question on, and 6.7 filters nothing critical; a default of accept before the timeout is what 6.1 forbids."
    state_while_asked StateWhileAsked "state-while-asked" ["AAEP-A.2-2", "AAEP-A.4-2", "AAEP-A.7.6-1", "AAEP-6.8-3"] open
        "One of two open questions of a session is resolved: does the state leave awaiting_input?"
        LeavesWithEach "leaves-with-each" "Each resolution leaves awaiting_input, and it is entered again for what is open.",
        LeavesWithLast "leaves-with-last" "The state stays until the last question is resolved: A.2 has it be that in which the producer waits for a reply.";
        "A.4 wants it left after resolution and 6.7 tells the outcome so; A.2 is kept by entering it again."
    session_end_tells SessionEndTells "session-end-tells" ["AAEP-6.8-2", "AAEP-6.8-3"] open
        "A session is completed or errored with questions open: is an event to withdraw them before the terminal one?"
        First "first" "An event withdraws the questions before the terminal one.",
        ByItself "by-itself" "The terminal event withdraws them by itself, as 6.8 says of session.cancelled.";
        "6.8 has session.cancelled alone cancel what is pending; any other cancellation is told by a state.changed."
    session_end_completes SessionEndCompletes "session-end-completes" ["AAEP-A.3-1", "AAEP-A.7.4-2", "AAEP-A.6-1", "AAEP-A.7.2-2", "AAEP-A.1-3"]
        "A session ends with a tool invoked or an output begun: is that told complete, a tool as error, before the terminal event?"
        UnlessCancelled "unless-cancelled" "What is open is completed, unless the session is cancelled.",
        OnlyCompleted "only-completed" "Only session.completed waits for it: A.7.2 lets an error, too, come after any event.",
        Always "always" "Every end waits for it: A.3 and A.6 want a completion of each and make no exception.",
        Never "never" "No end waits for it: A.7.2 lets all three come after any event. A.3 and A.6 speak against it, and no guarantee does, for nothing runs by it.";
        "A.3 and A.6 want every tool and output completed, and A.1 leaves no event for it behind the end; A.7.2 lets the end follow anything, and a cancellation waits for nothing. Whoever completes them all the same is right."
    kinds_absent KindsAbsent "kinds-absent" ["AAEP-6.5.5-2", "AAEP-6.5.2-1", "AAEP-EV-5"]
        "A clarification lists no accepted_response_kinds: which responses does it take?"
        Any "any" "Any string, boolean or number fits.",
        Freetext "freetext" "A string fits, as free text: it is the first kind of 6.5.2 and the one that needs nothing else; no word says what holds without a list.";
        "By the wire facts the list may be absent (AAEP-EV-5), and 6.5.5 turns away what is of none of its kinds: without a list that is nothing that 6.5.2 has as a response."
    choices_beside_freetext ChoicesBesideFreetext "choices-beside-freetext" ["AAEP-6.5.2-2", "AAEP-6.5.5-3"]
        "A clarification takes free text and a choice, and a string comes that is none of the choices: does it fit?"
        Free "free" "Any string fits, as free text.",
        Bound "bound" "Only a choice fits: 6.5.5 has the response be one of the choices wherever multiple_choice is among the kinds.";
        "6.5.2 takes any of the kinds that are listed, and the reply does not say of which it is; 6.5.5 holds a multiple_choice to the choices, and any string is free text."
    default_response_absent DefaultResponseAbsent "default-response-absent" ["AAEP-A.5-2", "AAEP-6.1-7", "AAEP-6.1-8"]
        "Nobody answers a clarification in time, and it has no default_response: is it over?"
        Nobody "nobody" "The question is over at its timeout, without an answer.",
        Waits "waits" "It waits on: A.5 applies a default where one is set, and 6.1 lets nothing go on before a resolution. What that breaks at the closing of a subscription is of the wire facts (AAEP-EV-11).";
        "6.1 has the timeout honoured, and A.5 leaves awaiting_input behind it whether a default is set or not; that nothing goes on before there is a resolution leaves open what goes on without an answer."
    accepted_then_cancelled AcceptedThenCancelled "accepted-then-cancelled" ["AAEP-6.8-2", "AAEP-A.4-3", "AAEP-A.1-3"]
        "An action was accepted and has not begun, and its session is cancelled: does it run?"
        DoesNotRun "does-not-run" "The end of the session drops what has not begun.",
        Runs "runs" "What was accepted runs: A.4 owes it, and 6.8 cancels only what is pending.";
        "6.8 cancels what is pending, which it is not, and A.4 owes its tool.invoked, which has come; but A.1 leaves no event to tell how it ended. The host alone learns which it is, so that no guarantee tells the two apart."
    action_binding ActionBinding "action-binding" ["AAEP-6.1-1", "AAEP-6.1-6", "AAEP-A.4-3"]
        "The agent changes the arguments of an action while its question waits, and it is accepted: with which does it run?"
        AsAsked "as-asked" "It runs with the arguments that were asked about.",
        AsCurrent "as-current" "It runs with those that it has by then: the question holds a text, the reply a token, and neither the arguments.";
        "6.1 lets the action being confirmed run, which is what the user was shown; but a reply names a token, the question tells its action in prose, and no message holds the arguments that A.4's tool.invoked then runs with."
}
