//! Where the text of pending actions can be read in more than one way. The first way is the default.

use crate::readings::{Choice, Place};

macro_rules! readings {
    ($(
        $field:ident $choice:ident $name:literal [$($clause:literal),+] $($open:ident)? $question:literal
            $default:ident $default_value:literal $default_gloss:literal,
            $($way:ident $value:literal $gloss:literal),+;
            $why:literal
    )*) => {
        $(
            #[doc = $question]
            #[allow(clippy::doc_markdown, reason = "a gloss is for the command line, too")]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub enum $choice {
                #[doc = $default_gloss]
                #[default]
                $default,
                $(#[doc = $gloss] $way),+
            }
        )*

        /// How each ambiguity is read.
        #[allow(clippy::doc_markdown, reason = "a question is for the command line, too")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct Reading { $(#[doc = $question] pub $field: $choice),* }

        impl Reading {
            /// The same with one ambiguity read that way; none where there is no such way.
            pub fn with(mut self, name: &str, way: &str) -> Option<Self> {
                let place = AMBIGUITIES.iter().find(|it| it.name == name)?;
                let choice = place.choices.iter().find(|it| it.value == way)?;
                (choice.set)(&mut self);
                Some(self)
            }
        }

        /// Every ambiguity, in the order of the text.
        pub const AMBIGUITIES: &[Place<Reading>] = &[$(Place {
            name: $name,
            clauses: &[$($clause),+],
            question: $question,
            with: None,
            open: readings!(@ $($open)?),
            choices: &[
                Choice { value: $default_value, gloss: $default_gloss, set: |it| it.$field = $choice::$default },
                $(Choice { value: $value, gloss: $gloss, set: |it| it.$field = $choice::$way }),+
            ],
            why: $why,
        }),*];
    };
    (@ open) => { true };
    (@) => { false };
}
pub(crate) use readings;

readings! {
    expiry_absent ExpiryAbsent "expiry-absent" ["PA-1", "PA-7"] open
        "A call is proposed without expires_at: when does it expire?"
        Never "never" "It stays open until it is decided or cancelled.",
        After "after" "It expires after a time that the host has set for all: the shape has an expiry in every record, and the criterion on expired actions counts on one.",
        Refused "refused" "It is not proposed: the shape lists the expiry with what a record holds.";
        "The shape of the text is a possible one. The loop knows how long a question is good, and the ledger does not."
    deciders_absent DecidersAbsent "deciders-absent" ["PA-2"] open
        "Who may decide where the proposal names no deciders?"
        Anyone "anyone" "Whoever is authenticated may decide, but for the agent that proposed.",
        Nobody "nobody" "Nobody may: a decision is that of the user, and none is named.",
        TheAgentToo "the-agent-too" "Whoever is authenticated may decide, the agent that proposed too: the text excludes nobody.";
        "The text asks for no list. An action that nobody may decide could as well not be proposed."
    blank_decider BlankDecider "blank-decider" ["PA-2"]
        "Is a blank name somebody?"
        Nobody "nobody" "A decision by a blank name is nobody's.",
        Somebody "somebody" "A blank name is a name like any other.";
        "A decision is that of a user, and a blank name identifies none."
    edited_arguments EditedArguments "edited-arguments" ["PA-3"]
        "Does an approval of other arguments count?"
        DoesNotCount "does-not-count" "It resolves nothing: something else was approved.",
        RunsOriginal "runs-original" "It counts, and the original call runs: on allow, the original arguments are executed.";
        "Who approves other arguments has not seen the call that would run."
    exact_arguments ExactArguments "exact-arguments" ["PA-3"]
        "When are arguments the exact original ones?"
        SameMeaning "same-meaning" "Where they are the same JSON value, however it is spelled.",
        SameBytes "same-bytes" "Where they are the same bytes: the text says exact.";
        "The driver protocol leaves the spelling of what is put out to the ledger."
    lost_release LostRelease "lost-release" ["PA-3"]
        "A crash comes between an allow and its run. Does the call run?"
        InDoubt "in-doubt" "It is told to be in doubt, as any released call is.",
        Runs "runs" "It runs: it was allowed, and certainly has not run.";
        "The driver protocol lists what was released and is not recorded as done, whether its run was lost or not."
    in_doubt InDoubt "in-doubt" ["PA-3", "PA-8", "PA-10"]
        "A crash comes after an action was released, and nobody knows whether it ran: is it run again?"
        AsDeclared "as-declared" "It is told to be in doubt, unless its record lets it run twice.",
        RunsAgain "runs-again" "It runs again: on an allow the loop is to execute the call, and nobody knows that it has.";
        "One allow is good for one run, so that what may have run is told to be in doubt, unless its record lets it run twice."
    orphan_result OrphanResult "orphan-result" ["PA-4"]
        "Is a result appended whose call was not appended?"
        LeftOut "left-out" "It is not: the transcript has no call that it could belong to.",
        Appended "appended" "It is: the criterion asks for canonical results in the transcript.";
        "A result without its call is no canonical transcript."
    edited_denial EditedDenial "edited-denial" ["PA-5"]
        "Does a denial count that names other arguments?"
        Counts "counts" "It does: whatever the arguments are, nothing is to run.",
        DoesNotCount "does-not-count" "It does not: it is about another call.";
        "To deny is the safe way to understand somebody who does not want the call."
    session_end SessionEnd "session-end" ["PA-5"]
        "What becomes of the questions of a session that ends?"
        Cancelled "cancelled" "They are cancelled with it.",
        StayPending "stay-pending" "They wait on: the text names deny, cancel and expiry, and no end of a session.";
        "Nobody reads the transcript of a session that is over, so that nobody can decide what is asked there."
    expiry_boundary ExpiryBoundary "expiry-boundary" ["PA-7"] open
        "Has an action expired at the very instant of its expires_at?"
        At "at" "It has expired at that instant.",
        After "after" "It expires after that instant, which is the last at which it may be decided; the text has no more than the word expiry.";
        "It expires at that time, not after it."
    rollback Rollback "rollback" ["PA-8"]
        "An older state comes back. Whose task is it to remember what was resolved since?"
        TheLedgers "the-ledgers" "The ledger's: nothing that was resolved since is pending again.",
        TheHosts "the-hosts" "The host's: the ledger may have forgotten what was resolved, but what ran does not run again.";
        "Single use that a restored file undoes is none."
    settlement Settlement "settlement" ["PA-10"]
        "Is an expiry or a cancellation told?"
        IsTold "is-told" "It is told by an event, a message or both.",
        NeedNotBeTold "need-not-be-told" "It need not be: the criterion names proposed, allowed, denied and executed.";
        "A replay that does not show how a question ended is not clear."
    not_run NotRun "not-run" ["PA-10"]
        "How is a released call told that did not run?"
        AsItself "as-itself" "By an event of its own.",
        AsExecuted "as-executed" "As executed, with the status not_run.";
        "What did not run was not executed."
    free_text FreeText "free-text" ["PA-11"]
        "What does free text make of the pending actions?"
        Nothing "nothing" "It resolves none: it goes to the model.",
        CancelsThem "cancels-them" "It cancels them: the user has moved on.";
        "The text says that ambiguous confirmations go through the model, and no more."
    read_effect ReadEffect "read-effect" ["PA-13", "PA-14"] open
        "A call is proposed that only reads: does it pend?"
        Pends "pends" "It pends like any other.",
        Runs "runs" "It runs at once: the contract is for destructive, write and external effects above all.";
        "The policy of the loop says which calls are proposed, and whoever proposes one wants it asked about. No guarantee is stated of a call that only reads."
}
