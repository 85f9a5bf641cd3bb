//! What the producer is asked in a run, from the shortest to the longest.
//!
//! The one thing to know: a script sends what it sends and judges nothing. A reply that has to be ignored is followed by a while in
//! which nothing may come of it, and then by a rejection, so that the session goes on.

use std::time::Duration;

use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

use super::run::{Entry, Fault, Question, Reply, Run, What, name};
use super::wire::Trouble;

/// For so long nothing may come of a question that nobody has answered, or of a reply that does not count.
pub(super) const QUIET: Duration = Duration::from_millis(400);
/// How long it is listened to a session that is over.
const AFTER_END: Duration = Duration::from_millis(300);
/// How late a timer may be until a script goes on.
const LATE: Duration = Duration::from_secs(5);

/// What is done in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Script {
    /// Accepts every question.
    Accept,
    /// Rejects every question.
    Reject,
    /// Rejects, then accepts with the same token.
    RejectThenAccept,
    /// Accepts twice.
    AcceptTwice,
    /// Accepts with a token that nobody has given out.
    UnknownToken,
    /// Replies as to a clarification.
    OtherKind,
    /// Accepts in messages that break the schema.
    Malformed,
    /// Decides otherwise than the question allows.
    NotAllowed,
    /// Accepts as decided at the deadline, and after it.
    DecidedLate,
    /// Accepts for a subscription that was never opened.
    NotOpen,
    /// Accepts for a subscription that was closed.
    Closed,
    /// Accepts without the token of the transport.
    NotAuthenticated,
    /// Accepts a modified action.
    Modified,
    /// Sends what fails one check after the other, to see whether the answers tell them apart.
    Answers,
    /// Accepts twice at once, from two subscribers.
    AtOnce,
    /// One of two subscribers is away while the question is asked, and comes back.
    ComesBack,
    /// Two sessions at once, of which one is accepted.
    TwoSessions,
    /// Leaves each question to its time, and accepts when that is over.
    Timeout,
}

impl Script {
    /// All, in the order in which they are played.
    pub const ALL: [Self; 18] = [
        Self::Accept,
        Self::Reject,
        Self::RejectThenAccept,
        Self::AcceptTwice,
        Self::UnknownToken,
        Self::OtherKind,
        Self::Malformed,
        Self::NotAllowed,
        Self::DecidedLate,
        Self::NotOpen,
        Self::Closed,
        Self::NotAuthenticated,
        Self::Modified,
        Self::Answers,
        Self::AtOnce,
        Self::ComesBack,
        Self::TwoSessions,
        Self::Timeout,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::RejectThenAccept => "reject-then-accept",
            Self::AcceptTwice => "accept-twice",
            Self::UnknownToken => "unknown-token",
            Self::OtherKind => "other-kind",
            Self::Malformed => "malformed",
            Self::NotAllowed => "not-allowed",
            Self::DecidedLate => "decided-late",
            Self::NotOpen => "not-open",
            Self::Closed => "closed",
            Self::NotAuthenticated => "not-authenticated",
            Self::Modified => "modified",
            Self::Answers => "answers",
            Self::AtOnce => "at-once",
            Self::ComesBack => "comes-back",
            Self::TwoSessions => "two-sessions",
            Self::Timeout => "timeout",
        }
    }

    /// Plays it.
    pub(super) async fn play(self, run: &mut Run<'_>, prompt: &str) -> Result<(), Trouble> {
        run.subscribe().await?;
        match self {
            Self::AtOnce => run.subscribe().await?,
            Self::ComesBack => {
                run.subscribe().await?;
                run.prompt(prompt).await?;
                while let Some(question) = run.question().await {
                    end(run, &question, "reject").await?;
                }
                run.watch(QUIET).await;
                if !run.can_come_back(1) {
                    return Ok(());
                }
                run.break_off(1);
            }
            Self::Closed => {
                run.subscribe().await?;
                if !run.close(1).await {
                    return Ok(());
                }
            }
            Self::TwoSessions => run.prompt(prompt).await?,
            Self::Accept
            | Self::Reject
            | Self::RejectThenAccept
            | Self::AcceptTwice
            | Self::UnknownToken
            | Self::OtherKind
            | Self::Malformed
            | Self::NotAllowed
            | Self::DecidedLate
            | Self::NotOpen
            | Self::NotAuthenticated
            | Self::Modified
            | Self::Answers
            | Self::Timeout => {}
        }
        run.prompt(prompt).await?;
        if self == Self::TwoSessions {
            two_sessions(run).await?;
        }
        while let Some(question) = run.question().await {
            if question.is_confirmation() {
                self.confirm(run, &question).await?;
            } else {
                clarify(run, &question).await?;
            }
        }
        if run.is_over() {
            run.step("wait");
            run.watch(AFTER_END).await;
        }
        Ok(())
    }

    /// What is done about a question.
    async fn confirm(self, run: &mut Run<'_>, question: &Question) -> Result<(), Trouble> {
        run.watch(QUIET).await;
        let accept = || Reply::new(question, "accept");
        match self {
            Self::Accept | Self::TwoSessions => return end(run, question, "accept").await,
            Self::Reject => {}
            Self::RejectThenAccept => {
                run.reply(Reply::new(question, "reject")).await?;
                run.watch(QUIET / 4).await;
                let late = accept().wrong("when it was rejected", Fault::Used);
                return all_ignored(run, vec![late]).await;
            }
            Self::AcceptTwice => {
                run.reply(accept()).await?;
                let again = accept().wrong("a second time", Fault::Used);
                return all_ignored(run, vec![again]).await;
            }
            Self::UnknownToken => all_ignored(run, vec![unknown(question)]).await?,
            Self::OtherKind => {
                let other = accept().but("type", "clarification.reply");
                let other = other.but("decision", Value::Null).but("response", "accept");
                let other = other.wrong("as a reply to a clarification", Fault::OtherKind);
                all_ignored(run, vec![other]).await?;
            }
            Self::Malformed => all_ignored(run, malformed(question)).await?,
            Self::NotAllowed => {
                let others = ["accept", "reject"].into_iter();
                let others = others.filter(|it| !question.allows(it)).map(|decision| {
                    let other = Reply::new(question, decision);
                    other.wrong("which it does not allow", Fault::NotAllowed)
                });
                all_ignored(run, others.collect()).await?;
            }
            Self::DecidedLate => all_ignored(run, decided_late(question)).await?,
            Self::NotOpen => all_ignored(run, vec![not_open(question)]).await?,
            Self::Closed => {
                let mut closed = accept().wrong("for its closed subscription", Fault::NotOpen);
                closed.from = 1;
                all_ignored(run, vec![closed]).await?;
            }
            Self::NotAuthenticated => {
                let fault = Fault::NotAuthenticated;
                let mut stranger = accept().wrong("without the bearer token", fault);
                stranger.is_authorized = false;
                all_ignored(run, vec![stranger]).await?;
            }
            Self::Modified => {
                let action = json!({"note": "something else"});
                let modified = accept().but("modified_action", action);
                run.reply(modified).await?;
                run.watch(QUIET).await;
            }
            Self::Answers => {
                let mut replies = vec![unknown(question), no_decision(question)];
                if run.subscription(0).is_some() {
                    replies.push(not_open(question));
                }
                replies.extend(decided_late(question).pop());
                all_ignored(run, replies).await?;
            }
            Self::AtOnce => {
                let mut other = accept();
                other.from = 1;
                run.reply_at_once([accept(), other]).await?;
                run.watch(QUIET).await;
                return Ok(());
            }
            Self::ComesBack => {
                if run
                    .told_by
                    .get(&question.token)
                    .is_some_and(|it| !it.contains(&1))
                {
                    run.come_back(1).await?;
                    run.watch(QUIET).await;
                }
            }
            Self::Timeout => return leave_to_its_time(run, question).await,
        }
        end(run, question, "reject").await
    }
}

/// Decides a question for good, in the way that is wished where that is allowed.
async fn end(run: &mut Run<'_>, question: &Question, wished: &str) -> Result<(), Trouble> {
    if !question.is_confirmation() {
        return clarify(run, question).await;
    }
    let decisions = [wished, "reject", "accept"];
    let allowed = decisions.into_iter().find(|it| question.allows(it));
    run.reply(Reply::new(question, allowed.unwrap_or(wished)))
        .await
}

/// Sends what does not count, one after the other, and waits for what comes of each. What comes of one is shown by that one alone.
async fn all_ignored(run: &mut Run<'_>, replies: Vec<Reply<'_>>) -> Result<(), Trouble> {
    for reply in replies {
        let (before, session) = (run.log.len(), reply.question.session.clone());
        run.reply(reply).await?;
        run.watch(QUIET).await;
        if run.log.iter().skip(before).any(|it| goes_on(it, &session)) {
            break;
        }
    }
    Ok(())
}

/// Whether a session goes on by what has passed. That time passes shows in a progress.
fn goes_on(entry: &Entry, session: &str) -> bool {
    match &entry.what {
        What::Event(event) => event["session_id"] == session && name(event) != "progress.updated",
        What::Reply(_) => false,
    }
}

fn unknown(question: &Question) -> Reply<'_> {
    // As long as the real one, and another.
    let turned = |it: char| match it {
        '0' => '1',
        'a'..='y' | 'A'..='Y' | '1'..='8' => char::from_u32(it as u32 + 1).unwrap_or('0'),
        _ => '0',
    };
    let random = question.token.strip_prefix("rpl_").unwrap_or("0");
    let token: String = random.chars().map(turned).collect();
    let reply = Reply::new(question, "accept").but("reply_token", format!("rpl_{token}"));
    reply.wrong("with a token that nobody gave out", Fault::UnknownToken)
}

fn not_open(question: &Question) -> Reply<'_> {
    let reply = Reply::new(question, "accept").but("subscription_id", "sub_neverOpened0");
    reply.wrong("for a subscription that was never opened", Fault::NotOpen)
}

/// As decided at the deadline, and a second after it.
fn decided_late(question: &Question) -> Vec<Reply<'_>> {
    let Some(time) = question.timeout() else {
        return Vec::new();
    };
    // What stands behind the millisecond counts too.
    let sent = question.event["timestamp"].as_str().unwrap_or_default();
    let digits = sent.split('.').nth(1).unwrap_or_default();
    let digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    let at = |more: u64, words| {
        let moment: Timestamp = question.plus(time + Duration::from_millis(more));
        let reply = Reply::new(question, "accept").but("timestamp", moment.to_string());
        reply.wrong(words, Fault::Late)
    };
    vec![
        at(u64::from(digits > 3), "as decided at the deadline"),
        at(1_000, "as decided a second after the deadline"),
    ]
}

fn no_decision(question: &Question) -> Reply<'_> {
    Reply::new(question, "approve").wrong("which is no decision", Fault::Malformed)
}

fn malformed(question: &Question) -> Vec<Reply<'_>> {
    let accept = |words| Reply::new(question, "accept").wrong(words, Fault::Malformed);
    let mut cut = accept("cut off");
    let token = &question.token;
    cut.raw = Some(format!(
        r#"{{"type":"confirmation.reply","reply_token":"{token}","decision":"accept""#
    ));
    vec![
        cut,
        accept("without its reply_token").but("reply_token", Value::Null),
        no_decision(question),
        accept("without its timestamp").but("timestamp", Value::Null),
        accept("without its subscription_id").but("subscription_id", Value::Null),
        accept("with a member that the schema does not know")
            .but("session_id", question.session.clone()),
        accept("decided by a name of no characters").but("decided_by", ""),
    ]
}

/// A response of a kind that the question takes.
async fn clarify(run: &mut Run<'_>, question: &Question) -> Result<(), Trouble> {
    run.watch(QUIET).await;
    let kind = question.event["accepted_response_kinds"][0].as_str();
    let response = match kind.unwrap_or("freetext") {
        "yes_no" => true.into(),
        "numeric" => 1.into(),
        "multiple_choice" => question.event["choices"][0]["value"].clone(),
        _ => "checking".into(),
    };
    let reply = Reply::new(question, "").but("decision", Value::Null);
    run.reply(reply.but("response", response)).await
}

/// Accepts the second of two questions that wait, and then rejects the first.
async fn two_sessions(run: &mut Run<'_>) -> Result<(), Trouble> {
    let Some(first) = run.question().await else {
        return Ok(());
    };
    let Some(second) = run.question().await else {
        return end(run, &first, "reject").await;
    };
    run.watch(QUIET).await;
    for (question, decision) in [(&second, "accept"), (&first, "reject")] {
        end(run, question, decision).await?;
        run.watch(QUIET).await;
    }
    Ok(())
}

/// Waits until the time of a question is over and something has come of it, and accepts then.
async fn leave_to_its_time(run: &mut Run<'_>, question: &Question) -> Result<(), Trouble> {
    let Some(time) = question.timeout().filter(|it| *it <= run.max_wait) else {
        return end(run, question, "reject").await;
    };
    run.step(format!("wait for {} seconds", time.as_secs()));
    let left = time.saturating_sub(question.heard.elapsed());
    run.watch(left).await;
    let deadline = question.heard + time;
    let has_gone_on = |run: &Run<'_>| {
        let mut later = run.log.iter().filter(|it| it.at >= deadline);
        later.any(|it| goes_on(it, &question.session))
    };
    run.until(LATE, has_gone_on).await;
    run.watch(QUIET).await;
    let late = Reply::new(question, "accept").wrong("when its time is over", Fault::Late);
    all_ignored(run, vec![late]).await
}
