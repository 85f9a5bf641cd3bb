//! The places where the text can be taken in more than one way, each as a named choice.

use crate::readings::{self, Choice};

use super::numbers::Numbers;

/// What decides whether a reply is in time once its deadline has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LateReply {
    /// Its arrival: the default is applied first, whatever time the reply claims.
    ByArrival,
    /// Its claim: as long as the timer has not been served, a reply that claims a time before the deadline is honoured.
    ByClaim,
}

/// Whether a reply that claims the very instant of the deadline is in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeadlineBoundary {
    /// It is not: the claim lies before the deadline.
    Strict,
    /// It is: the claim lies no later than the deadline.
    Inclusive,
}

/// Whether a reply that claims a time before its question was asked is in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplyLowerBound {
    /// It is: no time is too early.
    None,
    /// It is not: the claim lies no earlier than the question.
    NotBeforeAsked,
}

/// Whose subscription a reply has to name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SenderBinding {
    /// That on which its sender sends it.
    Own,
    /// Any that is active: the one that it names counts, whoever of those who are authenticated sends it.
    Named,
}

/// How far behind the deadline a reply that arrives in time may claim to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClockTolerance {
    /// Not at all.
    None,
    /// By less than a tick, which is a second: the sender's clock may be so far ahead. The instant of the deadline is so with it, too.
    OneTick,
    /// By whatever it says: its arrival alone decides.
    Any,
}

/// Whether applying the default uses the token up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeoutUsesToken {
    /// It does; later replies fail check 3.
    Yes,
    /// It does not; a later reply that claims an early time passes every check.
    No,
}

/// Whether cancelling one confirmation releases its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CancellationReleases {
    /// It does: the default never fires and the same action may be asked for again.
    Yes,
    /// It does not, to the letter of 6.1 and 6.4: the default still fires and asking again is barred until then.
    No,
}

/// Which ends of a session cancel its pending confirmations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionEndCancels {
    /// All three.
    All,
    /// Only `session.cancelled`, the one that the text names.
    CancelledOnly,
}

/// What the closing of the last capable subscription does to pending confirmations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EarlyDefaultOnClose {
    /// A default of reject applies at once; a default of accept waits for its deadline.
    RejectOnly,
    /// The default applies at once, whichever it is.
    AsDefault,
    /// Nothing: every default waits for its deadline.
    Never,
}

/// Whether a late duplicate may be answered with a courtesy notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CourtesyNotice {
    /// It may (AAEP-6.3.5-2): the notice is an optional output.
    Permitted,
    /// It may not: the notice tells the sender which check failed (AAEP-6.3.4-9).
    Forbidden,
}

/// What becomes of a confirmation where a subscription cannot reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IncapableSubscriptions {
    /// It gets the question like any other, and the default waits for its deadline.
    Asked,
    /// It does not get the question; where no subscription can reply, the default applies as soon as it is asked.
    Withheld,
}

/// Whether an action that was accepted runs where its session is cancelled before it has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AcceptedThenCancelled {
    /// It does not: its host is told to drop it.
    DoesNotRun,
    /// It runs all the same.
    Runs,
}

/// When the state of a session leaves `awaiting_input`, while more than one of its questions is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateWhileAsked {
    /// With every resolution and cancellation; it enters it again while another question is open.
    LeavesWithEach,
    /// With the last resolution; with a cancellation all the same, which is told so (AAEP-6.8-3).
    LeavesWithLast,
}

/// How it is told that a session which is completed or errored cancels its questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionEndTells {
    /// By an event before the terminal one.
    First,
    /// By the terminal event alone, as of a session that is cancelled.
    ByItself,
}

/// Which ends of a session complete, before the terminal event, the tools and outputs that are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionEndCompletes {
    /// `session.completed` and `session.errored`; of a cancelled session nothing more is owed.
    UnlessCancelled,
    /// `session.completed` alone; of a session that is cancelled or has failed nothing more is owed.
    OnlyCompleted,
    /// All three.
    Always,
    /// None: whatever is open stays so.
    Never,
}

/// With which arguments an action runs that the agent has changed while its question was open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionBinding {
    /// With those that were asked about.
    AsAsked,
    /// With those that it has when it is accepted.
    AsCurrent,
}

/// Which responses a clarification takes that lists no kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KindsAbsent {
    /// Any string, boolean or number.
    Any,
    /// Any string.
    Freetext,
}

/// Whether a clarification that takes free text and a choice takes a string that is none of its choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChoicesBesideFreetext {
    /// It does, as free text.
    Free,
    /// It does not: the choices bind every string.
    Bound,
}

/// What becomes of a clarification without a default response that nobody answers in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefaultResponseAbsent {
    /// It is over, and nobody has answered.
    Nobody,
    /// It waits on: there is nothing to apply.
    Waits,
}

/// One choice for every place that can be taken in more than one way, and the numbers. The default is the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    /// What the text counts, and what its tables say.
    pub numbers: Numbers,
    /// `late-reply`
    pub late_reply: LateReply,
    /// `deadline-boundary`
    pub deadline_boundary: DeadlineBoundary,
    /// `reply-lower-bound`
    pub reply_lower_bound: ReplyLowerBound,
    /// `clock-tolerance`
    pub clock_tolerance: ClockTolerance,
    /// `sender-binding`
    pub sender_binding: SenderBinding,
    /// `timeout-uses-token`
    pub timeout_uses_token: TimeoutUsesToken,
    /// `cancellation-releases`
    pub cancellation_releases: CancellationReleases,
    /// `session-end-cancels`
    pub session_end_cancels: SessionEndCancels,
    /// `early-default-on-close`
    pub early_default_on_close: EarlyDefaultOnClose,
    /// `courtesy-notice`
    pub courtesy_notice: CourtesyNotice,
    /// `incapable-subscriptions`
    pub incapable_subscriptions: IncapableSubscriptions,
    /// `state-while-asked`
    pub state_while_asked: StateWhileAsked,
    /// `accepted-then-cancelled`
    pub accepted_then_cancelled: AcceptedThenCancelled,
    /// `session-end-tells`
    pub session_end_tells: SessionEndTells,
    /// `session-end-completes`
    pub session_end_completes: SessionEndCompletes,
    /// `action-binding`
    pub action_binding: ActionBinding,
    /// `kinds-absent`
    pub kinds_absent: KindsAbsent,
    /// `choices-beside-freetext`
    pub choices_beside_freetext: ChoicesBesideFreetext,
    /// `default-response-absent`
    pub default_response_absent: DefaultResponseAbsent,
}

impl Reading {
    /// The reading that binds model and executor alike.
    pub const SPECIFICATION: Self = Self {
        numbers: Numbers::TEXT,
        late_reply: LateReply::ByArrival,
        deadline_boundary: DeadlineBoundary::Strict,
        reply_lower_bound: ReplyLowerBound::None,
        clock_tolerance: ClockTolerance::None,
        sender_binding: SenderBinding::Own,
        timeout_uses_token: TimeoutUsesToken::Yes,
        cancellation_releases: CancellationReleases::Yes,
        session_end_cancels: SessionEndCancels::All,
        early_default_on_close: EarlyDefaultOnClose::RejectOnly,
        courtesy_notice: CourtesyNotice::Permitted,
        incapable_subscriptions: IncapableSubscriptions::Asked,
        state_while_asked: StateWhileAsked::LeavesWithEach,
        accepted_then_cancelled: AcceptedThenCancelled::DoesNotRun,
        session_end_tells: SessionEndTells::First,
        session_end_completes: SessionEndCompletes::UnlessCancelled,
        action_binding: ActionBinding::AsAsked,
        kinds_absent: KindsAbsent::Any,
        choices_beside_freetext: ChoicesBesideFreetext::Free,
        default_response_absent: DefaultResponseAbsent::Nobody,
    };
}

impl Default for Reading {
    fn default() -> Self {
        Self::SPECIFICATION
    }
}

/// A place that can be taken in more than one way.
pub type Place = readings::Place<Reading>;

/// Every place, with its choices.
pub static PLACES: [Place; 19] = [
    Place {
        name: "late-reply",
        clauses: &["AAEP-6.3.4-4", "AAEP-6.4-1"],
        question: "A reply claims a time before the deadline and arrives at or after it, the default not yet applied: is it in time? Once the default is applied, timeout-uses-token decides, so that the two hang together.",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "by-arrival",
                gloss: "Once the deadline has passed the default is applied first, whatever a reply claims that arrives then.",
                set: |reading| reading.late_reply = LateReply::ByArrival,
            },
            Choice {
                value: "by-claim",
                gloss: "The claimed time alone decides, as check 4 of 6.3.4 words it, as long as the default has not been applied.",
                set: |reading| reading.late_reply = LateReply::ByClaim,
            },
        ],
        why: "6.4 applies the default when no valid reply arrives in time; a claimed time can be backdated.",
    },
    Place {
        name: "deadline-boundary",
        clauses: &["AAEP-6.3.4-4", "AAEP-6.4-1"],
        question: "A reply arrives in time and claims the very instant of the deadline: does it pass check 4?",
        with: None,
        open: false,
        choices: &[
            Choice {
                value: "strict",
                gloss: "The claimed time lies before the deadline.",
                set: |reading| reading.deadline_boundary = DeadlineBoundary::Strict,
            },
            Choice {
                value: "inclusive",
                gloss: "The claimed time lies no later than the deadline: 6.4 has the time elapse first, and at its last instant it has not.",
                set: |reading| reading.deadline_boundary = DeadlineBoundary::Inclusive,
            },
        ],
        why: "6.3.4 wants the claimed time to precede the deadline; at the deadline itself 6.4 applies the default.",
    },
    Place {
        name: "reply-lower-bound",
        clauses: &["AAEP-6.3.4-4", "AAEP-6.3.1-5", "AAEP-6.9-2"],
        question: "A reply claims a time before its question was asked: does it pass check 4?",
        with: None,
        open: false,
        choices: &[
            Choice {
                value: "none",
                gloss: "No claimed time is too early.",
                set: |reading| reading.reply_lower_bound = ReplyLowerBound::None,
            },
            Choice {
                value: "not-before-asked",
                gloss: "A decision that was made before the question is none on it: 6.3.1 has the timestamp be that of the decision, and 6.9 counts it among what stops replays.",
                set: |reading| reading.reply_lower_bound = ReplyLowerBound::NotBeforeAsked,
            },
        ],
        why: "Check 4 compares the claimed time with the deadline alone; a clock that is behind would void honest replies.",
    },
    Place {
        name: "clock-tolerance",
        clauses: &["AAEP-6.3.4-4", "AAEP-6.4-1"],
        question: "A reply arrives in time and claims a time past the deadline: does it pass check 4, by less than a second, or whatever it claims?",
        with: None,
        open: false,
        choices: &[
            Choice {
                value: "none",
                gloss: "What claims to be later than the deadline fails check 4.",
                set: |reading| reading.clock_tolerance = ClockTolerance::None,
            },
            Choice {
                value: "one-tick",
                gloss: "A claim of less than a second past the deadline passes, for the clock of the sender may be ahead; no word of 6.3.4 has a tolerance.",
                set: |reading| reading.clock_tolerance = ClockTolerance::OneTick,
            },
            Choice {
                value: "any",
                gloss: "Whatever arrives in time passes: 6.4 asks whether a reply has arrived, and the schema whether it arrives within the time.",
                set: |reading| reading.clock_tolerance = ClockTolerance::Any,
            },
        ],
        why: "6.3.4 compares the claimed time with the deadline itself, whoever's clock is ahead.",
    },
    Place {
        name: "sender-binding",
        clauses: &[
            "AAEP-6.3.4-5",
            "AAEP-6.6-3",
            "AAEP-6.6-5",
            "AAEP-6.9-1",
            "AAEP-REPLY-14",
        ],
        question: "Somebody who is authenticated replies in the name of another's subscription: does the reply count?",
        with: None,
        open: false,
        choices: &[
            Choice {
                value: "own",
                gloss: "A reply counts on the subscription of its sender alone.",
                set: |reading| reading.sender_binding = SenderBinding::Own,
            },
            Choice {
                value: "named",
                gloss: "A reply counts on any active subscription that it names: 6.6 has the producer not know from whom it comes, and honour any valid token.",
                set: |reading| reading.sender_binding = SenderBinding::Named,
            },
        ],
        why: "6.3.1 has a reply name the subscription that it is sent on. 6.6 honours any valid token, whoever was forwarded the question, and has the reply sent on the replier's own subscription.",
    },
    Place {
        name: "timeout-uses-token",
        clauses: &["AAEP-6.3.4-3", "AAEP-6.4-1"],
        question: "The default was applied, and then a reply arrives that claims a time before the deadline: is its token used? Check 4 compares what it claims, and late-reply is about a default that has not been applied yet.",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "yes",
                gloss: "An applied default uses the token up, as a reply does.",
                set: |reading| reading.timeout_uses_token = TimeoutUsesToken::Yes,
            },
            Choice {
                value: "no",
                gloss: "Only a reply uses the token up: 6.3.4 and 6.3.5 speak of consuming it by replies alone.",
                set: |reading| reading.timeout_uses_token = TimeoutUsesToken::No,
            },
        ],
        why: "Otherwise a backdated reply decides the same confirmation a second time.",
    },
    Place {
        name: "cancellation-releases",
        clauses: &["AAEP-6.1-6", "AAEP-6.4-1", "AAEP-6.8-1"],
        question: "One confirmation was cancelled: is its action released from the block and its default dropped?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "yes",
                gloss: "A cancelled question blocks nothing any more and has no default.",
                set: |reading| reading.cancellation_releases = CancellationReleases::Yes,
            },
            Choice {
                value: "no",
                gloss: "Block and default last until the timeout: 6.1 has a block released by reply or timeout alone, and 6.4 has no exception.",
                set: |reading| reading.cancellation_releases = CancellationReleases::No,
            },
        ],
        why: "A default that fires after the cancellation would perform an action that nobody wants any more.",
    },
    Place {
        name: "session-end-cancels",
        clauses: &["AAEP-6.8-2", "AAEP-A.1-3"],
        question: "A session is completed or errored with a confirmation pending: is that cancelled, as where the session is?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "all",
                gloss: "Every end of a session cancels what is pending.",
                set: |reading| reading.session_end_cancels = SessionEndCancels::All,
            },
            Choice {
                value: "cancelled-only",
                gloss: "Only session.cancelled does: 6.8 names no other end.",
                set: |reading| reading.session_end_cancels = SessionEndCancels::CancelledOnly,
            },
        ],
        why: "A confirmation that outlives its session would be resolved by events after the terminal one.",
    },
    Place {
        name: "early-default-on-close",
        clauses: &["AAEP-EV-11", "AAEP-6.1-1"],
        question: "The last subscription that could answer closes, and whatever stays open cannot reply: does the default apply before its time?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "reject-only",
                gloss: "A default of reject applies at the closing, one of accept at its time.",
                set: |reading| reading.early_default_on_close = EarlyDefaultOnClose::RejectOnly,
            },
            Choice {
                value: "as-default",
                gloss: "Either default applies at the closing, as the wire facts have it (AAEP-EV-11); no document says so.",
                set: |reading| reading.early_default_on_close = EarlyDefaultOnClose::AsDefault,
            },
            Choice {
                value: "never",
                gloss: "Every default waits for its time, as 6.1 and 6.4 word it; what that breaks is of the wire facts (AAEP-EV-11) and of no document.",
                set: |reading| reading.early_default_on_close = EarlyDefaultOnClose::Never,
            },
        ],
        why: "A default of accept before the timeout has elapsed is what 6.1 forbids; no passage speaks of a reject before it.",
    },
    Place {
        name: "courtesy-notice",
        clauses: &["AAEP-6.3.4-9", "AAEP-6.3.5-2"],
        question: "A reply comes behind the resolution, by another reply or by the default: may it be answered with a notice of that?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "permitted",
                gloss: "Such a reply may be answered with a notice: 6.7.1 has late replies answered so, and not duplicates alone.",
                set: |reading| reading.courtesy_notice = CourtesyNotice::Permitted,
            },
            Choice {
                value: "forbidden",
                gloss: "It may not: 6.3.4 forbids to tell the sender which check has failed, and the notice tells that it was check 3.",
                set: |reading| reading.courtesy_notice = CourtesyNotice::Forbidden,
            },
        ],
        why: "6.3.5 allows it of a late duplicate in so many words, and 6.7.1 of late replies.",
    },
    Place {
        name: "incapable-subscriptions",
        clauses: &["AAEP-6.7-1", "AAEP-6.1-1", "AAEP-EV-16"],
        question: "A subscription cannot reply: is it asked, and does a confirmation wait where none is open that can?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "asked",
                gloss: "Every subscription gets the question, and the default waits for its time.",
                set: |reading| reading.incapable_subscriptions = IncapableSubscriptions::Asked,
            },
            Choice {
                value: "withheld",
                gloss: "The event is put out, but not sent to one that cannot reply, and where nobody is there that can the default applies at once: 6.7 asks those whose capabilities permit, and the wire facts say so outright (AAEP-EV-16).",
                set: |reading| reading.incapable_subscriptions = IncapableSubscriptions::Withheld,
            },
        ],
        why: "6.6 has it hand the question on, and 6.7 filters nothing critical; a default of accept before the timeout is what 6.1 forbids.",
    },
    Place {
        name: "state-while-asked",
        clauses: &["AAEP-A.2-2", "AAEP-A.4-2", "AAEP-A.7.6-1", "AAEP-6.8-3"],
        question: "One of two open questions of a session is resolved: does the state leave awaiting_input?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "leaves-with-each",
                gloss: "Each resolution leaves awaiting_input, and it is entered again for what is open.",
                set: |reading| reading.state_while_asked = StateWhileAsked::LeavesWithEach,
            },
            Choice {
                value: "leaves-with-last",
                gloss: "The state stays until the last question is resolved: A.2 has it be that in which the producer waits for a reply.",
                set: |reading| reading.state_while_asked = StateWhileAsked::LeavesWithLast,
            },
        ],
        why: "A.4 wants it left after resolution and 6.7 tells the outcome so; A.2 is kept by entering it again.",
    },
    Place {
        name: "accepted-then-cancelled",
        clauses: &["AAEP-6.8-2", "AAEP-A.4-3", "AAEP-A.1-3"],
        question: "An action was accepted and has not begun, and its session is cancelled: does it run?",
        with: None,
        open: false,
        choices: &[
            Choice {
                value: "does-not-run",
                gloss: "The end of the session drops what has not begun.",
                set: |reading| {
                    reading.accepted_then_cancelled = AcceptedThenCancelled::DoesNotRun;
                },
            },
            Choice {
                value: "runs",
                gloss: "What was accepted runs: A.4 owes it, and 6.8 cancels only what is pending.",
                set: |reading| reading.accepted_then_cancelled = AcceptedThenCancelled::Runs,
            },
        ],
        why: "6.8 cancels what is pending, which it is not, and A.4 owes its tool.invoked, which has come; but A.1 leaves no event to tell how it ended. The host alone learns which it is, so that no guarantee tells the two apart.",
    },
    Place {
        name: "session-end-tells",
        clauses: &["AAEP-6.8-2", "AAEP-6.8-3"],
        question: "A session is completed or errored with questions open: is an event to withdraw them before the terminal one?",
        with: None,
        open: true,
        choices: &[
            Choice {
                value: "first",
                gloss: "An event withdraws the questions before the terminal one.",
                set: |reading| reading.session_end_tells = SessionEndTells::First,
            },
            Choice {
                value: "by-itself",
                gloss: "The terminal event withdraws them by itself, as 6.8 says of session.cancelled.",
                set: |reading| reading.session_end_tells = SessionEndTells::ByItself,
            },
        ],
        why: "6.8 has session.cancelled alone cancel what is pending; any other cancellation is told by a state.changed.",
    },
    Place {
        name: "session-end-completes",
        clauses: &[
            "AAEP-A.3-1",
            "AAEP-A.7.4-2",
            "AAEP-A.6-1",
            "AAEP-A.7.2-2",
            "AAEP-A.1-3",
        ],
        question: "A session ends with a tool invoked or an output begun: is that told complete, a tool as error, before the terminal event?",
        with: None,
        open: false,
        choices: &[
            Choice {
                value: "unless-cancelled",
                gloss: "What is open is completed, unless the session is cancelled.",
                set: |reading| {
                    reading.session_end_completes = SessionEndCompletes::UnlessCancelled;
                },
            },
            Choice {
                value: "only-completed",
                gloss: "Only session.completed waits for it: A.7.2 lets an error, too, come after any event.",
                set: |reading| reading.session_end_completes = SessionEndCompletes::OnlyCompleted,
            },
            Choice {
                value: "always",
                gloss: "Every end waits for it: A.3 and A.6 want a completion of each and make no exception.",
                set: |reading| reading.session_end_completes = SessionEndCompletes::Always,
            },
            Choice {
                value: "never",
                gloss: "No end waits for it: A.7.2 lets all three come after any event. A.3 and A.6 speak against it, and no guarantee does, for nothing runs by it.",
                set: |reading| reading.session_end_completes = SessionEndCompletes::Never,
            },
        ],
        why: "A.3 and A.6 want every tool and output completed, and A.1 leaves no event for it behind the end; A.7.2 lets the end follow anything, and a cancellation waits for nothing. Whoever completes them all the same is right.",
    },
    Place {
        name: "action-binding",
        clauses: &["AAEP-6.1-1", "AAEP-6.1-6", "AAEP-A.4-3"],
        question: "The agent changes the arguments of an action while its question waits, and it is accepted: with which does it run?",
        with: None,
        open: false,
        choices: &[
            Choice {
                value: "as-asked",
                gloss: "It runs with the arguments that were asked about.",
                set: |reading| reading.action_binding = ActionBinding::AsAsked,
            },
            Choice {
                value: "as-current",
                gloss: "It runs with those that it has by then: the question holds a text, the reply a token, and neither the arguments.",
                set: |reading| reading.action_binding = ActionBinding::AsCurrent,
            },
        ],
        why: "6.1 lets the action being confirmed run, which is what the user was shown; but a reply names a token, the question tells its action in prose, and no message holds the arguments that A.4's tool.invoked then runs with.",
    },
    Place {
        name: "kinds-absent",
        clauses: &["AAEP-6.5.5-2", "AAEP-6.5.2-1", "AAEP-EV-5"],
        question: "A clarification lists no accepted_response_kinds: which responses does it take?",
        with: Some("clarifications"),
        open: false,
        choices: &[
            Choice {
                value: "any",
                gloss: "Any string, boolean or number fits.",
                set: |reading| reading.kinds_absent = KindsAbsent::Any,
            },
            Choice {
                value: "freetext",
                gloss: "A string fits, as free text: it is the first kind of 6.5.2 and the one that needs nothing else; no word says what holds without a list.",
                set: |reading| reading.kinds_absent = KindsAbsent::Freetext,
            },
        ],
        why: "By the wire facts the list may be absent (AAEP-EV-5), and 6.5.5 turns away what is of none of its kinds: without a list that is nothing that 6.5.2 has as a response.",
    },
    Place {
        name: "choices-beside-freetext",
        clauses: &["AAEP-6.5.2-2", "AAEP-6.5.5-3"],
        question: "A clarification takes free text and a choice, and a string comes that is none of the choices: does it fit?",
        with: Some("clarifications"),
        open: false,
        choices: &[
            Choice {
                value: "free",
                gloss: "Any string fits, as free text.",
                set: |reading| reading.choices_beside_freetext = ChoicesBesideFreetext::Free,
            },
            Choice {
                value: "bound",
                gloss: "Only a choice fits: 6.5.5 has the response be one of the choices wherever multiple_choice is among the kinds.",
                set: |reading| reading.choices_beside_freetext = ChoicesBesideFreetext::Bound,
            },
        ],
        why: "6.5.2 takes any of the kinds that are listed, and the reply does not say of which it is; 6.5.5 holds a multiple_choice to the choices, and any string is free text.",
    },
    Place {
        name: "default-response-absent",
        clauses: &["AAEP-A.5-2", "AAEP-6.1-7", "AAEP-6.1-8"],
        question: "Nobody answers a clarification in time, and it has no default_response: is it over?",
        with: Some("clarifications"),
        open: false,
        choices: &[
            Choice {
                value: "nobody",
                gloss: "The question is over at its timeout, without an answer.",
                set: |reading| reading.default_response_absent = DefaultResponseAbsent::Nobody,
            },
            Choice {
                value: "waits",
                gloss: "It waits on: A.5 applies a default where one is set, and 6.1 lets nothing go on before a resolution. What that breaks at the closing of a subscription is of the wire facts (AAEP-EV-11).",
                set: |reading| reading.default_response_absent = DefaultResponseAbsent::Waits,
            },
        ],
        why: "6.1 has the timeout honoured, and A.5 leaves awaiting_input behind it whether a default is set or not; that nothing goes on before there is a resolution leaves open what goes on without an answer.",
    },
];
