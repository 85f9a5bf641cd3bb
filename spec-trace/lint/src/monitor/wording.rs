//! What a question says of its action, held against what a call says of its own. A question names its action in prose, so
//! that words tie the two only where no id does.

use crate::action_ids::{ActionIds, Relation};
use crate::finding::TiedBy;
use crate::record::{Event, EventKind, Question, Risk};

/// What tells the action of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Action {
    /// Its ids.
    pub ids: ActionIds<'static>,
    /// `tool`.
    pub tool: Option<String>,
    arguments: Option<String>,
    /// Whether it cannot be undone.
    pub irreversible: bool,
    /// `risk_level`.
    pub risk: Option<Risk>,
}

/// What a question says of its action.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wording {
    action: String,
    irreversible: bool,
    risk: Option<Risk>,
}

/// How well a question and a call fit; the greater fits better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Nothing says that they belong together.
    Not,
    /// The words do.
    Words,
    /// An id does.
    Id(TiedBy),
}

impl Action {
    /// The action of a call, if the event is one.
    pub fn of(event: &Event) -> Option<Self> {
        let EventKind::Invoked {
            tool,
            irreversible,
            risk,
            arguments,
        } = event.kind
        else {
            return None;
        };
        Some(Self {
            ids: event.ids.to_keep(),
            tool: tool.map(str::to_owned),
            arguments: arguments.map(str::to_owned),
            irreversible,
            risk,
        })
    }

    /// The same id where both carry one; else the same rating, and words that hold the tool and what is said of its
    /// arguments. A call without `risk_level` is of low risk.
    pub fn fits(&self, ids: &ActionIds<'_>, question: &Wording) -> Fit {
        match ids.relation(&self.ids) {
            Relation::Same(by) => return Fit::Id(by),
            Relation::Different => return Fit::Not,
            Relation::Unknown => {}
        }
        let same_risk =
            self.risk == question.risk || Some(self.risk.unwrap_or(Risk::Low)) == question.risk;
        let says = |words: &str| holds(&question.action, words);
        let fits = self.irreversible == question.irreversible
            && same_risk
            && self.tool.as_deref().is_some_and(says)
            && self.arguments.as_deref().is_none_or(says);
        if fits { Fit::Words } else { Fit::Not }
    }

    /// Whether the question has a word in common with the tool or its arguments, in whatever form, but for their names: where it
    /// has none, nothing but the order of events ties the two.
    pub fn is_named_in(&self, question: &Wording) -> bool {
        let Some(tool) = &self.tool else {
            return true;
        };
        let values = self.pieces().into_iter().map(value);
        let own: Vec<String> = words(tool).chain(values.flat_map(words)).collect();
        words(&question.action).any(|word| own.iter().any(|it| are_akin(it, &word)))
    }

    /// Whether a question names this call besides another that it led to: it is rated as this one is, and tells each from the other. Of
    /// one tool, what their arguments differ in has to stand in it; of two, the name of this one with all its arguments, and of the
    /// other the name or the arguments.
    pub fn is_named_besides(&self, other: &Self, question: &Wording) -> bool {
        let named = |it: &Self| {
            it.tool
                .as_deref()
                .is_some_and(|it| holds(&question.action, it))
        };
        let apart = if self.tool == other.tool {
            self.is_told_from(&other.pieces(), question)
                && other.is_told_from(&self.pieces(), question)
        } else {
            let others = named(other) || other.is_told_from(&[], question);
            named(self) && self.is_told_from(&[], question) && others
        };
        apart && self.irreversible == question.irreversible
    }

    /// Whether it has arguments that are not among these, and the question says all of them.
    fn is_told_from(&self, others: &[&str], question: &Wording) -> bool {
        let mut own = self.pieces();
        own.retain(|it| !others.contains(it));
        !own.is_empty() && own.into_iter().all(|it| question.says(it))
    }

    fn pieces(&self) -> Vec<&str> {
        pieces(self.arguments.as_deref().unwrap_or_default()).collect()
    }

    /// Whether it says what it is called with.
    pub fn has_arguments(&self) -> bool {
        self.arguments.is_some()
    }

    /// The name of the tool, in words.
    pub fn name(&self) -> &str {
        self.tool.as_deref().unwrap_or("a tool without name")
    }
}

impl Wording {
    /// That of a question.
    pub fn of(question: &Question) -> Self {
        Self {
            action: question.prose.0.to_owned(),
            irreversible: question.irreversible,
            risk: question.risk,
        }
    }

    /// Whether it holds a piece of arguments, or its value, and not as that of another name.
    fn says(&self, piece: &str) -> bool {
        let is_free = |value: &str| !self.action.contains(&format!("={value}"));
        let holds_value = |value: &str| holds(&self.action, value) && is_free(value);
        holds(&self.action, piece) || holds_value(value(piece))
    }
}

/// The pieces of arguments, without the names that stand before a colon: `to: ann, cc=bob` is `ann` and `cc=bob`.
fn pieces(arguments: &str) -> impl Iterator<Item = &str> {
    let is_between = |it: char| it.is_whitespace() || ",;\"'()[]{}".contains(it);
    let says_something =
        |it: &&str| !it.ends_with([':', '=']) && it.contains(char::is_alphanumeric);
    arguments.split(is_between).filter(says_something)
}

/// The value of such a piece.
fn value(piece: &str) -> &str {
    piece.split_once('=').map_or(piece, |(_, value)| value)
}

/// Whether a text holds these words as they are, and not as part of others.
fn holds(text: &str, words: &str) -> bool {
    let goes_on = |rest: &mut dyn Iterator<Item = char>| {
        let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
        match rest.next() {
            Some('.' | ',') => rest.next().is_some_and(is_part),
            next => next.is_some_and(is_part),
        }
    };
    let stands_alone = |at: usize| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        !goes_on(&mut before.chars().rev()) && !goes_on(&mut after.chars())
    };
    !words.is_empty() && text.match_indices(words).any(|(at, _)| stands_alone(at))
}

/// The words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|it: char| !it.is_alphanumeric());
    parts.filter(|it| !it.is_empty()).map(str::to_lowercase)
}

/// Whether two words begin alike, or one is part of the other: `delete` and `deletion`, `email` and `sendEmail`. Those with a
/// digit are names: `tool1` is not `tool2`.
fn are_akin(one: &str, other: &str) -> bool {
    const ALIKE: usize = 4;
    let begin = |it: &str| it.chars().take(ALIKE).collect::<String>();
    let long = |it: &str| it.chars().count() >= ALIKE && !it.contains(char::is_numeric);
    one == other
        || long(one) && long(other) && begin(one) == begin(other)
        || long(one) && long(other) && (one.contains(other) || other.contains(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_held_as_a_whole_or_not_at_all() {
        for (text, words, held) in [
            ("Call send", "send", true),
            ("send: to=ana.", "to=ana", true),
            ("Call send_email", "send", false),
            ("Call resend", "send", false),
            ("resend or send", "send", true),
            ("to=anabel", "to=ana", false),
            ("amount=5.50", "amount=5", false),
            ("amount=5, at once", "amount=5", true),
            ("anything", "", false),
        ] {
            assert_eq!(holds(text, words), held, "{text}: {words}");
        }
    }

    #[test]
    fn a_question_names_a_call_besides_another_by_what_tells_the_two_apart() {
        let action = |tool: &str, arguments: &str| Action {
            ids: ActionIds::default(),
            tool: Some(tool.to_owned()),
            arguments: Some(arguments.to_owned()),
            irreversible: true,
            risk: None,
        };
        let mail = ("send_email", "to=ann");
        for (question, call, named) in [
            (
                "Call send_email with to=ann and to=bob",
                ("send_email", "to=bob"),
                true,
            ),
            ("Mail ann and bob", ("send_email", "to=bob"), true),
            ("Mail ann and bob", ("send_email", "to: bob"), true),
            // The same again, in whatever order, with more or with less.
            ("Mail ann and bob", mail, false),
            ("Mail ann and bob", ("send_email", "to=ann, cc=bob"), false),
            ("Mail ann and bob", ("send_email", ""), false),
            // Another, or one more, of which nothing was said.
            ("Mail ann", ("send_email", "to=bob"), false),
            ("Mail ann and bob", ("send_email", "to=bob, cc=eve"), false),
            (
                "Call send_email with to=ann, cc=bob",
                ("send_email", "to=bob"),
                false,
            ),
            // Of another tool, with its name and all its arguments.
            (
                "send_email to ann, and pay 5 to bob",
                ("pay", "to=bob, sum=5"),
                true,
            ),
            (
                "send_email to ann, and pay 5 to bob",
                ("pay", "to=bob, sum=50"),
                false,
            ),
            (
                "send_email to ann, and pay 5 to bob",
                ("transfer", "to=bob, sum=5"),
                false,
            ),
            ("send_email to ann, and pay 5 to bob", ("pay", ""), false),
            (
                "send_note, and pay 5 to bob",
                ("pay", "to=bob, sum=5"),
                false,
            ),
        ] {
            let wording = |irreversible| Wording {
                action: question.to_owned(),
                irreversible,
                risk: None,
            };
            let call = action(call.0, call.1);
            let first = action(mail.0, mail.1);
            let found = call.is_named_besides(&first, &wording(true));
            assert_eq!(found, named, "{question}: {call:?}");
            assert!(!call.is_named_besides(&first, &wording(false)));
        }
    }

    #[test]
    fn a_word_in_another_form_is_a_word_in_common() {
        for (one, other, akin) in [
            ("delete", "deletion", true),
            ("email", "sendemail", true),
            ("pay", "pay", true),
            ("pay", "play", false),
            ("transfer", "delete", false),
            ("tool1", "tool2", false),
            ("111", "1112", false),
        ] {
            assert_eq!(are_akin(one, other), akin, "{one}: {other}");
        }
    }
}
