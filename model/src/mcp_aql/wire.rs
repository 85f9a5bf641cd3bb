//! Driver protocol values of MCP-AQL as the words of the spec, and back.
//!
//! It decides form only: whether something is JSON, of which type, how long, and whether a token is one of its own. A
//! member that is missing, or of another type, is none.

use std::collections::BTreeMap;

use countersign_protocol as driver;
use countersign_protocol::mcp_aql::{self as own, McpAql};
use countersign_protocol::{Common, Json, Kind};
use serde_json::{Value, json};

use crate::mcp_aql::McpAql as Spec;
use crate::mcp_aql::alphabet::{
    Answer, Call, Code, Configuration, Entry, Event, EventKind, Failure, INTROSPECT, Issued, Level,
    Look, Lost, Name, Op, Oracle, Output, Parameter, Parameters, Performed, Purpose, Query,
    Readable, Request, Shown, Text, Time, Told, Word,
};
use crate::wire::names::{Ids, NOTHING, Texts};
use crate::wire::{Codec, Flaw, json, time};

/// The numbers of one run.
#[derive(Clone, Debug)]
pub struct Names {
    texts: Texts,
    /// Parameters as they are written, and parameters and their values by what they mean.
    spellings: Texts,
    meanings: Texts,
    tokens: Ids,
    logged: Ids,
    /// Answers, but for the token that they repeat and the times in them.
    shapes: Texts,
    /// Texts that stood as values of parameters.
    values: Vec<String>,
    /// The token that the last request showed.
    shown: Option<String>,
    /// A text of each meaning of parameters.
    written: BTreeMap<Name, String>,
    /// The last response.
    last: Vec<Output>,
}

impl Default for Names {
    fn default() -> Self {
        let mut texts = Texts::default();
        texts.adopt(INTROSPECT, "introspect".to_owned());
        Self {
            texts,
            spellings: Texts::default(),
            meanings: Texts::default(),
            tokens: Ids::default(),
            logged: Ids::default(),
            shapes: Texts::default(),
            values: Vec::new(),
            shown: None,
            written: BTreeMap::new(),
            last: Vec::new(),
        }
    }
}

impl Codec for Names {
    type Text = Spec;
    type Driver = McpAql;
    const KINDS: &'static [Kind] = &[Kind::Perform, Kind::Respond, Kind::Audit, Kind::Refused];

    fn call(&mut self, now: Time, op: &driver::Op<McpAql>) -> Call {
        self.shown = None;
        let op = match op {
            driver::Op::Common(Common::Hello { .. } | Common::Reset {} | Common::Tick {}) => {
                Op::Tick
            }
            driver::Op::Common(Common::Restart { lost }) => {
                Op::Restart(Lost::last_of(&self.last, lost.unwrap_or(0)))
            }
            driver::Op::Own(own) => self.op(own),
        };
        Call { now, op }
    }

    fn outputs(
        &mut self,
        call: &Call,
        outputs: &[driver::Output<McpAql>],
    ) -> (Vec<Output>, Vec<Flaw>) {
        let read: Vec<Output> = outputs
            .iter()
            .map(|it| self.output(call, &it.what))
            .collect();
        self.last.clone_from(&read);
        (read, Vec::new())
    }

    fn request(&mut self, call: &Call) -> Option<driver::Op<McpAql>> {
        Some(driver::Op::Own(match &call.op {
            Op::Configure(it) => own::Op::Configure {
                adapter: self.text_of(it.adapter),
                clock_skew_tolerance_seconds: match it.tolerance {
                    Some(it) => Some(seconds(it)?),
                    None => None,
                },
                oracle: it.oracle.map(|it| match it {
                    Oracle::Codes => own::Oracle::Codes,
                    Oracle::Uniform => own::Oracle::Uniform,
                }),
                critical: it.critical.as_ref().map(|lists| {
                    let mut name = |it: &Name| self.text_of((*it).into());
                    let lists = lists.iter();
                    let lists =
                        lists.map(|(of, names)| (name(of), names.iter().map(&mut name).collect()));
                    lists.collect()
                }),
            },
            Op::Call(it) => own::Op::Call(self.call_of(it)?),
            Op::Introspect {
                adapter,
                query,
                token,
            } => own::Op::Introspect {
                adapter: Some(self.text_of(*adapter)),
                query: match query {
                    Query::Revoke => own::Query::RevokeToken,
                    Query::Status => own::Query::TokenStatus,
                },
                token: self.token_of(*token),
            },
            Op::Event { kind, session } => own::Op::Event {
                kind: match kind {
                    EventKind::Logout => own::EventKind::Logout,
                    EventKind::Security => own::EventKind::Security,
                    EventKind::Configuration => own::EventKind::Configuration,
                },
                session_id: session.map(|it| self.text_of(it)),
            },
            Op::EndSession(session) => own::Op::EndSession {
                session_id: self.text_of(*session),
            },
            Op::Tick => return Some(driver::Op::Common(Common::Tick {})),
            Op::Restart(lost) => {
                let lost = Some(lost.count_in(&self.last)?);
                return Some(driver::Op::Common(Common::Restart { lost }));
            }
        }))
    }

    fn responses(&mut self, outputs: &[Output]) -> Vec<driver::Output<McpAql>> {
        outputs.clone_into(&mut self.last);
        let written = outputs.iter().filter_map(|it| self.response(it));
        written.map(driver::Output::to_all).collect()
    }

    fn issued(&mut self, outputs: &[Output]) {
        outputs.clone_into(&mut self.last);
        for output in outputs {
            if let Output::Respond(Answer::Issued(it)) = output {
                self.token(it);
            }
        }
    }

    fn in_run(&self) -> BTreeMap<String, String> {
        let tokens = (0..).zip(self.tokens.all());
        let tokens = tokens.map(|(number, it): (u16, _)| (format!("token {number}"), it.clone()));
        let texts = self.texts.all();
        let texts = texts.map(|(number, it)| (format!("text {number}"), format!("{it:?}")));
        let meanings = self.written.iter();
        let meanings = meanings.map(|(number, it)| (format!("parameters {number}"), it.clone()));
        tokens.chain(texts).chain(meanings).collect()
    }
}

// ── What is asked ──

impl Names {
    /// Each token, by its number.
    pub fn tokens(&self) -> &[String] {
        self.tokens.all()
    }

    /// The text of that number.
    pub fn text_numbered(&self, name: Name) -> Option<&str> {
        self.texts.text(name)
    }

    fn op(&mut self, op: &own::Op) -> Op {
        match op {
            own::Op::Configure {
                adapter,
                clock_skew_tolerance_seconds,
                oracle,
                critical,
            } => Op::Configure(
                Configuration {
                    adapter: self.text(adapter),
                    tolerance: clock_skew_tolerance_seconds.map(|it| it.saturating_mul(1000)),
                    oracle: oracle.map(|it| match it {
                        own::Oracle::Codes => Oracle::Codes,
                        own::Oracle::Uniform => Oracle::Uniform,
                    }),
                    critical: critical.as_ref().map(|lists| {
                        let mut lists: Vec<_> = lists
                            .iter()
                            .map(|(operation, names)| {
                                let mut names: Vec<_> =
                                    names.iter().map(|it| self.texts.number(it)).collect();
                                names.sort_unstable();
                                (self.texts.number(operation), names)
                            })
                            .collect();
                        lists.sort_unstable();
                        lists
                    }),
                }
                .into(),
            ),
            own::Op::Call(it) => Op::Call(self.request_of(it).into()),
            own::Op::Introspect {
                adapter,
                query,
                token,
            } => Op::Introspect {
                adapter: self.adapter(adapter.as_deref()),
                query: match query {
                    own::Query::RevokeToken => Query::Revoke,
                    own::Query::TokenStatus => Query::Status,
                },
                token: self.shown(token),
            },
            own::Op::Event { kind, session_id } => Op::Event {
                kind: match kind {
                    own::EventKind::Logout => EventKind::Logout,
                    own::EventKind::Security => EventKind::Security,
                    own::EventKind::Configuration => EventKind::Configuration,
                },
                session: session_id.as_ref().map(|it| self.text(it)),
            },
            own::Op::EndSession { session_id } => Op::EndSession(self.text(session_id)),
        }
    }

    fn request_of(&mut self, it: &own::Call) -> Request {
        Request {
            adapter: self.adapter(it.adapter.as_deref()),
            operation: self.text(&it.operation),
            parameters: self.parameters(&it.params),
            level: match it.danger_level {
                own::DangerLevel::Safe => Level::Safe,
                own::DangerLevel::Reversible => Level::Reversible,
                own::DangerLevel::Destructive => Level::Destructive,
                own::DangerLevel::Dangerous => Level::Dangerous,
                own::DangerLevel::Forbidden => Level::Forbidden,
            },
            purpose: match it.purpose {
                Some(own::Purpose::QuotaContinue) => Purpose::Quota,
                Some(own::Purpose::Confirmation) | None => Purpose::Confirmation,
            },
            session: it.session_id.as_ref().map(|it| self.text(it)),
            session_scope: it.session_scope,
            max_uses: it.max_uses,
            ttl: it.ttl_seconds.map(|it| it.saturating_mul(1000)),
            token: it.confirmation_token.as_ref().map(|it| self.shown(it)),
        }
    }

    fn text(&mut self, text: &str) -> Text {
        Text {
            name: self.texts.number(text),
            characters: u32::try_from(text.chars().count()).unwrap_or(u32::MAX),
        }
    }

    fn adapter(&mut self, name: Option<&str>) -> Text {
        self.text(name.unwrap_or("default"))
    }

    fn shown(&mut self, text: &str) -> Shown {
        self.shown = Some(text.to_owned()).filter(|it| !it.is_empty());
        if text.is_empty() {
            return Shown::Blank;
        }
        let id = self.tokens.named(text);
        if id != NOTHING {
            return Shown::Token(id);
        }
        let is_alike = |it: &&String| it.eq_ignore_ascii_case(text);
        let other = self.tokens.all().iter().find(is_alike);
        other.map_or(Shown::Unknown, |it| Shown::OtherCase(self.tokens.named(it)))
    }

    fn parameters(&mut self, params: &Json) -> Parameters {
        let text = params.text();
        let meaning = json::meaning(&text)
            .text
            .filter(|_| are_numbers_alike(&text));
        let members: BTreeMap<String, Json> = serde_json::from_str(&text).unwrap_or_default();
        let mut each: Vec<Parameter> = Vec::new();
        for (name, value) in members.iter().filter(|_| meaning.is_some()) {
            let text: Option<String> = serde_json::from_str(value.as_str()).ok();
            self.values
                .extend(text.filter(|it| it.chars().count() >= TELLING));
            let meaning = json::meaning(value.as_str()).text.unwrap_or_default();
            each.push(Parameter {
                name: self.texts.number(name),
                value: self.meanings.number(&meaning),
                word: word(name),
            });
        }
        each.sort_unstable_by_key(|it| it.name);
        let meaning = meaning.map(|it| self.meanings.number(&it));
        if let Some(meaning) = meaning {
            self.written
                .entry(meaning)
                .or_insert_with(|| text.to_string());
        }
        Parameters {
            spelling: self.spellings.number(&text),
            size: u32::try_from(text.len()).unwrap_or(u32::MAX),
            meaning,
            each: each.into_iter().collect(),
        }
    }
}

/// Shorter texts may stand in any answer by chance.
const TELLING: usize = 4;

/// What section 3.2 knows of a name: "IDs, names, paths", `force`, `permanent`, `recursive`, "timestamps or request
/// IDs".
fn word(name: &str) -> Word {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let is_resource = ["id", "name", "path", "owner", "repo"].contains(&&*plain)
        || ["_id", "_name", "_path", "Id", "Name", "Path"]
            .iter()
            .any(|it| name.ends_with(it));
    match &*plain {
        "force" => Word::Force,
        "permanent" => Word::Permanent,
        "recursive" => Word::Recursive,
        "timestamp" | "timestamps" => Word::Timestamp,
        "requestid" => Word::RequestId,
        _ if is_resource => Word::Resource,
        _ => Word::Other,
    }
}

/// "A whole number in full is bound to the digit, any other as its double: beyond 2^53 where the shortest form of the
/// double is that very number, else not at all."
fn are_numbers_alike(text: &str) -> bool {
    let mut numbers = Vec::new();
    let (mut is_string, mut is_escaped) = (false, false);
    let mut number = String::new();
    for it in text.chars().chain([' ']) {
        let is_part =
            !is_string && (it.is_ascii_digit() || matches!(it, '-' | '+' | '.' | 'e' | 'E'));
        match it {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = is_string,
            '"' => is_string = !is_string,
            _ => {}
        }
        if is_part {
            number.push(it);
        } else if !number.is_empty() {
            numbers.push(std::mem::take(&mut number));
        }
    }
    numbers.iter().all(|it| {
        let is_whole = it.chars().all(|it| it.is_ascii_digit() || it == '-');
        match it.parse::<f64>() {
            Ok(double) if json::is_held(it) => {
                is_whole
                    || double.abs() < 9_007_199_254_740_992.0
                    || decimal(it) == decimal(&format!("{double:e}"))
            }
            // It is a letter of `true`, `false` or `null`.
            Ok(_) | Err(_) => !it.contains(|it: char| it.is_ascii_digit()),
        }
    })
}

/// The digits of a number that count, and the exponent of the last.
fn decimal(number: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    let trimmed = digits.trim_end_matches('0');
    let cut = i64::try_from(digits.len() - trimmed.len()).ok()?;
    let exponent = exponent.parse::<i64>().ok()? - i64::try_from(part.len()).ok()? + cut;
    let sign = if trimmed.starts_with('-') { "-" } else { "" };
    let digits = trimmed.trim_start_matches('-').trim_start_matches('0');
    Some((format!("{sign}{digits}"), exponent))
}

// ── What is put out ──

impl Names {
    fn output(&mut self, call: &Call, output: &own::Output) -> Output {
        match output {
            own::Output::Perform(it) => Output::Perform(Performed {
                operation: self.texts.number(&it.operation),
                parameters: self.parameters(&it.params).meaning,
                adapter: it.adapter.as_ref().map(|it| self.texts.number(it)),
                session: it.session_id.as_ref().map(|it| self.texts.number(it)),
            }),
            own::Output::Respond(it) => {
                let answer = serde_json::from_str(it.as_str()).unwrap_or_default();
                Output::Respond(self.answer(call, &answer))
            }
            own::Output::Audit(it) => {
                self.audit(&serde_json::from_str(it.as_str()).unwrap_or_default())
            }
            own::Output::Refused(_) => Output::Refused,
        }
    }

    fn answer(&mut self, call: &Call, answer: &Value) -> Answer {
        let is_success = answer["success"] == true;
        let error = &answer["error"];
        let code = error["code"].as_str().unwrap_or_default();
        if let Op::Introspect { query, .. } = &call.op
            && code != LIMITED
        {
            let shape = self.shape(answer);
            let data = &answer["data"];
            let told = |holds| Told { holds, shape };
            return match query {
                Query::Revoke => Answer::Revoked(told(is_success && data["revoked"] != false)),
                Query::Status => Answer::Status(told(is_success && data["status"] == LIVE)),
            };
        }
        if let Some(token) = error["details"]["confirmation_token"].as_str() {
            return Answer::Issued(self.details(call, &error["details"], token));
        }
        let code = match code {
            "TOKEN_INVALID" => Code::Invalid,
            "TOKEN_EXPIRED" => Code::Expired,
            "TOKEN_ALREADY_USED" => Code::Used,
            "TOKEN_SCOPE_MISMATCH" => Code::Scope,
            LIMITED => return Answer::Limited,
            UNREADABLE => return Answer::Unreadable,
            FULL => return Answer::Full,
            "" => return Answer::Other(self.shape(answer)),
            _ => Code::Other,
        };
        let details = &error["details"];
        let at = |it: &Value| it.as_str().map(|it| time::parse(it).unwrap_or(Time::MIN));
        let text = answer.to_string();
        Answer::Failed(Failure {
            code,
            is_whole: answer["success"] == false
                && error["message"].is_string()
                && details.is_object(),
            shape: self.shape(answer),
            expired_at: at(&details["expired_at"]),
            current_time: at(&details["current_time"]),
            exposes_parameters: self.values.iter().any(|it| text.contains(&**it)),
        })
    }

    fn details(&mut self, call: &Call, details: &Value, token: &str) -> Issued {
        let is_new = !self.tokens.all().iter().any(|it| it == token);
        let look = self.look(call, token, is_new);
        let level = LEVELS
            .iter()
            .find(|(word, _)| details["danger_level"] == *word);
        let reasons = details["reasons"].as_array();
        let message = details["confirmation_message"].as_str();
        Issued {
            token: self.tokens.put_out(token),
            look,
            expires_at: details["expires_at"].as_str().and_then(time::parse),
            operation: details["operation"]
                .as_str()
                .map(|it| self.texts.number(it)),
            level: level.map(|it| it.1),
            has_reasons: reasons
                .is_some_and(|it| !it.is_empty() && it.iter().all(Value::is_string)),
            has_message: message.is_some_and(|it| !it.is_empty()),
        }
    }

    fn look(&self, call: &Call, token: &str, is_new: bool) -> Look {
        let prefix = PREFIXES
            .iter()
            .find_map(|(text, purpose)| Some((token.strip_prefix(text)?, *purpose)));
        let identifier = prefix.map_or(token, |it| it.0);
        let count = |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let is_safe = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
        let tells = |it: &str| it.chars().count() >= TELLING && identifier.contains(it);
        let named = match &call.op {
            Op::Call(it) => [Some(it.adapter), Some(it.operation), it.session],
            Op::Configure(_)
            | Op::Introspect { .. }
            | Op::Event { .. }
            | Op::EndSession(_)
            | Op::Tick
            | Op::Restart(_) => [None; 3],
        };
        let mut named = named
            .iter()
            .flatten()
            .filter_map(|it| self.texts.text(it.name));
        let reads = if self.values.iter().any(|it| tells(it)) {
            Some(Readable::Value)
        } else {
            named.any(tells).then_some(Readable::Name)
        };
        Look {
            prefix: prefix.map(|it| it.1),
            identifier: count(identifier),
            characters: count(token),
            is_url_safe: identifier.chars().all(is_safe),
            is_counted: is_new && self.tokens.all().iter().any(|it| is_next(it, token)),
            reads,
        }
    }

    fn audit(&mut self, entry: &Value) -> Output {
        let event = match entry["event"].as_str() {
            Some("TOKEN_ISSUED") => Event::Issued,
            Some("TOKEN_VALIDATED") => Event::Validated,
            Some("TOKEN_REJECTED") => Event::Rejected,
            Some("TOKEN_REVOKED") => Event::Revoked,
            Some(other) if other.starts_with("TOKEN_") => Event::Other(self.texts.number(other)),
            // What is no entry about a token tells the operator something else.
            Some(_) | None => return Output::Warn,
        };
        let id = entry["token_id"].as_str().filter(|it| !it.is_empty());
        Output::Audit(Entry {
            at: entry["timestamp"]
                .as_str()
                .and_then(time::parse)
                .unwrap_or(Time::MIN),
            event,
            is_success: entry["outcome"] == SUCCESS,
            token: id.map(|it| self.logged.put_out(it)),
            operation: entry["operation"].as_str().map(|it| self.texts.number(it)),
            adapter: entry["adapter_name"]
                .as_str()
                .map(|it| self.texts.number(it)),
            session: entry["client_context"]["session_id"]
                .as_str()
                .map(|it| self.texts.number(it)),
        })
    }

    /// The number of an answer, but for the token that was shown and the times in it.
    fn shape(&mut self, answer: &Value) -> Name {
        let shape = shape(answer, self.shown.as_deref());
        self.shapes.number(&shape.to_string())
    }
}

fn shape(value: &Value, token: Option<&str>) -> Value {
    match value {
        Value::String(text) if time::parse(text).is_some() => json!("<time>"),
        Value::String(text) if token == Some(text) => json!("<token>"),
        // A mere word, or what is short, may stand there for something else.
        Value::String(text) => match token.filter(|it| is_telling(it)) {
            Some(token) => json!(text.replace(token, "<token>")),
            None => value.clone(),
        },
        Value::Array(each) => each.iter().map(|it| shape(it, token)).collect(),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, it)| (name.clone(), shape(it, token)));
            Value::Object(members.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn is_telling(token: &str) -> bool {
    token.chars().count() >= TELLING && !token.chars().all(char::is_alphabetic)
}

/// Whether a token differs from an earlier one by a number at its end that is one greater.
fn is_next(earlier: &str, token: &str) -> bool {
    let number = |text: &str| {
        let stem = text.trim_end_matches(|it: char| it.is_ascii_digit());
        let number = text.get(stem.len()..)?.parse::<u64>().ok()?;
        Some((stem.to_owned(), number))
    };
    match (number(earlier), number(token)) {
        (Some((stem, one)), Some((other, next))) => {
            stem == other && one.checked_add(1) == Some(next)
        }
        (_, _) => false,
    }
}

const LIMITED: &str = "RATE_LIMITED";
const UNREADABLE: &str = "INVALID_PARAMS";
const FULL: &str = "TOKEN_CAPACITY_EXCEEDED";
const LIVE: &str = "live";
const SUCCESS: &str = "success";
/// The longer first: it does not begin with the other.
const PREFIXES: [(&str, Purpose); 2] = [
    ("quota_continue_", Purpose::Quota),
    ("conf_", Purpose::Confirmation),
];
const LEVELS: [(&str, Level); 5] = [
    ("safe", Level::Safe),
    ("reversible", Level::Reversible),
    ("destructive", Level::Destructive),
    ("dangerous", Level::Dangerous),
    ("forbidden", Level::Forbidden),
];

// ── The way back ──

impl Names {
    fn call_of(&mut self, it: &Request) -> Option<own::Call> {
        Some(own::Call {
            adapter: Some(self.text_of(it.adapter)),
            operation: self.text_of(it.operation),
            params: Json::holding(&self.json_of(&it.parameters)),
            danger_level: match it.level {
                Level::Safe => own::DangerLevel::Safe,
                Level::Reversible => own::DangerLevel::Reversible,
                Level::Destructive => own::DangerLevel::Destructive,
                Level::Dangerous => own::DangerLevel::Dangerous,
                Level::Forbidden => own::DangerLevel::Forbidden,
            },
            session_id: it.session.map(|it| self.text_of(it)),
            session_scope: it.session_scope,
            max_uses: it.max_uses,
            ttl_seconds: match it.ttl {
                Some(it) => Some(seconds(it)?),
                None => None,
            },
            confirmation_token: it.token.map(|it| self.token_of(it)),
            purpose: (it.purpose == Purpose::Quota).then_some(own::Purpose::QuotaContinue),
            reasons: None,
            confirmation_message: None,
        })
    }

    fn token_of(&mut self, shown: Shown) -> String {
        let text = match shown {
            Shown::Token(id) => self.tokens.text(id),
            Shown::OtherCase(id) => other_case(&self.tokens.text(id)),
            Shown::Unknown => format!("conf_{:-<43}", "never-put-out"),
            Shown::Blank => String::new(),
        };
        self.shown = Some(text.clone()).filter(|it| !it.is_empty());
        text
    }

    /// A text of that number and length: as it came, or one that is made up.
    fn text_of(&mut self, text: Text) -> String {
        let characters = usize::try_from(text.characters).unwrap_or(usize::MAX);
        let known = self.texts.text(text.name);
        if let Some(known) =
            known.filter(|it| it.chars().count() == characters || text == text.name.into())
        {
            return known.to_owned();
        }
        let made_up = format!("{:-<characters$}", format!("n{}", text.name));
        self.texts.adopt(text.name, made_up.clone());
        made_up
    }

    /// A name of a parameter that the text takes for that.
    fn parameter_of(&mut self, it: Parameter) -> String {
        if let Some(known) = self
            .texts
            .text(it.name)
            .filter(|known| word(known) == it.word)
        {
            return known.to_owned();
        }
        let made_up = match it.word {
            Word::Resource => format!("n{}_id", it.name),
            Word::Force => "force".to_owned(),
            Word::Permanent => "permanent".to_owned(),
            Word::Recursive => "recursive".to_owned(),
            Word::Timestamp => "timestamp".to_owned(),
            Word::RequestId => "request_id".to_owned(),
            Word::Other => format!("n{}", it.name),
        };
        self.texts.adopt(it.name, made_up.clone());
        made_up
    }

    /// A JSON text of those parameters.
    fn json_of(&mut self, it: &Parameters) -> String {
        if let Some(known) = self.spellings.text(it.spelling) {
            return known.to_owned();
        }
        let members = it.each.iter().map(|it| {
            let value = format!("\"value-{}\"", it.value);
            self.meanings
                .adopt(it.value, json::meaning(&value).text.unwrap_or_default());
            format!("{:?}:{value}", self.parameter_of(*it))
        });
        let members: Vec<String> = members.collect();
        let members = if it.meaning.is_some() {
            members.join(",")
        } else {
            // A name twice has no one meaning.
            "\"twice\":1,\"twice\":2".to_owned()
        };
        let blank = |bit: u32| {
            if it.spelling >> bit & 1 == 1 {
                '\t'
            } else {
                ' '
            }
        };
        let blanks: String = (0..u16::BITS).map(blank).collect();
        let text = format!("{{{blanks}{members}}}");
        if let (Some(number), Some(meaning)) = (it.meaning, json::meaning(&text).text) {
            self.meanings.adopt(number, meaning);
            self.written.insert(number, text.clone());
        }
        self.spellings.adopt(it.spelling, text.clone());
        text
    }

    fn response(&mut self, output: &Output) -> Option<own::Output> {
        Some(match output {
            Output::Perform(it) => own::Output::Perform(own::Operation {
                operation: self.text_of(it.operation.into()),
                params: Json::holding(it.parameters.and_then(|it| self.written.get(&it))?),
                adapter: it.adapter.map(|it| self.text_of(it.into())),
                session_id: it.session.map(|it| self.text_of(it.into())),
            }),
            Output::Respond(it) => {
                let answer = self.response_of(it);
                own::Output::Respond(Json::of(&answer).ok()?)
            }
            Output::Audit(it) => {
                let entry = self.entry_of(it);
                own::Output::Audit(Json::of(&entry).ok()?)
            }
            Output::Warn => own::Output::Audit(Json::of(&json!({"kind": "warning"})).ok()?),
            Output::Refused => own::Output::Refused(driver::Refused {
                clause: None,
                reason: "not allowed".to_owned(),
            }),
        })
    }

    fn response_of(&mut self, it: &Answer) -> Value {
        let error = |code: &str, details: Value| json!({"success": false, "error": {"code": code, "message": "Not done.", "details": details}});
        match it {
            Answer::Issued(it) => error("CONFIRMATION_REQUIRED", self.details_of(it)),
            Answer::Failed(it) => {
                let code = match it.code {
                    Code::Invalid => "TOKEN_INVALID",
                    Code::Expired => "TOKEN_EXPIRED",
                    Code::Used => "TOKEN_ALREADY_USED",
                    Code::Scope => "TOKEN_SCOPE_MISMATCH",
                    Code::Other => "OTHER",
                };
                let exposed = self.values.last().filter(|_| it.exposes_parameters);
                let details = json!({
                    "token": self.shown, "form": it.shape, "value": exposed,
                    "expired_at": it.expired_at.map(time::write),
                    "current_time": it.current_time.map(time::write),
                });
                let mut answer = error(code, details);
                if !it.is_whole {
                    answer["error"]["message"].take();
                }
                answer
            }
            Answer::Unreadable => error(UNREADABLE, json!({})),
            Answer::Limited => error(LIMITED, json!({})),
            Answer::Full => error(FULL, json!({})),
            Answer::Revoked(it) => {
                json!({"success": true, "data": {"revoked": it.holds, "form": it.shape}})
            }
            Answer::Status(it) => {
                let status = if it.holds { LIVE } else { "over" };
                json!({"success": true, "data": {"status": status, "form": it.shape}})
            }
            Answer::Other(it) => json!({"success": true, "data": {"form": it}}),
        }
    }

    /// The text of a token that a text puts out, made up where it is new.
    fn token(&mut self, it: &Issued) -> String {
        if it.token == self.tokens.count() {
            let token = self.made_up(&it.look);
            self.tokens.put_out(&token);
        }
        self.tokens.text(it.token)
    }

    /// A token that looks so, from letters that are the same for the same number.
    fn made_up(&self, look: &Look) -> String {
        let prefix = PREFIXES.iter().find(|(_, of)| Some(*of) == look.prefix);
        let prefix = prefix.map_or("other_", |it| it.0);
        let whole = usize::try_from(look.characters).unwrap_or(usize::MAX);
        let identifier = usize::try_from(look.identifier).unwrap_or(usize::MAX);
        let length = identifier.max(whole.saturating_sub(prefix.len()));
        let number = self.tokens.count();
        if look.is_counted {
            return format!("{prefix}{number:0>length$}");
        }
        let tells = match look.reads {
            Some(Readable::Value) => self.values.last().cloned(),
            Some(Readable::Name) => {
                let names = self.texts.all().map(|(_, it)| it.to_owned());
                names.filter(|it| it.chars().count() >= TELLING).last()
            }
            None => None,
        };
        let mut bits = u64::from(number);
        let letters = std::iter::repeat_with(|| {
            bits = bits.wrapping_add(1).wrapping_mul(0x5851_F42D_4C95_7F2D);
            bits ^= bits >> 29;
            char::from(
                b"abcdefghijklmnopqrstuvwxyz"
                    .get((bits % 26) as usize)
                    .copied()
                    .unwrap_or(b'a'),
            )
        });
        let mark = if look.is_url_safe { "" } else { "!" };
        let begun = tells.unwrap_or_default() + mark;
        let identifier: String = begun.chars().chain(letters).take(length).collect();
        format!("{prefix}{identifier}")
    }

    fn details_of(&mut self, it: &Issued) -> Value {
        json!({
            "operation": it.operation.map(|it| self.text_of(it.into())),
            "danger_level": it.level.and_then(|level| LEVELS.iter().find(|it| it.1 == level)).map(|it| it.0),
            "reasons": it.has_reasons.then_some(["It does harm."]),
            "confirmation_message": it.has_message.then_some("Is it to run?"),
            "confirmation_token": self.token(it),
            "expires_at": it.expires_at.map(time::write),
        })
    }

    fn entry_of(&mut self, it: &Entry) -> Value {
        let event = match it.event {
            Event::Issued => "TOKEN_ISSUED".to_owned(),
            Event::Validated => "TOKEN_VALIDATED".to_owned(),
            Event::Rejected => "TOKEN_REJECTED".to_owned(),
            Event::Revoked => "TOKEN_REVOKED".to_owned(),
            Event::Other(it) => self.text_of(it.into()),
        };
        let session = it.session.map(|it| self.text_of(it.into()));
        json!({
            "timestamp": time::write(it.at),
            "event": event,
            "token_id": it.token.map(|it| format!("digest_{it}")),
            "operation": it.operation.map(|it| self.text_of(it.into())),
            "adapter_name": it.adapter.map(|it| self.text_of(it.into())),
            "outcome": if it.is_success { SUCCESS } else { "failure" },
            "client_context": session.map(|it| json!({"session_id": it})),
        })
    }
}

fn other_case(token: &str) -> String {
    let other = |it: char| {
        if it.is_ascii_lowercase() {
            it.to_ascii_uppercase()
        } else {
            it.to_ascii_lowercase()
        }
    };
    token.chars().map(other).collect()
}

/// Whole seconds; nothing where they are not whole.
fn seconds(millis: Time) -> Option<i64> {
    (millis % 1000 == 0).then_some(millis / 1000)
}
