//! The clauses, in the order of the text: for each what a decision has to keep, what is owed, and what is forbidden.
//!
//! The one thing to know: search for the id. A clause that a decision has to keep says why the decision is void; what is owed
//! is taken from the outputs; what is left when every clause has taken its own is forbidden by the last functions of
//! PA-8 and PA-10. Where the text is silent, it is taken as the driver protocol and the readings take it: a session that ends
//! cancels, `not_run` is no execution, a crash repeats what it lost.

use crate::judge::Kind;
use crate::pending_action::readings::{DecidersAbsent, ExpiryAbsent, InDoubt, ReadEffect};

use super::account::{Action, Fate};
use super::case::{Case, Shown};
use super::words::{
    Decide, Decision, Effect, Event, Form, Message, Outcome, Output, Proposal, Status, Terms,
    ToolCall,
};

/// Why a decision must have no effect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Void {
    pub clause: &'static str,
    pub also: &'static [&'static str],
    /// What it is where the action was run.
    pub kind: Kind,
    pub because: &'static str,
}

const fn void(clause: &'static str, kind: Kind, because: &'static str) -> Void {
    Void {
        clause,
        also: &[],
        kind,
        because,
    }
}

/// PA-1: a call can stop for a decision and resume later. The record: id or nonce, agent, session, run, tool, exact
/// arguments, effect, summary, expiry.
impl Case<'_> {
    /// A proposal is recorded, under a name of its own. Its action, where there is one.
    pub fn is_recorded(&mut self, proposal: &Proposal) -> Option<u32> {
        if self.is_refused() {
            let Terms {
                session,
                expires_at,
                ..
            } = proposal.terms;
            let is_late = expires_at.is_some_and(|closes| self.account.leaves_no_time(closes));
            let has_ended = self.account.ended.contains_key(&session);
            let may = has_ended || is_late || self.has_to_expire(proposal);
            if proposal.within_limits && !may {
                self.breaks("PA-1", "the proposal must be recorded and not refused");
            }
            return None;
        }
        let Some((place, (action, nonce, terms))) = self.pick(created) else {
            self.breaks("PA-1", "the proposal must be recorded");
            return None;
        };
        let is_new = self.action(action).is_none();
        if self.action(action).is_some_and(|known| known.unsure) {
            let text = format!("action {action} must stay what it was, whatever is handed back");
            self.break_at(place, "PA-8", &["PA-1"], text);
        } else if !is_new || nonce.is_some_and(|nonce| self.account.nonces.contains(&nonce)) {
            let text = format!("action {action} must have an id and a nonce of its own");
            self.break_at(place, "PA-1", &[], text);
        }
        if self.has_to_expire(proposal) {
            let text = format!("action {action} must not be recorded: it has no expiry");
            self.break_at(place, "PA-1", &["PA-7"], text);
        }
        let states = self.states_expiry(proposal);
        let is_stated = |closes: i64| !self.account.leaves_no_time(closes);
        if states && !terms.expires_at.is_some_and(is_stated) {
            let text = format!("the record of action {action} must state when it expires");
            self.break_at(place, "PA-1", &["PA-7"], text);
        }
        let mut differing = differing(&terms, &proposal.terms);
        differing.retain(|&field| !(states && field == "expiry"));
        if !differing.is_empty() {
            let fields = differing.join(", ");
            let text = if proposal.within_limits {
                format!("the record of action {action} must hold what was proposed: {fields}")
            } else {
                format!("the proposal must be refused, as beyond the limits: {fields}")
            };
            self.break_at(place, "PA-1", &[], text);
        }
        let boundary = self.reading.expiry_boundary;
        self.account.open(action, nonce, terms, proposal, boundary);
        Some(action)
    }

    /// PA-1, by the reading that wants an expiry said: whether there is none.
    fn has_to_expire(&self, proposal: &Proposal) -> bool {
        self.reading.expiry_absent == ExpiryAbsent::Refused && proposal.terms.expires_at.is_none()
    }

    /// PA-7, by the reading that states one where none is said: whether the record is to state it.
    fn states_expiry(&self, proposal: &Proposal) -> bool {
        self.reading.expiry_absent == ExpiryAbsent::After && proposal.terms.expires_at.is_none()
    }

    /// What was stored is there after a restart.
    pub fn resumes(&mut self) -> bool {
        let resumes = !self.is_refused();
        if !resumes {
            let text = "what was stored must be there again after the crash";
            self.breaks("PA-1", text);
        }
        resumes
    }

    /// A decision names an action, and its nonce where it names one.
    fn names_its_action(&self, decide: &Decide) -> Option<Void> {
        let Some(action) = self.action(decide.action) else {
            return Some(void("PA-1", Kind::Guarantee, "there is no such action"));
        };
        if decide.nonce.is_some() && decide.nonce != action.nonce {
            return Some(void(
                "PA-1",
                Kind::Guarantee,
                "its nonce is not the action's",
            ));
        }
        None
    }

    /// Nothing runs that nobody was asked about, or before it is allowed.
    fn runs_unasked(&mut self, action: u32, place: usize) {
        let text = format!("action {action} must not run: nobody has allowed it");
        let effect = self.action(action).map(|it| it.terms.effect);
        if effect == Some(Effect::Read) {
            // By another reading it need not be asked about.
            self.break_at(place, "PA-1", &["PA-13"], text);
        } else {
            self.break_at(place, "PA-1", &[], text);
            self.is_guarantee();
        }
    }
}

/// PA-2: a structured decision settles the action by itself, without model or transcript in between.
impl Case<'_> {
    /// Who decides has a name and may decide: the deciders named; where none are, by the reading, nobody or anyone but the
    /// agent that proposed.
    fn may_decide(&self, decide: &Decide) -> Option<Void> {
        let action = self.action(decide.action)?;
        // PA-1: a call has not stopped for a decision that somebody else takes, its own agent least of all.
        let void = |kind, because| Void {
            also: &["PA-1"],
            ..void("PA-2", kind, because)
        };
        let Some(by) = decide.by else {
            return Some(void(Kind::Guarantee, "nobody decided"));
        };
        let own = "an agent does not decide on its own call";
        let is_own = by == action.terms.agent;
        match (&action.deciders, self.reading.deciders_absent) {
            (Some(deciders), _) if deciders.contains(&by) => None,
            (Some(_), _) if is_own => Some(void(Kind::Guarantee, own)),
            (Some(_), _) => Some(void(Kind::Guarantee, "who decided is no decider of it")),
            (None, DecidersAbsent::Nobody) => {
                Some(void(Kind::Conformance, "it names nobody who may decide"))
            }
            (None, DecidersAbsent::Anyone) if is_own => Some(void(Kind::Conformance, own)),
            (None, DecidersAbsent::Anyone) => None,
        }
    }

    /// The first valid decision settles the action. Whether it was seen to.
    pub fn settles(&mut self, decide: &Decide) -> bool {
        let action = decide.action;
        let is_shown = self.first(|output| is_effect(output, action)).is_some();
        let settles = is_shown && !self.is_refused();
        if !settles {
            // PA-1: what was stopped for a decision resumes.
            let (text, also): (_, &[&str]) = match decide.decision {
                Decision::Allow => ("allowed", &["PA-1"]),
                Decision::Deny => ("denied", &[]),
            };
            let text = format!("action {action} must be {text} by this decision");
            self.find("PA-2", also, Kind::Conformance, text);
            self.account.is_lost_sight_of(action);
        }
        settles
    }
}

/// PA-3: once allowed, the call runs with precisely the arguments that were proposed.
impl Case<'_> {
    /// Who allows allows what was proposed; a denial with other arguments denies.
    fn approves_the_call(&self, decide: &Decide) -> Option<Void> {
        let action = self.action(decide.action)?;
        let approved = decide.arguments.unwrap_or(action.terms.call.arguments);
        if decide.decision == Decision::Allow && approved != action.terms.call.arguments {
            return Some(void("PA-3", Kind::Guarantee, "it approves other arguments"));
        }
        None
    }

    /// The call that was allowed is performed as it was proposed.
    pub fn is_performed(&mut self, action: u32) {
        let Some(wanted) = self.action(action).map(|it| it.terms.call) else {
            return;
        };
        let performed = |output: &Output| {
            let is_performed = output.about() == Some((action, Form::Perform));
            is_performed.then(|| called(output)).flatten()
        };
        let Some((place, call)) = self.pick(performed) else {
            let text = format!("action {action} must run, since it is allowed");
            self.find("PA-3", &[], Kind::Conformance, text);
            self.account.is_lost_sight_of(action);
            return;
        };
        self.account.performs(action, call);
        self.runs_as_proposed(action, place, call, wanted);
    }

    fn runs_as_proposed(&mut self, action: u32, place: usize, call: ToolCall, wanted: ToolCall) {
        if call != wanted {
            let text = format!("action {action} must run exactly as it was proposed");
            self.break_at(place, "PA-3", &[], text);
            self.is_guarantee();
        }
    }
}

/// PA-4: the transcript gains the call and its result, as messages or as events.
impl Case<'_> {
    /// The call may be told of from the proposal on. Where it was, if it was here.
    pub fn call_is_told(&mut self, action: u32) -> Option<usize> {
        let message = self.take(action, Form::CallMessage);
        let event = self.take(action, Form::Called);
        let wanted = self.action(action).map(|it| it.terms.call);
        for (place, output) in message.iter().chain(&event) {
            if called(output) != wanted {
                let text = format!("the call of action {action} must be told of as it was made");
                self.break_at(*place, "PA-4", &["PA-3"], text);
            }
        }
        message.or(event).map(|(place, _)| place)
    }

    /// A tool comes back: by then its call is told of, and now its result, after the call.
    fn result_is_told(&mut self, action: u32, status: Status, result: Option<u32>) -> bool {
        let call = self.call_is_told(action);
        let message = self.take(action, Form::ResultMessage);
        if let Some((place, output)) = message
            && !is_result(&output, status, result)
        {
            let text = format!("the result of action {action} must be the one reported");
            self.break_at(place, "PA-4", &[], text);
        }
        let Some(known) = self.action(action) else {
            return false;
        };
        let was_called = known.was_told(Form::CallMessage) || known.was_told(Form::Called);
        let came_first = match (call, message) {
            (Some(call), Some((result, _))) => call < result,
            (Some(_) | None, _) => true,
        };
        if !was_called || !came_first {
            let text = format!("the call of action {action} must be told of before its result");
            self.find("PA-4", &[], Kind::Conformance, text);
        }
        message.is_some()
    }
}

/// PA-5: denied or cancelled, the action is settled and its tool does not run. The end of a session cancels.
impl Case<'_> {
    /// A proposal in a session that has ended is refused.
    pub fn session_goes_on(&mut self, action: u32, session: u32) {
        if self.account.ended.remove(&session) == Some(true) {
            let text = format!("action {action} must be refused, since its session has ended");
            self.find("PA-5", &[], Kind::Conformance, text);
        }
    }

    /// These questions are taken back.
    pub fn are_cancelled(&mut self, actions: &[u32]) {
        if self.is_refused() {
            if let Some(action) = actions.first() {
                self.breaks("PA-5", &format!("action {action} must be cancelled"));
            }
            return;
        }
        for &action in actions {
            self.account.settle(action, Fate::Cancelled);
            self.call_is_told(action);
            self.settlement_is_told(action, Form::Cancelled, Outcome::Cancelled);
        }
    }

    fn was_not_rejected(action: &Action) -> Option<Void> {
        let because = match action.fate {
            Fate::Denied => "it was denied",
            Fate::Cancelled => "it was cancelled",
            Fate::Open | Fate::Expired | Fate::Allowed | Fate::Finished => return None,
        };
        Some(Void {
            clause: "PA-5",
            also: &["PA-8"],
            kind: Kind::Guarantee,
            because,
        })
    }
}

/// PA-6: once denied, the transcript gains a result that says so.
impl Case<'_> {
    /// The denial is appended. An event besides is free.
    pub fn denial_is_appended(&mut self, action: u32) {
        self.account.settle(action, Fate::Denied);
        self.call_is_told(action);
        self.take(action, Form::Denied);
        let appended = self.take(action, Form::ResultMessage);
        let is_denial =
            appended.is_some_and(|(_, output)| outcome(&output) == Some(Outcome::Denied));
        if !is_denial {
            let text =
                format!("a result must be appended that says that action {action} is denied");
            self.find("PA-6", &[], Kind::Conformance, text);
        }
    }
}

/// PA-7: an expired action does not run. At `expires_at`, or after it by the reading; by the greatest time so far.
impl Case<'_> {
    /// These have expired since the last call, so that this comes first of all.
    pub fn have_expired(&mut self, actions: &[u32]) {
        for &action in actions {
            self.call_is_told(action);
            self.settlement_is_told(action, Form::Expired, Outcome::Expired);
        }
    }

    /// An expiry is told of when it has come and no sooner, also where that was owed before.
    pub fn expire_in_time(&mut self) {
        while let Some((place, output)) = self.first(|output| self.is_news_of_expiry(output)) {
            let Some((action, form)) = output.about() else {
                return;
            };
            let Some(known) = self.account.actions.get_mut(&action) else {
                return;
            };
            known.is_told(form);
            let (is_open, closes) = (known.fate == Fate::Open, known.terms.expires_at);
            self.shown[place] = Shown::Explained;
            if is_open && !closes.is_some_and(|closes| self.may_have_come(closes)) {
                let text = format!("action {action} must not expire before its time");
                self.break_at(place, "PA-7", &["PA-10"], text);
            }
            self.account.settle(action, Fate::Expired);
        }
    }

    /// Whether an output tells, and for the first time, that an action expired that nobody has settled otherwise.
    fn is_news_of_expiry(&self, output: &Output) -> bool {
        let known = output
            .about()
            .and_then(|(action, form)| Some((self.action(action)?, form)));
        tells_expiry(output)
            && known.is_some_and(|(known, form)| {
                matches!(known.fate, Fate::Open | Fate::Expired) && !known.was_told(form)
            })
    }

    fn may_have_come(&self, closes: i64) -> bool {
        let boundary = self.reading.expiry_boundary;
        self.account.may_have_come(closes, boundary)
    }

    fn is_not_expired(&self, action: &Action) -> Option<Void> {
        let closes = action.terms.expires_at?;
        let is_over = self.account.is_over(closes);
        let kind = if is_over {
            Kind::Guarantee
        } else {
            Kind::Conformance
        };
        (action.fate == Fate::Expired).then_some(Void {
            clause: "PA-7",
            also: &[],
            kind,
            because: "it has expired",
        })
    }
}

/// PA-8: what is settled does not run: the first valid decision is the only one, and an action runs once.
impl Case<'_> {
    fn is_not_settled(action: &Action) -> Option<Void> {
        match action.fate {
            Fate::Allowed | Fate::Finished => {
                Some(void("PA-8", Kind::Guarantee, "it was decided on before"))
            }
            Fate::Open | Fate::Denied | Fate::Cancelled | Fate::Expired => None,
        }
    }

    /// After a crash a call that may run twice may be run again.
    fn may_run_again(&self, output: &Output) -> bool {
        matches!(*output, Output::Perform { action, call }
        if self.action(action).is_some_and(|known| {
            known.performed && known.idempotent && known.terms.call == call
        }))
    }

    /// What is left of the performances has no decision behind it: it is forbidden by what became of the action before.
    pub fn nothing_else_runs(&mut self) {
        while let Some((place, output)) =
            self.first(|output| matches!(output, Output::Perform { .. }))
        {
            let Output::Perform { action, call } = output else {
                return;
            };
            let known = self.action(action);
            if known.is_some_and(|known| known.performed) {
                let text = format!("action {action} must not run twice");
                self.break_at(place, "PA-8", &[], text);
                self.is_guarantee();
            } else if let Some(void) = known.and_then(|known| self.is_settled(known)) {
                let text = format!("action {action} must not run: {}", void.because);
                self.break_at(place, void.clause, void.also, text);
                self.is_of_kind(void.kind);
            } else {
                self.runs_unasked(action, place);
            }
            self.account.performs(action, call);
        }
    }
}

/// PA-9: what the user sees may be short, and id and arguments are kept out of it.
impl Case<'_> {
    /// The question may be put into the transcript: in the words proposed (PA-1), and without what stays with the runtime.
    pub fn may_be_shown(&mut self, action: u32) {
        let Some((place, (summary, label, exposes))) = self.pick(prompt) else {
            return;
        };
        let Some(terms) = self.action(action).map(|it| it.terms) else {
            return;
        };
        let is_summary = summary.is_none_or(|summary| summary == terms.summary);
        if exposes {
            let text = format!("id and arguments of action {action} must not be shown");
            self.break_at(place, "PA-9", &[], text);
        } else if !is_summary || label.is_some_and(|label| label != terms.label) {
            let text = format!("the words shown for action {action} must be those proposed");
            self.break_at(place, "PA-1", &["PA-9"], text);
        }
    }
}

/// PA-10: transcript and events show apart that an action was created, that it was decided, and that it ran or was denied.
impl Case<'_> {
    /// The decision that was received is told of.
    pub fn decision_is_told(&mut self, decide: &Decide) {
        let action = decide.action;
        let told = self.take(action, Form::Decided);
        if told.and_then(|(_, output)| told_decision(&output)) != Some(decide.decision) {
            let text = format!("the decision about action {action} must be told of");
            self.find("PA-10", &[], Kind::Conformance, text);
        }
    }

    /// A tool that was released comes back: it is told whether it ran. One that was never begun did not.
    pub fn comes_back(&mut self, action: u32, status: Status, result: Option<u32>) {
        if self.is_refused() || !self.tells_of(action) {
            let text = format!("what became of action {action} must be told of");
            self.find("PA-10", &["PA-4"], Kind::Conformance, text);
            self.account.is_lost_sight_of(action);
            return;
        }
        self.account.settle(action, Fate::Finished);
        let is_appended = self.result_is_told(action, status, result);
        let (form, text) = match status {
            Status::Success | Status::Error => (Form::Executed, "ran"),
            Status::NotRun => (Form::NotRun, "was never begun"),
        };
        let event = self.take(action, form);
        if let Some((place, output)) = event
            && !is_as_reported(&output, status, result)
        {
            let text = format!("the execution of action {action} must be told of as reported");
            self.break_at(place, "PA-10", &["PA-4"], text);
        }
        let holds_the_result = event.is_some_and(|(_, output)| holds_result(&output, result));
        if event.is_none() && !is_appended {
            let text = format!("it must be told that action {action} {text}");
            self.find("PA-10", &["PA-4"], Kind::Conformance, text);
        } else if !is_appended && !holds_the_result {
            let text = format!("the result of action {action} must be told of");
            self.find("PA-4", &[], Kind::Conformance, text);
        }
    }

    /// That a question closed without a decision is told, so that a replay does not show it open: by an event, or by a
    /// result in the transcript.
    fn settlement_is_told(&mut self, action: u32, form: Form, wanted: Outcome) {
        let event = self.take(action, form);
        let result = self.first(|output| output.about() == Some((action, Form::ResultMessage)));
        let says_so = result.is_some_and(|(_, output)| outcome(&output) == Some(wanted));
        let message = says_so
            .then(|| self.take(action, Form::ResultMessage))
            .flatten();
        // Where the party goes on with the action instead, that is the finding.
        let goes_on = self.first(|output| is_effect(output, action)).is_some();
        let is_unsure = self.action(action).is_some_and(|known| known.unsure);
        if event.is_none() && message.is_none() && !is_unsure && !goes_on {
            let (text, also): (_, &[&str]) = match wanted {
                Outcome::Expired => ("has expired", &["PA-7"]),
                Outcome::Cancelled => ("is cancelled", &["PA-5"]),
                Outcome::Finished(_) | Outcome::Denied => ("is settled", &[]),
            };
            let text = format!("it must be told that action {action} {text}");
            self.find("PA-10", also, Kind::Conformance, text);
        }
    }

    /// After a crash: what was told and lost comes again, exactly and in order and first.
    pub fn comes_again<'o>(&mut self, lost: impl Iterator<Item = &'o Output>) {
        let mut last = None;
        for output in lost {
            let Some((place, _)) = self.first(|again| again == output) else {
                let text = "what was told and not carried out must come again after the crash";
                self.breaks("PA-10", &format!("{text}: {}", output.told()));
                continue;
            };
            self.shown[place] = Shown::Explained;
            if last.is_some_and(|last| place < last) {
                let text = "what comes again after the crash must keep its order".to_owned();
                self.break_at(place, "PA-10", &[], text);
            }
            last = last.max(Some(place));
        }
        let others = self.outputs.iter().zip(&self.shown);
        let is_early = |(place, (output, shown)): (usize, (&Output, &Shown))| {
            *shown == Shown::Unexplained && output.about().is_some() && last > Some(place)
        };
        if others.enumerate().any(is_early) {
            self.breaks("PA-10", "what was lost must come before anything else");
        }
    }

    /// After a crash: what was released and did not come back is in doubt, or run again if it may be.
    pub fn is_in_doubt(&mut self, action: u32) {
        let again = self.has_to_run_again(action);
        let is_about = |output: &Output| output.about().is_some_and(|(about, _)| about == action);
        let found = self.first(|output| {
            let is_in_doubt = !again && matches!(output, Output::InDoubt { .. });
            is_about(output) && (is_in_doubt || self.may_run_again(output))
        });
        // PA-3: what may be run again is run as it was proposed.
        let may_run = self.action(action).is_some_and(|known| known.idempotent);
        let otherwise =
            |output: &Output| may_run && output.about() == Some((action, Form::Perform));
        if let Some((place, _)) = found {
            self.shown[place] = Shown::Explained;
        } else if let Some((place, _)) = self.first(otherwise) {
            let text = format!("action {action} must run exactly as it was proposed");
            self.break_at(place, "PA-3", &[], text);
            self.is_guarantee();
        } else if !again {
            let text = format!("action {action} was released and did not come back: in doubt");
            self.find("PA-10", &["PA-3"], Kind::Conformance, text);
        } else {
            self.was_run_again(action);
        }
    }

    /// By the reading that has it: whether a session that goes on runs what is in doubt again.
    fn has_to_run_again(&self, action: u32) -> bool {
        let session = self.action(action).map(|known| known.terms.session);
        let has_ended = session.is_some_and(|it| self.account.ended.contains_key(&it));
        self.reading.in_doubt == InDoubt::RunsAgain && !has_ended
    }

    /// It ran, though its record does not say that it may: in every reading that is left to the last function of PA-8.
    fn was_run_again(&mut self, action: u32) {
        let of = |form| self.first(|output| output.about() == Some((action, form)));
        if of(Form::Perform).is_some() {
            return;
        }
        if let Some((place, _)) = of(Form::InDoubt) {
            self.shown[place] = Shown::Broken;
        }
        let text = format!("action {action} was released and did not come back: it must run again");
        self.find("PA-3", &["PA-10"], Kind::Conformance, text);
    }

    /// What is appended about an action is appended in its session.
    pub fn is_in_its_transcript(&mut self) {
        for (place, output) in self.outputs.iter().enumerate() {
            let Output::Append {
                session: Some(session),
                ..
            } = output
            else {
                continue;
            };
            let known = output.about().and_then(|(action, _)| self.action(action));
            if known.is_some_and(|known| known.terms.session != *session) {
                let text = "what is told of an action must be appended in its session".to_owned();
                self.break_at(place, "PA-10", &[], text);
            }
        }
    }

    /// What no clause has taken tells of something that did not happen, or for the second time.
    pub fn nothing_else_is_told(&mut self) {
        while let Some((place, output)) = self.first(|_| true) {
            self.shown[place] = Shown::Explained;
            let is_unsure = |action| self.action(action).is_some_and(|known| known.unsure);
            match output.about() {
                Some((action, _)) if is_unsure(action) => {}
                Some((action, _)) => {
                    self.shown[place] = Shown::Broken;
                    self.is_told_of_nothing(action);
                }
                None => {
                    let text = "nothing may be appended".to_owned();
                    self.break_at(place, "PA-10", &[], text);
                }
            }
        }
    }

    fn is_told_of_nothing(&mut self, action: u32) {
        let text =
            format!("nothing of the kind has happened to action {action} since it was told of");
        self.find("PA-10", &[], Kind::Conformance, text);
    }
}

/// PA-11: free text goes on to the model, and decides nothing.
impl Case<'_> {
    pub fn is_said(&mut self, wanted_by: Option<u32>, wanted: u32) {
        if self.is_refused() {
            return;
        }
        match self.pick(said) {
            Some((_, said)) if said == (wanted_by, wanted) => {}
            Some((place, _)) => {
                let text = "what was said must be appended as it was said".to_owned();
                self.break_at(place, "PA-11", &[], text);
            }
            None => self.breaks("PA-11", "what was said must be appended to the transcript"),
        }
        self.decides_nothing();
    }

    /// What waits for a decision does not run on free text.
    fn decides_nothing(&mut self) {
        while let Some((place, output)) = self.first(|output| self.runs_what_waits(output)) {
            let Output::Perform { action, call } = output else {
                return;
            };
            let text = format!("action {action} must not run: what was said decides nothing");
            self.break_at(place, "PA-1", &["PA-11"], text);
            self.is_guarantee();
            self.account.performs(action, call);
        }
    }

    /// Whether an output runs what is open; what only reads need not be open by the other reading.
    fn runs_what_waits(&self, output: &Output) -> bool {
        matches!(*output, Output::Perform { action, .. }
        if self.action(action).is_some_and(|known| {
            known.fate == Fate::Open && !known.unsure && known.terms.effect != Effect::Read
        }))
    }
}

// PA-12: no hidden context is needed. The judge sees calls and outputs alone, and can ask for nothing else.

/// PA-13, PA-14: whether a call that only reads pends is the policy's; by the reading it pends, or runs at once.
impl Case<'_> {
    pub fn may_run_at_once(&mut self, action: u32) {
        if self.runs_at_once(action) {
            // The policy's own decision may be told of, or be passed over.
            self.take(action, Form::Decided);
            self.is_performed(action);
        }
    }

    fn runs_at_once(&self, action: u32) -> bool {
        let terms = self.action(action).map(|it| it.terms);
        let closes = terms.and_then(|terms| terms.expires_at);
        terms.map(|terms| terms.effect) == Some(Effect::Read)
            && self.reading.read_effect == ReadEffect::Runs
            && !closes.is_some_and(|closes| self.may_have_come(closes))
    }
}

/// What several clauses share.
impl Case<'_> {
    /// Why a decision must have no effect, by the clauses that do not ask what became of the action.
    pub fn is_void(&self, decide: &Decide) -> Option<Void> {
        self.names_its_action(decide)
            .or_else(|| self.may_decide(decide))
            .or_else(|| self.approves_the_call(decide))
    }

    /// Why nothing more can happen to an action, by what is known to have become of it.
    pub fn is_settled(&self, action: &Action) -> Option<Void> {
        if action.unsure {
            return None;
        }
        Self::was_not_rejected(action)
            .or_else(|| self.is_not_expired(action))
            .or_else(|| Self::is_not_settled(action))
    }

    /// A decision had an effect that it must not have.
    pub fn has_no_effect(&mut self, decide: &Decide, void: Void) {
        let action = decide.action;
        let mut is_shown = false;
        let mut performed = None;
        while let Some((place, output)) = self.first(|output| is_effect(output, action)) {
            is_shown = true;
            self.shown[place] = Shown::Broken;
            if let Output::Perform { call, .. } = output {
                performed = Some(call);
            }
        }
        if !is_shown {
            return;
        }
        let kind = match performed {
            Some(_) => void.kind,
            None => Kind::Conformance,
        };
        let text = format!(
            "the decision about action {action} must have no effect: {}",
            void.because
        );
        self.find(void.clause, void.also, kind, text);
        match performed {
            Some(call) => self.account.performs(action, call),
            None => self.account.is_lost_sight_of(action),
        }
    }

    /// A decision that is valid, about an action of which the party may know more or less than was seen.
    pub fn may_have_effect(&mut self, decide: &Decide) {
        let action = decide.action;
        let Some(wanted) = self.action(action).map(|known| known.terms.call) else {
            return;
        };
        while let Some((place, output)) = self.first(|output| self.may_follow(output, decide)) {
            self.shown[place] = Shown::Explained;
            if let Output::Perform { call, .. } = output {
                self.account.performs(action, call);
                self.runs_as_proposed(action, place, call, wanted);
            }
        }
    }

    /// Whether an output can be an effect of a decision; that it runs, once.
    fn may_follow(&self, output: &Output, decide: &Decide) -> bool {
        let has_run = self
            .action(decide.action)
            .is_some_and(|known| known.performed);
        let may_run = decide.decision == Decision::Allow && !has_run;
        is_effect(output, decide.action) && (may_run || !matches!(output, Output::Perform { .. }))
    }

    /// After a crash: what is in doubt, and of what the party may know more than was seen.
    pub fn came_back(&mut self) {
        let running: Vec<u32> = self.account.running.iter().copied().collect();
        for action in running {
            if self.action(action).is_some_and(Action::runs) {
                self.is_in_doubt(action);
            }
        }
        let is_unsure = |action| self.action(action).is_some_and(|known| known.unsure);
        let again = |output: &Output| {
            self.may_run_again(output)
                && output.about().is_some_and(|(action, _)| is_unsure(action))
        };
        let again: Vec<bool> = self.outputs.iter().map(again).collect();
        for (shown, again) in self.shown.iter_mut().zip(again) {
            if again && *shown == Shown::Unexplained {
                *shown = Shown::Explained;
            }
        }
    }

    /// A host that hands back a state starts from it: what was released may be told to be in doubt.
    pub fn may_be_in_doubt(&mut self) {
        while let Some((place, _)) = self.first(|output| {
            matches!(output, Output::InDoubt { action }
                if self.action(*action).is_some_and(Action::runs))
        }) {
            self.shown[place] = Shown::Explained;
        }
    }

    fn breaks(&mut self, clause: &'static str, text: &str) {
        self.find(clause, &[], Kind::Conformance, text.to_owned());
    }

    /// The last finding is about something that the text is there to prevent.
    fn is_guarantee(&mut self) {
        self.is_of_kind(Kind::Guarantee);
    }

    fn is_of_kind(&mut self, kind: Kind) {
        if let Some(finding) = self.findings.last_mut() {
            finding.kind = kind;
        }
    }
}

/// The fields of two records that differ.
fn differing(one: &Terms, other: &Terms) -> Vec<&'static str> {
    let fields = [
        ("agent", one.agent != other.agent),
        ("session", one.session != other.session),
        ("run", one.run != other.run),
        ("tool", one.call.tool != other.call.tool),
        ("arguments", one.call.arguments != other.call.arguments),
        ("effect", one.effect != other.effect),
        ("summary", one.summary != other.summary),
        ("label", one.label != other.label),
        ("expiry", one.expires_at != other.expires_at),
    ];
    let differing = fields.into_iter().filter(|(_, differs)| *differs);
    differing.map(|(name, _)| name).collect()
}

/// Whether an output could only follow from a decision about the action.
fn is_effect(output: &Output, action: u32) -> bool {
    output.about().is_some_and(|(about, form)| {
        about == action && !tells_expiry(output) && form != Form::InDoubt
    })
}

fn tells_expiry(output: &Output) -> bool {
    let is_event = matches!(output.about(), Some((_, Form::Expired)));
    is_event || outcome(output) == Some(Outcome::Expired)
}

/// The action, nonce and record that an output creates.
fn created(output: &Output) -> Option<(u32, Option<u32>, Terms)> {
    let Some(Event::Created {
        action,
        nonce,
        terms,
    }) = output.event()
    else {
        return None;
    };
    Some((action, nonce, terms))
}

/// The decision that an output tells of.
fn told_decision(output: &Output) -> Option<Decision> {
    let Some(Event::Decided { decision, .. }) = output.event() else {
        return None;
    };
    Some(decision)
}

/// The words of the question, and whether more is shown.
fn prompt(output: &Output) -> Option<(Option<u32>, Option<u32>, bool)> {
    let Some(Message::Prompt {
        summary,
        label,
        exposes,
    }) = output.message()
    else {
        return None;
    };
    Some((summary, label, exposes))
}

/// What was said, and by whom.
fn said(output: &Output) -> Option<(Option<u32>, u32)> {
    let Some(Message::Said { by, text }) = output.message() else {
        return None;
    };
    Some((by, text))
}

/// The call that an output names.
fn called(output: &Output) -> Option<ToolCall> {
    let performed = match *output {
        Output::Perform { call, .. } => Some(call),
        Output::Event { .. }
        | Output::Append { .. }
        | Output::InDoubt { .. }
        | Output::Audit
        | Output::Snapshot { .. }
        | Output::Refused => None,
    };
    if let Some(Event::Called { call, .. }) = output.event() {
        return Some(call);
    }
    if let Some(Message::ToolCall { call, .. }) = output.message() {
        return Some(call);
    }
    performed
}

/// What a result in the transcript says of its call, and what the tool returned.
fn result_of(output: &Output) -> Option<(Outcome, Option<u32>)> {
    let Some(Message::ToolResult {
        outcome, result, ..
    }) = output.message()
    else {
        return None;
    };
    Some((outcome, result))
}

fn outcome(output: &Output) -> Option<Outcome> {
    result_of(output).map(|(outcome, _)| outcome)
}

/// Whether a message is the result that was reported. What is returned for a call that was never begun is free.
fn is_result(output: &Output, status: Status, reported: Option<u32>) -> bool {
    result_of(output).is_some_and(|(outcome, result)| {
        outcome == Outcome::Finished(status) && (status == Status::NotRun || result == reported)
    })
}

/// Whether an event says nothing else than what was reported.
fn is_as_reported(output: &Output, reported: Status, returned: Option<u32>) -> bool {
    let Some(Event::Executed { status, result, .. }) = output.event() else {
        return true;
    };
    status.is_none_or(|status| status == reported) && (result.is_none() || result == returned)
}

/// Whether an event is a result by itself.
fn holds_result(output: &Output, reported: Option<u32>) -> bool {
    match output.event() {
        Some(Event::Executed { result, .. }) => result == reported,
        Some(Event::NotRun { .. }) => true,
        Some(
            Event::Created { .. }
            | Event::Decided { .. }
            | Event::Called { .. }
            | Event::Denied { .. }
            | Event::Cancelled { .. }
            | Event::Expired { .. },
        )
        | None => false,
    }
}
