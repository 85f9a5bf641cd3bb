//! The tokens that are given out, and in which of the open sessions.

use std::collections::{BTreeSet, HashMap};

use foldhash::quality::RandomState;

/// Tokens, each with the numbers of the sessions that gave it out. Two producers may give out the same, in two sessions.
#[derive(Debug, Default, Clone)]
pub(super) struct Tokens {
    /// Whoever makes up the tokens does not know what hashes they have.
    given_out: HashMap<Box<str>, Givers, RandomState>,
}

/// The sessions that gave out one token: one, or where a producer is at fault very many.
#[derive(Debug, Clone)]
enum Givers {
    One(usize),
    Several(BTreeSet<usize>),
}

impl Tokens {
    /// Takes note that a session gives out a token.
    pub(super) fn insert(&mut self, token: &str, session: usize) {
        match self.given_out.get_mut(token) {
            Some(givers) => givers.insert(session),
            None => drop(self.given_out.insert(token.into(), Givers::One(session))),
        }
    }

    /// Forgets that it did.
    pub(super) fn remove(&mut self, token: &str, session: usize) {
        if let Some(givers) = self.given_out.get_mut(token)
            && givers.remove(session)
        {
            self.given_out.remove(token);
        }
    }

    /// The sessions that gave out a token, by their numbers.
    pub(super) fn sessions(&self, token: &str) -> Vec<usize> {
        self.given_out.get(token).map_or_else(Vec::new, Givers::all)
    }

    /// All tokens with the numbers of their sessions, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, usize)> {
        let given_out = self.given_out.iter();
        given_out.flat_map(|(token, givers)| givers.all().into_iter().map(|it| (&**token, it)))
    }
}

impl Givers {
    fn insert(&mut self, session: usize) {
        match self {
            Self::One(other) if *other == session => {}
            Self::One(other) => *self = Self::Several(BTreeSet::from([*other, session])),
            Self::Several(sessions) => drop(sessions.insert(session)),
        }
    }

    /// Yields whether that was the last.
    fn remove(&mut self, session: usize) -> bool {
        match self {
            Self::One(other) => *other == session,
            Self::Several(sessions) => {
                sessions.remove(&session);
                sessions.is_empty()
            }
        }
    }

    fn all(&self) -> Vec<usize> {
        match self {
            Self::One(session) => vec![*session],
            Self::Several(sessions) => sessions.iter().copied().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_session_is_told_that_gave_out_the_token(steps in prop::collection::vec((0..3_u8, 0..4_usize, any::<bool>()), 0..60)) {
            let (mut tokens, mut expected) = (Tokens::default(), BTreeSet::new());
            for (token, session, gives) in steps {
                let token = token.to_string();
                if gives {
                    tokens.insert(&token, session);
                    expected.insert((token, session));
                } else {
                    tokens.remove(&token, session);
                    expected.remove(&(token, session));
                }
                let all: BTreeSet<_> = tokens.all().map(|(token, it)| (token.to_owned(), it)).collect();
                prop_assert_eq!(&all, &expected);
                for token in ["0", "1", "2"] {
                    let sessions = expected.iter().filter(|(other, _)| other == token);
                    let sessions: Vec<_> = sessions.map(|(_, session)| *session).collect();
                    prop_assert_eq!(tokens.sessions(token), sessions);
                }
            }
        }
    }

    /// Looking through all sessions for each would take minutes.
    #[test]
    fn very_many_sessions_may_give_out_the_same_token() {
        const MANY: usize = 200_000;
        let mut tokens = Tokens::default();
        for session in 0..MANY {
            tokens.insert("rpl_same", session);
        }
        assert_eq!(tokens.sessions("rpl_same").len(), MANY);
        for session in 0..MANY {
            tokens.remove("rpl_same", session);
        }
        assert_eq!(tokens.all().next(), None);
    }
}
