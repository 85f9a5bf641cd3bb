//! The verdict on one stream, and on several.
//!
//! How they are shown, and how a command ends that has them to tell, is the business of others.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::baseline::Known;
use super::envelope::Places;
use super::finding::{Finding, TiedBy};
use super::rules::Weight;

/// What a stream comes out as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// At least one conforming run explains the whole stream, and nothing is owed at its end.
    Conforming,
    /// No conforming run explains it.
    Violating,
    /// Nothing is wrong so far, and the input ends too early to say more.
    Inconclusive,
}

impl Verdict {
    /// The result as all commands tell it.
    pub const fn result(self) -> &'static str {
        match self {
            Self::Conforming => "PASS",
            Self::Violating => "FAIL",
            Self::Inconclusive => "INCONCLUSIVE",
        }
    }

    /// The word that reports use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Conforming => "conforming",
            Self::Violating => "violating",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// A clause on which the stream gives no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotJudged {
    /// The clause.
    pub clause: &'static str,
    /// Why not.
    pub reason: String,
    /// Whether the stream owes the answer: it ends too early, or lacks what it should hold. Then the verdict is open.
    #[serde(skip)]
    pub owed: bool,
    /// Whether nothing of what the clause asks was judged: whoever asks for it alone gets no answer.
    #[serde(skip)]
    pub wholly: bool,
}

impl NotJudged {
    /// What the stream should have told: the verdict is open.
    pub fn open(clause: &'static str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            clause,
            reason,
            owed: true,
            wholly: false,
        }
    }

    /// What such a stream does not show of the clause, which is judged besides: the verdict stands.
    pub fn partly(clause: &'static str, reason: impl Into<String>) -> Self {
        let owed = false;
        Self {
            owed,
            ..Self::open(clause, reason)
        }
    }

    /// A clause of which such a stream shows nothing: the verdict stands, unless it alone was asked for.
    pub fn unseen(clause: &'static str, reason: impl Into<String>) -> Self {
        let wholly = true;
        Self {
            wholly,
            ..Self::partly(clause, reason)
        }
    }
}

/// Of which findings no more are listed: they are counted alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silence {
    /// Their clause.
    pub clause: &'static str,
    /// Where.
    pub within: Within,
}

/// Where findings of a clause are not listed any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Within {
    /// In this session.
    Session(String),
    /// On lines that name no session.
    NoSession,
    /// In the whole stream.
    Stream,
}

/// How many findings of a clause are not listed, by what they weigh. They are no consequences of others.
pub type Unlisted = BTreeMap<(&'static str, Weight), u64>;

/// Where a stream could not be read any further.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The line that was being read, from 1.
    pub line: u64,
    /// How many bytes of the (decompressed) stream came before.
    pub bytes: u64,
    /// What went wrong.
    pub message: String,
}

/// The outcome of one lint.
#[derive(Debug, Clone, Serialize)]
pub struct LintReport {
    /// The name of the input.
    pub file: String,
    /// The protocol by whose texts it is judged.
    pub protocol: &'static str,
    /// Lines that are not blank.
    pub records: u64,
    /// Different session ids.
    pub sessions: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// What makes it violating, by line.
    pub violations: Vec<Finding>,
    /// What would, unless something excuses it that does not show, by line.
    pub possible: Vec<Finding>,
    /// What does not, by line.
    pub warnings: Vec<Finding>,
    /// Violations that the baseline knows: they do not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Finding>,
    /// What the stream cannot show.
    pub not_judged: Vec<NotJudged>,
    /// What is counted alone, since so many of its clause are listed. What is taken out of the findings is not taken out here.
    #[serde(skip)]
    pub unlisted: Unlisted,
    /// How many calls were tied to a confirmation in which way (AAEP-EV-15).
    pub tied: BTreeMap<TiedBy, u64>,
    /// Where reading failed. What comes before it is judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<Damage>,
}

impl LintReport {
    /// Draws the verdict again, after something was taken out or put in.
    pub fn settle(&mut self) {
        let owed = self.not_judged.iter().any(|it| it.owed);
        let open = self.damage.is_some() || owed || !self.possible.is_empty();
        self.verdict = match (self.violations.is_empty(), open) {
            (false, _) => Verdict::Violating,
            (true, true) => Verdict::Inconclusive,
            (true, false) => Verdict::Conforming,
        };
    }

    /// Tells the places of a file in place of the numbers of its messages; `replies` is the name of a file joined to it.
    pub(crate) fn tell_places(&mut self, places: &Places, replies: &str) {
        for finding in self.all_mut() {
            finding.tell_place(places, replies);
        }
        for not_judged in &mut self.not_judged {
            not_judged.reason = places.tell(&not_judged.reason, replies);
        }
    }

    /// The same of a recording of another protocol, with what its envelope leaves open, under this clause.
    pub(crate) fn tell_envelope(&mut self, places: Places, clause: &'static str) {
        self.tell_places(&places, "");
        let open = places.not_judged.into_iter();
        self.not_judged
            .extend(open.map(|it| NotJudged { clause, ..it }));
    }

    /// Takes out what rests on the order of replies and events from that line on: which is right does not show.
    pub(crate) fn leave_order_open(&mut self, first: u64) {
        let is_open = |it: &mut Finding| it.line >= first && it.may_rest_on_order();
        let violations = self.violations.extract_if(.., is_open);
        let possible = violations.chain(self.possible.extract_if(.., is_open));
        let open: Vec<_> = possible
            .chain(self.warnings.extract_if(.., is_open))
            .collect();
        let open = open.into_iter().map(|it| {
            let reason = format!(
                "{} (line {}), but from line {first} on replies may stand behind what they led to, or before what they answer",
                it.message, it.line
            );
            NotJudged::open(it.clause, reason)
        });
        self.not_judged.extend(open);
        self.unlisted.clear();
        self.settle();
    }

    /// Gives each finding its fingerprint.
    pub fn fingerprint(&mut self) {
        for finding in self.all_mut() {
            finding.give_fingerprint();
        }
    }

    /// Every finding, those of the baseline among them.
    fn all_mut(&mut self) -> impl Iterator<Item = &mut Finding> {
        let found = self.violations.iter_mut().chain(&mut self.possible);
        found.chain(&mut self.warnings).chain(&mut self.known)
    }

    /// Takes out whatever may quote the stream: no message, session or line is left, nor a hash by which one that is guessed
    /// could be told, and what a clause says stands in for what was seen.
    pub fn redact(&mut self) {
        self.all_mut().for_each(Finding::redact);
        for not_judged in &mut self.not_judged {
            not_judged.reason = format!("withheld; it asks that {}", gist(not_judged.clause));
        }
        if let Some(damage) = &mut self.damage {
            damage.message = "withheld; what stands there may be quoted in it".into();
        }
    }

    /// The report as one JSON object.
    ///
    /// # Panics
    ///
    /// Never: everything in a report has a JSON form.
    pub fn to_json(&self) -> Value {
        let mut document = serde_json::to_value(self).expect("a report is plain data");
        document["result"] = json!(self.verdict.result());
        document["texts"] = json!(countersign_clauses::texts_of(self.protocol));
        document
    }
}

impl Finding {
    /// Takes out whatever may quote the stream, as [`LintReport::redact`] does.
    pub fn redact(&mut self) {
        self.message = gist(self.clause);
        self.session = None;
        self.place = None;
        self.fingerprint.clear();
        self.consequences.iter_mut().for_each(Self::redact);
    }
}

/// Puts each consequence under the fault that it follows from. One whose fault is not among them is left out: that fault is
/// not listed, or was withheld, and so is what follows from it.
pub(super) fn with_consequences(findings: Vec<Finding>) -> Vec<Finding> {
    let (consequences, mut findings): (Vec<_>, Vec<_>) = findings
        .into_iter()
        .partition(|finding| finding.follows_from.is_some());
    for consequence in consequences {
        // Also one of an event whose `session_id` has another form.
        let is_cause = |it: &&mut Finding| Some((it.line, it.clause)) == consequence.follows_from;
        if let Some(cause) = findings.iter_mut().find(is_cause) {
            cause.consequences.push(consequence);
        }
    }
    findings
}

/// What the clause says, in our words.
fn gist(clause: &str) -> String {
    countersign_clauses::get(clause)
        .map_or_else(|_| clause.to_owned(), |clause| clause.gist.clone())
}

/// A file of which nothing could be read.
#[derive(Debug, Clone, Serialize)]
pub struct Unreadable {
    /// Its name.
    pub file: String,
    /// Why not.
    pub error: String,
}

/// What came of all inputs.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Whether a single stream was named, so that its report is all there is to say.
    pub single: bool,
    /// The streams that were judged, in order.
    pub reports: Vec<LintReport>,
    /// The files that were not.
    pub unreadable: Vec<Unreadable>,
    /// What the baseline knows and was not found any more.
    pub vanished: Vec<Known>,
}

impl Outcome {
    /// Takes out whatever may quote a stream.
    pub fn redact(&mut self) {
        self.reports.iter_mut().for_each(LintReport::redact);
        self.vanished.iter_mut().for_each(Known::redact);
    }

    /// The verdict on all of them: one that violates outweighs what is open.
    pub fn verdict(&self) -> Verdict {
        let is = |verdict| self.reports.iter().any(|it| it.verdict == verdict);
        if is(Verdict::Violating) {
            Verdict::Violating
        } else if is(Verdict::Inconclusive)
            || !self.unreadable.is_empty()
            || self.reports.is_empty()
        {
            Verdict::Inconclusive
        } else {
            Verdict::Conforming
        }
    }

    /// The report of the one stream, with what vanished; or for several an object around theirs.
    pub fn to_json(&self) -> Value {
        let mut document = match self.reports.as_slice() {
            [report] if self.single => report.to_json(),
            reports => json!({
                "result": self.verdict().result(),
                "files": reports.iter().map(LintReport::to_json).collect::<Vec<_>>(),
                "unreadable": self.unreadable,
            }),
        };
        if !self.vanished.is_empty() {
            document["vanished"] = json!(self.vanished);
        }
        document
    }
}
