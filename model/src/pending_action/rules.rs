//! The text of the contract, clause by clause: what a ledger, or the host around it, must not do, what always holds, what has to
//! be possible.
//!
//! The one thing to know: [`Rules::all`] is the specification, and `Rules::all().without(guard)` an ablation, a ledger that
//! does what the guard forbids whenever it can. How a block reads is said in [`crate::text`].

use crate::text::text;

use super::action::Action;
use super::known::Status;
use super::message::Approved;
use super::outbox::Item;
use super::output::{Event, Output};
use super::step::StepSoFar;
use super::words::{Decider, Decision, Effect, Note, Slot, ToolStatus};

text! {
of step: &StepSoFar<'_>, action: Action;

"PA-1" => {
    checks Known "the ledger knows the action";
    checks Nonce "the nonce, where one is given, is the action's";
    refuses Unknown "there is no such action";
    refuses NoId "an id of the proposal is empty";
    forbids MatchesByPosition "a decision is matched by the action's id, never by position" also ["PA-2"];
    forbids HonoursUnknown "a decision with an id that was never minted resolves nothing";
    forbids HonoursOtherNonce "a nonce that is given is the action's";
    forbids RunsUnasked "every proposed call pends until it is decided" also ["PA-13", "PA-14"];
    forbids ProposesMalformed "a proposal that is not well-formed is refused" also ["PA-2", "PA-3", "PA-9"]
        free "The limits are those of the driver protocol, so that what breaks them is refused or recorded.";
    forbids RecordsLate "what happens is recorded before it takes effect outside" also ["PA-8"];
    forbids ForgetsPending "what is pending outlasts a restart";
    always "every proposal is recorded, and waits for the decision of its id and of no other"
        also ["PA-2", "PA-8", "PA-3", "PA-9"];
    sometimes "a call is proposed and pends" also ["PA-9", "PA-14"]
        if step.puts_out(|it| matches!(it, Output::Event(Event::Created, _)));
    sometimes "an action is allowed while another is pending"
        if step.honours(Decision::Allow, |slot, _| slot.others().any(|other| step.before.status(other) == Status::Pending));
    sometimes "a decision is ignored: its id is unknown" if step.ignored == Some(Check::Known);
    sometimes "a decision is ignored: its nonce is another" if step.ignored == Some(Check::Nonce);
    sometimes "what is pending outlasts a restart" if action == Action::Restart && step.has(Status::Pending);
    sometimes "a decision whose record was not durable is as if never made"
        if action == Action::Restart && step.forgets(|was| matches!(was, Status::Accepted | Status::Rejected));
    sometimes "a proposal whose record was not durable is as if never made"
        if action == Action::Restart && step.forgets(|was| was == Status::Pending);
    sometimes "a proposal is refused: it is not well-formed" also ["PA-2", "PA-3", "PA-9"]
        if matches!(action, Action::ProposeFlawed(_));
    sometimes "a call is refused: the action is unknown" if step.refuses(Refusal::Unknown);
}

"PA-2" => {
    checks Entitled "the decider may decide";
    refuses NoDecider "the list of deciders of the proposal is empty";
    forbids HonoursStranger "only who may decide decides";
    forbids SpendsOnIgnored "a decision that is ignored changes nothing";
    always "nothing is released but by an allow of somebody who may decide" also ["PA-1", "PA-8"];
    sometimes "an allow releases its call" also ["PA-3"]
        if step.puts_out(|it| matches!(it, Output::Event(Event::Decided(Decision::Allow), _)));
    sometimes "somebody who is on no list allows an action that has none"
        if step.honours(Decision::Allow, |_, message| message.by == Decider::Stranger);
    sometimes "a decision is ignored: its decider may not decide" if step.ignored == Some(Check::Entitled);
}

"PA-3" => {
    checks Arguments "an allow says nothing of the arguments, or that they are the proposed ones";
    refuses Undecided "what is to have a result is still pending";
    refuses LooseArguments "the arguments of the proposal have no one meaning";
    forbids RunsEdited "an allow of other arguments than the proposed ones resolves nothing";
    forbids RunsRewritten "the arguments that run are the proposed ones, byte by byte";
    forbids FinishesUnreleased "only a call that was released has a result" also ["PA-5", "PA-7"];
    forbids DropsIdempotent "what is declared idempotent is released again until it is done"
        free "PA-3 is silent on crashes: what may run twice is run again, or is in doubt as all others are.";
    always "what runs are the proposed arguments, byte by byte" also ["PA-5", "PA-7"];
    sometimes "an allow is honoured whose arguments mean the same in other bytes"
        if step.honours(Decision::Allow, |_, message| message.approved == Approved::Alike);
    sometimes "a call that was allowed runs" also ["PA-4"]
        if matches!(step.carried_out, Some(Item::Perform(slot, _)) if step.state.held(slot).runs == 1);
    sometimes "a call that is declared idempotent runs a second time"
        if matches!(step.carried_out, Some(Item::Perform(slot, _)) if step.state.held(slot).runs == 2);
    sometimes "a decision is ignored: its arguments are others" if step.ignored == Some(Check::Arguments);
    sometimes "what is declared idempotent is released again after a restart"
        if step.message.is_none() && step.puts_out(|it| matches!(it, Output::Perform(..)));
    sometimes "a result is refused: the action is pending" if step.refuses(Refusal::Undecided);
}

"PA-4" => {
    forbids AllowsSilently "an allow appends the tool call";
    forbids FinishesSilently "the end of a tool appends its result";
    always "the transcript holds each call that was allowed, and its result";
    sometimes "a tool is done and its result told" also ["PA-10"]
        if step.puts_out(|it| matches!(it, Output::Event(Event::Executed(ToolStatus::Success | ToolStatus::Error), _)));
    sometimes "a released call is found never to have run" also ["PA-10"]
        if step.puts_out(|it| matches!(it, Output::Event(Event::NotRun, _)));
}

"PA-5" => {
    refuses SessionOver "the session of the proposal has ended";
    refuses NotReleased "what is to have a result was denied or cancelled";
    forbids HonoursCancelled "what is cancelled, by itself or with its session, stays cancelled" also ["PA-8"];
    forbids ProposesAfterEnd "nothing is proposed in an ended session";
    forbids OutlivesSession "the end of a session cancels what is pending in it";
    forbids BeginsAfterEnd "what has not begun when its session ends is withdrawn"
        free "PA-5 speaks of denying and cancelling, and what was released is neither; what is withdrawn the host alone learns.";
    forbids RepeatsAfterEnd "what was released in a session that has ended is not released again"
        free "PA-5 speaks of denying and cancelling, and what was released is neither.";
    always "what was denied or cancelled, by itself or with its session, is not released" also ["PA-8"];
    sometimes "a deny rejects its call" also ["PA-6"]
        if step.puts_out(|it| matches!(it, Output::Event(Event::Denied, _)));
    sometimes "a deny is honoured whatever arguments it gives" also ["PA-3"]
        if step.honours(Decision::Deny, |_, message| message.approved == Approved::Edited);
    sometimes "the host cancels an action"
        if matches!(action, Action::Cancel { .. }) && step.puts_out(|it| matches!(it, Output::Event(Event::Cancelled, _)));
    sometimes "a session ends with an action pending"
        if matches!(action, Action::EndSession(_)) && step.puts_out(|it| matches!(it, Output::Event(Event::Cancelled, _)));
    sometimes "a session ends and an action of the other stays pending"
        if matches!(action, Action::EndSession(session) if !step.required.is_empty() && step.has_pending_outside(session));
    sometimes "a call that was released and has not begun is withdrawn"
        if step.puts_out(|it| matches!(it, Output::Withdraw(slot) if step.before.outbox.performs(*slot)));
    sometimes "a call that was released again is withdrawn and had begun before the crash" also ["PA-10"]
        if step.puts_out(|it| matches!(it, Output::Withdraw(slot) if step.before.outbox.performs(*slot) && step.before.held(*slot).runs > 0));
    sometimes "what was declared idempotent is in doubt after a restart, as its session has ended"
        if step.puts_out(|it| matches!(it, Output::InDoubt(slot) if step.before.held(*slot).idempotent));
    sometimes "a proposal is refused: its session has ended"
        if matches!(action, Action::Propose(_)) && step.refuses(Refusal::SessionOver);
    sometimes "a result is refused: the action was denied or cancelled" if step.refuses(Refusal::NotReleased);
}

"PA-6" => {
    forbids DeniesSilently "a deny appends the denied result";
    always "the denied result is in the transcript";
}

"PA-7" => {
    checks NotExpired "the action has not expired";
    refuses NotInFuture "the proposal would have expired already";
    refuses NoExpiry "the proposal has no expiry, by the reading that wants one";
    refuses Expired "what is to be cancelled, or to have a result, has expired";
    forbids HonoursExpired "an expired action does not run";
    forbids WaitsForTimer "every call first lets expire what is due";
    forbids ExpiresEarly "no action expires before its time";
    forbids TurnsClockBack "a clock that is set back brings no time back";
    forbids ProposesExpired "what is proposed expires in the future"
        free "What has expired already is refused or recorded; PA-7 forbids that it runs, and it does not.";
    always "what has expired is not released, and nothing expires before its time";
    sometimes "an action is allowed a millisecond before it expires"
        if step.honours(Decision::Allow, |slot, _| step.before.held(slot).expiry() == Some(step.state.latest + 1));
    sometimes "two actions expire in one call"
        if Slot::ALL.into_iter().filter(|&slot| step.required.contains(Output::Event(Event::Expired, slot))).count() > 1;
    sometimes "an action expires" if step.puts_out(|it| matches!(it, Output::Event(Event::Expired, _)));
    sometimes "an action expires though nobody calls about anything"
        if action == Action::ServeTimer && step.puts_out(|it| matches!(it, Output::Event(Event::Expired, _)));
    sometimes "a call comes at an earlier time than the ledger has seen"
        if action.is_call() && step.before.clock < step.state.latest;
    sometimes "a decision is ignored: the action has expired" if step.ignored == Some(Check::NotExpired);
    sometimes "a proposal is refused: it would have expired already" if step.refuses(Refusal::NotInFuture);
    sometimes "a call is refused: the action has expired" if step.refuses(Refusal::Expired);
}

"PA-8" => {
    checks Unresolved "the action is not resolved otherwise";
    refuses Resolved "what is to be cancelled is resolved, or what is to have a result has one";
    forbids HonoursRepeated "one decision counts once, however often it arrives";
    forbids AllowsAfterDeny "what is denied stays denied" also ["PA-5"];
    forbids DeniesAfterAllow "what is allowed stays allowed";
    forbids DecidesApart "a decision is validated and takes effect in one step";
    forbids CancelsResolved "only what is pending is cancelled" also ["PA-7"]
        free "PA-7 and PA-8 forbid runs, and nothing runs; what is told has not happened, which breaks PA-10.";
    forbids FinishesTwice "a call has one result"
        free "PA-8 forbids runs, and nothing runs; the second result is told of nothing, which breaks PA-10.";
    forbids RepeatsAfterRestart "what is not declared idempotent is not released again";
    forbids ForgetsSinceSnapshot "a rollback catches up with the journal";
    always "one allow releases one run, and what is resolved stays so" also ["PA-7"];
    sometimes "of an allow and a deny under way at once the first counts"
        if step.honours_beside(Decision::Allow, Decision::Deny) || step.honours_beside(Decision::Deny, Decision::Allow);
    sometimes "of two allows under way at once the first counts"
        if step.honours_beside(Decision::Allow, Decision::Allow);
    sometimes "an allow that was sent once counts, and comes again" if step.honours_copied(Decision::Allow);
    sometimes "a decision is ignored: the action is resolved" if step.ignored == Some(Check::Unresolved);
    sometimes "a snapshot is loaded that lacks what was recorded since" if action == Action::Rollback;
    sometimes "a call is refused: the action is resolved, or has its result" if step.refuses(Refusal::Resolved);
    sometimes "a forged decision is made, by somebody who knows no id" also ["PA-1"] if action == Action::Guess;
}

"PA-9" => {
    refuses LongLabel "the label of the proposal is longer than 80 characters";
    forbids ExposesArguments "the visible message holds summary and label alone";
    always "the visible message shows neither id nor arguments";
}

"PA-10" => {
    forbids IgnoresUnaudited "a decision that is ignored is audited once"
        free "The contract knows no audit.";
    forbids MisnamesIgnored "an audit names the check that failed"
        free "The contract knows no audit.";
    forbids ExpiresSilently "an expiry appends the expired result"
        free "An event tells of it, so that PA-10 is kept.";
    forbids ExpiresAsDenied "an expiry is told from a denial" also ["PA-7"];
    forbids CancelsSilently "a cancellation appends the cancelled result" also ["PA-5"]
        free "An event tells of it, so that PA-10 is kept.";
    forbids DecidesSilently "a decision emits its event";
    forbids ForgetsReleased "what was released and is not done is told as in doubt after a restart";
    forbids ForgetsUntold "what was recorded and not told is told after a restart" also ["PA-4", "PA-6"];
    forbids SettlesBeforeTelling "after a restart what was recorded is told before what is due expires";
    forbids TakesWithdrawnForUnrun "what was to run again and was withdrawn is not reported as not run if it had begun before"
        also ["PA-4"]
        free "The host reports what is not so; what the ledger tells is what was reported.";
    always "what happened is told, in order and once, and nothing else is" also ["PA-1", "PA-7", "PA-5", "PA-4"];
    sometimes "a decision fails two checks and the first is told" if step.ignored.is_some() && step.fails_twice();
    sometimes "what was released and has run is in doubt after a restart" also ["PA-8"]
        if step.puts_out(|it| matches!(it, Output::InDoubt(slot) if step.before.held(*slot).runs > 0));
    sometimes "what was released and has not run is in doubt after a restart" also ["PA-8"]
        if step.puts_out(|it| matches!(it, Output::InDoubt(slot) if step.before.held(*slot).runs == 0));
    sometimes "what was recorded and not told is told after a restart"
        if action == Action::Restart && step.puts_out(|it| matches!(it, Output::Append(note, _) if *note != Note::Expired));
    sometimes "what was told already is told again after a restart, and stands once"
        if matches!(step.carried_out, Some(Item::Tell(note, slot)) if step.before.held(slot).is_told(note));
    sometimes "a restart tells a request and behind it that its action has expired"
        if action == Action::Restart && step.tells_expiry_behind_request();
    sometimes "a restart finds nothing to tell" if action == Action::Restart && step.required.is_empty();
}

"PA-11" => {
    forbids TakesTextForDecision "free text resolves nothing" also ["PA-2"];
    always "free text resolves nothing" also ["PA-2"];
    sometimes "free text comes while an action is pending" if action == Action::Say && step.has(Status::Pending);
}

"PA-13" => {
    always "every call that is proposed pends" also ["PA-14", "PA-1"];
    sometimes "a call that only reads pends" also ["PA-14"]
        if step.puts_out(|it| matches!(it, Output::Event(Event::Created, slot) if step.state.held(*slot).effect == Effect::Read));
}
}
