//! Where the text of pending actions can be taken in more than one way. The first way is the default.

use crate::engine::clause::Clause;
use crate::pending_action::text::clauses::{
    PA_1, PA_2, PA_3, PA_4, PA_5, PA_7, PA_8, PA_10, PA_11,
};

/// A passage that can be taken in more than one way.
#[derive(Clone, Copy, Debug)]
#[expect(
    missing_docs,
    reason = "what the text does not say, and the ways to take it"
)]
pub struct Ambiguity {
    pub name: &'static str,
    pub clause: Clause,
    pub question: &'static str,
    pub ways: &'static [&'static str],
}

macro_rules! readings {
    ($($field:ident $choice:ident $clause:ident $question:literal $default:ident, $($way:ident),*;)*) => {
        $(
            #[doc = $question]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            #[expect(missing_docs, reason = "the ways are named in the words of the question")]
            pub enum $choice { #[default] $default, $($way),* }
        )*

        /// How each ambiguity is read.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct Reading { $(#[doc = $question] pub $field: $choice),* }

        /// Every ambiguity, in the order of the text.
        pub const AMBIGUITIES: &[Ambiguity] = &[$(Ambiguity {
            name: stringify!($field),
            clause: $clause,
            question: $question,
            ways: &[stringify!($default), $(stringify!($way)),*],
        }),*];
    };
}

readings! {
    no_expiry NoExpiry PA_1 "The record has an expiry. Can a proposal leave it out?" NeverCloses, IsRefused;
    no_deciders NoDeciders PA_2 "Who may decide where nobody is named?" AnyoneButTheAgent, Anyone;
    blank_decider BlankDecider PA_2 "Is a blank name somebody?" Nobody, Somebody;
    edited_arguments EditedArguments PA_3 "Does an approval of other arguments count?" DoesNotCount, RunsOriginal;
    exact_arguments ExactArguments PA_3 "When are arguments the exact original ones?" SameMeaning, SameBytes;
    lost_release LostRelease PA_3 "A crash came between allow and run. Does the call run?" InDoubt, Runs;
    orphan_result OrphanResult PA_4 "Is a result appended whose call was not appended?" LeftOut, Appended;
    edited_denial EditedDenial PA_5 "Does a denial count that names other arguments?" Counts, DoesNotCount;
    session_end SessionEnd PA_5 "What becomes of the questions of a session that ends?" Cancelled, StayPending;
    at_expiry AtExpiry PA_7 "Is a decision at the very time of the expiry in time?" Late, InTime;
    rollback Rollback PA_8 "An older state comes back. Whose task is it to remember?" TheLedgers, TheHosts;
    settlement Settlement PA_10 "Is an expiry or a cancellation told?" IsTold, NeedNotBeTold;
    not_run NotRun PA_10 "How is a released call told that did not run?" AsItself, AsExecuted;
    free_text FreeText PA_11 "What does free text make of the pending actions?" Nothing, CancelsThem;
}
