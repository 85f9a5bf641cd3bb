//! Messages of the transcript: the call and its result, and what is said to the user and by him.

use serde_json::Value;

use crate::pending_action::account::Phase;
use crate::pending_action::{Monitor, Step, is, rules};
use crate::transcript::{Fields, Found, differs, leaves, text};

impl Monitor {
    /// PA-4, PA-10: the transcript has a call that was allowed, as it was proposed.
    pub(super) fn call_appended(
        &self,
        step: &Step<'_>,
        id: &str,
        message: &Fields<'_>,
        found: &mut Found,
    ) {
        found.touch(&rules::CALL_NOT_APPENDED);
        if self.runs_wrongly(step, id) {
            return;
        }
        let action = &self.account.actions[id];
        if action.phase != Phase::Allowed && self.shows.has("event") {
            let message = format!(
                "the transcript has the call of {id:?}, which is {}",
                action.phase.words()
            );
            return self.accuse(&rules::UNTRUE, step, id, message, found);
        }
        let both = message.raw("arguments").zip(action.arguments.as_deref());
        if both.is_some_and(|(told, proposed)| differs(told, proposed)) {
            self.accuse(
                &rules::APPENDED_OTHERWISE,
                step,
                id,
                format!("arguments of {id:?} in the transcript are not those that were proposed"),
                found,
            );
        }
    }

    /// PA-4, PA-10: the transcript has the result of a call as it was reported.
    pub(super) fn result_appended(
        &self,
        step: &Step<'_>,
        id: &str,
        message: &Fields<'_>,
        found: &mut Found,
    ) {
        found.touch(&rules::RESULT_NOT_APPENDED);
        let request = &step.exchange.request;
        if !step.asks("finish_tool", id) || !step.in_flight.iter().any(|it| it == id) {
            let message = format!(
                "the transcript has a result of {id:?}, and none was reported of a call in flight"
            );
            return self.accuse(&rules::UNTRUE, step, id, message, found);
        }
        if message
            .text("status")
            .is_some_and(|told| request.text("status").is_some_and(|it| it != told))
        {
            self.accuse(
                &rules::UNTRUE,
                step,
                id,
                format!("status of {id:?} is not as it was reported"),
                found,
            );
        }
        let reported = request.raw("result").unwrap_or("\"\"");
        if message
            .raw("result")
            .is_some_and(|told| differs(told, reported))
        {
            self.accuse(
                &rules::APPENDED_OTHERWISE,
                step,
                id,
                format!("result of {id:?} in the transcript is not as it was reported"),
                found,
            );
        }
    }

    /// PA-9: what the user sees need not tell the id or the nonce. Where the proposal itself has them in its words, they stand there.
    pub(super) fn asks_the_user(&self, step: &Step<'_>, message: &Fields<'_>, found: &mut Found) {
        found.touch(&rules::MESSAGE_TELLS);
        let request = &step.exchange.request;
        let is_refused = step.exchange.is_refused();
        if is_refused || !["propose", "restart"].contains(&&*step.exchange.op) {
            let message = "a confirmation is asked for, and nothing was proposed";
            return self.accuse(&rules::UNTRUE, step, "", message, found);
        }
        let record = step.exchange.outputs().unwrap_or_default().iter();
        let record = record
            .filter(|it| is(it, "event") && it.fields.text("type").as_deref() == Some("created"));
        let names = record
            .flat_map(|it| [it.fields.text("action_id"), it.fields.text("nonce")])
            .flatten();
        let mut names: Vec<String> = names.filter(|name| name.len() >= TELLING).collect();
        names.extend(arguments(request));
        let label = message.text("label").unwrap_or_default();
        if label.chars().count() > LONGEST_LABEL && Some(&label) != request.text("label").as_ref() {
            let message = format!("label has more than {LONGEST_LABEL} characters");
            self.accuse(&rules::MESSAGE_TELLS, step, "", message, found);
        }
        for (shown, proposed) in [("text", "summary"), ("label", "label")] {
            let (shown_text, proposed) = (
                message.text(shown).unwrap_or_default(),
                request.text(proposed).unwrap_or_default(),
            );
            if let Some(name) = names
                .iter()
                .find(|name| shown_text.contains(&**name) && !proposed.contains(&**name))
            {
                self.accuse(
                    &rules::MESSAGE_TELLS,
                    step,
                    name,
                    format!("{shown} shows {name:?} to the user"),
                    found,
                );
            }
        }
    }

    /// PA-11: what is said and decides nothing reaches the transcript as it was said.
    pub(super) fn was_said(&self, step: &Step<'_>, message: &Fields<'_>, found: &mut Found) {
        found.touch(&rules::WORDS_CHANGED);
        let request = &step.exchange.request;
        if step.exchange.op != "say" {
            return self.accuse(
                &rules::UNTRUE,
                step,
                "",
                "the transcript has words that nobody has said",
                found,
            );
        }
        for member in ["text", "by"] {
            if message.text(member) != request.text(member) {
                self.accuse(
                    &rules::WORDS_CHANGED,
                    step,
                    "",
                    format!("{member} is not as it was said"),
                    found,
                );
            }
        }
    }
}

/// What shows that arguments are shown: their whole text, and those of their values that are no plain words.
fn arguments(request: &Fields<'_>) -> Vec<String> {
    let Some(raw) = request.raw("arguments") else {
        return Vec::new();
    };
    let text = text(raw).unwrap_or_else(|| raw.to_owned());
    let mut shown = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        leaves(&value, &mut |leaf| shown.push(leaf.to_owned()));
        shown.retain(|leaf| !leaf.chars().all(|it| it.is_alphabetic() || it == ' '));
        if value.is_object() || value.is_array() {
            shown.extend([value.to_string(), text]);
        }
    }
    shown.retain(|it| it.len() >= TELLING);
    shown
}

/// So many characters a label has at most.
const LONGEST_LABEL: usize = 80;

/// A name of so many characters in a text is that name, and not by chance.
const TELLING: usize = 6;
