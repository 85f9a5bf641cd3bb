//! The scenarios of a test book on eight clauses of MCP-AQL. Its author read the text and no code.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::account::{Account, Declared, Limit};
use countersign_model::mcp_aql::alphabet::Word::{
    Force, Other, Permanent, Recursive, RequestId, Resource, Timestamp,
};
use countersign_model::mcp_aql::alphabet::*;
use countersign_model::mcp_aql::readings::Reading;

use crate::form::{Book, as_in_the_book, explained, lifted, millis, tested};

type Word = &'static str;

/// Texts of a scenario, by their numbers: 0 is `introspect`.
fn number(text: &str) -> Name {
    static NAMES: LazyLock<Mutex<BTreeMap<String, Name>>> = LazyLock::new(Mutex::default);
    let mut names = NAMES.lock().unwrap();
    let next = Name::try_from(names.len() + 1).unwrap();
    *names.entry(text.to_owned()).or_insert(next)
}

/// The adapter of that name.
fn adapter(words: &str) -> Text {
    number(value(words, "on").unwrap_or("default")).into()
}

/// What stands behind `key=`.
fn value<'w>(words: &'w str, key: &str) -> Option<&'w str> {
    words
        .split(' ')
        .find_map(|it| it.strip_prefix(key)?.strip_prefix('='))
}

fn has(words: &str, flag: &str) -> bool {
    words.split(' ').any(|it| it == flag)
}

/// `1,force=2`: an id where no name is given. `!` has no one meaning, and `'` another spelling.
fn parameters(text: &str) -> Parameters {
    let plain = text.trim_end_matches('\'');
    let parameter = |it: &str| {
        let (name, value) = it.split_once('=').unwrap_or(("id", it));
        let word = match name {
            "force" => Force,
            "permanent" => Permanent,
            "recursive" => Recursive,
            "time" => Timestamp,
            "request" => RequestId,
            "id" => Resource,
            _ => Other,
        };
        Parameter {
            name: number(name),
            value: number(value),
            word,
        }
    };
    let mut each: Vec<Parameter> = plain
        .split(',')
        .filter(|it| !it.is_empty())
        .map(parameter)
        .collect();
    each.sort_by_key(|it| it.name);
    Parameters {
        spelling: number(text),
        size: 8,
        meaning: (plain != "!").then(|| number(plain)),
        each: each.into_iter().collect(),
    }
}

fn level(word: &str) -> Level {
    match word {
        "safe" => Level::Safe,
        "reversible" => Level::Reversible,
        "dangerous" => Level::Dangerous,
        "forbidden" => Level::Forbidden,
        _ => Level::Destructive,
    }
}

/// `del(1)`, and what the words behind it and the options of the row say of the call.
fn request(call: Word, link: Word, token: Option<Shown>, options: &[Word]) -> Request {
    let (operation, rest) = call.split_once('(').unwrap();
    let (arguments, words) = rest.split_once(')').unwrap();
    let option = options.iter().find_map(|it| it.strip_prefix("max="));
    let uses = value(words, "uses").or(option);
    let is_quota = operation == "list" || has(words, "quota");
    let usual = match operation {
        "list" | "get" => "safe",
        _ => "destructive",
    };
    let session = number(link.trim_end_matches(" again")).into();
    Request {
        adapter: adapter(words),
        operation: number(operation).into(),
        parameters: parameters(arguments),
        level: level(value(words, "level").unwrap_or(usual)),
        purpose: if is_quota {
            Purpose::Quota
        } else {
            Purpose::Confirmation
        },
        session: (!has(words, "alone")).then_some(session),
        session_scope: match () {
            () if options.contains(&"session") || has(words, "scope") => Some(true),
            () => has(words, "no-scope").then_some(false),
        },
        max_uses: uses.map(|it| it.parse().unwrap()),
        ttl: value(words, "ttl").map(millis),
        token,
    }
}

/// A letter stands for a token; in upper case for the same in another spelling; anything else was never put out.
fn shown(word: &str) -> Shown {
    match word.as_bytes() {
        [] => Shown::Blank,
        [it @ b'a'..=b'z'] => Shown::Token(TokenId::from(*it)),
        [it @ b'A'..=b'Z'] => Shown::OtherCase(TokenId::from(it.to_ascii_lowercase())),
        _ => Shown::Unknown,
    }
}

/// The link, and the words of a call.
fn of_link(words: Word) -> (Word, Word) {
    let in_brackets = words.strip_prefix('[').and_then(|it| it.split_once("] "));
    in_brackets.unwrap_or(("k1", words))
}

fn asked(call: Word, options: &[Word]) -> Request {
    let (link, words) = of_link(call);
    let rest = words.strip_prefix("call ").unwrap_or("del(1)");
    let (operation, token) = rest.split_once(" +").unzip();
    let token = token.map(|it: &str| shown(it.trim_matches('"')));
    request(operation.unwrap_or(rest), link, token, options)
}

/// `x=conf[43 counted] WORDS`: what a token is called, how many characters follow its prefix, what they look like, and what
/// the answer says otherwise than it has to.
fn issue(words: Word, at: Time, call: &Request) -> Issued {
    static OTHERS: Mutex<TokenId> = Mutex::new(1000);
    let (name, look) = match words.split_once('=') {
        Some((name, look)) if !name.contains(' ') => (name, look),
        _ => (words.split(' ').next().unwrap(), "conf[43]"),
    };
    let token = if name == "(another)" {
        let mut others = OTHERS.lock().unwrap();
        *others += 1;
        *others
    } else {
        TokenId::from(name.as_bytes()[0])
    };
    let is_quota = call.level < Level::Destructive;
    let (purpose, other) = if is_quota {
        (Purpose::Quota, Purpose::Confirmation)
    } else {
        (Purpose::Confirmation, Purpose::Quota)
    };
    let mut inside = look.split(['[', ']', ' ']).skip(1);
    let identifier: u32 = inside.next().map_or(43, |it| it.parse().unwrap());
    let prefix = if is_quota { 15 } else { 5 };
    let usual = if call.level == Level::Forbidden {
        120_000
    } else {
        300_000
    };
    let lives = value(words, "lives").map_or(call.ttl.unwrap_or(usual), millis);
    Issued {
        token,
        look: Look {
            prefix: match () {
                () if has(words, "unprefixed") => None,
                () if has(words, "misprefixed") => Some(other),
                () => Some(purpose),
            },
            identifier,
            characters: value(words, "characters")
                .map_or(prefix + identifier, |it| it.parse().unwrap()),
            is_url_safe: !has(words, "unsafe"),
            is_counted: inside.next() == Some("counted"),
            reads: value(words, "reads").map(|it| match it {
                "name" => Readable::Name,
                _ => Readable::Value,
            }),
        },
        expires_at: (!has(words, "eternal")).then_some(at + lives),
        operation: match value(words, "op") {
            Some("none") => None,
            Some(other) => Some(number(other)),
            None => Some(call.operation.name),
        },
        level: Some(value(words, "level").map_or(call.level, level)),
        has_reasons: !has(words, "no-reasons"),
        has_message: !has(words, "no-message"),
    }
}

/// A message and its details, without the words that stand behind them.
fn words_of(text: &str) -> &str {
    let end = ["partial", "exposes", "expired=", "current="].into_iter();
    let end = end.filter_map(|it| text.find(it)).min();
    text[..end.unwrap_or(text.len())].trim()
}

/// A message and the names of its details, without the token that it repeats.
fn shape(text: &str, token: &str) -> Name {
    let (message, details) = text.split_once('{').unwrap_or((text, ""));
    let details = details.trim_end_matches('}').split(',');
    let mut names: Vec<&str> = details.filter_map(|it| it.split(':').next()).collect();
    names.sort_unstable();
    let message = if token.is_empty() {
        message.to_owned()
    } else {
        message.replace(token, "<token>")
    };
    number(&format!("{message}{{{}}}", names.join(",")))
}

impl Book for McpAql {
    const TABLE: Word = include_str!("book.txt");
    const READINGS: &'static [Word] = &[
        "table",
        "sample",
        "either",
        "unknown",
        "clock",
        "unrated",
        "no-tolerance",
        "short",
        "anywhere",
        "always",
        "ended",
        "goes-on",
        "used",
        "codes",
        "uniform",
        "remembered",
    ];

    fn reading(word: Word, options: &[Word]) -> Reading {
        let (place, way) = match word {
            "sample" => ("check-order", "sample"),
            "unknown" => ("purge-code", "unknown"),
            "remembered" => ("purge-code", "remembered"),
            "clock" => ("clock-set-back", "current-time"),
            "unrated" => ("rating-at-redemption", "not-checked"),
            "no-tolerance" => ("tolerance-unset", "none"),
            "short" => ("longest-life", "default"),
            "anywhere" => ("multi-use", "anywhere"),
            "always" => ("session-binding", "always"),
            "ended" => ("ended-session", "stays-ended"),
            "goes-on" => ("restarted-session", "goes-on"),
            "used" => ("revoked-code", "already-used"),
            "codes" | "uniform" => ("oracle", word),
            _ if options.contains(&"signed") => ("token-storage", "signed"),
            _ => return Reading::default(),
        };
        Reading::default().with(place, way).unwrap()
    }

    fn start(_: Word, options: &[Word]) -> (Account, u32) {
        let mut account = Account::default();
        let option = |name| options.iter().find_map(move |it| it.strip_prefix(name));
        let limit = option("limit=").and_then(|it| it.split_once('/'));
        let limit = limit.map(|(burst, every)| Limit {
            burst: burst.parse().unwrap(),
            every: Some(millis(every)),
        });
        let capacity = option("room=").map(|it| it.parse().unwrap());
        if limit.is_some() || capacity.is_some() {
            let limits = [limit; 3];
            account = Account::declaring(Declared { limits, capacity });
        }
        let tolerance = options.iter().find_map(|it| it.strip_prefix("tol="));
        account.adapter_mut(number("default")).tolerance = tolerance.map(millis);
        let hidden = u32::from(!options.contains(&"+audit")) << 2;
        (account, hidden)
    }

    fn setup_also(options: &[Word], output: Word) -> Option<Word> {
        let name = output
            .strip_prefix("issue ")
            .filter(|_| options.contains(&"+audit"))?;
        Some(format!("audit ISSUED {name}").leak())
    }

    fn call_of(at: i64, words: Word, options: &[Word]) -> Call {
        let (_, rest) = of_link(words);
        let (verb, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let first = rest.split(' ').next().unwrap();
        let of_session = |it: Word| number(it).into();
        let introspect = |query| Op::Introspect {
            adapter: adapter(rest),
            query,
            token: shown(first),
        };
        let event = |kind| Op::Event {
            kind,
            session: value(rest, "of").map(of_session),
        };
        let op = match verb {
            "call" => Op::Call(Arc::new(asked(words, options))),
            "end" => Op::EndSession(of_session(rest)),
            "logout" => event(EventKind::Logout),
            "config" => event(EventKind::Configuration),
            "security" => event(EventKind::Security),
            "revoke" => introspect(Query::Revoke),
            "status" => introspect(Query::Status),
            "set" => Op::Configure(Arc::new(Configuration {
                adapter: adapter(rest),
                tolerance: value(rest, "tol").map(millis),
                oracle: match () {
                    () if has(rest, "uniform") => Some(Oracle::Uniform),
                    () => has(rest, "codes").then_some(Oracle::Codes),
                },
                critical: value(rest, "critical").map(critical),
            })),
            "tick" => Op::Tick,
            "restart" => {
                let lost = rest.strip_prefix("lost ").map(|it| it.split(", "));
                let lost = lost.into_iter().flatten();
                let lost = lost.map(|it| Self::output_of(it, at, "call del(1)", options));
                Op::Restart(Lost::Outputs(lost.collect()))
            }
            _ => panic!("no call: {words}"),
        };
        Call { now: at, op }
    }

    fn output_of(words: Word, at: i64, call: Word, options: &[Word]) -> Output {
        let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
        let (first, text) = rest.split_once(' ').unwrap_or((rest, ""));
        let request = asked(call, options);
        let of_token = call.rsplit_once(" +").map_or("", |it| it.1);
        let told = |holds, text| Told {
            holds,
            shape: shape(text, of_token),
        };
        let answer = match verb {
            "issue" => Answer::Issued(issue(rest, at, &request)),
            "err" if call.starts_with("revoke") => Answer::Revoked(told(false, text)),
            "done" => Answer::Revoked(told(true, rest)),
            "undone" => Answer::Revoked(told(false, rest)),
            "valid" => Answer::Status(told(true, rest)),
            "invalid" => Answer::Status(told(false, rest)),
            "err" => Answer::Failed(Failure {
                code: match first {
                    "INVALID" => Code::Invalid,
                    "EXPIRED" => Code::Expired,
                    "USED" => Code::Used,
                    "SCOPE" => Code::Scope,
                    _ => Code::Other,
                },
                is_whole: !has(text, "partial"),
                shape: shape(words_of(text), of_token),
                expired_at: value(text, "expired").map(millis),
                current_time: value(text, "current").map(millis),
                exposes_parameters: has(text, "exposes"),
            }),
            "limited" => Answer::Limited,
            "full" => Answer::Full,
            "unreadable" => Answer::Unreadable,
            "ok" => Answer::Other(0),
            "warn" => return Output::Warn,
            "refused" => return Output::Refused,
            "exec" => {
                let it = self::request(rest, of_link(call).0, None, options);
                return Output::Perform(Performed {
                    operation: it.operation.name,
                    parameters: it.parameters.meaning,
                    adapter: value(rest, "on").map(number),
                    session: value(rest, "in").map(number),
                });
            }
            "audit" => {
                let is_failure = first == "REJECTED" || has(text, "failed");
                let operation = match value(text, "op") {
                    Some("introspect") => INTROSPECT,
                    Some(other) => number(other),
                    None => request.operation.name,
                };
                return Output::Audit(Entry {
                    at: value(text, "at").map_or(at, millis),
                    event: match first {
                        "ISSUED" => Event::Issued,
                        "VALIDATED" => Event::Validated,
                        "REJECTED" => Event::Rejected,
                        _ => Event::Revoked,
                    },
                    is_success: !is_failure,
                    token: Some(text.as_bytes()[0].into()).filter(|it| *it != LogId::from(b'-')),
                    operation: Some(operation),
                    adapter: Some(value(text, "on").map_or(request.adapter.name, number)),
                    session: value(text, "in").map(number),
                });
            }
            _ => panic!("no output: {words}"),
        };
        Output::Respond(answer)
    }
}

/// `del:id,force;wipe:id`
fn critical(lists: &str) -> Vec<(Name, Vec<Name>)> {
    let list = |it: &str| {
        let (operation, names) = it.split_once(':').unwrap();
        let names = names.split(',').filter(|it| !it.is_empty());
        let mut names: Vec<Name> = names.map(number).collect();
        names.sort_unstable();
        (number(operation), names)
    };
    let mut lists: Vec<_> = lists.split(';').map(list).collect();
    lists.sort();
    lists
}

#[test]
fn whatever_a_conforming_party_does_is_explained() {
    let runs: [&[(i64, Word)]; 5] = [
        &[
            (0, "call del(1)"),
            (1, "call wipe(1) +a"),
            (1, "call del(1) +a"),
            (2, "call del(1) +a"),
        ],
        &[
            (0, "call del(1)"),
            (331_000, "call del(1) +a"),
            (331_000, "restart"),
            (4_000_000, "call del(1) +a"),
        ],
        &[
            (0, "call del(1)"),
            (0, "config"),
            (1, "end k1"),
            (2, "[k2] call del(1) +a"),
            (2, "call del(1) +u1"),
        ],
        &[
            (0, "call del(1)"),
            (0, "call del(1)"),
            (0, "call del(1)"),
            (9, "call get(1)"),
            (9, "call get(1) +a"),
        ],
        &[
            (0, "call del(1) +u1"),
            (0, "call del(1) +u2"),
            (0, "revoke u1"),
            (1, "revoke u1"),
            (2, "call del(1) +"),
        ],
    ];
    let options: [&[Word]; 4] = [
        &[],
        &["+audit"],
        &["session", "max=2"],
        &["limit=1/60", "+audit"],
    ];
    for (number, (calls, options)) in runs
        .iter()
        .flat_map(|calls| options.map(|options| (calls, options)))
        .enumerate()
    {
        let reading = ["table", "sample", "unknown"][number % 3];
        let start = McpAql::start("", options);
        assert!(explained::<McpAql>(start, calls, reading, options) >= calls.len());
    }
}

#[test]
fn the_scenarios_are_judged_as_in_the_book() {
    as_in_the_book::<McpAql>();
}

#[test]
fn without_its_clause_no_fault_is_found() {
    lifted::<McpAql>();
}

#[test]
fn each_clause_has_the_scenario_that_is_listed() {
    tested::<McpAql>().is_listed::<McpAql>("mcp_aql");
}
