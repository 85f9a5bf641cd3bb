//! One host process, from its start until it is killed or ends in peace.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use countersign_reference::pending_action::Delivery;
use serde_json::Value;

use super::HOST;

pub struct Life {
    child: Child,
    /// None once nothing more will be said.
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Life {
    /// Starts a host that goes on with the store.
    pub fn begin(store: &Path, calls: &Path, delivery: Delivery) -> Self {
        let mut command = Command::new(env::current_exe().expect("this program"));
        command.env(HOST, "").arg(store).arg(calls);
        match delivery {
            Delivery::AtMostOnce => &mut command,
            Delivery::AtLeastOnce => command.arg("at_least_once"),
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (told, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut line = Vec::new();
            // The last line of a host that was killed may be half a one: nobody has been told that.
            while stdout.read_until(b'\n', &mut line).is_ok() && line.ends_with(b"\n") {
                let output = serde_json::from_slice(&line).expect("one output a line");
                if told.send(output).is_err() {
                    return;
                }
                line.clear();
            }
        });
        Self {
            child,
            stdin,
            lines,
        }
    }

    /// Says something to the host, which may be too busy or too dead to hear it.
    pub fn say(&mut self, operations: &[Value]) {
        if let Some(stdin) = &mut self.stdin {
            let mut lines = String::new();
            for operation in operations {
                lines += &operation.to_string();
                lines.push('\n');
            }
            let heard = stdin.write_all(lines.as_bytes());
            heard.expect("a host reads as long as it lives");
        }
    }

    /// The next thing that the host says, if it says anything in that time.
    pub fn hear(&self, patience: Duration) -> Option<Value> {
        self.lines.recv_timeout(patience).ok()
    }

    /// SIGKILL: no handler, no destructor, no flush. Gives what was on its way.
    pub fn kill(mut self) -> Vec<Value> {
        let ended = self.child.try_wait().expect("a process of ours");
        assert_eq!(ended, None, "the host has ended by itself");
        self.child.kill().expect("a process of ours");
        self.child.wait().expect("a process of ours");
        self.lines.iter().collect()
    }

    /// Lets the host end in peace. Gives what it still had to say.
    pub fn end(mut self) -> Vec<Value> {
        self.stdin = None;
        let lines = self.lines.iter().collect();
        let status = self.child.wait().expect("a process of ours");
        assert!(status.success(), "the host has failed: {status}");
        lines
    }
}
