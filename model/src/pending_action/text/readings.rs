//! Where the text of pending actions can be taken in more than one way. The first way is the default.

use crate::engine::clause::Clause;
use crate::pending_action::text::clauses::{
    PA_1, PA_2, PA_3, PA_4, PA_5, PA_7, PA_8, PA_10, PA_11, PA_13,
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
    ($($field:ident $name:literal $choice:ident $clause:ident $question:literal $default:ident $first:literal
        $(, $way:ident $word:literal)*;)*) => {
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
            name: $name,
            clause: $clause,
            question: $question,
            ways: &[$first, $($word),*],
        }),*];

        impl Reading {
            /// The same with one ambiguity read that way; none where there is no such way.
            pub fn with(mut self, name: &str, way: &str) -> Option<Self> {
                match name {
                    $($name => self.$field = match way {
                        $first => $choice::$default,
                        $($word => $choice::$way,)*
                        _ => return None,
                    },)*
                    _ => return None,
                }
                Some(self)
            }
        }
    };
}

readings! {
    expiry_absent "expiry-absent" ExpiryAbsent PA_1 "When does an action expire whose proposal names no expiry?"
        Never "never", After "after", Refused "refused";
    deciders_absent "deciders-absent" DecidersAbsent PA_2 "Who may decide where nobody is named?"
        Anyone "anyone", Nobody "nobody", TheAgentToo "the-agent-too";
    blank_decider "blank-decider" BlankDecider PA_2 "Is a blank name somebody?"
        Nobody "nobody", Somebody "somebody";
    edited_arguments "edited-arguments" EditedArguments PA_3 "Does an approval of other arguments count?"
        DoesNotCount "does-not-count", RunsOriginal "runs-original";
    exact_arguments "exact-arguments" ExactArguments PA_3 "When are arguments the exact original ones?"
        SameMeaning "same-meaning", SameBytes "same-bytes";
    lost_release "lost-release" LostRelease PA_3 "A crash came between allow and run. Does the call run?"
        InDoubt "in-doubt", Runs "runs";
    in_doubt "in-doubt" InDoubt PA_3 "A crash came, and nobody knows whether a released call has run. Does it run again?"
        AsDeclared "as-declared", RunsAgain "runs-again";
    orphan_result "orphan-result" OrphanResult PA_4 "Is a result appended whose call was not appended?"
        LeftOut "left-out", Appended "appended";
    edited_denial "edited-denial" EditedDenial PA_5 "Does a denial count that names other arguments?"
        Counts "counts", DoesNotCount "does-not-count";
    session_end "session-end" SessionEnd PA_5 "What becomes of the questions of a session that ends?"
        Cancelled "cancelled", StayPending "stay-pending";
    expiry_boundary "expiry-boundary" ExpiryBoundary PA_7 "Has an action expired at the very time of its expiry?"
        At "at", After "after";
    rollback "rollback" Rollback PA_8 "An older state comes back. Whose task is it to remember?"
        TheLedgers "the-ledgers", TheHosts "the-hosts";
    settlement "settlement" Settlement PA_10 "Is an expiry or a cancellation told?"
        IsTold "is-told", NeedNotBeTold "need-not-be-told";
    not_run "not-run" NotRun PA_10 "How is a released call told that did not run?"
        AsItself "as-itself", AsExecuted "as-executed";
    free_text "free-text" FreeText PA_11 "What does free text make of the pending actions?"
        Nothing "nothing", CancelsThem "cancels-them";
    read_effect "read-effect" ReadEffect PA_13 "Does a call pend that only reads?"
        Pends "pends", Runs "runs";
}
