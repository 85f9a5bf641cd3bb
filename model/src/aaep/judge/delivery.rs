//! 6.7 and EV-16: which subscription gets which event.
//!
//! The one thing to know: only a producer that declares so shows it, and an event that does not say goes to everybody.

use super::account::{Cause, Subscription};
use super::call::{Allowed, Body, Event, Output};
use super::{Asked, Look, Owes, What};
use crate::aaep::readings::IncapableSubscriptions;

impl Look<'_> {
    // AAEP-6.7-1: what is critical is filtered for nobody, a confirmation not for those that cannot reply either (AAEP-6.6-1).
    // AAEP-EV-16: by the other reading it is withheld from those.
    pub(super) fn reaches_everybody(&mut self, event: &Event) {
        if !self.declared.delivery {
            return;
        }
        let confirms = matches!(event.body, Body::Question(_));
        let withholds = confirms && self.withholds();
        let gets = |subscription: &u32| {
            let to = event.to.as_ref();
            to.is_none_or(|to| to.contains(subscription))
        };
        let is_for = |kept: &Subscription| kept.can_reply || !withholds;
        let open = self.account.subscriptions.iter();
        let mut open = open.filter(|(_, kept)| kept.active);
        let wrong = open.find(|(name, kept)| {
            let gets = gets(name);
            (event.critical && is_for(kept) && !gets) || (!is_for(kept) && gets)
        });
        let Some((&name, kept)) = wrong else {
            return;
        };
        if is_for(kept) {
            let text = format!("e{} must go to sub{name} too: it is critical", event.id);
            self.conformance("AAEP-6.7-1", &[], text);
        } else {
            let text = format!("e{} must not go to sub{name}: it cannot reply", event.id);
            self.conformance("AAEP-EV-16", &[], text);
        }
    }

    // AAEP-EV-16: by that reading, where nobody can reply, the default of a confirmation applies as soon as it is asked.
    pub(super) fn default_applies_at_once(&mut self) {
        let Some(Asked {
            what: What::Confirm(confirm),
            forbidden: None,
        }) = &self.duties.question
        else {
            return;
        };
        if !self.withholds() || self.account.capable > 0 {
            return;
        }
        let asked = self.outputs.iter().find_map(|output| match output {
            Output::Emit(event) if event.session == confirm.session => match &event.body {
                Body::Question(question) => Some((event, question)),
                Body::Started
                | Body::Ended(_)
                | Body::StateChanged { .. }
                | Body::Clarification(_)
                | Body::Progress { .. }
                | Body::ToolInvoked(_)
                | Body::ToolCompleted { .. }
                | Body::OutputStreaming(_)
                | Body::Handoff(_)
                | Body::Other => None,
            },
            Output::Emit(_)
            | Output::Malformed(_)
            | Output::Notify { .. }
            | Output::Perform(_)
            | Output::InDoubt(_)
            | Output::Answer { .. }
            | Output::Respond(_)
            | Output::Refused => None,
        });
        let Some((event, question)) = asked else {
            return;
        };
        let token = question.token;
        if self.account.questions.contains_key(&token) {
            return;
        }
        let unlisted = Allowed::unlisted(self.reading.numbers);
        self.account.asks(event, question, confirm, unlisted);
        let default = question.default.into();
        self.resolve(token, default, Cause::Unanswerable, Owes::All);
        self.duties.decided = Some(token);
    }

    fn withholds(&self) -> bool {
        self.reading.incapable_subscriptions == IncapableSubscriptions::Withheld
    }
}
