//! The judge of confirmation tokens: short runs written by hand, each that conforms beside the same with one thing wrong.

use std::collections::{BTreeMap, BTreeSet};

use countersign_model::judge::{Finding, Judge, Kind};
use countersign_model::mcp_aql::judge::limits::{Limit, Limits};
use countersign_model::mcp_aql::judge::words::{
    Answer, Call, Code, Configuration, Entry, EventKind, Failure, INTROSPECT, Issued, Level,
    LogEvent, Oracle, Output, Parameter, Parameters, Performed, Purpose, Query, Readable, Request,
    Weight,
};
use countersign_model::mcp_aql::judge::{Deviations, Leeway, TokenJudge};
use countersign_model::mcp_aql::readings::{
    CheckOrder, EndedSession, MultiUse, PurgeCode, RatingAtRedemption, Reading, RestartedSession,
    TokenStorage,
};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// A party's run before the judge.
struct Run {
    judge: TokenJudge,
    shows_log: bool,
    now: i64,
    lives: BTreeMap<u32, i64>,
}

impl Run {
    fn read(reading: Reading) -> Self {
        Self {
            judge: TokenJudge::new(reading, true),
            shows_log: true,
            now: 1_000_000,
            lives: BTreeMap::new(),
        }
    }

    fn new() -> Self {
        Self::read(Reading::SPECIFICATION)
    }

    fn without_log() -> Self {
        Self {
            judge: TokenJudge::new(Reading::SPECIFICATION, false),
            shows_log: false,
            ..Self::new()
        }
    }

    fn see(&mut self, call: &Call, outputs: &[Output]) -> Vec<Finding> {
        let mut outputs = outputs.to_vec();
        if !self.shows_log {
            outputs.retain(|output| !matches!(output, Output::Log(_)));
        }
        self.judge.see(self.now, call, &outputs)
    }

    /// What is found is exactly this, by clause.
    #[track_caller]
    fn finds(&mut self, call: &Call, outputs: &[Output], clauses: &[&str]) {
        let found = self.see(call, outputs);
        let names: Vec<_> = found.iter().map(|finding| finding.clause).collect();
        assert_eq!(names, clauses, "{found:#?}");
    }

    #[track_caller]
    fn conforms(&mut self, call: &Call, outputs: &[Output]) {
        self.finds(call, outputs, &[]);
    }

    /// A call that is answered with a token for its default lifetime.
    #[track_caller]
    fn issue(&mut self, request: &Request, token: u32) {
        let (call, outputs) = self.issuing(request, token);
        self.conforms(&call, &outputs);
    }

    fn issuing(&mut self, request: &Request, token: u32) -> (Call, Vec<Output>) {
        let issued = issued(request, token, self.now);
        self.lives.insert(token, issued.expires_at.unwrap());
        let outputs = vec![
            Output::Respond(Answer::Issued(issued)),
            self.log(LogEvent::Issued, true, request, token),
        ];
        (Call::Operation(request.clone()), outputs)
    }

    fn log(&self, event: LogEvent, success: bool, request: &Request, token: u32) -> Output {
        Output::Log(Entry {
            at: Some(self.now),
            event,
            success,
            token: Some(token + 1000),
            operation: Some(request.operation),
            adapter: Some(request.adapter),
            session: request.session,
            reason: None,
        })
    }

    fn revoked(&self, token: u32, success: bool) -> Output {
        Output::Log(Entry {
            at: Some(self.now),
            event: LogEvent::Revoked,
            success,
            token: Some(token + 1000),
            operation: Some(INTROSPECT),
            adapter: Some(1),
            session: None,
            reason: None,
        })
    }

    /// What comes out where a token is taken.
    fn taken(&self, request: &Request, token: u32) -> Vec<Output> {
        vec![
            self.log(LogEvent::Validated, true, request, token),
            Output::Perform(performed(request)),
        ]
    }

    /// What comes out where it is refused.
    fn refused(&self, request: &Request, token: u32, code: Code) -> Vec<Output> {
        vec![
            self.log(LogEvent::Rejected, false, request, token),
            Output::Respond(Answer::Failed(failure(code))),
        ]
    }

    #[track_caller]
    fn takes(&mut self, request: &Request, token: u32, clauses: &[&str]) {
        let outputs = self.taken(request, token);
        self.finds(&with(request, token), &outputs, clauses);
    }

    #[track_caller]
    fn refuses(&mut self, request: &Request, token: u32, code: Code, clauses: &[&str]) {
        let outputs = self.refused(request, token, code);
        self.finds(&with(request, token), &outputs, clauses);
    }
}

/// A destructive operation with a resource, a timestamp and a colour.
fn request() -> Request {
    Request {
        adapter: 1,
        operation: 1,
        parameters: Some(parameters(1, 1, 1)),
        level: Level::Destructive,
        purpose: Purpose::Confirmation,
        session: None,
        session_scope: None,
        max_uses: 1,
        ttl_seconds: None,
        token: None,
    }
}

fn parameters(resource: u32, timestamp: u32, colour: u32) -> Parameters {
    let each = [
        (1, resource, Weight::Impact),
        (2, timestamp, Weight::Unsaid),
        (3, colour, Weight::Unsaid),
    ];
    let each = each.map(|(name, value, weight)| (name, Parameter { value, weight }));
    Parameters {
        whole: resource * 100 + timestamp * 10 + colour,
        each: BTreeMap::from(each),
        text: 0,
    }
}

fn in_session(session: u32, max_uses: i64) -> Request {
    Request {
        session: Some(session),
        max_uses,
        ..request()
    }
}

fn rated(level: Level) -> Request {
    Request { level, ..request() }
}

fn quota() -> Request {
    Request {
        purpose: Purpose::Quota,
        level: Level::Safe,
        ..request()
    }
}

fn with(request: &Request, token: u32) -> Call {
    Call::Operation(Request {
        token: Some(token),
        ..request.clone()
    })
}

fn issued(request: &Request, token: u32, now: i64) -> Issued {
    let default = match (request.purpose, request.level) {
        (Purpose::Confirmation, Level::Forbidden) => 120,
        _ => 300,
    };
    Issued {
        token: Some(token),
        prefix: Some(request.purpose),
        identifier_length: 43,
        length: 48,
        url_safe: true,
        reads: None,
        expires_at: Some(now + 1000 * request.ttl_seconds.unwrap_or(default)),
        operation: Some(request.operation),
        level: Some(request.level),
        reasons: true,
        message: true,
    }
}

fn performed(request: &Request) -> Performed {
    Performed {
        operation: request.operation,
        parameters: request.parameters.as_ref().map_or(0, |it| it.whole),
        adapter: Some(request.adapter),
        session: request.session,
    }
}

fn failure(code: Code) -> Failure {
    Failure {
        code: Some(code),
        whole: true,
        shape: code as u32,
        expired_at: None,
        current_time: None,
        exposes_parameters: false,
    }
}

fn configuration() -> Configuration {
    Configuration {
        adapter: 1,
        tolerance_seconds: None,
        oracle: None,
        critical: None,
    }
}

fn tolerance(seconds: i64) -> Call {
    Call::Configure(Configuration {
        tolerance_seconds: Some(seconds),
        ..configuration()
    })
}

fn critical(operation: u32, names: &[u32]) -> Call {
    let names = names.iter().copied().collect::<BTreeSet<_>>();
    Call::Configure(Configuration {
        critical: Some(BTreeMap::from([(operation, names)])),
        ..configuration()
    })
}

fn uniform() -> Call {
    Call::Configure(Configuration {
        oracle: Some(Oracle::Uniform),
        ..configuration()
    })
}

fn revoke(token: u32) -> Call {
    Call::Introspect {
        adapter: 1,
        query: Query::Revoke,
        token,
    }
}

fn status(token: u32) -> Call {
    Call::Introspect {
        adapter: 1,
        query: Query::Status,
        token,
    }
}

fn end(session: u32) -> Call {
    Call::EndSession { session }
}

// Sections 1 to 3.

#[test]
fn what_is_not_gated_runs_at_once_aql_1_3_1() {
    for level in [Level::Safe, Level::Reversible] {
        let mut run = Run::new();
        let request = rated(level);
        let call = Call::Operation(request.clone());
        let runs = Output::Perform(performed(&request));
        run.conforms(&call, std::slice::from_ref(&runs));
        run.finds(&call, &[], &["AQL-1.3-1"]);
        run.finds(&call, &[runs.clone(), runs], &["AQL-1.3-2"]);
        let (_, token) = run.issuing(&request, 1);
        run.finds(&call, &token, &["AQL-1.3-1"]);
        run.finds(&call, &[Output::Refused], &["AQL-1.3-1"]);
    }
}

#[test]
fn what_is_gated_is_answered_with_a_token_aql_1_3_1() {
    let gated = [
        rated(Level::Destructive),
        rated(Level::Dangerous),
        rated(Level::Forbidden),
        quota(),
    ];
    for (request, token) in gated.iter().zip(1..) {
        let mut run = Run::new();
        run.issue(request, token);
        let call = Call::Operation(request.clone());
        let runs = Output::Perform(performed(request));
        run.finds(&call, &[runs], &["AQL-1.3-1"]);
        run.finds(&call, &[], &["AQL-1.3-1"]);
        let refusal = Output::Respond(Answer::Failed(failure(Code::Invalid)));
        run.finds(&call, &[refusal], &["AQL-1.3-1"]);
        run.finds(&call, &[Output::Refused], &["AQL-1.3-1"]);
    }
}

#[test]
fn nothing_that_nobody_confirmed_runs_whatever_the_reading_aql_1_3_1() {
    let runs = Output::Perform(performed(&request()));
    let found = Run::new().see(&Call::Operation(request()), &[runs]);
    assert_eq!(found[0].kind, Kind::Guarantee);
}

#[test]
fn what_runs_is_what_was_called_aql_1_2_3() {
    let right = performed(&request());
    let wrong = [
        Performed {
            operation: 2,
            ..right
        },
        Performed {
            parameters: 2,
            ..right
        },
        Performed {
            adapter: Some(2),
            ..right
        },
        Performed {
            session: Some(2),
            ..right
        },
    ];
    for performed in wrong {
        let mut run = Run::new();
        run.issue(&request(), 1);
        let outputs = [
            run.log(LogEvent::Validated, true, &request(), 1),
            Output::Perform(performed),
        ];
        run.finds(&with(&request(), 1), &outputs, &["AQL-1.2-3"]);
    }
}

#[test]
fn a_token_looks_as_section_2_says() {
    type Change = fn(&mut Issued);
    let cases: [(Change, &[&str]); 16] = [
        (|_| {}, &[]),
        (|it| it.prefix = Some(Purpose::Quota), &["AQL-2.1-1"]),
        (|it| it.prefix = None, &["AQL-2.1-1"]),
        (|it| it.identifier_length = 63, &[]),
        (|it| it.identifier_length = 64, &[]),
        (|it| it.identifier_length = 65, &["AQL-2.2-1"]),
        (|it| it.url_safe = false, &["AQL-2.2-1"]),
        (|it| it.length = 79, &[]),
        (|it| it.length = 80, &[]),
        (|it| it.length = 81, &["AQL-2.2-2"]),
        (|it| it.length = 8, &[]),
        (|it| it.length = 7, &["AQL-2.2-2"]),
        (|it| it.identifier_length = 23, &[]),
        (|it| it.identifier_length = 22, &[]),
        (|it| it.identifier_length = 21, &["AQL-3.1-1"]),
        (|it| it.expires_at = None, &["AQL-1.2-2"]),
    ];
    for (change, clauses) in cases {
        let mut run = Run::new();
        let mut issued = issued(&request(), 1, run.now);
        change(&mut issued);
        let outputs = [
            Output::Respond(Answer::Issued(issued)),
            run.log(LogEvent::Issued, true, &request(), 1),
        ];
        run.finds(&Call::Operation(request()), &outputs, clauses);
    }
}

#[test]
fn a_token_tells_nothing_of_the_inside_unless_it_is_signed_aql_6_3_3() {
    let kept = Reading::SPECIFICATION;
    let signed = Reading {
        token_storage: TokenStorage::Signed,
        ..kept
    };
    let told: &[_] = &["AQL-6.3-3"];
    for (reading, reads, clauses) in [
        (kept, None, &[][..]),
        (kept, Some(Readable::Name), told),
        (kept, Some(Readable::Value), told),
        (signed, None, &[]),
        (signed, Some(Readable::Name), &[]),
        (signed, Some(Readable::Value), told),
    ] {
        let mut run = Run::read(reading);
        let issued = Issued {
            reads,
            ..issued(&request(), 1, run.now)
        };
        let outputs = [
            Output::Respond(Answer::Issued(issued)),
            run.log(LogEvent::Issued, true, &request(), 1),
        ];
        run.finds(&Call::Operation(request()), &outputs, clauses);
    }
}

#[test]
fn a_token_is_issued_once_aql_3_1_1() {
    let mut run = Run::new();
    run.issue(&request(), 1);
    run.issue(&request(), 2);
    let (call, outputs) = run.issuing(&request(), 1);
    run.finds(&call, &outputs, &["AQL-3.1-1"]);
}

#[test]
fn the_answer_says_what_is_asked_aql_3_3_1() {
    type Change = fn(&mut Issued);
    let changes: [Change; 4] = [
        |it| it.operation = Some(2),
        |it| it.level = Some(Level::Dangerous),
        |it| it.reasons = false,
        |it| it.message = false,
    ];
    for change in changes {
        let mut run = Run::new();
        let mut issued = issued(&request(), 1, run.now);
        change(&mut issued);
        let outputs = [
            Output::Respond(Answer::Issued(issued)),
            run.log(LogEvent::Issued, true, &request(), 1),
        ];
        run.finds(&Call::Operation(request()), &outputs, &["AQL-3.3-1"]);
    }
    let mut run = Run::new();
    let mut of_quota = issued(&quota(), 1, run.now);
    (of_quota.operation, of_quota.reasons) = (None, false);
    let outputs = [
        Output::Respond(Answer::Issued(of_quota)),
        run.log(LogEvent::Issued, true, &quota(), 1),
    ];
    run.conforms(&Call::Operation(quota()), &outputs);
}

#[test]
fn a_token_needs_parameters_that_have_one_meaning_aql_3_2_1() {
    let mut run = Run::new();
    let unreadable = Request {
        parameters: None,
        ..request()
    };
    let call = Call::Operation(unreadable.clone());
    run.conforms(&call, &[Output::Respond(Answer::Unreadable)]);
    run.conforms(&call, &[Output::Refused]);
    let (call, outputs) = run.issuing(&unreadable, 1);
    run.finds(&call, &outputs, &["AQL-3.2-1"]);
    let unread = [Output::Respond(Answer::Unreadable)];
    let mut not_issued = unread.to_vec();
    not_issued.push(run.log(LogEvent::Issued, false, &unreadable, 1));
    run.conforms(&Call::Operation(unreadable), &not_issued);
    run.finds(&Call::Operation(request()), &unread, &["AQL-3.2-1"]);
}

// Section 5.1: how long.

#[test]
fn a_token_lives_as_long_as_its_context_says_aql_5_1_1() {
    let contexts = [
        (rated(Level::Destructive), 300),
        (rated(Level::Dangerous), 300),
        (rated(Level::Forbidden), 120),
        (quota(), 300),
    ];
    for (request, seconds) in contexts {
        for (wrong, clauses) in [(-1, &["AQL-5.1-1"][..]), (0, &[]), (1, &["AQL-5.1-1"])] {
            let mut run = Run::new();
            let mut issued = issued(&request, 1, run.now);
            issued.expires_at = Some(run.now + 1000 * seconds + wrong);
            let outputs = [
                Output::Respond(Answer::Issued(issued)),
                run.log(LogEvent::Issued, true, &request, 1),
            ];
            run.finds(&Call::Operation(request.clone()), &outputs, clauses);
        }
    }
}

#[test]
fn a_longer_life_than_the_longest_is_refused_aql_5_1_1() {
    let contexts = [
        (rated(Level::Destructive), 900),
        (rated(Level::Dangerous), 900),
        (rated(Level::Forbidden), 300),
        (quota(), 600),
    ];
    for (request, longest) in contexts {
        for (asked, allowed) in [
            (longest - 1, true),
            (longest, true),
            (longest + 1, false),
            (1, true),
            (0, false),
        ] {
            let mut run = Run::new();
            let request = Request {
                ttl_seconds: Some(asked),
                ..request.clone()
            };
            let (call, outputs) = run.issuing(&request, 1);
            let (issue, refusal): (&[&str], &[&str]) = if allowed {
                (&[], &["AQL-1.3-1"])
            } else {
                (&["AQL-5.1-1"], &[])
            };
            run.finds(&call, &outputs, issue);
            run.finds(&call, &[Output::Refused], refusal);
        }
    }
}

#[test]
fn a_token_is_taken_until_its_expiry_and_the_tolerance_are_over_aql_5_1_7() {
    for seconds in [0, 5, 30, 60, 300] {
        for (late, over) in [(-1, false), (0, false), (1, true)] {
            let at_the_limit = || {
                let mut run = Run::new();
                let warning = Some(Output::Warn).filter(|_| seconds > 60);
                run.conforms(&tolerance(seconds), warning.as_slice());
                run.issue(&request(), 1);
                run.now = run.lives[&1] + 1000 * seconds + late;
                run
            };
            let (taken, refused): (&[&str], &[&str]) = if over {
                (&["AQL-4.1-2"], &[])
            } else {
                (&[], &["AQL-5.1-7"])
            };
            at_the_limit().takes(&request(), 1, taken);
            at_the_limit().refuses(&request(), 1, Code::Expired, refused);
        }
    }
}

#[test]
fn the_tolerance_is_30_seconds_unless_set_and_that_of_the_issue_aql_5_1_5() {
    for (late, over) in [(29_999, false), (30_000, false), (30_001, true)] {
        let mut run = Run::new();
        run.issue(&request(), 1);
        run.conforms(&tolerance(0), &[]);
        run.now = run.lives[&1] + late;
        run.takes(&request(), 1, if over { &["AQL-4.1-2"] } else { &[] });
    }
}

#[test]
fn a_tolerance_is_from_0_to_300_seconds_and_warned_about_above_60_aql_5_1_5_aql_5_1_6() {
    for (seconds, allowed) in [
        (-1, false),
        (0, true),
        (1, true),
        (299, true),
        (300, true),
        (301, false),
    ] {
        let mut run = Run::new();
        let (taken, refused): (&[&str], &[&str]) = if allowed {
            (&[], &["AQL-5.1-5"])
        } else {
            (&["AQL-5.1-5"], &[])
        };
        run.finds(&tolerance(seconds), &[Output::Refused], refused);
        run.finds(&tolerance(seconds), &[Output::Warn], taken);
    }
    for (seconds, warned) in [(59, false), (60, false), (61, true)] {
        let clauses: &[&str] = if warned { &["AQL-5.1-6"] } else { &[] };
        Run::new().finds(&tolerance(seconds), &[], clauses);
        Run::new().conforms(&tolerance(seconds), &[Output::Warn]);
    }
}

#[test]
fn a_clock_that_steps_back_leaves_open_whether_a_token_has_expired_aql_4_1_2() {
    let stepped_back = || {
        let mut run = Run::new();
        run.issue(&request(), 1);
        run.now += HOUR;
        run.conforms(&Call::Tick, &[]);
        run.now -= HOUR;
        run
    };
    stepped_back().takes(&request(), 1, &[]);
    stepped_back().refuses(&request(), 1, Code::Expired, &[]);
    stepped_back().refuses(&request(), 1, Code::AlreadyUsed, &["AQL-7.1-2"]);
}

/// "Under any circumstances": the party that has called a token expired takes it no more, whatever its clock says then.
#[test]
fn what_was_called_expired_stays_so_though_a_clock_steps_back_aql_5_1_3() {
    type Says = fn(&Run) -> (Call, Vec<Output>);
    let refuses: Says = |run| {
        let outputs = run.refused(&request(), 1, Code::Expired);
        (with(&request(), 1), outputs)
    };
    let tells: Says = |run| {
        let shape = 0;
        let answer = Output::Respond(Answer::Status {
            valid: false,
            shape,
        });
        let logged = run.log(LogEvent::Rejected, false, &request(), 1);
        (status(1), vec![answer, logged])
    };
    for says in [refuses, tells] {
        for (late, over) in [(-1, false), (0, false), (1, true)] {
            let stepped_back = || {
                let mut run = scene(&request());
                run.now = run.lives[&1] + 30_000 + late;
                let (call, outputs) = says(&run);
                let found = run.see(&call, &outputs);
                assert_eq!(found.is_empty(), over, "{found:#?}");
                run.now -= MINUTE;
                run
            };
            if over {
                stepped_back().takes(&request(), 1, &["AQL-4.1-2"]);
                stepped_back().refuses(&request(), 1, Code::Expired, &[]);
            }
        }
    }
}

/// What is no reading of the text and yet a gatekeeper's to choose, each beside a judge of one that has not.
#[test]
fn what_a_gatekeeper_may_choose_is_let_pass_aql_5_1() {
    let of = |leeway: Leeway| {
        let mut run = Run::new();
        run.judge = run.judge.clone().of_one_that(leeway);
        run
    };
    let usual = Leeway::default();
    let current = Leeway {
        takes_the_current_time: true,
        ..usual
    };
    for (leeway, clauses) in [(usual, &["AQL-4.1-2"] as &[_]), (current, &[])] {
        let mut run = of(leeway);
        run.issue(&request(), 1);
        run.now = run.lives[&1] + 30_001;
        run.refuses(&request(), 1, Code::Expired, &[]);
        run.now -= MINUTE;
        run.takes(&request(), 1, clauses);
    }
    let none = Leeway {
        has_no_tolerance: true,
        ..usual
    };
    for (leeway, clauses) in [(usual, &["AQL-5.1-7"] as &[_]), (none, &[])] {
        let mut run = of(leeway);
        run.issue(&request(), 1);
        run.now = run.lives[&1] + 1;
        run.refuses(&request(), 1, Code::Expired, clauses);
    }
    let short = Leeway {
        has_short_lives: true,
        ..usual
    };
    for (leeway, clauses) in [(usual, &["AQL-1.3-1"] as &[_]), (short, &[])] {
        let longer = Request {
            ttl_seconds: Some(301),
            ..request()
        };
        of(leeway).finds(&Call::Operation(longer), &[Output::Refused], clauses);
    }
}

/// As where the quotient of a model stands beside the judge.
#[test]
fn of_an_expired_token_the_judge_may_forget_all_but_that_it_is_over_aql_5_1_3() {
    let (mut run, request) = expired();
    run.conforms(&Call::Tick, &[]);
    run.judge.forget_what_is_over();
    run.now -= HOUR;
    run.takes(&request, 1, &["AQL-4.1-2"]);
}

// Section 4: the checks.

/// A run in which token 1 was issued, and a call that it is not good for.
type Scene = fn() -> (Run, Request);

const ALL_CODES: [Code; 4] = [
    Code::Invalid,
    Code::Expired,
    Code::AlreadyUsed,
    Code::ScopeMismatch,
];

/// What is wrong, the clause, and the codes that may be given.
const FAULTS: [(Scene, &str, &[Code]); 11] = [
    (unknown, "AQL-4.1-1", &[Code::Invalid]),
    (expired, "AQL-4.1-2", &[Code::Expired, Code::Invalid]),
    (used, "AQL-4.1-3", &[Code::AlreadyUsed]),
    (other_operation, "AQL-4.1-4", &[Code::ScopeMismatch]),
    (other_parameters, "AQL-4.1-5", &[Code::ScopeMismatch]),
    (other_adapter, "AQL-4.1-6", &[Code::ScopeMismatch]),
    (
        other_purpose,
        "AQL-2.1-1",
        &[Code::Invalid, Code::ScopeMismatch],
    ),
    (rated_higher, "AQL-5.1-1", &[Code::ScopeMismatch]),
    (revoked, "AQL-5.3-1", &[Code::Invalid]),
    (
        other_session,
        "AQL-5.4-1",
        &[Code::Invalid, Code::ScopeMismatch],
    ),
    (ended, "AQL-5.4-2", &[Code::Invalid, Code::ScopeMismatch]),
];

fn scene(request: &Request) -> Run {
    let mut run = Run::new();
    run.issue(request, 1);
    run
}

fn unknown() -> (Run, Request) {
    (Run::new(), request())
}

fn expired() -> (Run, Request) {
    let mut run = scene(&request());
    run.now += HOUR;
    (run, request())
}

fn used() -> (Run, Request) {
    let mut run = scene(&request());
    run.takes(&request(), 1, &[]);
    (run, request())
}

fn other_operation() -> (Run, Request) {
    (
        scene(&request()),
        Request {
            operation: 2,
            ..request()
        },
    )
}

fn other_parameters() -> (Run, Request) {
    let other = Some(parameters(2, 1, 1));
    (
        scene(&request()),
        Request {
            parameters: other,
            ..request()
        },
    )
}

fn other_adapter() -> (Run, Request) {
    (
        scene(&request()),
        Request {
            adapter: 2,
            ..request()
        },
    )
}

fn other_purpose() -> (Run, Request) {
    let safe = rated(Level::Safe);
    (
        scene(&quota()),
        Request {
            level: Level::Destructive,
            ..safe
        },
    )
}

fn rated_higher() -> (Run, Request) {
    (scene(&request()), rated(Level::Forbidden))
}

fn revoked() -> (Run, Request) {
    let mut run = scene(&request());
    let answer = Output::Respond(Answer::Revoked {
        done: true,
        shape: 1,
    });
    let outputs = [answer, run.revoked(1, true)];
    run.conforms(&revoke(1), &outputs);
    (run, request())
}

fn other_session() -> (Run, Request) {
    (scene(&in_session(1, 2)), in_session(2, 2))
}

fn ended() -> (Run, Request) {
    let mut run = scene(&in_session(1, 2));
    let outputs = [run.revoked(1, true)];
    run.conforms(&end(1), &outputs);
    (run, in_session(1, 2))
}

#[test]
fn a_token_that_fails_a_check_is_refused_with_its_code_aql_4_1() {
    for (scene, clause, codes) in FAULTS {
        for code in ALL_CODES {
            let (mut run, request) = scene();
            let right = codes.contains(&code);
            run.refuses(
                &request,
                1,
                code,
                if right {
                    &[]
                } else {
                    std::slice::from_ref(&clause)
                },
            );
        }
    }
}

#[test]
fn nothing_runs_on_a_token_that_fails_a_check_aql_7_1_1() {
    for (scene, clause, _) in FAULTS {
        let (mut run, request) = scene();
        run.takes(&request, 1, &[clause]);
    }
}

#[test]
fn a_token_that_fails_a_check_is_answered_aql_7_1_2() {
    for (scene, ..) in FAULTS {
        let (mut run, request) = scene();
        run.finds(&with(&request, 1), &[], &["AQL-4.2-1"]);
    }
    scene(&request()).finds(&with(&request(), 1), &[], &["AQL-1.3-2"]);
}

/// What nobody asked about is not told, and what is refused or turned away is not done.
#[test]
fn a_call_has_one_answer_aql_7_1_2() {
    let revoked = Answer::Revoked {
        done: true,
        shape: 0,
    };
    let status = Answer::Status {
        valid: true,
        shape: 0,
    };
    let strays = [
        (Output::Respond(revoked), "AQL-5.3-3"),
        (Output::Respond(status), "AQL-7.3-1"),
        (Output::Respond(Answer::Unreadable), "AQL-7.1-2"),
        (Output::Respond(Answer::Limited), "AQL-7.1-2"),
        (Output::Respond(Answer::Full), "AQL-7.1-2"),
        (Output::Refused, "AQL-7.1-2"),
    ];
    for (stray, clause) in strays {
        let and_stray = |mut outputs: Vec<_>| {
            outputs.push(stray.clone());
            outputs
        };
        let mut run = scene(&request());
        let outputs = and_stray(run.taken(&request(), 1));
        run.finds(&with(&request(), 1), &outputs, &[clause]);
        run.finds(&Call::Tick, &and_stray(Vec::new()), &[clause]);
        let restart = Call::Restart { lost: 0 };
        run.finds(&restart, &and_stray(Vec::new()), &[clause]);
    }
}

#[test]
fn a_good_token_is_taken_aql_4_1() {
    let codes = [
        (Code::Invalid, "AQL-4.1-1"),
        (Code::Expired, "AQL-5.1-7"),
        (Code::AlreadyUsed, "AQL-4.1-3"),
        (Code::ScopeMismatch, "AQL-3.2-1"),
    ];
    for (code, clause) in codes {
        scene(&request()).refuses(&request(), 1, code, &[clause]);
    }
    scene(&request()).finds(&with(&request(), 1), &[Output::Refused], &["AQL-1.3-1"]);
    // A token is bound to what the parameters mean, and not to how they are written.
    let mut written = request();
    written.parameters.as_mut().expect("it has some").text = 1;
    scene(&request()).refuses(&written, 1, Code::ScopeMismatch, &["AQL-3.2-3"]);
}

#[test]
fn a_fault_is_found_once_and_the_account_follows_aql_4_1_1() {
    let mut run = scene(&request());
    run.refuses(&request(), 1, Code::Invalid, &["AQL-4.1-1"]);
    run.refuses(&request(), 1, Code::Invalid, &[]);
    let mut run = scene(&request());
    run.refuses(&request(), 1, Code::Expired, &["AQL-5.1-7"]);
    run.refuses(&request(), 1, Code::Expired, &[]);
}

#[test]
fn of_two_faults_the_table_or_the_sample_says_which_comes_first_aql_4_1_aql_4_3_1() {
    let other = Request {
        operation: 2,
        ..request()
    };
    let two = |order, late: i64| {
        let mut run = Run::read(Reading {
            check_order: order,
            purge_code: PurgeCode::Remembered,
            ..Reading::SPECIFICATION
        });
        run.issue(&request(), 1);
        run.takes(&request(), 1, &[]);
        run.now += late;
        run
    };
    two(CheckOrder::Table, 0).refuses(&other, 1, Code::AlreadyUsed, &[]);
    two(CheckOrder::Table, 0).refuses(&other, 1, Code::ScopeMismatch, &["AQL-4.1-3"]);
    two(CheckOrder::Sample, 0).refuses(&other, 1, Code::ScopeMismatch, &[]);
    two(CheckOrder::Sample, 0).refuses(&other, 1, Code::AlreadyUsed, &["AQL-4.1-4"]);
    two(CheckOrder::Table, HOUR).refuses(&request(), 1, Code::Expired, &[]);
    two(CheckOrder::Table, HOUR).refuses(&request(), 1, Code::AlreadyUsed, &["AQL-4.1-2"]);
    two(CheckOrder::Sample, HOUR).refuses(&other, 1, Code::Expired, &["AQL-4.1-4"]);
}

#[test]
fn what_names_no_resource_may_count_or_not_aql_3_2_4() {
    let other_colour = Request {
        parameters: Some(parameters(1, 1, 2)),
        ..request()
    };
    scene(&request()).takes(&other_colour, 1, &[]);
    scene(&request()).refuses(&other_colour, 1, Code::ScopeMismatch, &[]);
    scene(&request()).refuses(&other_colour, 1, Code::Expired, &["AQL-7.1-2"]);
}

#[test]
fn the_operator_says_what_counts_aql_3_2_4() {
    let listed = || {
        let mut run = Run::new();
        run.conforms(&critical(1, &[3]), &[]);
        run.issue(&request(), 1);
        run
    };
    let other_colour = Request {
        parameters: Some(parameters(1, 1, 2)),
        ..request()
    };
    let other_resource = Request {
        parameters: Some(parameters(2, 1, 1)),
        ..request()
    };
    listed().takes(&other_colour, 1, &["AQL-4.1-5"]);
    listed().refuses(&other_colour, 1, Code::ScopeMismatch, &[]);
    listed().takes(&other_resource, 1, &[]);
    listed().refuses(&other_resource, 1, Code::ScopeMismatch, &["AQL-3.2-4"]);
}

#[test]
fn a_list_that_names_nothing_is_refused_or_binds_what_the_text_says_aql_3_2_1() {
    Run::new().conforms(&critical(1, &[]), &[Output::Refused]);
    Run::new().finds(&critical(1, &[1]), &[Output::Refused], &["AQL-5.1-5"]);
    let mut run = Run::new();
    run.conforms(&critical(1, &[]), &[]);
    run.issue(&request(), 1);
    let other_resource = Request {
        parameters: Some(parameters(2, 1, 1)),
        ..request()
    };
    run.takes(&other_resource, 1, &["AQL-4.1-5"]);
}

#[test]
fn a_list_that_names_nothing_of_the_call_leaves_all_of_it_bound_aql_3_2_1() {
    const ABSENT: u32 = 9;
    let listed = |names: &[u32], request: &Request| {
        let mut run = Run::new();
        run.conforms(&critical(1, names), &[]);
        run.issue(request, 1);
        run
    };
    let with_parameters = |parameters| Request {
        parameters: Some(parameters),
        ..request()
    };
    let absent = || listed(&[ABSENT], &request());
    absent().takes(&request(), 1, &[]);
    absent().refuses(&request(), 1, Code::ScopeMismatch, &["AQL-3.2-1"]);
    let other_resource = with_parameters(parameters(2, 1, 1));
    absent().takes(&other_resource, 1, &["AQL-3.2-1"]);
    absent().refuses(&other_resource, 1, Code::ScopeMismatch, &[]);
    absent().refuses(&other_resource, 1, Code::Expired, &["AQL-3.2-1"]);
    // As without a list, what names no resource may count or not.
    let other_colour = with_parameters(parameters(1, 1, 2));
    is_open(absent, &other_colour, &[Code::ScopeMismatch]);
    // What the list names counts where it turns up, whatever it is.
    let mut named = parameters(1, 1, 1);
    let parameter = Parameter {
        value: 1,
        weight: Weight::Unsaid,
    };
    named.each.insert(ABSENT, parameter);
    let named = with_parameters(named);
    absent().takes(&named, 1, &["AQL-3.2-1"]);
    listed(&[ABSENT], &named).takes(&request(), 1, &["AQL-4.1-5"]);
    // A list that names one parameter of the call binds that one.
    let mut one = listed(&[ABSENT, 3], &request());
    one.takes(&other_resource, 1, &[]);
    // A call without parameters is one that a list names nothing of.
    let none = with_parameters(Parameters::default());
    listed(&[1], &none).takes(&none, 1, &[]);
    listed(&[3], &none).takes(&request(), 1, &["AQL-3.2-1"]);
}

#[test]
fn a_list_that_was_left_out_and_names_nothing_of_the_call_binds_it_as_the_text_says_aql_3_2_1() {
    let left_out = || {
        let mut run = Run::new();
        run.conforms(&critical(1, &[9]), &[]);
        run.conforms(&critical(2, &[1]), &[]);
        run.issue(&request(), 1);
        run
    };
    let other = |parameters| Request {
        parameters: Some(parameters),
        ..request()
    };
    left_out().takes(&other(parameters(2, 1, 1)), 1, &["AQL-3.2-1"]);
    is_open(
        left_out,
        &other(parameters(1, 2, 1)),
        &[Code::ScopeMismatch],
    );
}

#[test]
fn a_quota_token_confirms_nothing_aql_2_1_1() {
    let both = Request {
        level: Level::Forbidden,
        ..quota()
    };
    let mut run = Run::new();
    run.issue(&both, 1);
    run.takes(&both, 1, &["AQL-2.1-1"]);
    // It goes on with what a confirmation has allowed.
    let mut run = Run::new();
    run.issue(&rated(Level::Forbidden), 1);
    run.takes(&rated(Level::Forbidden), 1, &[]);
    run.issue(&both, 2);
    run.takes(&both, 2, &[]);
}

/// Rated lower, alike or higher by then: by the other reading nothing is asked of it, so that no refusal stands on it.
#[test]
fn a_rating_counts_at_redemption_as_the_reading_says_aql_5_1_1() {
    let reading = Reading {
        rating_at_redemption: RatingAtRedemption::NotChecked,
        ..Reading::SPECIFICATION
    };
    for (level, clauses) in [
        (Level::Destructive, &[][..]),
        (Level::Dangerous, &[]),
        (Level::Forbidden, &["AQL-5.1-1"]),
    ] {
        let scene = |reading| {
            let mut run = Run::read(reading);
            run.issue(&rated(Level::Dangerous), 1);
            run
        };
        scene(Reading::SPECIFICATION).takes(&rated(level), 1, clauses);
        scene(reading).takes(&rated(level), 1, &[]);
        let mut run = scene(reading);
        let refused = run.refused(&rated(level), 1, Code::ScopeMismatch);
        assert_ne!(run.see(&with(&rated(level), 1), &refused), []);
    }
}

#[test]
fn a_refusal_is_whole_and_true_and_tells_little_aql_4_2_1_aql_6_3_1() {
    type Change = fn(&mut Failure);
    let cases: [(Change, &[&str]); 6] = [
        (|it| it.whole = false, &["AQL-4.2-1"]),
        (|it| it.exposes_parameters = true, &["AQL-6.3-1"]),
        (|it| it.expired_at = Some(1_300_000), &[]),
        (|it| it.expired_at = Some(1_300_001), &["AQL-4.2-1"]),
        (|it| it.current_time = Some(1_000_000 + HOUR), &[]),
        (
            |it| it.current_time = Some(1_000_001 + HOUR),
            &["AQL-4.2-1"],
        ),
    ];
    for (change, clauses) in cases {
        let (mut run, request) = expired();
        let mut failure = failure(Code::Expired);
        change(&mut failure);
        let outputs = [
            run.log(LogEvent::Rejected, false, &request, 1),
            Output::Respond(Answer::Failed(failure)),
        ];
        run.finds(&with(&request, 1), &outputs, clauses);
    }
}

#[test]
fn what_is_not_found_is_answered_as_what_is_invalid_aql_6_3_2() {
    let (mut run, request) = revoked();
    run.refuses(&request, 1, Code::Invalid, &[]);
    run.refuses(&request, 7, Code::Invalid, &[]);
    let differently = Failure {
        shape: 99,
        ..failure(Code::Invalid)
    };
    let outputs = [
        run.log(LogEvent::Rejected, false, &request, 8),
        Output::Respond(Answer::Failed(differently)),
    ];
    run.finds(&with(&request, 8), &outputs, &["AQL-6.3-2"]);
}

#[test]
fn a_uniform_adapter_answers_every_failure_alike_aql_6_3_2() {
    let mut run = Run::new();
    run.issue(&request(), 1);
    run.conforms(&uniform(), &[]);
    run.refuses(&request(), 7, Code::Invalid, &[]);
    let other = Request {
        operation: 2,
        ..request()
    };
    run.refuses(&other, 1, Code::Invalid, &[]);
    run.takes(&request(), 1, &[]);
    run.refuses(&request(), 1, Code::Invalid, &[]);
    run.refuses(&request(), 1, Code::AlreadyUsed, &["AQL-6.3-2"]);
    // Another adapter has codes.
    let elsewhere = Request {
        adapter: 2,
        ..request()
    };
    run.issue(&elsewhere, 2);
    run.takes(&elsewhere, 2, &[]);
    run.refuses(&elsewhere, 2, Code::Invalid, &["AQL-4.1-3"]);
}

#[test]
fn where_the_client_is_told_nothing_the_log_names_the_clause_aql_4_1_3() {
    for (reason, clause) in [(None, "AQL-7.1-1"), (Some(Code::AlreadyUsed), "AQL-4.1-3")] {
        let mut run = Run::new();
        run.conforms(&uniform(), &[]);
        run.issue(&request(), 1);
        let mut outputs = run.refused(&request(), 1, Code::Invalid);
        if let Output::Log(entry) = &mut outputs[0] {
            entry.reason = reason;
        }
        run.finds(&with(&request(), 1), &outputs, &[clause]);
        run.finds(&with(&request(), 1), &outputs, &[]);
    }
}

// Sections 5.2 to 5.4: uses and sessions.

#[test]
fn a_token_has_as_many_uses_as_it_was_issued_for_aql_5_4_1() {
    for uses in 1..=10 {
        let request = in_session(1, uses);
        let mut run = scene(&request);
        for _ in 1..uses {
            run.takes(&request, 1, &[]);
        }
        let mut early = Run {
            judge: run.judge.clone(),
            lives: BTreeMap::new(),
            ..run
        };
        early.refuses(&request, 1, Code::AlreadyUsed, &["AQL-4.1-3"]);
        run = scene(&request);
        for _ in 0..uses {
            run.takes(&request, 1, &[]);
        }
        run.refuses(&request, 1, Code::AlreadyUsed, &[]);
        run.takes(&request, 1, &["AQL-4.1-3"]);
    }
}

#[test]
fn several_uses_need_a_session_aql_5_4_1() {
    let request = Request {
        max_uses: 2,
        ..request()
    };
    let mut run = Run::new();
    let (call, outputs) = run.issuing(&request, 1);
    run.conforms(&call, &[Output::Refused]);
    run.finds(&call, &outputs, &["AQL-5.4-1"]);
    let mut run = Run::read(Reading {
        multi_use: MultiUse::Anywhere,
        ..Reading::SPECIFICATION
    });
    run.issue(&request, 1);
    run.takes(&request, 1, &[]);
    run.takes(&request, 1, &[]);
    run.refuses(&request, 1, Code::AlreadyUsed, &[]);
}

#[test]
fn a_single_use_belongs_to_no_session_unless_asked_aql_5_4_1() {
    let mut run = scene(&in_session(1, 1));
    run.refuses(&in_session(2, 1), 1, Code::ScopeMismatch, &["AQL-3.2-1"]);
    scene(&in_session(1, 1)).takes(&in_session(2, 1), 1, &[]);
    let scoped = Request {
        session_scope: Some(true),
        ..in_session(1, 1)
    };
    scene(&scoped).takes(&in_session(2, 1), 1, &["AQL-5.4-1"]);
    scene(&scoped).refuses(&in_session(2, 1), 1, Code::ScopeMismatch, &[]);
}

/// Tokens are signed, and what they stand for is not kept.
const SIGNED: Reading = Reading {
    token_storage: TokenStorage::Signed,
    ..Reading::SPECIFICATION
};

/// AQL-6.2-2, AQL-7.3-2: of a signed token that was never used nobody knows; AQL-5.3-2, AQL-6.4-1: one entry stands for all that end
/// together; AQL-5.4-1: none is bound to a session.
#[test]
fn who_signs_knows_no_token_that_was_never_used_aql_7_3_1() {
    let unknown = |run: &Run| {
        let answer = Answer::Status {
            valid: false,
            shape: 0,
        };
        vec![
            run.log(LogEvent::Rejected, false, &request(), 1),
            Output::Respond(answer),
        ]
    };
    let all = |run: &Run| {
        Output::Log(Entry {
            at: Some(run.now),
            event: LogEvent::Revoked,
            success: true,
            token: None,
            operation: Some(999),
            adapter: Some(1),
            session: None,
            reason: None,
        })
    };
    for (reading, status_found, entry_found, refusal_found) in [
        (SIGNED, &[][..], &[][..], &[][..]),
        (
            Reading::SPECIFICATION,
            &["AQL-7.3-1"][..],
            &["AQL-6.4-1"][..],
            &["AQL-1.3-1"][..],
        ),
    ] {
        let mut run = Run::read(reading);
        run.issue(&request(), 1);
        let outputs = unknown(&run);
        run.finds(&status(1), &outputs, status_found);
        let call = Call::Operation(in_session(1, 2));
        run.finds(&call, &[Output::Refused], refusal_found);
        let entry = all(&run);
        run.finds(&critical(7, &[1]), &[entry], entry_found);
    }
    // What may have ended together may be refused, and what was used is known.
    let mut run = Run::read(SIGNED);
    run.issue(&request(), 1);
    let entry = all(&run);
    run.conforms(&critical(7, &[1]), &[entry]);
    run.refuses(&request(), 1, Code::Invalid, &[]);
    run.takes(&request(), 1, &[]);
    let mut run = Run::read(SIGNED);
    run.issue(&request(), 1);
    run.takes(&request(), 1, &[]);
    run.refuses(&request(), 1, Code::Invalid, &["AQL-4.1-3"]);
}

/// The process ends what is connected to it.
const ENDS_WITH_PROCESS: Reading = Reading {
    restarted_session: RestartedSession::Ends,
    ..Reading::SPECIFICATION
};

#[test]
fn a_restart_ends_connections_and_may_lose_tokens_but_not_their_use_aql_5_4_2_aql_5_2_2() {
    let restart = Call::Restart { lost: 1 };
    let mut run = Run::read(ENDS_WITH_PROCESS);
    run.issue(&in_session(1, 2), 1);
    run.conforms(&restart, &[]);
    run.takes(&in_session(1, 2), 1, &["AQL-5.4-2"]);
    let mut run = scene(&request());
    run.conforms(&restart, &[]);
    run.takes(&request(), 1, &[]);
    run.conforms(&restart, &[]);
    run.takes(&request(), 1, &["AQL-4.1-3"]);
    let mut run = scene(&request());
    run.conforms(&restart, &[]);
    run.refuses(&request(), 1, Code::Invalid, &[]);
    let mut run = scene(&request());
    let outputs = run.taken(&request(), 1);
    run.conforms(&with(&request(), 1), &outputs);
    run.finds(&restart, &outputs[1..], &["AQL-1.3-2"]);
    // What was to be logged and is lost may be logged again.
    let mut run = scene(&request());
    let outputs = run.taken(&request(), 1);
    run.conforms(&with(&request(), 1), &outputs);
    run.conforms(&Call::Restart { lost: 2 }, &outputs[..1]);
    run.finds(&Call::Tick, &outputs[..1], &["AQL-6.4-1"]);
}

#[test]
fn the_end_of_a_session_is_logged_of_each_of_its_tokens_aql_5_4_2() {
    let mut run = scene(&in_session(1, 2));
    run.issue(&in_session(1, 3), 2);
    run.issue(&in_session(2, 2), 3);
    run.issue(&in_session(1, 1), 4);
    let both = [run.revoked(1, true), run.revoked(2, true)];
    let mut forgets = Run {
        judge: run.judge.clone(),
        lives: BTreeMap::new(),
        ..run
    };
    forgets.finds(&end(1), &both[..1], &["AQL-6.4-1"]);
    let mut overdoes = scene(&in_session(2, 2));
    let too_many = [overdoes.revoked(1, true)];
    overdoes.finds(&end(1), &too_many, &["AQL-5.3-2"]);
    let mut run = scene(&in_session(1, 2));
    run.issue(&in_session(1, 1), 4);
    // One that is not bound to it may be revoked, too, and then it is.
    let outputs = [run.revoked(1, true), run.revoked(4, true)];
    run.conforms(&end(1), &outputs);
    run.takes(&request(), 4, &["AQL-5.3-1"]);
}

// Sections 5.3 and 7.3: revocation and status.

#[test]
fn events_may_revoke_what_they_are_about_aql_5_3_2() {
    let events = [
        (
            Call::Event {
                kind: EventKind::Security,
                session: None,
            },
            true,
        ),
        (
            Call::Event {
                kind: EventKind::Configuration,
                session: None,
            },
            true,
        ),
        (
            Call::Event {
                kind: EventKind::Logout,
                session: None,
            },
            true,
        ),
        (
            Call::Event {
                kind: EventKind::Logout,
                session: Some(1),
            },
            true,
        ),
        (
            Call::Event {
                kind: EventKind::Logout,
                session: Some(2),
            },
            false,
        ),
        (tolerance(10), true),
        (tolerance(30), false),
        (critical(1, &[1]), true),
        (critical(2, &[1]), false),
        (
            Call::Configure(Configuration {
                adapter: 2,
                tolerance_seconds: Some(10),
                ..configuration()
            }),
            false,
        ),
        (
            Call::Configure(Configuration {
                adapter: 2,
                ..configuration()
            }),
            false,
        ),
    ];
    for (event, about) in events {
        let mut run = scene(&in_session(1, 2));
        run.conforms(&event, &[]);
        run.takes(&in_session(1, 2), 1, &[]);
        let mut run = scene(&in_session(1, 2));
        let outputs = [run.revoked(1, true)];
        run.finds(&event, &outputs, if about { &[] } else { &["AQL-5.3-2"] });
        run.takes(&in_session(1, 2), 1, &["AQL-5.3-1"]);
    }
}

#[test]
fn a_token_is_revoked_once_aql_6_4_1() {
    let event = Call::Event {
        kind: EventKind::Security,
        session: None,
    };
    let mut run = scene(&request());
    let once = [run.revoked(1, true)];
    let twice = [run.revoked(1, true), run.revoked(1, true)];
    run.finds(&event, &twice, &["AQL-6.4-1"]);
    run.finds(&event, &once, &["AQL-6.4-1"]);
    run.conforms(&event, &[]);
}

#[test]
fn an_event_that_is_refused_revokes_nothing_aql_5_3_2() {
    let event = Call::Event {
        kind: EventKind::Security,
        session: None,
    };
    let mut run = scene(&request());
    run.conforms(&event, &[Output::Refused]);
    let revokes = [run.revoked(1, true), Output::Refused];
    run.finds(&event, &revokes, &["AQL-6.4-1"]);
    run.takes(&request(), 1, &[]);
}

#[test]
fn without_a_log_an_event_may_have_revoked_aql_5_3_2() {
    let event = Call::Event {
        kind: EventKind::Security,
        session: None,
    };
    let after_event = || {
        let mut run = Run::without_log();
        run.issue(&request(), 1);
        run.conforms(&event, &[]);
        run
    };
    after_event().takes(&request(), 1, &[]);
    after_event().refuses(&request(), 1, Code::Invalid, &[]);
    after_event().refuses(&request(), 1, Code::Expired, &["AQL-7.1-2"]);
}

#[test]
fn a_token_that_is_alive_can_be_given_back_aql_5_3_3() {
    let answer = |done| {
        Output::Respond(Answer::Revoked {
            done,
            shape: u32::from(done),
        })
    };
    let mut run = scene(&request());
    let failed = [answer(false), run.revoked(1, false)];
    run.finds(&revoke(1), &failed, &["AQL-5.3-3"]);
    let mut run = scene(&request());
    let silent = [run.revoked(1, true)];
    run.finds(&revoke(1), &silent, &["AQL-5.3-3"]);
    // Of one that is not, answer and log say the same.
    let (mut run, _) = used();
    let (failed, mixed) = (
        [answer(false), run.revoked(1, false)],
        [answer(true), run.revoked(1, false)],
    );
    run.conforms(&revoke(1), &failed);
    run.finds(&revoke(1), &mixed, &["AQL-6.4-1"]);
    run.conforms(&uniform(), &[]);
    run.conforms(&revoke(1), &mixed);
}

#[test]
fn the_status_of_a_token_is_told_and_logged_aql_7_3_1_aql_6_4_1() {
    let answer = |valid| {
        Output::Respond(Answer::Status {
            valid,
            shape: u32::from(valid),
        })
    };
    let mut run = scene(&request());
    let (valid, not_valid) = (LogEvent::Validated, LogEvent::Rejected);
    let good = [answer(true), run.log(valid, true, &request(), 1)];
    let bad = [answer(false), run.log(not_valid, false, &request(), 1)];
    run.conforms(&status(1), &good);
    run.finds(&status(1), &good[..1], &["AQL-6.4-1"]);
    run.finds(&status(1), &bad, &["AQL-7.3-1"]);
    run.finds(&status(1), &[], &["AQL-6.4-1", "AQL-7.3-1"]);
    // Asking uses nothing.
    run.takes(&request(), 1, &[]);
    run.finds(&status(1), &good, &["AQL-7.3-1"]);
    run.conforms(&status(1), &bad);
}

// Section 6.4: the log.

#[test]
fn an_entry_says_what_happened_aql_6_4_1() {
    type Change = fn(&mut Entry);
    let changes: [Change; 6] = [
        |it| it.at = it.at.map(|at| at + 1),
        |it| it.token = None,
        |it| it.operation = Some(2),
        |it| it.adapter = Some(2),
        |it| it.session = Some(2),
        |it| it.token = Some(1002),
    ];
    for change in changes {
        for taken in [true, false] {
            let mut run = scene(&request());
            run.issue(&request(), 2);
            if !taken {
                run.takes(&request(), 1, &[]);
            }
            let mut outputs = if taken {
                run.taken(&request(), 1)
            } else {
                run.refused(&request(), 1, Code::AlreadyUsed)
            };
            if let Output::Log(entry) = &mut outputs[0] {
                change(entry);
            }
            run.finds(&with(&request(), 1), &outputs, &["AQL-6.4-1"]);
        }
    }
}

#[test]
fn every_operation_on_a_token_is_logged_once_aql_6_4_1() {
    let mut run = Run::new();
    let (call, outputs) = run.issuing(&request(), 1);
    run.finds(&call, &outputs[..1], &["AQL-6.4-1"]);
    let mut run = scene(&request());
    let outputs = run.taken(&request(), 1);
    run.finds(&with(&request(), 1), &outputs[1..], &["AQL-6.4-1"]);
    let mut run = scene(&request());
    let outputs = run.refused(&request(), 7, Code::Invalid);
    run.finds(&with(&request(), 7), &outputs[1..], &["AQL-6.4-1"]);
    run.finds(&Call::Tick, &outputs[..1], &["AQL-6.4-1"]);
    run.conforms(&with(&request(), 7), &outputs);
}

// Section 6.5 and 5.5: how much.

#[test]
fn repeated_requests_may_be_limited_and_a_thousand_tokens_live_aql_6_5_1_aql_5_5_3() {
    let limited = [Output::Respond(Answer::Limited)];
    Run::new().finds(&Call::Operation(request()), &limited, &["AQL-6.5-1"]);
    let mut run = scene(&request());
    run.conforms(&Call::Operation(request()), &limited);
    run.conforms(&with(&request(), 1), &limited);
    run.takes(&request(), 1, &[]);
    // What cannot be read is a try, too.
    let mut run = Run::new();
    let unreadable = Request {
        parameters: None,
        ..request()
    };
    run.conforms(
        &with(&unreadable, 7),
        &[Output::Respond(Answer::Unreadable)],
    );
    run.conforms(&Call::Operation(request()), &limited);
    let full = [Output::Respond(Answer::Full)];
    for (tokens, clauses) in [(999, &["AQL-5.5-3"][..]), (1000, &[]), (1001, &[])] {
        let mut run = Run::new();
        for token in 0..tokens {
            run.issue(&request(), token);
        }
        run.finds(&Call::Operation(request()), &full, clauses);
    }
}

#[test]
fn a_token_that_was_revoked_takes_no_room_aql_5_5_3_aql_5_3_1() {
    let full = [Output::Respond(Answer::Full)];
    for (revokes, clauses) in [(false, &[][..]), (true, &["AQL-5.5-3"])] {
        let mut run = Run::new();
        for token in 0..1000 {
            run.issue(&request(), token);
        }
        if revokes {
            let outputs = [
                Output::Respond(Answer::Revoked {
                    done: true,
                    shape: 0,
                }),
                run.revoked(7, true),
            ];
            run.conforms(&revoke(7), &outputs);
        }
        run.finds(&Call::Operation(request()), &full, clauses);
    }
}

// What the text leaves open.

/// What became of token 1 is the party's affair: it may be taken, and it may be refused with these codes and no other.
#[track_caller]
fn is_open(scene: impl Fn() -> Run, request: &Request, codes: &[Code]) {
    scene().takes(request, 1, &[]);
    for code in ALL_CODES {
        let mut run = scene();
        let outputs = run.refused(request, 1, code);
        let found = run.see(&with(request, 1), &outputs);
        assert_eq!(
            found.is_empty(),
            codes.contains(&code),
            "{code:?}: {found:#?}"
        );
    }
}

#[test]
fn a_list_that_was_changed_or_left_out_leaves_open_what_counts_aql_3_2_4() {
    let listed_again = || {
        let mut run = Run::new();
        run.conforms(&critical(1, &[1]), &[]);
        run.issue(&request(), 1);
        run.conforms(&critical(1, &[1, 2]), &[]);
        run
    };
    is_open(listed_again, &request(), &[Code::ScopeMismatch]);
    let left_out = || {
        let mut run = Run::new();
        run.conforms(&critical(1, &[2]), &[]);
        run.conforms(&critical(2, &[1]), &[]);
        run.issue(&request(), 1);
        run
    };
    for values in [(2, 1, 1), (1, 2, 1)] {
        let (resource, timestamp, colour) = values;
        let other = Request {
            parameters: Some(parameters(resource, timestamp, colour)),
            ..request()
        };
        is_open(left_out, &other, &[Code::ScopeMismatch]);
    }
}

#[test]
fn a_token_with_a_call_that_needs_none_may_be_used_where_no_log_shows_it_aql_5_2_1() {
    let shown_in_vain = || {
        let mut run = Run::without_log();
        run.issue(&request(), 1);
        let safe = rated(Level::Safe);
        run.conforms(&with(&safe, 1), &[Output::Perform(performed(&safe))]);
        run
    };
    is_open(shown_in_vain, &request(), &[Code::AlreadyUsed]);
}

#[test]
fn several_uses_that_are_to_be_bound_to_no_session_leave_it_open_aql_5_4_1() {
    let unscoped = Request {
        session_scope: Some(false),
        ..in_session(1, 2)
    };
    let elsewhere = in_session(2, 2);
    is_open(
        || scene(&unscoped),
        &elsewhere,
        &[Code::Invalid, Code::ScopeMismatch],
    );
    let nowhere = Request {
        session_scope: Some(true),
        ..request()
    };
    Run::new().conforms(&Call::Operation(nowhere), &[Output::Refused]);
}

#[test]
fn a_token_may_be_good_for_what_is_rated_lower_or_in_the_same_row_aql_5_1_1() {
    for (issued, called) in [
        (Level::Dangerous, Level::Destructive),
        (Level::Destructive, Level::Dangerous),
        (Level::Forbidden, Level::Dangerous),
    ] {
        is_open(
            || scene(&rated(issued)),
            &rated(called),
            &[Code::ScopeMismatch],
        );
    }
}

#[test]
fn a_used_token_that_is_given_back_may_be_either_aql_5_3_1() {
    for code in [Code::AlreadyUsed, Code::Invalid] {
        let (mut run, request) = used();
        let answer = Output::Respond(Answer::Revoked {
            done: true,
            shape: 1,
        });
        let outputs = [answer, run.revoked(1, true)];
        run.conforms(&revoke(1), &outputs);
        run.refuses(&request, 1, code, &[]);
    }
}

#[test]
fn the_reading_says_how_long_an_expired_token_is_remembered_aql_5_5_2() {
    let codes = |purge_code, late| {
        let [expired, invalid] = [Code::Expired, Code::Invalid].map(|code| {
            let mut run = Run::read(Reading {
                purge_code,
                ..Reading::SPECIFICATION
            });
            run.issue(&request(), 1);
            run.now = run.lives[&1] + 30_000 + late;
            let outputs = run.refused(&request(), 1, code);
            run.see(&with(&request(), 1), &outputs).is_empty()
        });
        (expired, invalid)
    };
    for late in [1, HOUR - 1, HOUR, HOUR + 1] {
        assert_eq!(codes(PurgeCode::Either, late), (true, true), "{late}");
        assert_eq!(codes(PurgeCode::Remembered, late), (true, false), "{late}");
    }
    // It may be purged at any time within the hour, which may be counted from the end of the tolerance.
    for (late, expected) in [
        (-1, (false, false)),
        (0, (false, false)),
        (1, (true, true)),
        (HOUR - 1, (true, true)),
        (HOUR, (true, true)),
        (HOUR + 1, (false, true)),
    ] {
        assert_eq!(codes(PurgeCode::Unknown, late), expected, "{late}");
    }
}

/// Where it may be a check that is wrong, and not what is said of it, the finding names the clause of that check too.
#[test]
fn a_finding_names_every_clause_that_may_be_broken() {
    let names = |found: &[Finding], clause| {
        let [finding] = found else {
            panic!("{found:#?}");
        };
        assert!(finding.also.contains(&clause), "{finding:#?}");
    };
    let refusal = |code| {
        let mut run = scene(&request());
        let outputs = run.refused(&request(), 1, code);
        run.see(&with(&request(), 1), &outputs)
    };
    // What was never used is not consumed, and what has not expired is not to be purged.
    names(&refusal(Code::AlreadyUsed), "AQL-1.2-1");
    names(&refusal(Code::Invalid), "AQL-5.5-2");
    let (mut run, _) = expired();
    let outputs = run.taken(&request(), 1);
    names(&run.see(&with(&request(), 1), &outputs), "AQL-5.1-5");
    let (mut run, _) = used();
    let shape = 0;
    let valid = Output::Respond(Answer::Status { valid: true, shape });
    let outputs = [valid, run.log(LogEvent::Validated, true, &request(), 1)];
    names(&run.see(&status(1), &outputs), "AQL-6.1-1");
}

/// Before a judge who passes over what the party is known to do otherwise.
fn passing_over(deviations: Deviations) -> Run {
    let mut run = Run::new();
    run.judge = run.judge.passing_over(deviations);
    run
}

const NONE: Deviations = Deviations {
    revokes_the_dead: false,
    tells_status_unlogged: false,
};

#[test]
fn a_configuration_revokes_where_it_changes_something_and_not_where_it_says_the_same_aql_5_3_2() {
    for (adapter, seconds, clauses) in [
        (1, 29, &[][..]),
        (1, 30, &["AQL-5.3-2"]),
        (1, 31, &[]),
        (2, 31, &["AQL-5.3-2"]),
    ] {
        let mut run = Run::new();
        run.issue(&request(), 1);
        let configured = Call::Configure(Configuration {
            adapter,
            tolerance_seconds: Some(seconds),
            ..configuration()
        });
        let revoked = run.log(LogEvent::Revoked, true, &request(), 1);
        run.finds(&configured, &[revoked], clauses);
    }
}

#[test]
fn what_is_dead_may_be_let_be_revoked_and_what_is_alive_not_without_an_entry_aql_5_3_3() {
    let lets = Deviations {
        revokes_the_dead: true,
        ..NONE
    };
    for (deviations, is_dead, clauses) in [
        (NONE, true, &["AQL-6.4-1"][..]),
        (lets, true, &[]),
        (lets, false, &["AQL-6.4-1"]),
    ] {
        let mut run = passing_over(deviations);
        run.issue(&request(), 1);
        if is_dead {
            run.takes(&request(), 1, &[]);
        }
        let (done, shape) = (true, 0);
        let answer = Output::Respond(Answer::Revoked { done, shape });
        let logged = run.revoked(1, false);
        run.finds(&revoke(1), &[answer, logged], clauses);
    }
}

#[test]
fn a_connection_ends_with_the_process_as_the_reading_says_and_with_its_session_all_the_same_aql_5_4_2()
 {
    let mut run = Run::new();
    run.issue(&in_session(1, 3), 1);
    run.conforms(&Call::Restart { lost: 0 }, &[]);
    run.takes(&in_session(1, 3), 1, &[]);
    run.finds(&end(1), &[], &["AQL-6.4-1"]);
    run.takes(&in_session(1, 3), 1, &["AQL-5.4-2"]);
}

#[test]
fn no_token_is_bound_to_a_session_that_has_ended_as_the_reading_says_aql_5_4_2() {
    let stays_ended = Reading {
        ended_session: EndedSession::StaysEnded,
        ..Reading::SPECIFICATION
    };
    let again = Call::Operation(in_session(1, 2));
    for (reading, clauses) in [
        (stays_ended, &["AQL-5.4-2"][..]),
        (Reading::SPECIFICATION, &[]),
    ] {
        let issued = |run: &Run, request: &Request| {
            [
                Output::Respond(Answer::Issued(issued(request, 2, run.now))),
                run.log(LogEvent::Issued, true, request, 2),
            ]
        };
        let ended = || {
            let mut run = Run::read(reading);
            run.issue(&in_session(1, 2), 1);
            let revoked = run.log(LogEvent::Revoked, true, &in_session(1, 2), 1);
            run.conforms(&end(1), &[revoked]);
            run
        };
        ended().conforms(&again, &[Output::Refused]);
        let mut run = ended();
        let outputs = issued(&run, &in_session(1, 2));
        run.finds(&again, &outputs, clauses);
        // One use is bound to no session, and with the process may go what has ended.
        let once = in_session(1, 1);
        let mut run = ended();
        let outputs = issued(&run, &once);
        run.conforms(&Call::Operation(once), &outputs);
        let mut run = ended();
        run.conforms(&Call::Restart { lost: 0 }, &[]);
        let outputs = issued(&run, &in_session(1, 2));
        run.conforms(&again, &outputs);
    }
}

#[test]
fn a_status_may_be_let_go_unlogged_and_nothing_else_aql_6_4_1() {
    let lets = Deviations {
        tells_status_unlogged: true,
        ..NONE
    };
    for (deviations, clauses) in [(NONE, &["AQL-6.4-1"][..]), (lets, &[])] {
        let mut run = passing_over(deviations);
        run.issue(&request(), 1);
        let (valid, shape) = (true, 1);
        let answer = Output::Respond(Answer::Status { valid, shape });
        run.finds(&status(1), &[answer], clauses);
        let performed = Output::Perform(performed(&request()));
        run.finds(&with(&request(), 1), &[performed], &["AQL-6.4-1"]);
    }
}

// Parties that use what the text leaves free.

#[test]
fn a_party_that_validates_whatever_comes_with_a_token_and_purges_at_once_conforms() {
    let mut run = scene(&request());
    let safe = rated(Level::Safe);
    let outputs = [
        run.log(LogEvent::Validated, true, &safe, 1),
        run.log(LogEvent::Validated, true, &safe, 1),
        Output::Perform(performed(&safe)),
        Output::Respond(Answer::Other),
    ];
    run.conforms(&with(&safe, 1), &outputs);
    run.refuses(&request(), 1, Code::AlreadyUsed, &[]);
    run.now += HOUR;
    run.refuses(&request(), 1, Code::Invalid, &[]);
}

#[test]
fn a_party_that_ignores_tokens_that_nobody_needs_and_writes_whole_seconds_conforms() {
    let mut run = Run::new();
    run.now = 1_000_999;
    let mut issued = issued(&request(), 1, run.now);
    issued.expires_at = Some(1_300_000);
    let outputs = [
        Output::Respond(Answer::Issued(issued)),
        Output::Log(Entry {
            at: Some(1_000_000),
            event: LogEvent::Issued,
            success: true,
            token: Some(1),
            operation: Some(1),
            adapter: Some(1),
            session: None,
            reason: None,
        }),
    ];
    run.conforms(&Call::Operation(request()), &outputs);
    let safe = rated(Level::Safe);
    run.conforms(&with(&safe, 1), &[Output::Perform(performed(&safe))]);
    run.conforms(&with(&safe, 7), &[Output::Perform(performed(&safe))]);
}

#[test]
fn a_party_that_shows_no_log_loses_its_tokens_and_refuses_ended_sessions_conforms() {
    let mut run = Run::without_log();
    run.issue(&in_session(1, 2), 1);
    run.takes(&in_session(1, 2), 1, &[]);
    run.conforms(&end(1), &[]);
    run.conforms(&with(&in_session(1, 2), 1), &[Output::Refused]);
    run.issue(&request(), 2);
    run.conforms(&Call::Restart { lost: 9 }, &[]);
    run.refuses(&request(), 2, Code::Invalid, &[]);
    run.conforms(
        &revoke(2),
        &[Output::Respond(Answer::Revoked {
            done: false,
            shape: 1,
        })],
    );
}

/// A party that declares to let two of each through at once, and one more each second.
fn limited() -> Run {
    let mut run = Run::new();
    let limit = Some(Limit {
        burst: 2,
        every_ms: Some(1_000),
    });
    run.judge = run.judge.of_limited(Limits {
        issuance: limit,
        failed_validation: limit,
        revocation: limit,
        capacity: None,
    });
    run
}

const LIMITED: [Output; 1] = [Output::Respond(Answer::Limited)];

impl Run {
    /// The status of a token that nobody issued is told as it is.
    fn guesses(&mut self, clauses: &[&str]) {
        let shape = 1;
        let told = Output::Respond(Answer::Status {
            valid: false,
            shape,
        });
        let logged = self.log(LogEvent::Rejected, false, &request(), 9);
        self.finds(&status(9), &[told, logged], clauses);
    }
}

#[test]
fn who_guesses_by_status_may_be_limited_from_the_second_on_aql_6_5_1() {
    let mut run = Run::new();
    run.finds(&status(9), &LIMITED, &["AQL-6.5-1"]);
    let mut run = Run::new();
    run.guesses(&[]);
    run.conforms(&status(9), &LIMITED);
    // No limit is declared, and the text gives none.
    for _ in 0..100 {
        run.guesses(&[]);
    }
}

#[test]
fn a_declared_limit_of_failed_validations_counts_those_by_status_too_aql_6_5_1() {
    let mut run = limited();
    run.guesses(&[]);
    run.finds(&status(9), &LIMITED, &["AQL-6.5-1"]);
    let mut run = limited();
    run.guesses(&[]);
    let outputs = run.refused(&request(), 9, Code::Invalid);
    run.conforms(&with(&request(), 9), &outputs);
    run.conforms(&status(9), &LIMITED);
    run.conforms(&with(&request(), 9), &LIMITED);
    // The call named no session and was made to the same adapter.
    run.guesses(&["AQL-6.5-1"]);
}

#[test]
fn a_try_is_given_back_when_its_time_is_over_aql_6_5_1() {
    for (after, clauses) in [(999, &["AQL-6.5-1"][..]), (1_000, &[]), (1_001, &[])] {
        let mut run = limited();
        run.guesses(&[]);
        run.guesses(&[]);
        run.now += after;
        run.guesses(clauses);
    }
    for (after, clauses) in [
        (999, &[][..]),
        (1_000, &["AQL-6.5-1"]),
        (1_001, &["AQL-6.5-1"]),
    ] {
        let mut run = limited();
        run.guesses(&[]);
        run.guesses(&[]);
        run.now += after;
        run.finds(&status(9), &LIMITED, clauses);
    }
}

#[test]
fn a_declared_limit_of_issues_is_one_of_a_session_and_ends_with_the_process_aql_6_5_1() {
    let in_session = |session| Request {
        session: Some(session),
        ..request()
    };
    let mut run = limited();
    run.issue(&in_session(1), 1);
    run.issue(&in_session(1), 2);
    run.issue(&in_session(2), 3);
    let (call, outputs) = run.issuing(&in_session(1), 4);
    run.finds(&call, &outputs, &["AQL-6.5-1"]);
    run.conforms(&call, &LIMITED);
    run.conforms(&Call::Restart { lost: 0 }, &[]);
    let (call, outputs) = run.issuing(&in_session(3), 5);
    run.conforms(&call, &outputs);
    // A status of a good token is no failure.
    let mut run = limited();
    run.issue(&request(), 1);
    let shape = 0;
    let valid = Output::Respond(Answer::Status { valid: true, shape });
    for _ in 0..4 {
        let logged = run.log(LogEvent::Validated, true, &request(), 1);
        run.conforms(&status(1), &[valid.clone(), logged]);
    }
}
