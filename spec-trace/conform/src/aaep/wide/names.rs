//! From the executor's words to the judge's: which name stands for which number, and what an output says.
//!
//! The one thing to know: names are numbered as they first come, in one series for each kind, so that equal numbers stand for
//! equal texts, whoever made them.

use std::collections::BTreeMap;
use std::rc::Rc;

use countersign_model::aaep::judge::{
    self, Allowed, AnsweredBy, Body, Clarification, Decision, Event, Handed, Invocation, Outcome,
    Output, Question, ResponseKind, Risk, State, Streamed, Target, Text, ToolCall, ToolStatus,
};
use countersign_reference::aaep as executor;
use executor::Payload;

use super::spelling::{self, Said, Says};
use super::step::Response;

/// The numbers of all names of a run.
#[derive(Clone, Default)]
pub(super) struct Names {
    sessions: Series,
    subscriptions: Series,
    actions: Series,
    tools: Series,
    texts: Series,
    tokens: Series,
    tool_calls: Series,
    outputs: Series,
    events: Series,
    responses: Series,
    /// The numbers that are answered, by their value.
    numbers: Series,
    /// Those of a producer's own.
    states: Series,
}

/// The numbers of the names of one kind. Shared with its copies until one of them has a name that is new.
#[derive(Clone, Default)]
struct Series(Rc<BTreeMap<String, u32>>);

impl Series {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.0.get(name) {
            return *number;
        }
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        Rc::make_mut(&mut self.0).insert(name.to_owned(), next);
        next
    }
}

impl Names {
    /// The names as the judge calls them, each with the text.
    pub(super) fn in_run(&self) -> BTreeMap<String, String> {
        let series = [
            ("s", &self.sessions),
            ("sub", &self.subscriptions),
            ("a", &self.actions),
            ("c", &self.tokens),
            ("t", &self.tool_calls),
            ("o", &self.outputs),
            ("e", &self.events),
        ];
        let all = series.into_iter().flat_map(|(letter, series)| {
            let names = series.0.iter();
            names.map(move |(text, number)| (format!("{letter}{number}"), text.clone()))
        });
        all.collect()
    }

    pub(super) fn session(&mut self, name: &str) -> u32 {
        self.sessions.number(name)
    }

    pub(super) fn subscription(&mut self, name: &str) -> u32 {
        self.subscriptions.number(name)
    }

    pub(super) fn action(&mut self, name: &str) -> u32 {
        self.actions.number(name)
    }

    pub(super) fn tool(&mut self, name: &str) -> u32 {
        self.tools.number(name)
    }

    pub(super) fn text(&mut self, text: &str) -> u32 {
        self.texts.number(text)
    }

    pub(super) fn token(&mut self, token: &str) -> u32 {
        self.tokens.number(token)
    }

    pub(super) fn tool_call(&mut self, name: &str) -> u32 {
        self.tool_calls.number(name)
    }

    pub(super) fn output_id(&mut self, name: &str) -> u32 {
        self.outputs.number(name)
    }

    pub(super) fn event_id(&mut self, name: &str) -> u32 {
        self.events.number(name)
    }

    pub(super) fn state(&mut self, name: &str) -> u32 {
        self.states.number(name)
    }

    /// What the sender of a message gets to see.
    pub(super) fn shown(&mut self, shown: &str) -> Output {
        Output::Respond(self.responses.number(shown))
    }

    /// A response as it is written in JSON; nothing where it is no string, boolean or number.
    pub(super) fn written_response(&mut self, written: &str) -> Option<judge::Response> {
        match written.as_bytes().first()? {
            b'"' => Some(judge::Response::Text(self.response_text(written))),
            b't' | b'f' => Some(judge::Response::Boolean(written == "true")),
            b'-' | b'0'..=b'9' => Some(self.number(written)),
            _ => None,
        }
    }

    /// What a reply says, of whichever kind it is.
    pub(super) fn reply(&mut self, said: &Said<'_>) -> judge::Reply {
        let (decision, response, modified) = match said.says {
            Says::Decision { accepts, modified } => {
                let decision = if accepts {
                    Decision::Accept
                } else {
                    Decision::Reject
                };
                (Some(decision), None, modified)
            }
            Says::Response(response) => (None, Some(self.response(response)), None),
        };
        judge::Reply {
            token: Some(self.token(said.token)),
            decision,
            response,
            claimed_at: Some(said.claimed_at),
            subscription: Some(self.subscription(said.subscription)),
            modified_action: modified.map(|modified| judge::Modified {
                object: self.text(&modified.object()),
                rating: modified.rating(),
            }),
        }
    }

    fn response(&mut self, response: Response) -> judge::Response {
        match response {
            Response::Text(text) => {
                judge::Response::Text(self.response_text(&spelling::as_response(text)))
            }
            Response::Boolean(is) => judge::Response::Boolean(is),
            Response::Number(number) => self.number(spelling::number(number)),
        }
    }

    fn number(&mut self, written: &str) -> judge::Response {
        judge::Response::Number(self.numbers.number(&value_of(written)))
    }

    /// What is to be confirmed, where `out_of_limits` says whether it can be asked as it stands.
    pub(super) fn confirm(
        &mut self,
        ask: &executor::Ask,
        out_of_limits: Option<&'static str>,
    ) -> judge::Confirm {
        judge::Confirm {
            session: self.session(ask.session_id.as_str()),
            action: self.action(ask.action.id.as_str()),
            tool: self.tool(&ask.action.tool),
            description: self.text(&ask.action.description),
            consequence: self.text(&ask.action.consequence),
            risk: risk(ask.action.risk_level),
            irreversible: ask.action.irreversible,
            timeout_seconds: seconds(ask.timeout_seconds),
            default: decision(ask.default_decision),
            allowed: ask.allowed_replies.as_deref().map(allowed),
            out_of_limits,
        }
    }

    /// What is to be clarified, where `out_of_limits` says whether a text of it can be asked as it stands.
    pub(super) fn clarify(
        &mut self,
        clarify: &executor::Clarify,
        out_of_limits: Option<&'static str>,
    ) -> judge::Clarify {
        let default = clarify.default_response.as_deref();
        judge::Clarify {
            session: self.session(clarify.session_id.as_str()),
            question: self.text(&clarify.question),
            kinds: clarify.accepted_response_kinds.as_deref().map(kinds),
            choices: self.choices(clarify.choices.as_deref()),
            timeout_seconds: seconds(clarify.timeout_seconds),
            default: default.map(|text| self.text(text)),
            out_of_limits,
        }
    }

    /// A tool that needs no question.
    pub(super) fn run(
        &mut self,
        run: &executor::Run,
        out_of_limits: Option<&'static str>,
    ) -> judge::Tool {
        let tool_call_id = run.tool_call_id.as_ref();
        judge::Tool {
            session: self.session(run.session_id.as_str()),
            action: self.action(run.action.as_str()),
            tool: self.tool(&run.tool),
            args_summary: self.optional(run.args_summary.as_deref()),
            risk: risk(run.risk_level),
            irreversible: run.irreversible,
            tool_call: tool_call_id.map(|id| self.tool_call(id.as_str())),
            out_of_limits,
        }
    }

    /// A chunk of output.
    pub(super) fn chunk(
        &mut self,
        chunk: &executor::Chunk,
        out_of_limits: Option<&'static str>,
    ) -> judge::Chunk {
        judge::Chunk {
            session: self.session(chunk.session_id.as_str()),
            output: self.outputs.number(chunk.output_id.as_str()),
            chunk: self.counted(&chunk.text),
            complete: chunk.is_last,
            out_of_limits,
        }
    }

    /// A session that is to be handed off.
    pub(super) fn handoff(
        &mut self,
        handoff: &executor::Handoff,
        out_of_limits: Option<&'static str>,
    ) -> judge::Handoff {
        judge::Handoff {
            session: self.session(handoff.session_id.as_str()),
            to: Handed {
                reason: self.text(&handoff.reason),
                target: target(handoff.target_kind),
                target_uri: self.optional(handoff.target_uri.as_deref()),
            },
            out_of_limits,
        }
    }

    fn optional(&mut self, text: Option<&str>) -> Option<u32> {
        text.map(|text| self.text(text))
    }

    pub(super) fn counted(&mut self, text: &str) -> Text {
        Text {
            text: self.text(text),
            characters: i64::try_from(text.chars().count()).unwrap_or(i64::MAX),
        }
    }

    fn choices(&mut self, choices: Option<&[executor::Choice]>) -> Option<Vec<judge::Choice>> {
        let choices = choices?.iter().map(|choice| judge::Choice {
            value: self.text(&choice.value),
            label: self.text(&choice.label),
        });
        Some(choices.collect())
    }

    /// What the world and the host get to see of an output; nothing of what only the operator does.
    pub(super) fn output(&mut self, output: &executor::Output) -> Option<Output> {
        match output {
            executor::Output::Emit(event) => Some(Output::Emit(self.event(event))),
            executor::Output::Perform(call) => Some(Output::Perform(self.call(call))),
            executor::Output::InDoubt(call) => Some(Output::InDoubt(self.call(call))),
            executor::Output::Notify(notice) => Some(Output::Notify {
                subscription: self.subscription(notice.subscription_id.as_str()),
                token: Some(self.token(notice.reply_token.as_str())),
            }),
            executor::Output::Respond(response) => {
                let shown = serde_json::to_string(response).expect("a response can be written");
                Some(self.shown(&shown))
            }
            executor::Output::Answer(answer) => Some(self.answer(answer)),
            // The judge goes by what was told to run: this takes back what was not begun.
            executor::Output::Withdraw(_) | executor::Output::Audit(_) => None,
        }
    }

    fn answer(&mut self, answer: &executor::Answer) -> Output {
        let (by, response) = match &answer.answered {
            executor::Answered::Reply { response } => {
                (AnsweredBy::Reply, Some(self.user_response(response)))
            }
            executor::Answered::Default { response } => {
                let text = judge::Response::Text(self.text(response));
                (AnsweredBy::Default, Some(text))
            }
            executor::Answered::Nobody => (AnsweredBy::Nobody, None),
        };
        Output::Answer {
            session: self.session(answer.session_id.as_str()),
            token: self.token(answer.reply_token.as_str()),
            response,
            by,
        }
    }

    fn user_response(&mut self, response: &executor::UserResponse) -> judge::Response {
        match response {
            executor::UserResponse::Text(text) => {
                let written = serde_json::to_string(text).expect("a text can be written");
                judge::Response::Text(self.response_text(&written))
            }
            executor::UserResponse::Boolean(is) => judge::Response::Boolean(*is),
            executor::UserResponse::Number(number) => self.number(number.as_str()),
        }
    }

    /// A text as it is written in JSON. One that has half of a surrogate pair is no other text's.
    fn response_text(&mut self, written: &str) -> u32 {
        let whole: Option<String> = serde_json::from_str(written).ok();
        self.text(whole.as_deref().unwrap_or(written))
    }

    fn call(&mut self, call: &executor::ToolCall) -> ToolCall {
        ToolCall {
            session: self.session(call.session_id.as_str()),
            action: self.action(call.action.as_str()),
            tool_call: self.tool_call(call.tool_call_id.as_str()),
            modified: call
                .modified_action
                .as_ref()
                .map(|object| self.text(object.as_str())),
        }
    }

    fn event(&mut self, event: &executor::Event) -> Event {
        Event {
            id: self.events.number(event.event_id.as_str()),
            session: self.session(event.session_id.as_str()),
            at: event.timestamp.millis(),
            sequence: Some(i64::try_from(event.sequence_number).unwrap_or(i64::MAX)),
            critical: event.payload.urgency() == executor::Urgency::Critical,
            to: None,
            body: self.body(&event.payload),
        }
    }

    fn body(&mut self, payload: &Payload) -> Body {
        match payload {
            Payload::SessionStarted { .. } => Body::Started,
            Payload::SessionCompleted { .. } => Body::Ended(Outcome::Completed),
            Payload::SessionErrored { .. } => Body::Ended(Outcome::Errored),
            Payload::SessionCancelled { .. } => Body::Ended(Outcome::Cancelled),
            Payload::StateChanged {
                from_state,
                to_state,
                ..
            } => Body::StateChanged {
                from: state(*from_state),
                to: state(*to_state),
            },
            Payload::ToolInvoked {
                tool,
                tool_call_id,
                args_summary,
                risk_level,
                irreversible,
                ..
            } => Body::ToolInvoked(Invocation {
                tool: self.tool(tool),
                tool_call: Some(self.tool_call(tool_call_id.as_str())),
                args_summary: self.optional(args_summary.as_deref()),
                risk: risk(*risk_level),
                irreversible: *irreversible,
            }),
            Payload::ToolCompleted {
                tool,
                status,
                tool_call_id,
            } => Body::ToolCompleted {
                tool: self.tool(tool),
                tool_call: Some(self.tool_call(tool_call_id.as_str())),
                status: tool_status(*status),
            },
            Payload::OutputStreaming {
                output_id,
                chunk,
                position,
                complete,
            } => Body::OutputStreaming(Streamed {
                output: Some(self.outputs.number(output_id.as_str())),
                chunk: self.counted(chunk),
                position: i64::try_from(*position).unwrap_or(i64::MAX),
                complete: *complete,
            }),
            Payload::HandoffRequested {
                reason,
                target_kind,
                target_uri,
            } => Body::Handoff(Handed {
                reason: self.text(reason),
                target: target(*target_kind),
                target_uri: self.optional(target_uri.as_deref()),
            }),
            Payload::ProgressUpdated { eta_ms, .. } => Body::Progress {
                left: Some(i64::try_from(*eta_ms).unwrap_or(i64::MAX)),
            },
            Payload::AwaitingClarification {
                question,
                reply_token,
                timeout,
                accepted_response_kinds,
                choices,
                default_response,
            } => Body::Clarification(Clarification {
                token: self.token(reply_token.as_str()),
                question: self.text(question),
                kinds: accepted_response_kinds.as_deref().map(kinds),
                choices: self.choices(choices.as_deref()),
                timeout_seconds: i64::from(timeout.seconds()),
                default: default_response.as_deref().map(|text| self.text(text)),
            }),
            Payload::AwaitingConfirmation {
                action,
                consequence,
                reply_token,
                timeout,
                default_decision,
                risk_level,
                irreversible,
                allowed_replies,
                ..
            } => Body::Question(Question {
                token: self.token(reply_token.as_str()),
                description: self.text(action),
                consequence: self.text(consequence),
                timeout_seconds: i64::from(timeout.seconds()),
                default: decision(*default_decision),
                risk: Some(risk(*risk_level)),
                irreversible: Some(*irreversible),
                allowed: Some(allowed(allowed_replies)),
            }),
        }
    }
}

/// What a number is worth, in one form: its sign, its digits without zeros at either end, and the power of ten of the last.
fn value_of(written: &str) -> String {
    let unsigned = written.trim_start_matches('-');
    let (digits, power) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let kept = all.trim_start_matches('0').trim_end_matches('0');
    if kept.is_empty() {
        return "0".to_owned();
    }
    let trimmed = all.len() - all.trim_end_matches('0').len();
    let beyond = |length: usize| i128::try_from(length).unwrap_or(i128::MAX);
    let power = power.parse::<i128>().unwrap_or(i128::MAX);
    let power = power - beyond(fraction.len()) + beyond(trimmed);
    let sign = &written[..written.len() - unsigned.len()];
    format!("{sign}{kept}e{power}")
}

fn seconds(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

fn kinds(kinds: &[executor::ResponseKind]) -> Vec<ResponseKind> {
    let kind = |kind: &executor::ResponseKind| match kind {
        executor::ResponseKind::Freetext => ResponseKind::Freetext,
        executor::ResponseKind::YesNo => ResponseKind::YesNo,
        executor::ResponseKind::MultipleChoice => ResponseKind::MultipleChoice,
        executor::ResponseKind::Numeric => ResponseKind::Numeric,
    };
    kinds.iter().map(kind).collect()
}

pub(super) fn allowed(replies: &[String]) -> Allowed {
    let has = |decision| replies.iter().any(|reply| reply == decision);
    Allowed {
        accept: has("accept"),
        reject: has("reject"),
        others: replies
            .iter()
            .any(|reply| reply != "accept" && reply != "reject"),
    }
}

fn target(target: executor::TargetKind) -> Target {
    match target {
        executor::TargetKind::Human => Target::Human,
        executor::TargetKind::SpecialistAgent => Target::SpecialistAgent,
        executor::TargetKind::EscalationQueue => Target::EscalationQueue,
    }
}

fn decision(decision: executor::Decision) -> Decision {
    match decision {
        executor::Decision::Accept => Decision::Accept,
        executor::Decision::Reject => Decision::Reject,
    }
}

fn risk(risk: executor::RiskLevel) -> Risk {
    match risk {
        executor::RiskLevel::Low => Risk::Low,
        executor::RiskLevel::Medium => Risk::Medium,
        executor::RiskLevel::High => Risk::High,
    }
}

pub(super) fn tool_status(status: executor::ToolStatus) -> ToolStatus {
    match status {
        executor::ToolStatus::Success => ToolStatus::Success,
        executor::ToolStatus::Error => ToolStatus::Error,
        executor::ToolStatus::Timeout => ToolStatus::Timeout,
    }
}

pub(super) fn outcome(outcome: executor::SessionOutcome) -> Outcome {
    match outcome {
        executor::SessionOutcome::Completed => Outcome::Completed,
        executor::SessionOutcome::Errored => Outcome::Errored,
        executor::SessionOutcome::Cancelled => Outcome::Cancelled,
    }
}

fn state(state: executor::AgentState) -> State {
    match state {
        executor::AgentState::Idle => State::Idle,
        // Wide runs ask for neither of the last two yet.
        executor::AgentState::Thinking => State::Thinking,
        executor::AgentState::CallingTool => State::CallingTool,
        executor::AgentState::AwaitingInput => State::AwaitingInput,
        executor::AgentState::WritingOutput => State::WritingOutput,
        executor::AgentState::HandingOff => State::HandingOff,
    }
}

#[cfg(test)]
mod tests {
    use super::value_of;

    #[test]
    fn numbers_of_one_value_are_one_however_they_are_written() {
        for alike in [
            &["1", "1.0", "1e0", "10E-1", "0.1e+1", "100e-2"][..],
            &[
                "0",
                "-0",
                "0.0",
                "-0.00e5",
                "0e999999999999999999999999999999",
            ],
            &["120", "12e1", "1.2E+2", "120.0"],
            &["-0.5", "-5e-1", "-0.50"],
        ] {
            for written in alike {
                assert_eq!(value_of(written), value_of(alike[0]), "{written}");
            }
        }
    }

    #[test]
    fn numbers_of_other_values_are_others_also_where_a_double_is_next_to_both() {
        let others = [
            "0",
            "1",
            "-1",
            "10",
            "0.1",
            "9007199254740992",
            "9007199254740993",
            "1e400",
            "1e401",
            "1.00000000000000000001",
        ];
        for (place, one) in others.iter().enumerate() {
            for other in &others[place + 1..] {
                assert_ne!(value_of(one), value_of(other));
            }
        }
    }
}
