//! What the judge lets pass beside what the model's gatekeeper puts out: the freedoms of the text.

use countersign_model::judged::CallTold as _;
use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::mcp_aql::judge::words::Query;
use countersign_model::mcp_aql::output::{Output, Status};
use countersign_model::mcp_aql::rules::{Check, Code, Refusal};
use countersign_model::mcp_aql::told::{Asked, Told};
use countersign_model::mcp_aql::words::{Slot, Which};

use crate::common::teeth::{Freedom, Mutation, assert_table};

const FREEDOMS: &[Freedom<McpAqlProtocol>] = &[
    Freedom {
        clause: "AQL-6.4-1",
        name: "the log is written before or after what it tells of",
        applies: |_, _, done| done.swaps(|one, other| is_logged(one) || is_logged(other)),
    },
    Freedom {
        clause: "AQL-6.4-1",
        name: "the log gives any reason, or none, why a token was refused",
        applies: |_, _, done| done.changes(|it| matches!(it, Output::Rejected(_))),
    },
    Freedom {
        clause: "AQL-6.4-1",
        name: "the log has a name of its own for a token, and keeps to it",
        applies: |_, told, done| {
            let new = |it| matches!(it, Output::Issued(_) | Output::ConfirmationRequired(_));
            matches!(told.call, Asked::Request(_)) && done.changes(new)
        },
    },
    Freedom {
        clause: "AQL-6.4-1",
        name: "that a status was told may be logged, as the check that it was",
        applies: |_, told, done| is_query(told, Query::Status) && done.adds(is_of_check),
    },
    Freedom {
        clause: "AQL-1.2-5",
        name: "a redemption may be logged beside the validation, as it has no event of its own",
        applies: |_, told, done| {
            let takes = |it: &_| matches!(it, Output::Perform(_));
            told.outputs().iter().any(takes) && done.adds(|it| matches!(it, Output::Validated(_)))
        },
    },
    Freedom {
        clause: "AQL-1.3-2",
        name: "a token that comes with a call that needs none may be checked, and the check logged",
        applies: |_, told, done| {
            matches!(told.call, Asked::Deliver(call) if !call.gated) && done.adds(is_of_check)
        },
    },
    Freedom {
        clause: "AQL-5.1-6",
        name: "a warning may come at any time and of any tolerance, and need not where none is set",
        applies: |_, told, done| {
            let sets_none = matches!(told.call, Asked::Configure { .. });
            let warns = |it| matches!(it, Output::Warned(_));
            done.adds(warns) || (sets_none && (done.leaves_out(warns) || done.changes(warns)))
        },
    },
    Freedom {
        clause: "AQL-5.3-2",
        name: "an event may revoke what it is about, over or not, may leave it, and may be refused",
        applies: |_, told, done| {
            let revokes = |it| matches!(it, Output::Revoked(_));
            let refuses = |it| matches!(it, Output::Refused(_));
            let is_event = matches!(told.call, Asked::Trigger(_));
            let changes = |it: &_| matches!(it, Asked::Configure { otherwise, .. } if *otherwise);
            (is_event || changes(&told.call))
                && (done.adds(revokes)
                    || done.leaves_out(revokes)
                    || done.changes(revokes)
                    || (is_event && told.outputs().is_empty() && done.adds(refuses)))
        },
    },
    Freedom {
        clause: "AQL-5.4-2",
        name: "a restart ends connections, and may be logged to revoke what is bound to them",
        applies: |_, told, done| {
            told.call == Asked::Restart && done.adds(|it| matches!(it, Output::Revoked(_)))
        },
    },
    Freedom {
        clause: "AQL-7.3-1",
        name: "a status tells whether the token would be taken; what else, nothing says",
        applies: |_, _, done| {
            let says_valid = |it| matches!(it, Output::AnswerStatus(Status::Live { .. }));
            done.changes(|it| matches!(it, Output::AnswerStatus(_)))
                && matches!(*done, Mutation::Changed { was, is } if says_valid(was) == says_valid(is))
        },
    },
    Freedom {
        clause: "AQL-5.5-1",
        name: "the status of a token that a restart may have lost, or that another adapter issued, is valid or not",
        applies: |_, _, done| done.changes(|it| matches!(it, Output::AnswerStatus(_))),
    },
    Freedom {
        clause: "AQL-5.5-1",
        name: "a token that a restart may have lost gets TOKEN_INVALID, or the code of its fault",
        applies: |_, told, done| {
            let unknown = is_refused_at(told, &[Check::Exists]);
            let gets = |code| is_recoded(*done, Code::Invalid, code);
            (unknown || is_query(told, Query::Revoke))
                && (gets(Code::AlreadyUsed) || gets(Code::ScopeMismatch))
        },
    },
    Freedom {
        clause: "AQL-5.5-2",
        name: "an expired token may have been purged: it gets TOKEN_EXPIRED or TOKEN_INVALID",
        applies: |_, told, done| {
            let unknown = is_refused_at(told, &[Check::Exists]) || is_query(told, Query::Revoke);
            is_refused_at(told, &[Check::NotExpired])
                && is_recoded(*done, Code::Expired, Code::Invalid)
                || unknown && is_recoded(*done, Code::Invalid, Code::Expired)
        },
    },
    Freedom {
        clause: "AQL-7.1-2",
        name: "of a purpose, a session and a revocation the table says nothing: they have no place and no code of their own",
        applies: |_, told, done| {
            let scope = [Check::Purpose, Check::Session];
            is_refused_at(told, &scope) && is_recoded(*done, Code::ScopeMismatch, Code::Invalid)
                || is_refused_at(told, &[Check::NotExpired])
                    && is_recoded(*done, Code::Expired, Code::ScopeMismatch)
                || is_refused_at(told, &[Check::NotRevoked])
                    && is_recoded(*done, Code::Invalid, Code::Expired)
        },
    },
    Freedom {
        clause: "AQL-7.1-2",
        name: "the table has no code for what is wrong with a call without a token",
        applies: |_, _, done| done.changes(|it| matches!(it, Output::Refused(_))),
    },
];

#[test]
#[ignore = "night: changes every output of every state"]
fn what_the_judge_lets_pass_is_a_freedom_of_the_text() {
    assert_table(&vocabulary(), FREEDOMS, include_str!("teeth.txt"));
}

/// Of each kind of output every one that the judge is told of in words of its own: of what runs he is told the call, and not
/// with which token; of a refusal that it is one; of a status whether it is valid, and what must be alike (AQL-6.3-2).
fn vocabulary() -> Vec<Output> {
    let mut all = vec![
        Output::NotRevoked,
        Output::PerformUngated,
        Output::Limited,
        Output::Full,
        Output::AnswerRevocation,
        Output::AnswerStatus(Status::Live { uses_left: 1 }),
        Output::AnswerStatus(Status::Consumed),
        Output::AnswerStatus(Status::Unknown),
        Output::Expose,
        Output::Refused(Refusal::NoLifetime),
        Output::Rejected(Check::Exists),
    ];
    for slot in [Slot::First, Slot::Second] {
        all.extend([
            Output::Issued(slot),
            Output::Validated(slot),
            Output::Revoked(slot),
            Output::ConfirmationRequired(slot),
        ]);
    }
    all.extend(Which::ALL.map(Output::Warned));
    let codes = [
        Code::Invalid,
        Code::Expired,
        Code::AlreadyUsed,
        Code::ScopeMismatch,
    ];
    all.extend(codes.map(Output::Fail));
    all
}

fn is_recoded(done: Mutation<Output>, from: Code, to: Code) -> bool {
    matches!(done, Mutation::Changed { was: Output::Fail(was), is: Output::Fail(is) } if (was, is) == (from, to))
}

fn is_query(told: &Told, wanted: Query) -> bool {
    matches!(told.call, Asked::Introspect(query, _) if query == wanted)
}

/// Whether the model refuses the token of a call at one of these checks.
fn is_refused_at(told: &Told, checks: &[Check]) -> bool {
    let is = |it: &Output| matches!(it, Output::Rejected(check) if checks.contains(check));
    told.outputs().iter().any(is)
}

fn is_of_check(output: Output) -> bool {
    matches!(output, Output::Validated(_) | Output::Rejected(_))
}

fn is_logged(output: Output) -> bool {
    is_of_check(output)
        || matches!(
            output,
            Output::Issued(_) | Output::Revoked(_) | Output::NotRevoked | Output::Warned(_)
        )
}
