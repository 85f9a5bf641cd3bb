//! Recorded streams as long as one likes, of sessions that run beside each other and keep to every rule.
//!
//! The stream is made while it is read, so that a gigabyte of it takes no room; the same numbers give the same bytes.

use std::fmt::Write as _;
use std::io::{self, Read};

/// The steps of a session that come round again: asked, accepted, called, completed.
const ROUND: u64 = 8;

/// A stream of so many sessions, each of which sends one record in turn, and goes round until the stream is long enough.
#[derive(Debug)]
pub struct Stream {
    sessions: u64,
    /// How many bytes there are to be, but for the end of the sessions.
    length: u64,
    made: u64,
    /// Which record of its session comes next, from 0.
    step: u64,
    /// Whose record comes next.
    session: u64,
    is_ending: bool,
    line: String,
    read: usize,
}

impl Stream {
    /// About `length` bytes of so many sessions.
    pub fn new(sessions: u64, length: u64) -> Self {
        Self {
            sessions,
            length,
            made: 0,
            step: 0,
            session: 0,
            is_ending: false,
            line: String::new(),
            read: 0,
        }
    }

    /// All of it in memory.
    ///
    /// # Panics
    ///
    /// Never: it can be read.
    pub fn bytes(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes).expect("a stream can be read");
        bytes
    }

    /// Makes the next line; false at the end.
    fn advance(&mut self) -> bool {
        if self.session == self.sessions {
            if self.is_ending {
                return false;
            }
            self.session = 0;
            self.step += 1;
            self.is_ending = self.made >= self.length && self.step % ROUND == 2;
        }
        self.line.clear();
        self.read = 0;
        self.write_line().expect("a string can be written");
        self.made += self.line.len() as u64;
        self.session += 1;
        true
    }

    fn write_line(&mut self) -> std::fmt::Result {
        if self.is_ending {
            return self.event("session.completed", "");
        }
        let round = self.step / ROUND;
        let ids = format!("{}x{round}", self.session);
        match self.step {
            0 => return self.event("session.started", r#","request_text":"Send the report""#),
            1 => return self.state("idle", "thinking"),
            _ => {}
        }
        match self.step % ROUND {
            2 => self.state("thinking", "awaiting_input"),
            3 => self.event(
                "awaiting.confirmation",
                &format!(
                    r#","urgency":"critical","action":"Send the monthly report {ids} to everyone","consequence":"It cannot be called back once it is sent","reply_token":"rpl_{ids}","timeout_seconds":600,"default_decision":"reject","risk_level":"high","irreversible":true,"allowed_replies":["accept","reject"],"extra_context":{{"tool_call_id":"call_{ids}"}}"#
                ),
            ),
            4 => {
                let Self { line, step, .. } = self;
                writeln!(
                    line,
                    r#"{{"type":"confirmation.reply","reply_token":"rpl_{ids}","decision":"accept","subscription_id":"sub_reader","timestamp":"{}"}}"#,
                    time(*step)
                )
            }
            5 => self.state("awaiting_input", "calling_tool"),
            6 => self.event(
                "tool.invoked",
                &format!(
                    r#","tool":"send_email","tool_call_id":"call_{ids}","args_summary":"to everyone, with the report","risk_level":"high","irreversible":true"#
                ),
            ),
            7 => self.event(
                "tool.completed",
                &format!(r#","tool":"send_email","tool_call_id":"call_{ids}","status":"success","duration_ms":230"#),
            ),
            0 => self.state("calling_tool", "thinking"),
            _ => self.event(
                "progress.updated",
                r#","progress":{"percent":50,"description":"half of it is done"}"#,
            ),
        }
    }

    fn state(&mut self, from: &str, to: &str) -> std::fmt::Result {
        let states = format!(r#","from_state":"{from}","to_state":"{to}""#);
        self.event("state.changed", &states)
    }

    fn event(&mut self, name: &str, payload: &str) -> std::fmt::Result {
        let Self {
            line,
            step,
            session,
            ..
        } = self;
        writeln!(
            line,
            r#"{{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.{name}","event_id":"evt_{session}x{step}","session_id":"sess_{session}","timestamp":"{}","producer":{{"agent_id":"reporter","agent_version":"2.1.0","model":"large"}},"summary_normal":"The agent goes on with the report that it was asked for"{payload}}}"#,
            time(*step)
        )
    }
}

/// A second for each step.
fn time(step: u64) -> String {
    let (hours, minutes, seconds) = (step / 3_600, step / 60 % 60, step % 60);
    format!(
        "2026-05-24T{:02}:{minutes:02}:{seconds:02}.000Z",
        hours % 24
    )
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.line.len() && !self.advance() {
            return Ok(0);
        }
        let rest = &self.line.as_bytes()[self.read..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.read += length;
        Ok(length)
    }
}
