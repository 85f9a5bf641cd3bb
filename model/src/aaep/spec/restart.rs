//! A crash: the process comes back with what it had stored, and is told how many of its last outputs were not carried
//! out.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Binding, Turn, number};
use crate::aaep::account::Phase;
use crate::aaep::alphabet::{Asked, Event, Op, Output, Queried, SessionId, What};
use crate::aaep::clauses::{A_3_1, C6_1, C6_1_7, C6_7_1, C6_9_2, EV_4};
use crate::engine::clause::Clauses;
use crate::engine::obligation::{Force, Owed};

impl Turn<'_, '_> {
    /// What was lost. "More than there were is refused": how many there were nobody knows where some are not shown.
    pub(super) fn lost<'l>(&self, op: &Op, last: &'l [Output]) -> Result<&'l [Output], Clauses> {
        let Op::Restart { lost } = op else {
            return Ok(&[]);
        };
        let count = usize::from(*lost);
        if count > last.len() && self.step.variant.hidden == 0 {
            return Err(C6_1.alone());
        }
        Ok(last
            .get(last.len().saturating_sub(count)..)
            .unwrap_or_default())
    }

    /// "The lost outputs that tell something, byte for byte", in their order. "A lost question is asked anew: same
    /// token, new `event_id` and timestamp, from which its timeout counts."
    pub(super) fn retell(&mut self, lost: &[Output]) {
        let mut told: SmallVec<[(SessionId, Owed); 2]> = SmallVec::new();
        for output in lost {
            if let Output::Answer(_) = output {
                self.add(&[C6_1_7], Force::Due, output.clone(), Binding::Retold)
                    .holes
                    .any = false;
            }
            let Output::Emit(Event { session, what, .. }) = output else {
                continue;
            };
            let what = self.anew(what);
            let earlier = told.iter().find(|it| it.0 == *session).map(|it| it.1);
            let it = self.tell(&[C6_7_1], Force::Due, *session, what, Binding::Retold);
            if let Some(earlier) = earlier {
                it.after(earlier, &[EV_4]);
            }
            // As it was, but for what a question says anew.
            it.holes.any = false;
            let name = it.name();
            told.retain(|it| it.0 != *session);
            told.push((*session, name));
            self.follow(*session, None, name);
        }
    }

    /// What is told again, and a question waits from now.
    fn anew(&mut self, what: &What) -> What {
        let account = &mut self.step.account;
        let at = account.clock;
        let (token, again) = if let What::Asked(it) = what {
            let asked = Asked {
                at,
                ..(**it).clone()
            };
            (it.token, What::Asked(Arc::new(asked)))
        } else if let What::Queried(it) = what {
            let queried = Queried {
                at,
                ..(**it).clone()
            };
            (it.token, What::Queried(Arc::new(queried)))
        } else {
            return what.clone();
        };
        let which = account.asked(token);
        if let Some(question) = which.and_then(|it| account.questions.get_mut(it)) {
            question.asked_at = at;
        }
        again
    }

    /// The actions that were released before and are not recorded as done; those whose session has ended need not be.
    pub(super) fn released(&self) -> SmallVec<[(usize, Force); 2]> {
        let force = |phase| match phase {
            Phase::Running => Some(Force::Due),
            // The end of its session has told what became of it.
            Phase::Abandoned => Some(Force::Allowed),
            Phase::Open
            | Phase::Finished
            | Phase::Rejected
            | Phase::Answered
            | Phase::Cancelled => None,
        };
        let all = self.step.account.questions.iter().enumerate();
        all.filter_map(|(which, it)| Some((which, force(it.phase)?)))
            .collect()
    }

    /// "`in_doubt` for each action that was released before the crash and is not recorded as done. The action is not
    /// performed again." What falls due now is released behind it.
    pub(super) fn resume(&mut self, released: &[(usize, Force)]) {
        let account = &mut self.step.account;
        account.restarts = account
            .restarts
            .saturating_sub(u8::from(account.restarts < u8::MAX));
        for &(which, force) in released {
            let Some(run) = self.run_of(which) else {
                continue;
            };
            // AAEP-6.9-2: no replay has an action run again.
            if !self.step.enforces(C6_9_2) {
                self.add(
                    &[],
                    Force::Usual,
                    Output::Perform(run),
                    Binding::Resumed(number(which)),
                );
            }
            self.add(
                &[A_3_1],
                force,
                Output::InDoubt(run),
                Binding::Resumed(number(which)),
            );
        }
    }
}
