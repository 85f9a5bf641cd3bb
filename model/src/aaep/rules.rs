//! The text of the chapter, clause by clause: what a producer must not do, what always holds, what has to be possible.
//!
//! The one thing to know: [`Rules::all`] is the specification, and `Rules::all().without(guard)` an ablation, a producer
//! that does what the guard forbids whenever it can. How a block reads is said in [`crate::text`].

use crate::text::text;

use super::action::{Action, Forgery};
use super::message::{Shape, Token};
use super::output::{Answered, Output};
use super::state::Item;
use super::step::StepSoFar;
use super::words::{
    AllowedReplies, Class, Decision, Response, SUBSCRIBERS, SessionOutcome, Slot, Subscriber,
    Worked,
};

text! {
of step: &StepSoFar<'_>, action: Action;

// § 6

"AAEP-6-1" => {
    always "what may be asked is asked";
}

// § 6.1 The blocking contract

"AAEP-6.1-1" => {
    forbids PerformsBlocked "a pending action is not performed";
    forbids PerformsRejected "a rejected action is not performed" also ["AAEP-A.8-5"];
    forbids AcceptsEarly "a default of accept never applies before its time";
    always "an action runs only when authorised" also ["AAEP-6.4-1", "AAEP-A.8-5"];
    sometimes "a reply accepts" also ["AAEP-A.4-3"] if step.resolves(|it| it.by_reply && it.accepts);
    sometimes "a released action is performed"
        if action == Action::CarryOut && matches!(step.before.outbox.head(), Some(Item::Perform(_)));
    sometimes "a default of accept outlasts a closing" also ["AAEP-EV-11"]
        if step.last_capable_closes(action) && step.leaves_pending(|it| it.class.default == Decision::Accept);
}

"AAEP-6.1-3" => {
    forbids DropsSilently "a rejection is followed by an event that reflects it" also ["AAEP-6.1-2"];
    always "a rejection is followed up" also ["AAEP-6.1-2"];
    sometimes "a reply rejects" also ["AAEP-A.4-4"] if step.resolves(|it| it.by_reply && !it.accepts);
}

"AAEP-6.1-4" => {
    forbids StopsWhileBlocked "a tool that does not wait for an answer comes back while a question waits";
    always "what does not wait for an answer goes on";
    sometimes "work goes on while a confirmation is pending" also ["AAEP-6.1-5"] if step.goes_on_while_blocked();
    sometimes "a tool that needs no answer runs while a confirmation is pending" with "work"
        if step.puts_out(|it| matches!(it, Output::Work(session, Worked::Perform) if step.state.has_pending(*session, None)));
}

"AAEP-6.1-5" => {
    forbids AnnouncesBlocked "no event implies that a pending action was performed";
    always "while blocked, no event implies that the action was performed";
}

"AAEP-6.1-6" => {
    refuses StillBlocked "the same action is still blocked by an earlier confirmation";
    forbids AsksTwice "an action is not asked for again while it is blocked";
    always "while blocked, the same action is not asked for again";
    sometimes "a released action is asked for again" with "confirmations=2"
        if matches!(action, Action::Ask { same_action: true, .. }) && step.puts_out(|it| matches!(it, Output::Asked(_)));
    sometimes "a second ask for a blocked action is refused" with "confirmations=2" if step.refuses(Refusal::StillBlocked);
}

"AAEP-6.1-7" => {
    forbids KeepsAnswer "the host gets the answer to a clarification" with "clarifications";
    always "reply and timeout of a clarification are honoured" also ["AAEP-A.5-2"] with "clarifications";
    sometimes "a reply answers a clarification" with "clarifications"
        if step.answers(|it| matches!(it, Answered::Reply(_)));
}

"AAEP-6.1-8" => {
    forbids GoesOnUnanswered "nothing goes on as if a clarification that waits had its answer" with "clarifications";
    always "nothing goes on before a clarification is answered" with "clarifications";
    sometimes "an action is released while a clarification waits" with "clarifications"
        if step.resolves(|it| it.accepts) && step.leaves_pending(|it| it.clarifies.is_some());
}

"AAEP-6.1-9" => {
    refuses StillAsked "the same question waits already";
    forbids AsksQuestionTwice "a question is not asked again while it waits" also ["AAEP-6.1-6"] with "clarifications";
    always "while it waits, the same question is not asked again" with "clarifications";
    sometimes "an answered question is asked again" with "clarifications"
        if matches!(action, Action::Clarify { same_question: true, .. }) && step.puts_out(|it| matches!(it, Output::Clarify(_)));
    sometimes "a second ask of a question that waits is refused" with "clarifications"
        if step.refuses(Refusal::StillAsked);
}

// § 6.2 Tokens

"AAEP-6.2.2-3" => {
    forbids ReusesToken "a token is issued once and never again" also ["AAEP-6.2.2-1"];
    always "a token is issued once" also ["AAEP-6.2.2-1"];
    sometimes "a second confirmation has a token of its own" if step.puts_out(|it| *it == Output::Asked(Slot::Second));
}

// § 6.3 Replies: what they carry, the six checks, single use

"AAEP-6.3.2-4" => {
    forbids AcceptsModified "an unsupported modified_action makes a reply a reject";
    always "an unsupported modified_action counts as reject";
    sometimes "a reply with modified_action rejects" if step.honours(action, |it| it.shape == Shape::Modified);
    sometimes "it rejects where reject is not allowed"
        if step.honours(action, |it| it.shape == Shape::Modified)
            && step.resolves(|it| it.by_reply && !step.before.confirmation(it.slot).class.allowed.allows(Decision::Reject));
}

"AAEP-6.3.4-1" => {
    checks WellFormed "check 1: well-formed JSON that conforms to the schema";
    forbids HonoursMalformed "a message that does not conform to the reply schema is ignored" also ["AAEP-6.3.4-7"];
    always "a malformed reply has no effect";
    sometimes "a malformed reply is ignored" if step.ignored == Some(Check::WellFormed);
}

"AAEP-6.3.4-2" => {
    checks Issued "check 2: the token is one that this producer issued";
    forbids HonoursUnissued "a reply whose token this producer never issued is ignored" also ["AAEP-6.3.4-7"];
    forbids SpillsOver "a reply concerns the confirmation of its token and no other" also ["AAEP-6.9-2"];
    always "a token that was never issued has no effect";
    sometimes "a guessed token is ignored" if step.ignored == Some(Check::Issued);
}

"AAEP-6.3.4-3" => {
    checks Unused "check 3: the token was not used, by a reply or by the default";
    forbids HonoursUsed "a token that was used, by a reply or by the default, is not honoured again"
        also ["AAEP-6.3.5-1", "AAEP-6.7.1-1", "AAEP-REPLY-12", "AAEP-6.9-2"];
    always "a used token has no effect" also ["AAEP-6.3.5-1", "AAEP-REPLY-12"];
    sometimes "a used token is ignored" also ["AAEP-6.3.5-1", "AAEP-6.7.1-1"] if step.ignored == Some(Check::Unused);
}

"AAEP-6.3.4-4" => {
    checks InTime "check 4: the claimed time lies strictly before issue + timeout";
    forbids HonoursLate "a reply whose timestamp is not before issue + timeout is ignored"
        also ["AAEP-6.3.4-7", "AAEP-6.9-2"];
    always "a reply that claims the deadline or later has no effect";
    sometimes "a late claim is ignored" if step.ignored == Some(Check::InTime);
    sometimes "a clock is behind, and its reply claims to be in time"
        if matches!(action, Action::Decide { skew: ..0, .. });
}

"AAEP-6.3.4-5" => {
    checks Sender "check 5: the sender is authenticated, its subscription is open and the one that the message names";
    forbids HonoursUnauthenticated "whoever knows the token is not thereby the one who may decide"
        also ["AAEP-6.2.4-1", "AAEP-6.9-1"];
    forbids HonoursImpostor "a reply that names another subscription than its sender's is ignored"
        also ["AAEP-REPLY-14"];
    always "a reply that fails check 5 has no effect";
    sometimes "an unauthenticated reply is ignored" also ["AAEP-6.9-1"]
        if step.ignores(action, Check::Sender, |it| !it.authenticated);
    sometimes "somebody replies in the name of another's subscription" also ["AAEP-REPLY-14"]
        if matches!(action, Action::Forge(Forgery::Impostor { .. }));
}

"AAEP-6.3.4-6" => {
    checks Allowed "check 6: the decision is one of the allowed replies";
    forbids HonoursUnlisted "a decision that the confirmation does not list as allowed is ignored"
        also ["AAEP-6.3.4-7"];
    always "a decision that is not listed has no effect";
    sometimes "a decision that is not listed is ignored" if step.ignored == Some(Check::Allowed);
}

"AAEP-6.3.4-7" => {
    always "a reply that fails any check has no effect";
}

"AAEP-6.3.4-9" => {
    forbids TellsCheck "the response is the same whichever check failed, and when none did";
    always "the sender sees the same whatever happened";
}

"AAEP-6.3.5-1" => {
    always "a token resolves at most once" also ["AAEP-6.7.1-1", "AAEP-REPLY-12"];
}

// § 6.4 Timeouts and defaults

"AAEP-6.4-1" => {
    forbids ForgetsDefault "once the timeout has elapsed without a valid reply the default applies";
    always "once its deadline has come, a confirmation is resolved by its default";
    sometimes "a default accepts" also ["AAEP-6.1-1"]
        if step.resolves(|it| !it.by_reply && it.due.is_some() && it.accepts);
    sometimes "a default rejects" also ["AAEP-6.1-3"]
        if step.resolves(|it| !it.by_reply && it.due.is_some() && !it.accepts);
    sometimes "a timer is served after its deadline"
        if action == Action::ServeTimer && step.resolves(|it| !it.by_reply && it.due > Some(0));
    sometimes "another call applies a default that is due"
        if action != Action::ServeTimer && step.resolves(|it| !it.by_reply && it.due.is_some());
    sometimes "a reply arrives too late, and its arrival lets the default apply"
        if step.ignored == Some(Check::Unused) && step.resolves(|it| !it.by_reply && it.due.is_some());
    sometimes "a reply is lost on the way" if matches!(action, Action::Lose { .. });
}

"AAEP-6.4.1-1" => {
    refuses DefaultOfHighRisk "a default of accept for an irreversible action of high risk";
    forbids DefaultsHighRisk "irreversible and high risk: the default is reject" also ["AAEP-6.9-5"];
    always "no timeout runs an irreversible high-risk action" also ["AAEP-6.9-5"];
    sometimes "a forbidden default is refused" if step.refuses(Refusal::DefaultOfHighRisk);
}

"AAEP-6.4.1-2" => {
    refuses DefaultOfMediumRisk "a default of accept for an irreversible action of medium risk";
    forbids DefaultsMediumRisk "irreversible and medium risk: the default is reject";
    always "no timeout runs an irreversible medium-risk action";
    sometimes "a forbidden default is refused" if step.refuses(Refusal::DefaultOfMediumRisk);
}

"AAEP-6.4.1-3" => {
    refuses DefaultOfLowRisk "a default of accept for what is irreversible and of low risk, where the table forbids it";
}

"AAEP-6.4.1-4" => {
    refuses DefaultOfReversibleHighRisk "a default of accept for what can be undone and is of high risk, where the table forbids it";
}

"AAEP-6.4.1-5" => {
    refuses DefaultOfReversibleMediumRisk "a default of accept for what can be undone and is of medium risk, where the table forbids it";
}

"AAEP-6.4.1-6" => {
    refuses DefaultOfReversibleLowRisk "a default of accept for what can be undone and is of low risk, where the table forbids it";
}

"AAEP-6.4.2-2" => {
    sometimes "more time is asked for and given" with "extensions" if step.puts_out(|it| matches!(it, Output::MoreTime(_)));
}

"AAEP-6.4.2-3" => {
    refuses NoMoreTime "the question to be given more time does not wait, or waits that long already";
    forbids RefusesMoreTime "more time is given to a question that waits" also ["AAEP-6.4.2-2"] with "extensions";
    forbids ExtendsSilently "that a question has more time is told" with "extensions";
    forbids TimesOutUnextended "with more time the default applies later" also ["AAEP-6.4-1", "AAEP-6.1-8"] with "extensions";
    forbids ChecksOldDeadline "with more time a reply may claim a later time"
        also ["AAEP-6.3.4-4", "AAEP-6.1-7", "AAEP-A.4-3"] with "extensions";
    always "more time is given, and told" also ["AAEP-6.4.2-2"] with "extensions";
    sometimes "more time for what does not wait is refused" with "extensions" if step.refuses(Refusal::NoMoreTime);
}

// § 6.5 Clarifications

"AAEP-6.5.2-2" => {
    forbids TakesFirstKindOnly "of several kinds of response any is taken" with "clarifications";
    always "of several kinds of response any is taken" also ["AAEP-6.1-7"] with "clarifications";
    sometimes "the second of two kinds is taken" with "clarifications"
        if step.answers(|it| it == Answered::Reply(Response::Number));
}

"AAEP-6.5.5-1" => {
    forbids HonoursOtherKind "a reply is to a question of its own kind" also ["AAEP-6.3.4-2"] with "clarifications";
    always "a reply to a clarification passes the checks of a reply to a confirmation" with "clarifications";
    sometimes "a reply of the other kind is ignored" with "clarifications"
        if step.ignores(action, Check::Issued, |it| it.token != Token::Guessed);
}

"AAEP-6.5.5-2" => {
    checks Type "the response is of a type that the question takes";
    forbids HonoursOtherType "a response of a type that the question does not take is ignored" also ["AAEP-6.5.2-1"] with "clarifications";
    always "a response of another type has no effect" with "clarifications";
    sometimes "a response of another type is ignored" with "clarifications" if step.ignored == Some(Check::Type);
}

"AAEP-6.5.5-3" => {
    checks Choice "the response is one of the choices";
    forbids HonoursNoChoice "a response that is none of the choices is ignored" also ["AAEP-6.5.2-1"] with "clarifications";
    always "a response that is no choice has no effect" with "clarifications";
    sometimes "a response that is no choice is ignored" with "clarifications" if step.ignored == Some(Check::Choice);
}

"AAEP-6.5.5-4" => {
    forbids GivesUpOnMisfit "a response that does not fit leaves the question waiting" with "clarifications";
    always "a response that does not fit changes nothing" with "clarifications";
    sometimes "a clarification is answered after a response that did not fit" with "clarifications"
        if step.answers(|it| matches!(it, Answered::Reply(_)))
            && step.before.confirmations.iter().any(|it| it.is_pending() && it.may_decide != [true; SUBSCRIBERS]);
}

// § 6.6 and 6.7 Several subscribers

"AAEP-6.6-4" => {
    sometimes "a forwarder's reply is honoured" if step.honours(action, |it| it.sender == Subscriber::Forwarder);
}

"AAEP-6.7.1-1" => {
    always "the outcome is that of the first valid reply, or the default's" also ["AAEP-6.4-1", "AAEP-6.6-4"];
}

"AAEP-6.7-1" => {
    forbids LosesQuestion "a question that was lost in a crash is put out again" also ["AAEP-6.1-1"];
    forbids LeavesOneOut "a question goes to every subscription, whether it can reply or not";
    always "every question is put out, if need be again" also ["AAEP-6.1-1"];
    sometimes "a question is lost in a crash" if action == Action::Crash && step.puts_out(|it| matches!(it, Output::Asked(_)));
    sometimes "nobody who could answer has come when a question is asked"
        if step.puts_out(|it| matches!(it, Output::Asked(_))) && !step.before.has_capable();
    sometimes "somebody comes while a question waits"
        if matches!(action, Action::Open { .. }) && step.leaves_pending(|_| true);
}

// § 6.8 Cancellation

"AAEP-6.8-1" => {
    refuses NotPending "the confirmation to be cancelled is not pending";
    always "a cancelled action never runs" also ["AAEP-6.1-1"];
    sometimes "a confirmation is cancelled by itself" also ["AAEP-6.8-3"]
        if matches!(action, Action::Cancel { .. }) && step.cancels();
    sometimes "the cancellation of what is not pending is refused" if step.refuses(Refusal::NotPending);
}

"AAEP-6.8-2" => {
    forbids OutlivesSession "the end of a session cancels its pending confirmations";
    always "a cancelled session cancels its confirmations";
    sometimes "a confirmation is cancelled with its session"
        if matches!(action, Action::EndSession { outcome: SessionOutcome::Cancelled, .. }) && step.cancels();
}

"AAEP-6.8-3" => {
    forbids CancelsSilently "the cancellation of one confirmation is told by a state.changed";
    always "the cancellation of one confirmation is told";
}

"AAEP-6.8-4" => {
    checks NotCancelled "check 3: the token's confirmation was not cancelled";
    forbids HonoursCancelled "the token of a cancelled confirmation is invalid";
    forbids DefaultsCancelled "the default of a cancelled confirmation does not apply" also ["AAEP-6.8-1"];
    always "a cancelled token has no effect";
    sometimes "a cancelled token is ignored" if step.ignored == Some(Check::NotCancelled);
}

// § 6.9 Security

"AAEP-6.9-1" => {
    always "an unauthenticated reply has no effect" also ["AAEP-6.2.4-1"];
}

"AAEP-6.9-2" => {
    forbids PerformsTwice "one authorisation performs its action once" also ["AAEP-6.1-1"];
    forbids RepeatsAfterRestart "after a restart an action in doubt is reported, not performed again"
        also ["AAEP-6.1-1"];
    always "an action runs at most once, and on a reply to its own question" also ["AAEP-6.1-1", "AAEP-6.3.4-2"];
    sometimes "a reply resolves one of two pending confirmations"
        if step.honours(action, |_| true) && step.leaves_pending(|_| true);
    sometimes "a reply is sent with another session's token"
        if matches!(action, Action::Forge(Forgery::MixedUp { .. }));
    sometimes "a replayed reply is ignored" if action == Action::Replay && step.ignored.is_some();
    sometimes "a restart reports an action as in doubt" if step.puts_out(|it| matches!(it, Output::InDoubt(_)));
    sometimes "a restart finds nothing in doubt"
        if action == Action::Crash && !step.puts_out(|it| matches!(it, Output::InDoubt(_)));
}

// The reply schema

"AAEP-REPLY-14" => {
    refuses ClosedAlready "the subscription to be closed is closed";
    forbids HonoursClosed "a reply on a subscription that is closed is ignored" also ["AAEP-6.3.4-5"];
    always "a reply from no open subscription of its own has no effect";
    sometimes "a reply on a closed subscription is ignored" also ["AAEP-6.3.4-5"]
        if step.ignores(action, Check::Sender, |it| it.authenticated && !step.before.is_open(it.sender));
    sometimes "a second closing is refused" if step.refuses(Refusal::ClosedAlready);
}

"AAEP-REPLY-15" => {
    forbids TakesUnlistedForOwn "beside a value of the producer's own only what is listed counts" also ["AAEP-6.3.4-6"] with "clarifications";
    always "a value of the producer's own is decided by no other" with "clarifications";
    sometimes "a value of the producer's own is listed" with "clarifications"
        if matches!(action, Action::Ask { class: Class { allowed: AllowedReplies::RejectOrOwn, .. }, .. })
            && step.puts_out(|it| matches!(it, Output::Asked(_)));
}

// Appendix A

"AAEP-A.1-1" => {
    refuses StartedAlready "the session to be started has started";
    forbids StartsTwice "a session starts once";
    always "a session starts once";
    sometimes "a session starts" if step.puts_out(|it| matches!(it, Output::Started(_)));
    sometimes "a session starts while a question waits in another"
        if matches!(action, Action::StartSession { .. }) && step.leaves_pending(|_| true);
    sometimes "a second start is refused" if step.refuses(Refusal::StartedAlready);
}

"AAEP-A.1-2" => {
    refuses EndedAlready "the session to be ended has ended";
    forbids EndsTwice "a session has one terminal event";
    always "a session has one terminal event" also ["AAEP-A.7.2-1", "AAEP-A.8-2", "AAEP-A.8-8"];
    sometimes "a second end is refused" if step.refuses(Refusal::EndedAlready);
}

"AAEP-A.1-3" => {
    refuses SessionOver "a confirmation was asked for in a session that has ended";
    forbids AsksAfterEnd "no confirmation is asked for in a session that has ended";
    forbids BeginsAfterEnd "an action that has not begun when its session ends is withdrawn" also ["AAEP-6.8-2"]
        free "What the host is told not to begin is an output that nobody else sees.";
    always "no event follows the terminal one" also ["AAEP-A.7.2-1", "AAEP-A.8-3", "AAEP-A.8-8"];
    sometimes "an action is withdrawn because its session ended" also ["AAEP-6.8-2"]
        if step.puts_out(|it| matches!(it, Output::Withdraw(_)));
    sometimes "an ask after the session's end is refused" if step.refuses(Refusal::SessionOver);
}

"AAEP-A.2-2" => {
    forbids LeavesEarly "the state is awaiting_input again as long as a confirmation is pending";
    always "the state is awaiting_input while a confirmation is pending";
}

"AAEP-A.2-3" => {
    refuses HandedOff "the session was handed off";
    refuses Busy "the session has a question, a tool or an output that goes on";
    forbids WorksAfterHandoff "a session that was handed off only ends" with "work=2";
    forbids HandsOffUnsaid "the state is handing_off when a session is handed off" with "work";
    always "a session is handed off in its state, and then only ends" with "work";
    sometimes "a session is handed off" with "work"
        if step.puts_out(|it| matches!(it, Output::Work(_, Worked::HandedOff)));
    sometimes "work for a session that was handed off is refused" with "work=2" if step.refuses(Refusal::HandedOff);
    sometimes "a session with a tool or a question is not handed off" with "work" if step.refuses(Refusal::Busy);
}

"AAEP-A.3-1" => {
    forbids LeavesToolOpen "every tool.invoked has its tool.completed before its session completes or fails"
        also ["AAEP-A.7.4-2"];
    always "every tool is completed when its session completes or fails" also ["AAEP-A.7.4-2"];
    sometimes "a tool is reported as done"
        if matches!(action, Action::FinishTool { .. }) && step.puts_out(|it| matches!(it, Output::Completed(_)));
    sometimes "a tool is completed because its session ends"
        if matches!(action, Action::EndSession { .. }) && step.puts_out(|it| matches!(it, Output::Completed(_)));
}

"AAEP-A.3-2" => {
    refuses NotInFlight "the tool that is reported as done was not released, or is done already, or its session has ended";
    forbids CompletesUninvoked "no tool.completed without a tool in flight" also ["AAEP-A.7.5-1", "AAEP-A.8-1"];
    always "no tool.completed without a tool in flight" also ["AAEP-A.7.5-1", "AAEP-A.8-1", "AAEP-A.8-8"];
    sometimes "the completion of no tool is refused" if step.refuses(Refusal::NotInFlight);
}

"AAEP-A.3-3" => {
    forbids ThinksWhileToolRuns "the state is calling_tool again while a tool runs" also ["AAEP-6.7.2-2"];
    always "after a resolution the state is calling_tool while a tool runs" also ["AAEP-6.7.2-2"];
    sometimes "a tool runs on while another action is rejected"
        if step.puts_out(|it| matches!(it, Output::FollowUpLeaving(_)))
            && step.puts_out(|it| matches!(it, Output::CallingTool(_)))
            && !step.resolves(|it| it.accepts);
}

"AAEP-A.4-1" => {
    forbids AsksWithoutState "the state is awaiting_input at or before the question";
    always "the question finds the state awaiting_input";
    sometimes "the state becomes awaiting_input" if step.puts_out(|it| matches!(it, Output::AwaitingInput(_)));
}

"AAEP-A.4-2" => {
    forbids StaysAwaiting "the state leaves awaiting_input with every resolution";
    always "the state leaves awaiting_input after resolution" also ["AAEP-A.7.6-1"];
    sometimes "the state leaves awaiting_input"
        if step.puts_out(|it| matches!(it, Output::CallingTool(_) | Output::FollowUpLeaving(_)));
}

"AAEP-A.4-3" => {
    forbids SkipsInvoked "an accepted action is announced by tool.invoked";
    forbids InvokesTwice "an accepted action is announced by tool.invoked once" also ["AAEP-A.3-1"];
    always "accepted leads to exactly one tool.invoked" also ["AAEP-A.7.6-1"];
}

"AAEP-A.4-4" => {
    forbids InvokesRejected "a rejected action is not announced by tool.invoked" also ["AAEP-A.7.4-1", "AAEP-A.8-4"];
    always "rejected leads to no tool.invoked" also ["AAEP-A.8-5"];
}

"AAEP-A.5-1" => {
    forbids StaysAfterAnswer "the state leaves awaiting_input when a clarification is answered" also ["AAEP-6.1-9"] with "clarifications";
    always "the state leaves awaiting_input after an answer" also ["AAEP-A.4-2"] with "clarifications";
}

"AAEP-A.5-2" => {
    forbids DropsDefaultResponse "where nobody answers, the default response is the answer" with "clarifications";
    always "where nobody answers, the default response is the answer" with "clarifications";
    sometimes "a default answers" with "clarifications" if step.answers(|it| it == Answered::Default);
    sometimes "nobody answers, and there is no default" with "clarifications"
        if step.answers(|it| it == Answered::Nobody);
}

"AAEP-A.6-1" => {
    forbids LeavesOutputOpen "every output is complete before its session completes or fails" with "work";
    always "every output is complete when its session completes or fails" with "work";
    sometimes "an output is completed because its session ends" with "work"
        if matches!(action, Action::EndSession { .. })
            && step.puts_out(|it| matches!(it, Output::Work(_, Worked::Chunk { .. })));
}

"AAEP-A.6-2" => {
    forbids MisplacesChunk "a chunk stands where the one before it ends" also ["AAEP-A.8-7"] with "work=2";
    always "a chunk stands where the one before it ends" also ["AAEP-A.8-7", "AAEP-A.8-8"] with "work=2";
    sometimes "an output has a second chunk" with "work=2"
        if step.puts_out(|it| matches!(it, Output::Work(_, Worked::Chunk { position: 1.., .. })));
}

"AAEP-A.6-3" => {
    refuses OutputComplete "the output is complete";
    forbids WritesOn "a chunk of an output that is complete is refused" also ["AAEP-A.8-6"] with "work=2";
    forbids CompletesTwice "the last chunk of an output comes once" also ["AAEP-A.6-1"] with "work";
    always "nothing follows the last chunk of an output" also ["AAEP-A.8-6", "AAEP-A.8-8"] with "work";
    sometimes "a chunk after the last is refused" with "work=2" if step.refuses(Refusal::OutputComplete);
}

"AAEP-A.7.4-1" => {
    refuses NotAskedAbout "nobody was asked about the tool, and it cannot be undone";
    forbids RunsUnasked "a tool that cannot be undone does not run unasked" also ["AAEP-A.8-4"] with "work";
    always "an irreversible tool.invoked has an authorisation before it"
        also ["AAEP-A.8-4", "AAEP-A.8-5", "AAEP-A.8-8"];
    sometimes "an irreversible action is announced"
        if step.puts_out(|it| matches!(it, Output::Invoked(slot) if step.state.confirmation(*slot).class.irreversible));
    sometimes "a tool that can be undone runs without a question" with "work"
        if step.puts_out(|it| matches!(it, Output::Work(_, Worked::Perform)));
    sometimes "a tool that cannot be undone is refused without a question" with "work" if step.refuses(Refusal::NotAskedAbout);
}

"AAEP-A.9-2" => {
    forbids SharesState "the state of a session follows its own questions";
    always "each session has a state of its own";
    sometimes "two sessions await input" if step.state.sessions.iter().all(|it| it.awaiting_input);
}

// The wire

"AAEP-EV-2" => {
    refuses OpenedAlready "the subscription to be opened has been open";
    sometimes "a second subscription under one id is refused" if step.refuses(Refusal::OpenedAlready);
}

"AAEP-EV-5" => {
    refuses BadTimeout "the timeout is out of range";
    forbids AsksWithoutTime "a question waits for a second at least";
    always "what is asked is within the limits of its event";
    sometimes "a timeout out of range is refused" if step.refuses(Refusal::BadTimeout);
}

"AAEP-EV-8" => {
    always "a change of state leaves the state that was entered last";
}

"AAEP-EV-11" => {
    forbids IgnoresClosing "when the last subscription that could answer closes, a default of reject applies";
    always "the closing of the last capable subscription rejects";
    sometimes "a closing rejects"
        if step.last_capable_closes(action) && step.resolves(|it| it.due.is_none() && !it.accepts);
}

"AAEP-EV-13" => {
    always "a tool_call_id is unique in its session" also ["AAEP-A.4-3"];
}
}
