//! Rows of a table of pending actions, as somebody has exported them: one object a row, whose columns a mapping names.
//!
//! The one thing to know: a row is what is left of a history. It is accused only of what no history that keeps the rules can have left,
//! and what it leaves out is not judged. Several rows of one id may be versions of one action.

mod row;
pub mod rules;

use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(crate) use row::Moment;
pub use row::{Cell, Columns};
use row::{Effect, Row, State};

use crate::envelope::Opened;
use crate::finding::Finding;
use crate::lines::{LONGEST_LINE, Line, Records};
use crate::place::{Here, Place};
use crate::protocol::Protocol;
use crate::report::{Damage, LintReport, NotJudged, Verdict};
use crate::rules::{Rule, Weight};
use crate::selection::Selection;
use crate::transcript::{differs, first_clause, same};

/// A file that holds no rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it holds no rows of pending actions: {0}")]
pub struct NoRows(String);

/// Judges rows of pending actions, as far as they can be read. With `strict`, warnings are violations.
///
/// Memory is that of the longest row, and of what is kept of each id.
///
/// # Errors
///
/// There is something in it, and no row that has an id.
pub fn judge_rows(
    opened: Opened<'_>,
    columns: &Columns,
    file: &str,
    strict: bool,
    selection: &Selection,
) -> Result<LintReport, NoRows> {
    let otherwise = opened.looks_otherwise();
    let (_, records) = opened.split();
    let judged = match records {
        Ok(mut lines) => judge(&mut lines, columns, file, strict, selection),
        Err(mut messages) => {
            let report = judge(&mut messages, columns, file, strict, selection);
            let places = messages.into_places();
            match report {
                Ok(mut report) => {
                    report.tell_envelope(places, first_clause(Protocol::PendingAction));
                    Ok(report)
                }
                Err(NoRows(why)) => Err(NoRows(places.tell(&why, ""))),
            }
        }
    };
    match (otherwise, &judged) {
        (Some(why), Ok(LintReport { records: 0, .. }) | Err(_)) => Err(NoRows(why)),
        _ => judged,
    }
}

fn judge(
    records: &mut impl Records,
    columns: &Columns,
    file: &str,
    strict: bool,
    selection: &Selection,
) -> Result<LintReport, NoRows> {
    let mut table = Table::new(selection);
    let damage = table.read(records, columns);
    let has_id = table.seen.contains("id");
    if let Some(why) = table.is_none(columns, damage.as_ref(), has_id) {
        return Err(NoRows(why));
    }
    let not_judged = table.not_judged(columns);
    // What is of no session is told with one that there is.
    let is_about = selection.is_about(&table.sessions);
    let (violations, warnings) = table
        .findings
        .into_iter()
        .filter(|_| is_about)
        .partition(|finding| strict || finding.weight == Weight::Violation);
    let mut report = LintReport {
        file: file.to_owned(),
        records: table.rows,
        sessions: table.sessions.len(),
        verdict: Verdict::Conforming,
        violations,
        warnings,
        known: Vec::new(),
        unlisted: BTreeMap::new(),
        not_judged,
        tied: BTreeMap::new(),
        damage,
    };
    report.fingerprint();
    // What is older than is asked about was left out row by row.
    selection.apply(Some(0), &mut report);
    Ok(report)
}

/// What is kept of an action for the rows of the same id that follow.
#[derive(Debug)]
struct Known {
    line: u64,
    tool: Option<String>,
    /// What was decided, and on which line.
    end: Option<(State, u64)>,
    /// When it ran, and on which line.
    ran: Option<(Moment, u64)>,
    /// On which line it has run.
    has_run: Option<u64>,
    /// On which line it had expired or was taken back before anybody had decided.
    closed: Option<(State, u64)>,
    /// The arguments that were proposed, each with its first line.
    proposed: Vec<(Cell, u64)>,
    /// When its question closes at the earliest, and on which line.
    expires: Option<(Moment, u64)>,
    /// When it was allowed at the earliest, and on which line.
    allowed: Option<(Moment, u64)>,
}

impl Known {
    fn of(row: &Row, line: u64) -> Self {
        let [proposed, ..] = &row.arguments;
        let closed = row
            .status
            .filter(|it| [State::Expired, State::Cancelled].contains(it))
            .filter(|_| row.is_undecided() && !row.has_run() && !row.may_only_read());
        Self {
            line,
            tool: row.tool.clone(),
            end: row.end().map(|it| (it, line)),
            ran: row.times.executed.map(|it| (it, line)),
            has_run: row.has_run().then_some(line),
            closed: closed.map(|it| (it, line)),
            proposed: proposed
                .raw()
                .map(|_| (proposed.clone(), line))
                .into_iter()
                .collect(),
            expires: row.times.expires.map(|it| (it, line)),
            allowed: row
                .times
                .decided
                .filter(|_| row.was_allowed())
                .filter(|_| !row.times.before(|it| [it.expires, it.decided]))
                .map(|it| (it, line)),
        }
    }

    /// Takes what another version of the row says besides.
    fn add(&mut self, other: Self) {
        self.end = self.end.or(other.end);
        self.ran = self.ran.or(other.ran);
        self.has_run = self.has_run.or(other.has_run);
        self.closed = self.closed.or(other.closed);
        self.expires = earlier(self.expires, other.expires);
        self.allowed = earlier(self.allowed, other.allowed);
        for (proposed, line) in other.proposed {
            if self.proposed.iter().all(|(it, _)| it.differs(&proposed)) {
                self.proposed.push((proposed, line));
            }
        }
    }

    /// PA-7: the line on which the question closed, and that on which it was allowed later, where these are two versions.
    fn late(&self, other: &Self) -> Option<(u64, u64)> {
        let pairs = [(self.expires, other.allowed), (other.expires, self.allowed)];
        pairs.into_iter().find_map(|(expires, allowed)| {
            let ((expires, closed), (allowed, line)) = expires.zip(allowed)?;
            expires.is_before(allowed).then_some((closed, line))
        })
    }

    /// PA-3: the line on which other arguments were proposed than in the other version, of an action that was allowed or ran in either,
    /// with the rule that this breaks, what became of it, and whether both are arguments.
    fn otherwise(&self, other: &Self) -> Option<(u64, &'static Rule, &'static str, bool)> {
        let (here, _) = self.proposed.first()?;
        let mut others = other.proposed.iter();
        let (there, line) = others.find(|(it, _)| here.differs(it))?;
        let are_read = here.may_be_arguments() && there.may_be_arguments();
        let is_allowed = |it: &Self| matches!(it.end, Some((State::Allowed, _)));
        if self.has_run.or(other.has_run).is_some() {
            return Some((*line, &rules::RUNS_OTHERWISE, "ran", are_read));
        }
        let is_allowed = is_allowed(self) || is_allowed(other);
        is_allowed.then_some((*line, &rules::APPROVED_OTHERWISE, "was allowed", are_read))
    }
}

/// The earlier of two moments that may be there, with its line.
fn earlier(one: Option<(Moment, u64)>, other: Option<(Moment, u64)>) -> Option<(Moment, u64)> {
    match (one, other) {
        (Some(one), Some(other)) if one.0.earlier(other.0) != one.0 => Some(other),
        (one, other) => one.or(other),
    }
}

/// Rows that are being read.
struct Table<'a> {
    selection: &'a Selection,
    rows: u64,
    sessions: BTreeSet<String>,
    known: HashMap<(Option<String>, String), Known>,
    findings: Vec<Finding>,
    /// The clauses on which something was looked at.
    touched: BTreeSet<&'static str>,
    /// The columns that are in some row.
    seen: BTreeSet<&'static str>,
    /// What is in a row, and has no meaning: the columns, with the line and what stands there first.
    unread: BTreeMap<&'static str, (u64, String, u64)>,
    /// What the times or words of a row leave open: the clause, and whether the verdict is open with it, with what is open first, and in
    /// how many rows.
    doubts: BTreeMap<(&'static str, bool), (String, u64)>,
    /// The same of the row that is looked at.
    new_doubts: Vec<((&'static str, bool), String)>,
    /// The first row without an id.
    nameless: Option<u64>,
    reached: bool,
}

/// A row with its place.
struct At<'a> {
    row: &'a Row,
    line: u64,
    place: Place,
}

impl<'a> Table<'a> {
    fn new(selection: &'a Selection) -> Self {
        Self {
            selection,
            rows: 0,
            sessions: BTreeSet::new(),
            known: HashMap::new(),
            findings: Vec::new(),
            touched: BTreeSet::new(),
            seen: BTreeSet::new(),
            unread: BTreeMap::new(),
            doubts: BTreeMap::new(),
            new_doubts: Vec::new(),
            nameless: None,
            reached: false,
        }
    }

    /// Reads to the end, or to what is no row.
    fn read(&mut self, records: &mut impl Records, columns: &Columns) -> Option<Damage> {
        loop {
            let (next, bytes) = (records.taken() + 1, records.bytes());
            let (line, message) = match self.next(records, columns) {
                Ok(true) => continue,
                Ok(false) => return None,
                Err((line, message)) => (line.unwrap_or(next), message),
            };
            return Some(Damage {
                line,
                bytes,
                message,
            });
        }
    }

    fn next(
        &mut self,
        records: &mut impl Records,
        columns: &Columns,
    ) -> Result<bool, (Option<u64>, String)> {
        let line = records.next_line().map_err(|it| (None, it.to_string()))?;
        let (number, bytes, ended) = match line {
            None => return Ok(false),
            Some(Line::Whole {
                number,
                bytes,
                ended,
            }) => (number, bytes.to_vec(), ended),
            Some(Line::TooLong { number, .. }) => {
                let why = format!("it is longer than {LONGEST_LINE} bytes");
                return Err((Some(number), why));
            }
            Some(Line::Without { number, why, .. }) => return Err((Some(number), why)),
        };
        let fault = |why: String| (Some(number), why);
        if bytes.trim_ascii().is_empty() {
            return Ok(true);
        }
        let is_object = bytes.trim_ascii_start().starts_with(b"{");
        if !is_object || serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_err() {
            let cut = if ended {
                ""
            } else {
                ", and the input ends in it"
            };
            return Err(fault(format!(
                "line {number} is no row: no JSON object{cut}"
            )));
        }
        let row = columns.read(&bytes, &mut self.seen).map_err(fault)?;
        self.rows += 1;
        let here = Here::new(number, &bytes).shifted(records.shift());
        let place = here.into();
        self.take(&At {
            row: &row,
            line: number,
            place,
        });
        Ok(true)
    }

    fn take(&mut self, at: &At<'_>) {
        let row = at.row;
        self.sessions.extend(row.session.clone());
        for (column, written) in &row.unread {
            let first = || (at.line, written.clone(), 0);
            self.unread.entry(column).or_insert_with(first).2 += 1;
        }
        if row.id.is_none() {
            self.nameless.get_or_insert(at.line);
        }
        let before = self.findings.len();
        self.ran(at);
        self.allowed(at);
        self.with_other_arguments(at);
        self.in_order(at);
        self.label(at);
        self.doubtful(at);
        self.known_before(at);
        let is_then = self.selection.since.is_none_or(|since| {
            let times = row.times;
            let times = [times.created, times.decided, times.executed];
            times.into_iter().flatten().any(|it| it.reaches(since))
        });
        self.reached |= is_then;
        let doubts = std::mem::take(&mut self.new_doubts);
        if !is_then || !self.selection.wants(row.session.as_deref()) {
            return self.findings.truncate(before);
        }
        for (clause, what) in doubts {
            self.doubts.entry(clause).or_insert((what, 0)).1 += 1;
        }
    }

    fn accuse(&mut self, rule: &'static Rule, at: &At<'_>, message: String) {
        let session = at.row.session.as_deref();
        let finding = Finding::new(rule, &at.place, session, message);
        self.findings.push(finding);
    }

    fn doubt(&mut self, clause: &'static str, what: String) {
        self.new_doubts.push(((clause, true), what));
    }

    fn touch(&mut self, rule: &Rule) {
        self.touched.insert(rule.clause);
    }

    /// PA-1, PA-5, PA-7, PA-8, PA-10: what ran had been allowed, in time, and by nothing else than that.
    fn ran(&mut self, at: &At<'_>) {
        let row = at.row;
        let (name, times) = (row.name(), row.times);
        let says_whether = row.has_run() || row.executed.is_null() || row.executions.is_some();
        let is_denied = row.was_denied() && !row.is_of_two_decisions();
        let rules = [
            (is_denied, &rules::DENIED_RUNS),
            (row.status == Some(State::Cancelled), &rules::DENIED_RUNS),
            (row.status == Some(State::Expired), &rules::EXPIRED),
            (row.status == Some(State::Pending), &rules::UNTRUE),
        ];
        for (_, rule) in rules.iter().filter(|(is_such, _)| *is_such && says_whether) {
            self.touch(rule);
        }
        let was_late = times.before(|it| [it.expires, it.decided]);
        let is_told = times.expires.is_some() && times.decided.is_some();
        if is_told && (row.has_run() || row.status == Some(State::Allowed)) {
            self.touch(&rules::EXPIRED);
        }
        if !row.has_run() {
            if row.status == Some(State::Allowed) && was_late && !row.is_of_two_decisions() {
                let message = format!("{name} is allowed, and was decided after `expires_at`");
                self.accuse(&rules::EXPIRED, at, message);
            }
            return;
        }
        if row.is_undecided() || times.decided.is_some() && times.executed.is_some() {
            self.touch(&rules::UNDECIDED);
        }
        let in_time = times.before(|it| [it.executed, it.expires])
            || times.before(|it| [it.decided, it.expires]);
        match row.status {
            _ if row.is_of_two_decisions() => {}
            _ if is_denied => {
                let message = format!("{name} was denied, and ran");
                self.accuse(&rules::DENIED_RUNS, at, message);
            }
            // What was allowed first may have been cut short.
            Some(State::Cancelled) if row.is_undecided() && !row.may_only_read() => {
                let message = format!("{name} was taken back, nobody allowed it, and it ran");
                self.accuse(&rules::DENIED_RUNS, at, message);
            }
            Some(State::Expired) if in_time => {
                let message =
                    format!("status of {name} is that it has expired, and it ran in time");
                self.accuse(&rules::UNTRUE, at, message);
                if row.is_undecided() && row.was_asked() {
                    let message = format!("{name} ran, and nobody has decided");
                    self.accuse(&rules::UNDECIDED, at, message);
                }
            }
            Some(State::Expired) => {
                let message = format!("{name} has expired, and ran");
                self.accuse(&rules::EXPIRED, at, message);
            }
            _ if was_late => {
                let message = format!("{name} was decided after `expires_at`, and ran");
                self.accuse(&rules::EXPIRED, at, message);
            }
            _ if row.is_undecided() && row.was_asked() => {
                let message = format!("{name} ran, and nobody has decided");
                self.accuse(&rules::UNDECIDED, at, message);
            }
            _ if times.before(|it| [it.executed, it.decided]) && !row.may_only_read() => {
                let message = format!("{name} ran before it was decided");
                self.accuse(&rules::UNDECIDED, at, message);
            }
            Some(State::Pending) => {
                let message = format!("status of {name} is that it pends, and it ran");
                self.accuse(&rules::UNTRUE, at, message);
            }
            _ => {}
        }
        if row.executions.is_some_and(|count| count > 1) {
            let times = match row.executions {
                Some(count) if count < u64::MAX => format!("{count} times"),
                _ => "more than once".to_owned(),
            };
            self.accuse(&rules::RUNS_AGAIN, at, format!("{name} ran {times}"));
        }
    }

    /// PA-2: who allows is somebody who may decide, and not the agent that proposed.
    fn allowed(&mut self, at: &At<'_>) {
        let row = at.row;
        let Some(decider) = row.decider.as_ref().filter(|_| row.was_allowed()) else {
            return;
        };
        let name = row.name();
        if let Some(deciders) = &row.deciders {
            self.touch(&rules::NOT_ENTITLED);
            if !deciders.contains(decider) {
                let message =
                    format!("decider of {name} is {decider:?}, who is none of `deciders`");
                self.accuse(&rules::NOT_ENTITLED, at, message);
            }
        } else if let Some(agent) = row.agent.as_ref().filter(|_| row.are_deciders_read()) {
            self.touch(&rules::NOT_ENTITLED);
            if agent == decider {
                let message =
                    format!("decider of {name} is {decider:?}, the agent that proposed it");
                self.accuse(&rules::NOT_ENTITLED, at, message);
            }
        }
    }

    /// PA-3: the call runs as it was proposed, and so it was approved.
    fn with_other_arguments(&mut self, at: &At<'_>) {
        let row = at.row;
        let [proposed, approved, executed] = &row.arguments;
        let Some(original) = proposed.raw() else {
            return;
        };
        let name = row.name();
        let is_other = |it: &&str| differs(it, original);
        let is_approval = approved.raw().filter(|_| row.was_allowed());
        if executed.raw().or(is_approval).is_some() {
            self.touch(&rules::RUNS_OTHERWISE);
        }
        let (column, cell) = if executed.raw().is_some_and(|it| is_other(&it)) {
            ("executed_arguments", executed)
        } else if is_approval.is_some_and(|it| is_other(&it)) {
            ("approved_arguments", approved)
        } else {
            return;
        };
        let is_run = column == "executed_arguments";
        let is_empty = cell
            .raw()
            .map(compact)
            .is_some_and(|it| ["{}", "[]"].contains(&&*it));
        let open = if !cell.may_be_arguments() || !proposed.may_be_arguments() {
            "is not as `arguments`, and one of them is no JSON: what they mean does not show"
        } else if is_run && row.did_not_run() && is_empty {
            return;
        } else if is_run && row.did_not_run() {
            "is not as `arguments`, and the row says that it did not run: which of them is so does not show"
        } else if !is_run && is_empty {
            "is empty: whether nothing was edited or nothing was approved does not show"
        } else if is_run {
            let approved = approved.raw().zip(executed.raw());
            let approved = match approved {
                Some((approved, executed)) if same(approved, executed) => ", though as approved",
                _ => "",
            };
            let message = format!("{name} ran with other arguments than proposed{approved}");
            return self.accuse(&rules::RUNS_OTHERWISE, at, message);
        } else {
            let message = format!("{name} was allowed with other arguments than proposed");
            return self.accuse(&rules::APPROVED_OTHERWISE, at, message);
        };
        let what = format!("`{column}` of {name} on line {} {open}", at.line);
        self.doubt(rules::RUNS_OTHERWISE.clause, what);
    }

    /// PA-10: what follows comes later.
    fn in_order(&mut self, at: &At<'_>) {
        let times = at.row.times;
        let later = [("decided", times.decided), ("executed", times.executed)];
        for (what, later) in later {
            let (Some(created), Some(later)) = (times.created, later) else {
                continue;
            };
            self.touch(&rules::UNTRUE);
            if later.is_before(created) {
                let message = format!("{what}_at of {} is before `created_at`", at.row.name());
                return self.accuse(&rules::UNTRUE, at, message);
            }
        }
    }

    /// PA-1, PA-7, PA-10: what is said of a row that nobody can be accused of, and that is not right as it stands.
    fn doubtful(&mut self, at: &At<'_>) {
        let row = at.row;
        let (name, line, times) = (row.name(), at.line, row.times);
        let was_asked = row.has_run() && !row.may_only_read();
        let pairs = [
            (
                rules::EXPIRED.clause,
                ["decided_at", "expires_at"],
                [times.decided, times.expires],
                row.was_allowed(),
            ),
            (
                rules::UNDECIDED.clause,
                ["decided_at", "executed_at"],
                [times.decided, times.executed],
                was_asked,
            ),
            (
                rules::UNTRUE.clause,
                ["created_at", "decided_at"],
                [times.created, times.decided],
                true,
            ),
            (
                rules::UNTRUE.clause,
                ["created_at", "executed_at"],
                [times.created, times.executed],
                true,
            ),
        ];
        for (clause, [later, earlier], moments, is_about) in pairs {
            let ([Some(one), Some(other)], true) = (moments, is_about) else {
                continue;
            };
            if one.is_of_other_kind(other) {
                let what = format!(
                    "of `{later}` and `{earlier}` of {name} on line {line} one has an offset and the other has none: \
                     which is earlier does not show"
                );
                self.new_doubts.push(((clause, false), what));
            } else if one.may_be_after(other) {
                let what = format!(
                    "`{later}` of {name} on line {line} is later than `{earlier}` by no more than their last digit: \
                     only times with more digits would show it"
                );
                self.doubt(clause, what);
            }
        }
        let is_executed = row.status == Some(State::Executed);
        let what = if row.is_of_two_decisions() && row.status == Some(State::Denied) {
            "`status` is that it was denied, and `decision` that it was allowed"
        } else if row.is_of_two_decisions() {
            "`status` is that it was allowed, and `decision` that it was denied"
        } else if is_executed && row.executions == Some(0) {
            "`status` is that it ran, and `executions` is 0"
        } else if is_executed && row.executed.is_null() {
            "`status` is that it ran, and `executed_at` is null"
        } else {
            return;
        };
        let what = format!("of {name} on line {line}, {what}: which of them is so does not show");
        self.doubt(rules::UNTRUE.clause, what);
    }

    /// PA-9: what the user sees need not tell the id, nor the arguments.
    fn label(&mut self, at: &At<'_>) {
        let Some(label) = &at.row.label else {
            return;
        };
        let id = at.row.id.as_ref().filter(|id| id.len() >= TELLING);
        let is_structure = |it: &String| it.starts_with(['{', '[']) && it.len() >= TELLING;
        let [proposed, ..] = &at.row.arguments;
        let proposed = proposed
            .written()
            .map(|it| compact(&it))
            .filter(is_structure);
        if id.is_some() || proposed.is_some() {
            self.touch(&rules::LABEL_TELLS);
        }
        if let Some(id) = id.filter(|id| label.contains(&***id)) {
            let message = format!("label shows {id:?} to the user");
            self.accuse(&rules::LABEL_TELLS, at, message);
        } else if proposed.is_some_and(|it| compact(label).contains(&it)) {
            let message = format!("label of {} shows its arguments to the user", at.row.name());
            self.accuse(&rules::LABEL_TELLS, at, message);
        }
    }

    /// PA-1, PA-8: rows of one id are versions of one action, which is settled and runs once.
    fn known_before(&mut self, at: &At<'_>) {
        let row = at.row;
        let Some(id) = row.id.clone() else {
            return;
        };
        let name = row.name();
        let now = Known::of(row, at.line);
        if now.end.is_some() {
            self.touch(&rules::DECIDED_AGAIN);
        }
        let key = (row.session.clone(), id);
        let Some(before) = self.known.get_mut(&key) else {
            self.known.insert(key, now);
            return;
        };
        let mut fault = None;
        if let (Some(tool), Some(other)) = (&now.tool, &before.tool)
            && tool != other
        {
            let message = format!(
                "{name} is a call of {tool:?}, and on line {} of {other:?}",
                before.line
            );
            fault = Some((&rules::NAME_AGAIN, message));
        } else if let Some((line, rule, has_run, are_read)) = now.otherwise(before) {
            let message =
                format!("{name} {has_run}, and was proposed with other arguments on line {line}");
            if are_read {
                fault = Some((rule, message));
            } else {
                let what =
                    format!("{message}, and one of them is no JSON: what they mean does not show");
                self.new_doubts.push(((rule.clause, true), what));
            }
        } else if let (Some((ran, _)), Some((other, line))) = (now.ran, before.ran)
            && ran.differs(other)
        {
            let message = format!("{name} ran at another time than on line {line}: it ran twice");
            fault = Some((&rules::RUNS_AGAIN, message));
        } else if let (Some((end, _)), Some((other, line))) = (now.end, before.end)
            && end != other
        {
            let (end, other) = (end.name(), other.name());
            let message = format!("{name} is {end}, and on line {line} it is {other}");
            fault = Some((&rules::DECIDED_AGAIN, message));
        }
        let closed = now.closed.zip(before.has_run);
        let closed = closed.or_else(|| before.closed.zip(now.has_run));
        if let (Some(((state, closed), ran)), None) = (closed, &fault) {
            let rule = if state == State::Expired {
                &rules::EXPIRED
            } else {
                &rules::DENIED_RUNS
            };
            let (state, what) = (state.name(), "before anybody had decided");
            let message =
                format!("{name} is {state} on line {closed}, {what}, and ran on line {ran}");
            fault = Some((rule, message));
        }
        let late = now.late(before).filter(|_| fault.is_none());
        before.add(now);
        if let Some((rule, message)) = fault {
            self.touch(rule);
            self.accuse(rule, at, message);
        }
        if let Some((closed, line)) = late {
            let what = format!(
                "{name} was allowed on line {line} after the `expires_at` of line {closed}: only rows that tell when its question was to close later, if it was, would show whether that is in time"
            );
            self.doubt(rules::EXPIRED.clause, what);
        }
    }

    /// Why there is nothing to judge.
    fn is_none(&self, columns: &Columns, damage: Option<&Damage>, has_id: bool) -> Option<String> {
        if self.rows == 0 {
            return damage.map(|it| it.message.clone());
        }
        let [(_, id), ..] = columns.pointers();
        match id {
            None => Some("the table [row] of the mapping names no `id`".to_owned()),
            Some(id) if !has_id => {
                Some(format!("the pointer {:?} of `id` leads nowhere", id.text()))
            }
            Some(_) => None,
        }
    }

    /// What these rows do not show.
    fn not_judged(&self, columns: &Columns) -> Vec<NotJudged> {
        let nowhere = columns
            .pointers()
            .into_iter()
            .filter_map(|(name, pointer)| {
                let pointer = pointer.filter(|_| self.rows > 0 && !self.seen.contains(name))?;
                Some(format!(
                    "the pointer {:?} of `{name}` leads nowhere",
                    pointer.text()
                ))
            });
        let nowhere: Vec<_> = nowhere.collect();
        let mut all = Vec::new();
        let first = first_clause(Protocol::PendingAction);
        if !nowhere.is_empty() {
            all.push(NotJudged::partly(first, nowhere.join(", ")));
        }
        for (column, (line, written, count)) in &self.unread {
            let reason = format!(
                "`{column}` on line {line} is {written:?}, which has no meaning here ({count} of {} rows): \
                 [row.words] of the mapping gives words of `status`, `decision` and `effect` one, times are ISO 8601 or numbers, \
                 `executions` is a whole number, and `deciders` a list of names",
                self.rows
            );
            all.push(NotJudged::open(first, reason));
        }
        for ((clause, is_owed), (what, count)) in &self.doubts {
            let reason = format!("{what} ({count} of {} rows)", self.rows);
            all.push(if *is_owed {
                NotJudged::open(clause, reason)
            } else if *count < self.rows {
                NotJudged::partly(clause, reason)
            } else {
                NotJudged::unseen(clause, reason)
            });
        }
        if let Some(line) = self.nameless {
            let reason = format!("the row on line {line} has no id");
            all.push(NotJudged::open(first, reason));
        }
        let untouched = rules::ASKS_FOR.iter();
        let untouched = untouched.filter(|(clause, _)| !self.touched.contains(clause));
        all.extend(
            untouched
                .map(|(clause, what)| NotJudged::unseen(clause, format!("no row holds {what}"))),
        );
        let unseen = rules::UNSEEN.iter();
        all.extend(unseen.map(|(clause, why)| NotJudged::unseen(clause, *why)));
        if self.touched.is_empty() {
            let reason = "nothing is there that a clause is about".to_owned();
            all.push(NotJudged::open(first, reason));
        }
        for session in &self.selection.sessions {
            if !self.sessions.contains(session) {
                let reason = format!("nothing is about the session {session:?}");
                all.push(NotJudged::open(first, reason));
            }
        }
        if self.selection.since.is_some() && !self.reached {
            let reason = "no row is of that time or later".to_owned();
            all.push(NotJudged::open(first, reason));
        }
        all
    }
}

/// So many characters tell an id, or arguments, from what a label may hold by chance.
const TELLING: usize = 6;

/// A text without what is blank in it.
fn compact(text: &str) -> String {
    text.split_whitespace().collect()
}

impl Row {
    fn name(&self) -> String {
        self.id
            .as_ref()
            .map_or_else(|| "it".to_owned(), |id| format!("{id:?}"))
    }

    /// Whether it ran. What is no time does not say so.
    fn has_run(&self) -> bool {
        self.times.executed.is_some()
            || self.status == Some(State::Executed)
            || self.executions.is_some_and(|count| count > 0)
    }

    /// Whether nothing stands for who may decide that cannot be read.
    fn are_deciders_read(&self) -> bool {
        self.unread.iter().all(|(column, _)| *column != "deciders")
    }

    /// Whether it says that it did not run, and nothing in it says that it did.
    fn did_not_run(&self) -> bool {
        let may_run = [None, Some(State::Allowed), Some(State::Executed)];
        !self.has_run()
            && (self.executed.is_null()
                || self.executions == Some(0)
                || !may_run.contains(&self.status))
    }

    /// Whether it was denied, as its status or its decision says.
    fn was_denied(&self) -> bool {
        [self.status, self.decision].contains(&Some(State::Denied))
    }

    /// Whether its status and its decision say that it was allowed and denied. What was denied and ran all the same is none of these.
    fn is_of_two_decisions(&self) -> bool {
        matches!(
            (self.status, self.decision),
            (Some(State::Denied), Some(State::Allowed | State::Executed))
                | (Some(State::Allowed), Some(State::Denied))
        )
    }

    /// Whether it was allowed, rightly or not.
    fn was_allowed(&self) -> bool {
        let may_run = [Some(State::Allowed), Some(State::Executed)];
        !self.was_denied()
            && (self.has_run()
                || may_run.contains(&self.status)
                || may_run.contains(&self.decision))
    }

    /// Whether it says that nobody has decided.
    fn is_undecided(&self) -> bool {
        let [decision, at, _] = &self.decided;
        (decision.is_null() || at.is_null()) && self.decided.iter().all(|it| it.raw().is_none())
    }

    /// Whether it shows that there was a question. A call that only reads may run unasked.
    fn was_asked(&self) -> bool {
        match self.effect {
            Some(Effect::Acts) => true,
            Some(Effect::Read | Effect::Unread) => false,
            None => self.times.expires.is_some(),
        }
    }

    /// Whether the call only reads, or does what a word without a meaning says.
    fn may_only_read(&self) -> bool {
        matches!(self.effect, Some(Effect::Read | Effect::Unread))
    }

    /// What was decided, if anything was. What was allowed may be taken back or expire in another version of the row.
    fn end(&self) -> Option<State> {
        match (self.was_denied(), self.was_allowed()) {
            (true, _) if self.is_of_two_decisions() => None,
            (true, _) => Some(State::Denied),
            (false, true) => Some(State::Allowed),
            (false, false) => None,
        }
    }
}

impl row::Times {
    /// Whether the first of these times is certainly before the second.
    fn before(self, of: impl Fn(Self) -> [Option<Moment>; 2]) -> bool {
        match of(self) {
            [Some(first), Some(second)] => first.is_before(second),
            _ => false,
        }
    }
}
