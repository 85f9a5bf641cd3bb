//! What confirmation tokens are good for: statements about what was seen, and nothing else. No word of the spec is
//! used. What was given away and for what call, what ran, and what was revoked follows from calls and outputs alone.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::engine::model::{guarantees, witnesses};
use crate::mcp_aql::alphabet::{
    Answer, Call, Code, Configuration, Entry, Event, EventKind, Issued, Level, LogId, Lost, Name,
    Op, Oracle, Output, Parameters, Performed, Purpose, Query, Request, Shown, Time, TokenId, Word,
};

guarantees! {
    Unconfirmed "AQL-1.3-1, AQL-7.1-1" "nothing runs that needs a token and has none";
    Unasked "AQL-1.3-1" "what needs a token gets one, or is told why not";
    Ungated "AQL-5.1-8" "what needs no token runs";
    Guessed "AQL-4.1-1, AQL-1.2-4, AQL-2.2-3, AQL-6.2-1" "a token that was never issued runs nothing";
    UsedUp "AQL-4.1-3, AQL-5.2-1, AQL-5.2-2, AQL-6.1-1"
        "a token runs as often as it has uses, whatever is lost in a crash";
    Expired "AQL-4.1-2, AQL-5.1-3, AQL-5.4-3" "nothing runs when expiry and tolerance have passed";
    OtherOperation "AQL-4.1-4, AQL-3.2-1" "a token runs no other operation";
    OtherParameters "AQL-4.1-5, AQL-4.3-1, AQL-3.2-1, AQL-3.2-4" "a token runs nothing with other critical parameters";
    OtherAdapter "AQL-4.1-6" "a token runs nothing on another adapter";
    OtherPurpose "AQL-2.1-1" "a token for a quota confirms nothing";
    HigherRating "AQL-5.1-1" "a token runs nothing that is rated higher";
    OtherSession "AQL-5.4-1, AQL-5.4-4, AQL-6.1-2" "a token of a session runs nothing in another";
    EndedSession "AQL-5.4-2" "a token of a session runs nothing when that has ended";
    Revoked "AQL-5.3-1, AQL-5.3-3, AQL-7.2-2" "a token that was revoked runs nothing";
    Altered "AQL-1.2-3" "what runs is what was called";
    Unheard "AQL-1.3-2, AQL-1.2-1, AQL-3.2-3, AQL-5.1-7" "a token that is good is taken";
    Guessable "AQL-2.1-1, AQL-2.2-1, AQL-2.2-2, AQL-3.1-1, AQL-3.1-3" "a token is new, and looks as it should";
    Lives "AQL-5.1-1, AQL-5.1-2, AQL-1.2-2" "a token lives as long as its call and its context say";
    Untold "AQL-3.3-1, AQL-6.3-4" "who gets a token is told what for";
    Loose "AQL-5.4-1, AQL-3.2-1" "no token is given away that nothing can be bound to";
    WrongCode "AQL-7.1-2, AQL-4.2-1" "the answer to a failure says what is wrong";
    Exposed "AQL-6.3-1, AQL-6.3-3" "nothing that a client gets shows parameters";
    Alike "AQL-6.3-2" "where the operator wants it, no failure is told from another";
    NotLogged "AQL-6.4-1, AQL-1.2-5" "what happens to a token is logged";
    Untrue "AQL-6.4-1" "nothing is logged that has not happened, or of another token";
    Status "AQL-7.3-1" "a status is what it is";
    NotTakenBack "AQL-5.3-3" "a token that is alive can be given back";
    RevokesOthers "AQL-5.3-2" "nothing is revoked without an event that concerns it";
    Early "AQL-6.5-1, AQL-5.5-3" "nobody is turned away at the first try, or while there is room";
    Settings "AQL-5.1-5, AQL-5.1-6" "a tolerance is within its range, and warned of where it is wide";
}

witnesses! {
    "a token runs its call" in "AQL-1.3-2" |it| it.tokens.iter().any(|it| it.runs == 1);
    "a token of a session runs twice" in "AQL-5.4-4, AQL-5.2-3" |it| it.tokens.iter().any(|it| it.runs == 2);
    "two tokens are alive" in "AQL-5.5-1"
        |it| it.tokens.len() == 2 && it.tokens.iter().all(|it| it.runs == 0 && !it.is_revoked);
    "a token is revoked" in "AQL-5.3-1" |it| it.tokens.iter().any(|it| it.is_revoked);
    "a session ends with its token" in "AQL-5.4-2" |it| it.tokens.iter().any(|it| it.has_ended);
    "a token for a quota is given away" in "AQL-2.1-1" |it| it.tokens.iter().any(|it| it.purpose() == Purpose::Quota);
    "a token runs within the tolerance" in "AQL-5.1-7, AQL-5.1-4" |it| it.has_just(Moment::WithinTolerance);
    "a token is refused as expired" in "AQL-4.1-2" |it| it.has_just(Moment::Refused(Code::Expired));
    "a token is refused as used" in "AQL-4.1-3" |it| it.has_just(Moment::Refused(Code::Used));
    "a token is refused for its scope" in "AQL-4.1-4, AQL-4.1-5" |it| it.has_just(Moment::Refused(Code::Scope));
    "a token is refused as unknown" in "AQL-4.1-1" |it| it.has_just(Moment::Refused(Code::Invalid));
    "what was admitted is lost in a crash" in "AQL-5.2-2" |it| it.has_just(Moment::LostRun);
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct History {
    tokens: SmallVec<[Seen; 2]>,
    /// The greatest time of a call.
    latest: Option<Time>,
    adapters: SmallVec<[Adapter; 1]>,
    /// What a witness reads of the last call.
    moment: Option<Moment>,
    /// The guarantees that are broken, a bit for each.
    broken: u32,
}

/// A token that was given away.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is known by itself")]
struct Seen {
    id: TokenId,
    call: Arc<Request>,
    expires_at: Option<Time>,
    /// How often it ran, or was to run and was lost.
    runs: u8,
    is_revoked: bool,
    /// The session of its call has ended.
    has_ended: bool,
    /// It may be no good any more: an event, a restart, a call that needs no token, a change of the lists.
    may_be_over: bool,
    /// It was lost in a crash before the client had it.
    is_lost: bool,
    logged: Option<LogId>,
}

/// What an operator has set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Adapter {
    name: Name,
    /// The least and the greatest tolerance since the first token.
    tolerance: Option<(Time, Time)>,
    is_uniform: bool,
    /// The parameters that count, by operation; nothing where that was changed.
    lists: SmallVec<[(Name, Listed); 1]>,
    /// The form of each kind of failure.
    shapes: [Option<Name>; 3],
    /// Whether a token was asked for, shown in vain, or given back.
    tries: [bool; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Moment {
    WithinTolerance,
    Refused(Code),
    LostRun,
}

/// What is known of the parameters that count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Listed {
    /// No list.
    Nothing,
    These(Arc<[Name]>),
    /// It was another before.
    Changed,
}

/// The tolerance that nobody sets: none at least, and 30 seconds at most.
const USUAL_TOLERANCE: (Time, Time) = (0, 30_000);

impl Seen {
    fn purpose(&self) -> Purpose {
        purpose(&self.call)
    }
    fn uses(&self) -> i64 {
        self.call.max_uses.unwrap_or(1)
    }
    /// It is bound to the session of its call for certain.
    fn is_of_session(&self) -> bool {
        let is_multiple = self.uses() > 1 && self.call.session_scope != Some(false);
        self.call.session.is_some() && (is_multiple || self.call.session_scope == Some(true))
    }
    fn session(&self) -> Option<Name> {
        self.call.session.map(|it| it.name)
    }
}

fn purpose(it: &Request) -> Purpose {
    if it.level >= Level::Destructive {
        Purpose::Confirmation
    } else {
        Purpose::Quota
    }
}

fn is_gated(it: &Request) -> bool {
    it.level >= Level::Destructive || it.purpose == Purpose::Quota
}

/// The usual and the longest life, in milliseconds.
fn lives(it: &Request) -> (Time, Time) {
    match it.level {
        Level::Safe | Level::Reversible => (300_000, 600_000),
        Level::Destructive | Level::Dangerous => (300_000, 900_000),
        Level::Forbidden => (120_000, 300_000),
    }
}

/// Whether a token can be given away for it.
fn can_be_asked(it: &Request) -> bool {
    let uses = it.max_uses.unwrap_or(1);
    let needs_session = uses > 1 || it.session_scope == Some(true);
    let is_in_time = it.ttl.is_none_or(|ttl| ttl > 0 && ttl <= lives(it).1);
    let has_session = it.session.is_some() || !needs_session;
    uses > 0 && has_session && is_in_time && it.parameters.meaning.is_some()
}

/// Whether both differ in a parameter that counts for certain.
fn differ(own: &Parameters, other: &Parameters, list: Option<&[Name]>) -> bool {
    let beside = |one: &Parameters, other: &Parameters| {
        let changed = one.each.iter().filter(|it| !other.each.contains(it));
        changed.copied().collect::<SmallVec<[_; 4]>>()
    };
    let list = list.filter(|list| own.each.iter().any(|it| list.contains(&it.name)));
    let mut changed = beside(own, other);
    changed.extend(beside(other, own));
    changed.iter().any(|it| match list {
        Some(list) => list.contains(&it.name),
        None => !matches!(it.word, Word::Timestamp | Word::RequestId | Word::Other),
    })
}

impl History {
    /// How many tokens were given away.
    pub fn issued(&self) -> usize {
        self.tokens.len()
    }

    /// Each token that a client has, and for what call.
    pub fn known(&self) -> impl Iterator<Item = (TokenId, &Arc<Request>)> {
        let known = self.tokens.iter().filter(|it| !it.is_lost);
        known.map(|it| (it.id, &it.call))
    }

    fn has_just(&self, moment: Moment) -> bool {
        self.moment == Some(moment)
    }

    fn check(&mut self, guarantee: Guarantee, holds: bool) {
        self.broken |= u32::from(!holds) << guarantee as u8;
    }

    fn place(&self, shown: Option<Shown>) -> Option<usize> {
        let Some(Shown::Token(id)) = shown else {
            return None;
        };
        self.tokens.iter().position(|it| it.id == id)
    }

    fn adapter(&mut self, name: Name) -> &mut Adapter {
        let place = self.adapters.partition_point(|it| it.name < name);
        if self.adapters.get(place).is_none_or(|it| it.name != name) {
            let adapter = Adapter {
                name,
                ..Adapter::default()
            };
            self.adapters.insert(place, adapter);
        }
        &mut self.adapters[place]
    }

    /// A call was answered. The last `lost` outputs were put out, and not carried out.
    pub fn see(&mut self, call: &Call, outputs: &[Output], lost: usize) {
        self.latest = self.latest.max(Some(call.now));
        self.moment = None;
        let runs: SmallVec<[Performed; 1]> = outputs.iter().filter_map(Output::run).collect();
        match &call.op {
            Op::Call(it) => self.see_call(it, call.now, outputs, &runs, lost),
            Op::Introspect {
                adapter,
                query,
                token,
            } => {
                self.check(Guarantee::Unconfirmed, runs.is_empty());
                self.see_query(*query, *token, adapter.name, outputs);
            }
            Op::Configure(it) => self.see_configuration(it, outputs),
            Op::Event { .. } | Op::EndSession(_) | Op::Tick | Op::Restart(_) => {
                self.check(Guarantee::Unconfirmed, runs.is_empty());
            }
        }
        self.see_tries(call, outputs);
        self.see_log(call, outputs);
        self.see_event(call, outputs);
        // Witnesses need it in the plainest runs, and everywhere else it only makes states differ.
        self.moment
            .take_if(|_| self.tokens.len() > 1 || self.tokens.iter().any(|it| it.may_be_over));
    }

    fn see_call(
        &mut self,
        it: &Arc<Request>,
        now: Time,
        outputs: &[Output],
        runs: &[Performed],
        lost: usize,
    ) {
        let is_refused = outputs.contains(&Output::Refused);
        let answers = || outputs.iter().filter_map(Output::answer);
        self.check(
            Guarantee::Altered,
            runs.iter().all(|run| is_called(run, it)),
        );
        let place = self.place(it.token);
        if !is_gated(it) {
            self.check(Guarantee::Ungated, runs.len() == 1 || is_refused);
            if let Some(token) = place.and_then(|place| self.tokens.get_mut(place)) {
                token.may_be_over = true;
            }
            return;
        }
        let issued: Option<Issued> = answers().find_map(|it| {
            if let Answer::Issued(it) = it {
                Some(it)
            } else {
                None
            }
        });
        if it.token.is_none() {
            self.check(Guarantee::Unconfirmed, runs.is_empty());
            let is_denied = answers().any(|it| matches!(it, Answer::Limited | Answer::Full));
            let is_told = is_denied || is_refused || answers().any(|it| it == Answer::Unreadable);
            let must = can_be_asked(it) && it.session.is_none();
            self.check(
                Guarantee::Unasked,
                issued.is_some() || is_denied || is_told && !must,
            );
        } else {
            self.see_redemption(it, now, outputs, runs, place);
        }
        let lost = &outputs[outputs.len().saturating_sub(lost)..];
        if let Some(issued) = issued {
            let answer = Output::Respond(Answer::Issued(issued));
            self.see_issue(it, now, &issued, lost.contains(&answer));
        }
        if lost.iter().any(|it| it.run().is_some()) {
            self.moment = Some(Moment::LostRun);
        }
    }

    fn see_issue(&mut self, it: &Arc<Request>, now: Time, issued: &Issued, is_lost: bool) {
        let latest = self.latest.unwrap_or(now);
        let (usual, longest) = lives(it);
        let life = it.ttl.unwrap_or(usual);
        let ends = |expires_at: Time| {
            let (from, to) = (now.min(latest).saturating_sub(999), latest);
            (from..=to).contains(&expires_at.saturating_sub(life))
        };
        self.check(
            Guarantee::Lives,
            life > 0 && life <= longest && issued.expires_at.is_some_and(ends),
        );
        let is_known = self.tokens.iter().any(|it| it.id == issued.token);
        let look = issued.look;
        let is_good = look.prefix == Some(purpose(it))
            && look.is_url_safe
            && !look.is_counted
            && (22..=64).contains(&look.identifier)
            && look.characters <= 80;
        self.check(Guarantee::Guessable, is_good && !is_known);
        let is_said = issued.operation == Some(it.operation.name)
            && issued.level == Some(it.level)
            && issued.has_message
            && issued.has_reasons;
        self.check(Guarantee::Untold, is_said || purpose(it) == Purpose::Quota);
        self.check(Guarantee::Loose, can_be_asked(it));
        self.check(Guarantee::Exposed, look.reads.is_none());
        self.tokens.retain(|it| it.id != issued.token);
        self.tokens.push(Seen {
            id: issued.token,
            call: Arc::clone(it),
            expires_at: issued.expires_at,
            runs: 0,
            is_revoked: false,
            has_ended: false,
            may_be_over: false,
            is_lost,
            logged: None,
        });
        self.adapter(it.adapter.name)
            .tolerance
            .get_or_insert(USUAL_TOLERANCE);
    }

    fn see_redemption(
        &mut self,
        it: &Request,
        now: Time,
        outputs: &[Output],
        runs: &[Performed],
        place: Option<usize>,
    ) {
        let answers = || outputs.iter().filter_map(Output::answer);
        let failure = answers().find_map(|it| {
            if let Answer::Failed(it) = it {
                Some(it)
            } else {
                None
            }
        });
        let adapter = it.adapter.name;
        let is_uniform = self.adapter(adapter).is_uniform;
        if let Some(failure) = failure {
            self.moment = Some(Moment::Refused(failure.code));
            self.check(Guarantee::Exposed, !failure.exposes_parameters);
            self.check(Guarantee::WrongCode, failure.is_whole);
            if is_uniform {
                self.check(Guarantee::Alike, failure.code == Code::Invalid);
            }
            if is_uniform || failure.code == Code::Invalid {
                self.has_form(adapter, 0, failure.shape);
            }
        }
        let Some(token) = place.and_then(|it| self.tokens.get(it)).cloned() else {
            self.check(Guarantee::Guessed, runs.is_empty());
            return;
        };
        let own = &token.call;
        let (least, most) = self.tolerance(own.adapter.name);
        let past = |tolerance: Time, at: Time| {
            token
                .expires_at
                .is_none_or(|it| at > it.saturating_add(tolerance))
        };
        let list = self.list(own.adapter.name, own.operation.name);
        let latest = self.latest.unwrap_or(now);
        let is_elsewhere = token.session() != it.session.map(|it| it.name);
        let has_changed =
            list == Listed::Changed || own.parameters.meaning != it.parameters.meaning;
        let is_same =
            own.operation == it.operation && own.adapter == it.adapter && own.level == it.level;
        let is_used = i64::from(token.runs) >= token.uses();
        let is_alive = !token.may_be_over && !token.is_revoked && !token.has_ended && !is_used;
        if !runs.is_empty() {
            let differs = match &list {
                Listed::Nothing => differ(&own.parameters, &it.parameters, None),
                Listed::These(list) => differ(&own.parameters, &it.parameters, Some(list)),
                Listed::Changed => false,
            };
            self.check(Guarantee::UsedUp, !is_used && runs.len() == 1);
            self.check(Guarantee::Expired, !past(most, now));
            self.check(Guarantee::OtherOperation, own.operation == it.operation);
            self.check(Guarantee::OtherParameters, !differs);
            self.check(Guarantee::OtherAdapter, own.adapter == it.adapter);
            let is_quota = token.purpose() == Purpose::Quota;
            self.check(
                Guarantee::OtherPurpose,
                !is_quota || purpose(it) == Purpose::Quota,
            );
            let is_row = (own.level, it.level) == (Level::Destructive, Level::Dangerous);
            self.check(Guarantee::HigherRating, own.level >= it.level || is_row);
            self.check(
                Guarantee::OtherSession,
                !(token.is_of_session() && is_elsewhere),
            );
            self.check(
                Guarantee::EndedSession,
                !(token.is_of_session() && token.has_ended),
            );
            self.check(Guarantee::Revoked, !token.is_revoked);
            if past(0, now) {
                self.moment = Some(Moment::WithinTolerance);
            }
            if let Some(token) = place.and_then(|it| self.tokens.get_mut(it)) {
                token.runs = 2.min(token.runs.saturating_add(1));
            }
            return;
        }
        let is_denied = answers().any(|it| it == Answer::Limited);
        let is_good = is_same && !has_changed && !is_elsewhere && is_alive && !past(least, latest);
        self.check(Guarantee::Unheard, !is_good || is_denied);
        let is_over = !is_alive || past(0, latest);
        let is_right = match failure.map(|it| it.code) {
            None => {
                is_denied
                    || outputs.contains(&Output::Refused)
                    || !answers().all(|it| matches!(it, Answer::Other(_)))
            }
            Some(Code::Expired) => past(0, latest),
            Some(Code::Used) => is_used || token.may_be_over || token.is_revoked,
            Some(Code::Scope) => {
                !is_same || has_changed || is_elsewhere || token.has_ended || token.may_be_over
            }
            Some(Code::Invalid) => is_over || is_uniform || is_elsewhere || own.level != it.level,
            Some(Code::Other) => false,
        };
        self.check(Guarantee::WrongCode, is_right);
    }

    fn see_query(&mut self, query: Query, shown: Shown, adapter: Name, outputs: &[Output]) {
        let token = self
            .place(Some(shown))
            .and_then(|it| self.tokens.get(it))
            .cloned();
        let latest = self.latest.unwrap_or_default();
        let (least, most) = token
            .as_ref()
            .map_or((0, 0), |it| self.tolerance(it.call.adapter.name));
        let past = |it: &Seen, tolerance: Time| {
            it.expires_at
                .is_none_or(|at| latest > at.saturating_add(tolerance))
        };
        let is_used = |it: &Seen| i64::from(it.runs) >= it.uses();
        let ended = |it: &Seen| it.is_revoked || it.has_ended && it.is_of_session();
        let is_dead = token
            .as_ref()
            .is_none_or(|it| is_used(it) || ended(it) || past(it, most) && it.expires_at.is_some());
        let is_alive = token.as_ref().is_some_and(|it| {
            !is_used(it) && !ended(it) && !it.may_be_over && !it.has_ended && !past(it, least)
        });
        let is_uniform = self.adapter(adapter).is_uniform;
        for answer in outputs.iter().filter_map(Output::answer) {
            match (query, answer) {
                (Query::Status, Answer::Status(it)) => {
                    // A clock that was set back leaves open what is over.
                    let is_open = token.as_ref().is_some_and(|it| past(it, 0));
                    self.check(
                        Guarantee::Status,
                        if it.holds {
                            !is_dead || is_open
                        } else {
                            !is_alive
                        },
                    );
                    if is_uniform && !it.holds {
                        self.has_form(adapter, 2, it.shape);
                    }
                }
                (Query::Revoke, Answer::Revoked(it)) => {
                    self.check(Guarantee::NotTakenBack, it.holds || !is_alive);
                    if is_uniform && !is_alive && is_dead {
                        self.has_form(adapter, 1, it.shape);
                    }
                    let place = self.place(Some(shown));
                    if let Some(token) = place.and_then(|it| self.tokens.get_mut(it)) {
                        token.is_revoked |= it.holds && is_alive;
                        token.may_be_over = true;
                    }
                }
                (Query::Status | Query::Revoke, Answer::Limited | Answer::Other(_)) => {}
                (Query::Status, _) => self.check(Guarantee::Status, false),
                (Query::Revoke, _) => self.check(Guarantee::NotTakenBack, false),
            }
        }
        let mut answers = outputs.iter().filter_map(Output::answer);
        let is_told = answers.any(|it| !matches!(it, Answer::Other(_)));
        let is_answered = is_told || outputs.contains(&Output::Refused);
        match query {
            Query::Status => self.check(Guarantee::Status, is_answered),
            Query::Revoke => self.check(Guarantee::NotTakenBack, is_answered),
        }
    }

    fn has_form(&mut self, adapter: Name, kind: usize, shape: Name) {
        let before = self
            .adapter(adapter)
            .shapes
            .get_mut(kind)
            .map(|it| *it.get_or_insert(shape));
        self.check(Guarantee::Alike, before == Some(shape));
    }

    fn tolerance(&mut self, adapter: Name) -> (Time, Time) {
        self.adapter(adapter).tolerance.unwrap_or(USUAL_TOLERANCE)
    }

    fn list(&mut self, adapter: Name, operation: Name) -> Listed {
        let lists = &self.adapter(adapter).lists;
        let known = lists.iter().find(|it| it.0 == operation);
        known.map_or(Listed::Nothing, |it| it.1.clone())
    }

    fn see_configuration(&mut self, it: &Configuration, outputs: &[Output]) {
        let is_refused = outputs.contains(&Output::Refused);
        let is_in_range = it.tolerance.is_none_or(|it| (0..=300_000).contains(&it));
        let is_wide = it.tolerance.is_some_and(|it| it > 60_000);
        self.check(
            Guarantee::Settings,
            is_refused || is_in_range && (!is_wide || outputs.contains(&Output::Warn)),
        );
        if is_refused {
            return;
        }
        let has_tokens = !self.tokens.is_empty();
        let adapter = self.adapter(it.adapter.name);
        if let Some(tolerance) = it.tolerance {
            let (least, most) = adapter
                .tolerance
                .filter(|_| has_tokens)
                .unwrap_or((tolerance, tolerance));
            adapter.tolerance = Some((least.min(tolerance), most.max(tolerance)));
        }
        if let Some(oracle) = it.oracle {
            adapter.is_uniform = oracle == Oracle::Uniform;
            adapter.shapes = [None; 3];
        }
        for (operation, names) in it.critical.iter().flatten() {
            adapter.lists.retain(|it| it.0 != *operation);
            let list = if has_tokens {
                Listed::Changed
            } else {
                Listed::These(names.as_slice().into())
            };
            adapter.lists.push((*operation, list));
        }
        let tokens = self
            .tokens
            .iter_mut()
            .filter(|token| token.call.adapter == it.adapter);
        tokens.for_each(|it| it.may_be_over = true);
    }

    /// How much was tried: the first try is none too many, and an adapter has room for a thousand tokens.
    fn see_tries(&mut self, call: &Call, outputs: &[Output]) {
        let (adapter, mut kind) = match &call.op {
            Op::Call(it) => (it.adapter.name, usize::from(it.token.is_some())),
            Op::Introspect { adapter, query, .. } => {
                (adapter.name, 1 + usize::from(*query == Query::Revoke))
            }
            Op::Configure(_) | Op::Event { .. } | Op::EndSession(_) | Op::Tick | Op::Restart(_) => {
                return;
            }
        };
        let tokens = self
            .tokens
            .iter()
            .filter(|it| it.call.adapter.name == adapter)
            .count();
        for answer in outputs.iter().filter_map(Output::answer) {
            let was_tried = self.adapter(adapter).tries.get(kind).copied();
            match answer {
                Answer::Limited => self.check(Guarantee::Early, was_tried == Some(true)),
                Answer::Full => self.check(Guarantee::Early, tokens >= 1000),
                // An empty token may be none.
                Answer::Issued(_) => kind = 0,
                Answer::Failed(_)
                | Answer::Status(_)
                | Answer::Revoked(_)
                | Answer::Unreadable
                | Answer::Other(_) => {}
            }
            let is_good = matches!(answer, Answer::Status(it) if it.holds);
            let is_told = matches!(
                answer,
                Answer::Issued(_) | Answer::Failed(_) | Answer::Status(_) | Answer::Revoked(_)
            );
            if let Some(tried) = self.adapter(adapter).tries.get_mut(kind) {
                *tried |= is_told && !is_good;
            }
        }
    }

    /// What the log says of this call.
    fn see_log(&mut self, call: &Call, outputs: &[Output]) {
        let entries = || outputs.iter().filter_map(Output::entry);
        let count = |event, is_success| {
            entries()
                .filter(|it| it.event == event && it.is_success == is_success)
                .count()
        };
        let answers = |which: fn(&Answer) -> bool| {
            outputs
                .iter()
                .filter_map(Output::answer)
                .filter(which)
                .count()
        };
        let (issued, validated) = (count(Event::Issued, true), count(Event::Validated, true));
        let rejected = count(Event::Rejected, false);
        let gives = answers(|it| matches!(it, Answer::Issued(_)));
        let fails = answers(|it| matches!(it, Answer::Failed(_)));
        let revokes = count(Event::Revoked, true) + count(Event::Revoked, false);
        let told = |holds| move |it: &Answer| matches!(it, Answer::Status(it) if it.holds == holds);
        let statuses = |holds| {
            outputs
                .iter()
                .filter_map(Output::answer)
                .filter(told(holds))
                .count()
        };
        let runs = outputs.iter().filter(|it| it.run().is_some()).count();
        let is_free = match &call.op {
            Op::Call(it) => !is_gated(it),
            Op::Restart(_) => true,
            Op::Configure(_)
            | Op::Introspect { .. }
            | Op::Event { .. }
            | Op::EndSession(_)
            | Op::Tick => false,
        };
        let validations = (if is_free { 0 } else { runs }) + statuses(true);
        let rejections = fails + statuses(false);
        self.check(
            Guarantee::NotLogged,
            issued >= gives && validated >= validations && rejected >= rejections,
        );
        self.check(
            Guarantee::NotLogged,
            answers(|it| matches!(it, Answer::Revoked(_))) <= revokes,
        );
        // Who is turned away with a token may be logged as rejected.
        let is_away = |it: &Answer| matches!(it, Answer::Limited | Answer::Unreadable);
        let away = answers(is_away) + usize::from(outputs.contains(&Output::Refused));
        let is_more = issued > gives || validated > validations || rejected > rejections + away;
        self.check(Guarantee::Untrue, is_free || !is_more);
        let latest = self.latest.unwrap_or(call.now);
        for entry in entries() {
            let is_now = (call.now.saturating_sub(999)..=latest).contains(&entry.at)
                || matches!(call.op, Op::Restart(_));
            let names = (entry.operation, entry.adapter);
            let is_of = |it: &Request| names == (Some(it.operation.name), Some(it.adapter.name));
            let is_named = !matches!(&call.op, Op::Call(it) if !is_of(it));
            // One entry may stand for all that are revoked.
            let is_one =
                entry.token.is_some() || !entry.is_success || entry.event == Event::Revoked;
            self.check(Guarantee::Untrue, is_now && is_named && is_one);
        }
        if let Op::Call(it) = &call.op
            && is_gated(it)
        {
            let newest = self.tokens.len().checked_sub(1).filter(|_| gives > 0);
            let place = newest.or_else(|| self.place(it.token));
            for entry in entries() {
                self.see_id(place, entry);
            }
        }
    }

    /// An entry names a token by the id that it always has, and that no other has.
    fn see_id(&mut self, place: Option<usize>, entry: Entry) {
        let owner = self
            .tokens
            .iter()
            .position(|it| it.logged.is_some() && it.logged == entry.token);
        let known = place.and_then(|it| self.tokens.get(it)).map(|it| it.logged);
        let is_right = match (owner, known) {
            (Some(owner), _) => place == Some(owner),
            (None, Some(Some(_))) => !entry.is_success && entry.token.is_none(),
            (None, _) => true,
        };
        self.check(Guarantee::Untrue, is_right);
        if let Some(token) = place.and_then(|it| self.tokens.get_mut(it)) {
            token.logged = token.logged.or(entry.token);
        }
    }

    /// What becomes of tokens by an event, and what the log says of it.
    fn see_event(&mut self, call: &Call, outputs: &[Output]) {
        let revoked = |id: Option<LogId>| {
            let mut entries = outputs.iter().filter_map(Output::entry);
            id.is_some()
                && entries.any(|it| it.event == Event::Revoked && it.is_success && it.token == id)
        };
        let is_refused = outputs.contains(&Output::Refused);
        let mut is_foreign = false;
        for token in &mut self.tokens {
            let session = token.session();
            let concerns = match &call.op {
                Op::Event {
                    kind: EventKind::Logout,
                    session: Some(of),
                }
                | Op::EndSession(of) => session == Some(of.name),
                Op::Event { .. } => true,
                Op::Restart(Lost::Outputs(lost)) => {
                    // What was lost with the log is logged again.
                    let mut entries = lost.iter().filter_map(Output::entry);
                    session.is_some() || entries.any(|it| it.token == token.logged)
                }
                Op::Configure(it) => it.adapter == token.call.adapter,
                Op::Introspect { token: shown, .. } => *shown == Shown::Token(token.id),
                Op::Call(_) | Op::Tick | Op::Restart(_) => false,
            };
            let is_revoked = revoked(token.logged);
            is_foreign |= is_revoked && !concerns
                || is_revoked
                    && token.is_revoked
                    && !matches!(call.op, Op::Introspect { .. } | Op::Restart(_));
            token.is_revoked |= is_revoked;
            let ends = matches!(&call.op, Op::EndSession(of) if session == Some(of.name));
            token.has_ended |= ends && !is_refused;
            let is_restart = matches!(call.op, Op::Restart(Lost::Outputs(_)));
            token.may_be_over |= is_restart || matches!(call.op, Op::Event { .. }) && concerns;
        }
        self.check(Guarantee::RevokesOthers, !is_foreign);
    }
}

/// Whether that is what the call asks for. What is not named is not wrong.
fn is_called(it: &Performed, call: &Request) -> bool {
    let session = call.session.map(|it| it.name);
    it.operation == call.operation.name
        && it.parameters == call.parameters.meaning
        && it.adapter.is_none_or(|it| it == call.adapter.name)
        && (it.session.is_none() || it.session == session)
}

impl Output {
    fn run(&self) -> Option<Performed> {
        if let Self::Perform(it) = self {
            Some(*it)
        } else {
            None
        }
    }
    fn answer(&self) -> Option<Answer> {
        if let Self::Respond(it) = self {
            Some(*it)
        } else {
            None
        }
    }
    fn entry(&self) -> Option<Entry> {
        if let Self::Audit(it) = self {
            Some(*it)
        } else {
            None
        }
    }
}
