//! A host of pending actions, as small as one can be that loses nothing: a timer, a store, a ledger.
//!
//! ```text
//! cargo run -p countersign-store --example pending_action_host -- STORE CALLS [at_least_once]
//! ```
//!
//! It reads what happens from stdin, one operation a line in a form of its own, such as
//!
//! ```text
//! {"op":"propose","agent_id":"menta","session_id":"chat 7","run_id":"run 1","tool":"delete","arguments":"{\"ids\":[3]}","effect":"destructive","summary":"Delete 1?","label":"Yes"}
//! {"op":"decide","action_id":"pa_…","decision":"allow","by":"ana"}
//! ```
//!
//! and writes what is to be seen to stdout, one output a line. Its one tool writes each call into the file CALLS, before
//! and after. Kill it whenever you like, and start it again.
//!
//! The one thing to know: [`Host::turn`] is the loop to copy. What the ledger puts out is first made durable, then
//! carried out, in order; how far that has come is said afterwards. A turn takes whatever has arrived meanwhile, so that
//! a busy host syncs its store once for many decisions.

use std::collections::{BTreeSet, VecDeque};
use std::env;
use std::error::Error;
use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use countersign_reference::pending_action::{
    ActionId, Decide, Decision, Delivery, Effect, Input, Ledger, Named, Output, Propose, Settings,
    Text, ToolCall, ToolStatus,
};
use countersign_reference::time::Timestamp;
use countersign_store::Store;
use countersign_store::ids::SystemIds;
use serde::Deserialize;
use serde_json::{Value, json};

/// How many inputs share one sync of the store at most.
const MOST_AT_ONCE: usize = 256;

/// How many calls run at a time.
const MOST_RUNNING: usize = 4;

/// How long the tool takes.
const TOOL_TAKES: Duration = Duration::from_millis(1);

/// Runs a host until stdin ends and every tool has come back.
pub fn main() -> ExitCode {
    match run(&env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let (store, calls, delivery) = match arguments {
        [store, calls] => (store, calls, Delivery::AtMostOnce),
        [store, calls, mode] if mode == "at_least_once" => (store, calls, Delivery::AtLeastOnce),
        _ => return Err("usage: pending_action_host STORE CALLS [at_least_once]".into()),
    };
    let settings = Settings {
        delivery,
        ..Settings::default()
    };
    let store = Store::open(Path::new(store))?;
    Host::new(store, settings, calls.into())?.run()
}

/// What happens around the ledger.
enum Happening {
    /// Something that the ledger is told.
    Input(Input),
    /// The tool has come back.
    Returned(Input),
    /// Nobody will say anything any more.
    End,
}

struct Host {
    store: Store,
    ledger: Ledger,
    ids: SystemIds,
    /// What has come out of the ledger and is not carried out, in order.
    outbox: Vec<Output>,
    /// Calls that were released and have not begun.
    released: VecDeque<ToolCall>,
    /// Those of them, and those that have begun since, that a host before this one may have begun as well.
    released_again: BTreeSet<ActionId>,
    /// How many calls are running, each in a thread of its own.
    running: usize,
    /// The file that the tool writes into.
    calls: PathBuf,
    inbox: Receiver<Happening>,
    /// Where tools come back to.
    returns: Sender<Happening>,
    has_ended: bool,
}

impl Host {
    /// A host that goes on where the store was left.
    fn new(store: Store, settings: Settings, calls: PathBuf) -> Result<Self, Box<dyn Error>> {
        let ledger = store.ledger(settings, None)?;
        let (returns, inbox) = mpsc::channel();
        Ok(Self {
            store,
            ledger,
            ids: SystemIds,
            outbox: Vec::new(),
            released: VecDeque::new(),
            released_again: BTreeSet::new(),
            running: 0,
            calls,
            inbox,
            returns,
            has_ended: false,
        })
    }

    fn run(mut self) -> Result<(), Box<dyn Error>> {
        let inputs = self.returns.clone();
        thread::spawn(move || read_inputs(&inputs));
        // First of all: what had expired by now, what was not told, what is in doubt.
        self.handle(Input::Restart)?;
        self.released_again = self.outbox.iter().filter_map(released).collect();
        self.settle()?;
        while !(self.has_ended && self.released.is_empty() && self.running == 0) {
            self.turn()?;
        }
        self.store.carried(self.ledger.watermark())?;
        Ok(())
    }

    /// Waits until something happens or expires, and sees to all of it.
    fn turn(&mut self) -> Result<(), Box<dyn Error>> {
        match self.wait() {
            Ok(happening) => self.take(happening)?,
            // Time has passed, and that is all.
            Err(RecvTimeoutError::Timeout) => self.handle(Input::Tick)?,
            Err(RecvTimeoutError::Disconnected) => self.has_ended = true,
        }
        for _ in 1..MOST_AT_ONCE {
            match self.inbox.try_recv() {
                Ok(happening) => self.take(happening)?,
                Err(_empty) => break,
            }
        }
        self.settle()
    }

    /// Makes durable what has come out, carries it out, and says so, until nothing comes out any more.
    fn settle(&mut self) -> Result<(), Box<dyn Error>> {
        while !self.outbox.is_empty() {
            let recorded = self.ledger.recorded();
            let records = self.outbox.iter().filter_map(Output::record);
            self.store.append(records, self.ledger.watermark())?;
            for output in mem::take(&mut self.outbox) {
                self.carry_out(output)?;
            }
            self.ledger.carried(recorded);
        }
        self.begin();
        Ok(())
    }

    /// Until the next action expires, if one does.
    fn wait(&self) -> Result<Happening, RecvTimeoutError> {
        match self.ledger.next_deadline() {
            None => self.inbox.recv().map_err(RecvTimeoutError::from),
            Some(deadline) => {
                let milliseconds = deadline.millis().saturating_sub(now().millis());
                let milliseconds = u64::try_from(milliseconds).unwrap_or(0);
                self.inbox.recv_timeout(Duration::from_millis(milliseconds))
            }
        }
    }

    fn take(&mut self, happening: Happening) -> io::Result<()> {
        match happening {
            Happening::Input(input) => self.handle(input),
            Happening::Returned(input) => {
                self.running -= 1;
                self.handle(input)
            }
            Happening::End => {
                self.has_ended = true;
                Ok(())
            }
        }
    }

    fn handle(&mut self, input: Input) -> io::Result<()> {
        let outcome = self.ledger.handle(now(), &mut self.ids, input);
        self.outbox.extend(outcome.outputs);
        match outcome.refused {
            Some(refusal) => tell(&json!({"refused": refusal.to_string()})),
            None => Ok(()),
        }
    }

    fn carry_out(&mut self, output: Output) -> io::Result<()> {
        match output {
            // It is durable already.
            Output::Record(_) => Ok(()),
            Output::Perform(call) => {
                self.released.push_back(call);
                Ok(())
            }
            Output::Withdraw(named) => self.withdraw(named),
            // Messages and events have ids: whoever reads them here has read one twice at most after a crash, and knows.
            // What is in doubt is for the operator to look into, who then says `finish_tool`.
            Output::Append(_) | Output::Event(_) | Output::InDoubt(_) | Output::Audit(_) => {
                tell(&output)
            }
        }
    }

    /// PA-5: what has not begun does not begin any more.
    fn withdraw(&mut self, named: Named) -> io::Result<()> {
        let before = self.released.len();
        self.released
            .retain(|call| call.action_id != named.action_id);
        if self.released.len() == before {
            // Too late: it runs, and will come back.
            return Ok(());
        }
        if self.released_again.contains(&named.action_id) {
            // Not begun since the restart, and perhaps before it: nobody may say that it never ran.
            return tell(&Output::InDoubt(named));
        }
        self.handle(Input::FinishTool {
            action_id: named.action_id.to_string(),
            status: ToolStatus::NotRun,
            result: Text::default(),
        })
    }

    /// Begins what was released, as far as there is room.
    fn begin(&mut self) {
        while self.running < MOST_RUNNING
            && let Some(call) = self.released.pop_front()
        {
            self.running += 1;
            let (calls, returns) = (self.calls.clone(), self.returns.clone());
            thread::spawn(move || {
                let returned = Happening::Returned(run_tool(&call, &calls));
                // Nobody waits for it any more where the host has failed.
                let _ = returns.send(returned);
            });
        }
    }
}

/// The action whose call an output releases.
fn released(output: &Output) -> Option<ActionId> {
    let Output::Perform(call) = output else {
        return None;
    };
    Some(call.action_id)
}

/// The tool: it writes down that it was called, and with what. Once is once.
fn run_tool(call: &ToolCall, calls: &Path) -> Input {
    let write = |word: &str| {
        let mut file = OpenOptions::new().create(true).append(true).open(calls)?;
        // In one piece, for other calls write as well.
        let line = format!("{word} {} {}\n", call.action_id, call.arguments.as_str());
        file.write_all(line.as_bytes())
    };
    let begun = write("begin");
    thread::sleep(TOOL_TAKES);
    let (status, result) = match begun.and_then(|()| write("end")) {
        Ok(()) => (ToolStatus::Success, Text::new("written down")),
        Err(error) => (ToolStatus::Error, Text::new(error.to_string())),
    };
    Input::FinishTool {
        action_id: call.action_id.to_string(),
        status,
        result,
    }
}

fn read_inputs(inputs: &Sender<Happening>) {
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        match input(&line) {
            Ok(input) => {
                if inputs.send(Happening::Input(input)).is_err() {
                    return;
                }
            }
            Err(error) => eprintln!("not an operation: {error}"),
        }
    }
    let _ = inputs.send(Happening::End);
}

/// What a line says has happened.
fn input(line: &str) -> Result<Input, Box<dyn Error>> {
    let line: Value = serde_json::from_str(line)?;
    let text = |name: &str| {
        let text = line[name].as_str().map(str::to_owned);
        text.ok_or_else(|| format!("`{name}` is no text"))
    };
    Ok(match text("op")?.as_str() {
        "propose" => Input::Propose(Propose {
            agent_id: text("agent_id")?,
            session_id: text("session_id")?,
            run_id: text("run_id")?,
            tool: text("tool")?,
            arguments: Text::new(text("arguments")?),
            effect: Effect::deserialize(&line["effect"])?,
            summary: text("summary")?,
            label: text("label")?,
            expires_at: Option::deserialize(&line["expires_at"])?,
            deciders: Option::deserialize(&line["deciders"])?,
            idempotent: line["idempotent"] == true,
        }),
        "decide" => Input::Decide(Decide {
            action_id: text("action_id")?,
            nonce: Option::deserialize(&line["nonce"])?,
            decision: Decision::deserialize(&line["decision"])?,
            by: text("by")?,
            arguments: Option::deserialize(&line["arguments"])?,
        }),
        "say" => Input::Say {
            by: text("by")?.into(),
            text: text("text")?.into(),
        },
        "finish_tool" => Input::FinishTool {
            action_id: text("action_id")?,
            status: ToolStatus::deserialize(&line["status"])?,
            result: Text::new(text("result")?),
        },
        "cancel" => Input::Cancel {
            action_id: text("action_id")?,
        },
        "end_session" => Input::EndSession {
            session_id: text("session_id")?,
        },
        other => return Err(format!("`op` is {other:?}").into()),
    })
}

/// One line, and it is on its way when this returns.
fn tell(output: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(output)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let milliseconds = since.map_or(0, |since| since.as_millis());
    Timestamp::from_millis(i64::try_from(milliseconds).unwrap_or(i64::MAX))
}
