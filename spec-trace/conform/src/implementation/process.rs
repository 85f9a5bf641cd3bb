//! An implementation that is a process: requests to its standard input, responses from its standard output, a line each.
//!
//! The one thing to know: reading and writing are done by threads of their own, so that neither a process that does not read
//! nor one that does not write can hold us. What it writes to its standard error is its last words. It is a process group of its own,
//! so that Ctrl-C reaches the driver alone, which then reports what it has seen.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use countersign_protocol::{LONGEST_LINE, Protocol, Request, Response};
use rustix::process::{Pid, Signal, kill_process_group};

use super::{Fault, Implementation, Lost};

/// A process, and how it is started.
pub struct Process {
    /// The program, then its arguments.
    command: Vec<OsString>,
    /// For so long an answer is waited for.
    patience: Duration,
    /// Where somebody sets this, no answer is waited for any longer.
    pub stop: Arc<AtomicBool>,
    running: Option<Running>,
}

/// How many lines are read that nobody has asked for yet.
const LINES_AHEAD: usize = 4;
/// So often it is looked whether an answer is to be waited for any longer.
const POLLED: Duration = Duration::from_millis(100);
/// How much of the last words is kept, in bytes.
const WORDS_KEPT: usize = 2_048;
/// How many characters of a bad line are told.
const QUOTED: usize = 200;
/// For so long the end of a process that has closed its output is waited for.
const GRACE: Duration = Duration::from_secs(1);

impl Process {
    /// One that is started by this command, program first, and answers within this time.
    pub fn new(command: Vec<OsString>, patience: Duration) -> Self {
        Self {
            command,
            patience,
            stop: Arc::default(),
            running: None,
        }
    }

    /// Ends the process that is there, and starts another.
    ///
    /// # Errors
    ///
    /// [`Lost`], where it cannot be started.
    pub fn launch(&mut self) -> Result<(), Lost> {
        self.running = None;
        let started = Running::start(&self.command, Arc::clone(&self.stop));
        let not_started = |error: io::Error| Fault::NotStarted(error.to_string()).without_words();
        self.running = Some(started.map_err(not_started)?);
        Ok(())
    }

    /// Writes a line, be it a request or not, and reads the next that comes.
    ///
    /// # Errors
    ///
    /// [`Lost`], where none comes, or one had come before it was asked for. The process is at an end then.
    pub fn exchange(&mut self, line: &[u8]) -> Result<Vec<u8>, Lost> {
        self.with_running(|running, patience| running.exchange(line, patience))
    }

    /// Closes the input of the process, and waits for its end. Says how it has ended; nothing, where it goes on.
    pub fn hang_up(&mut self) -> Option<ExitStatus> {
        let running = self.running.take()?;
        running.hang_up(self.patience)
    }

    /// Does something with the process. With whatever goes wrong it is at an end.
    fn with_running<T>(
        &mut self,
        act: impl FnOnce(&mut Running, Duration) -> Result<T, Fault>,
    ) -> Result<T, Lost> {
        let Some(running) = &mut self.running else {
            return Err(Fault::Ended(None).without_words());
        };
        let done = act(running, self.patience);
        let done = done.map_err(|fault| running.lost(fault));
        if done.is_err() {
            self.running = None;
        }
        done
    }
}

struct Running {
    child: Child,
    requests: SyncSender<Vec<u8>>,
    lines: Receiver<Line>,
    words: Arc<Mutex<Vec<u8>>>,
    listener: JoinHandle<()>,
    stop: Arc<AtomicBool>,
    has_answered: bool,
}

/// What stood on one line.
enum Line {
    Whole(Vec<u8>),
    TooLong,
}

impl<P: Protocol> Implementation<P> for Process {
    fn start(&mut self) -> Result<(), Lost> {
        self.launch()
    }

    fn ask(&mut self, request: Request<P>) -> Result<Response<P>, Lost> {
        let line = serde_json::to_vec(&request).map_err(|error| {
            Fault::NotStarted(format!("the request cannot be written: {error}")).without_words()
        })?;
        self.ask_line(request.id, &line)
    }

    fn ask_line(&mut self, id: u64, line: &[u8]) -> Result<Response<P>, Lost> {
        self.with_running(|running, patience| running.ask(id, line, patience))
    }
}

impl Running {
    fn start(command: &[OsString], stop: Arc<AtomicBool>) -> io::Result<Self> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| io::Error::other("no command given"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let gone = || io::Error::other("it has no pipes");
        let mut input = child.stdin.take().ok_or_else(gone)?;
        let output = child.stdout.take().ok_or_else(gone)?;
        let error = child.stderr.take().ok_or_else(gone)?;
        let (requests, to_write) = sync_channel::<Vec<u8>>(1);
        thread::spawn(move || {
            // A process that does not read any more is found out by its silence, or by its end.
            while let Ok(line) = to_write.recv() {
                if input.write_all(&line).and_then(|()| input.flush()).is_err() {
                    break;
                }
            }
        });
        let (read, lines) = sync_channel(LINES_AHEAD);
        thread::spawn(move || read_lines(BufReader::new(output), &read));
        let words = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&words);
        let listener = thread::spawn(move || listen(error, &heard));
        Ok(Self {
            child,
            requests,
            lines,
            words,
            listener,
            stop,
            has_answered: false,
        })
    }

    fn ask<P: Protocol>(
        &mut self,
        asked: u64,
        line: &[u8],
        patience: Duration,
    ) -> Result<Response<P>, Fault> {
        let line = self.exchange(line, patience)?;
        let response = Response::<P>::read(&line)
            .map_err(|problem| Fault::Unreadable(quoted(&line), problem.to_string()))?;
        match response.id {
            Some(id) if id < asked => Err(Fault::Unasked(quoted(&line))),
            Some(_) | None => Ok(response),
        }
    }

    /// Writes a line, and reads the next.
    fn exchange(&mut self, line: &[u8], patience: Duration) -> Result<Vec<u8>, Fault> {
        if let Ok(line) = self.lines.try_recv() {
            return Err(match line {
                Line::Whole(line) => Fault::Unasked(quoted(&line)),
                Line::TooLong => Fault::TooLong,
            });
        }
        let line = [line, b"\n"].concat();
        match self.requests.try_send(line) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(Fault::Silent(patience)),
            Err(TrySendError::Disconnected(_)) => return Err(self.ended()),
        }
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            return match self.lines.recv_timeout(left.min(POLLED)) {
                Ok(Line::Whole(line)) => {
                    self.has_answered = true;
                    Ok(line)
                }
                Ok(Line::TooLong) => Err(Fault::TooLong),
                Err(RecvTimeoutError::Timeout)
                    if left > POLLED && !self.stop.load(Ordering::Relaxed) =>
                {
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => Err(self.silent(patience)),
                Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            };
        }
    }

    /// Why nothing came in time. A first response that comes when the input is closed was held in a buffer.
    fn silent(&mut self, patience: Duration) -> Fault {
        if !self.has_answered && !self.stop.load(Ordering::Relaxed) {
            self.close_input();
            if matches!(self.lines.recv_timeout(GRACE), Ok(Line::Whole(_))) {
                return Fault::Unflushed(patience);
            }
        }
        Fault::Silent(patience)
    }

    fn close_input(&mut self) {
        // The thread that writes ends with what it is given, and with it the pipe.
        let (nothing, _) = sync_channel(1);
        self.requests = nothing;
    }

    /// Closes its input, and waits for its end.
    fn hang_up(mut self, patience: Duration) -> Option<ExitStatus> {
        self.close_input();
        let until = Instant::now() + patience;
        loop {
            let ended = self.child.try_wait().ok().flatten();
            let is_over = Instant::now() > until || self.stop.load(Ordering::Relaxed);
            if ended.is_some() || is_over {
                return ended;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn ended(&mut self) -> Fault {
        let ended = self.child.try_wait();
        let mut ended = ended.ok().flatten();
        let until = Instant::now() + GRACE;
        while ended.is_none() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
            ended = self.child.try_wait().ok().flatten();
        }
        Fault::Ended(ended.map(|status| status.to_string()))
    }

    /// The fault with the last words. Whoever has ended has said them all, unless a child of its own goes on.
    fn lost(&mut self, fault: Fault) -> Lost {
        let until = Instant::now() + GRACE;
        let has_ended = matches!(fault, Fault::Ended(Some(_)));
        while has_ended && !self.listener.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        Lost {
            fault,
            last_words: String::from_utf8_lossy(&words).into_owned(),
        }
    }
}

/// What it has started ends with it: it is a group. Nothing is waited for but its own end, which is certain.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Hands lines on until the output ends, is beyond all measure, or nobody takes them any more.
fn read_lines(mut output: impl BufRead, lines: &SyncSender<Line>) {
    loop {
        let mut line = Vec::new();
        let longest = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
        let read = output
            .by_ref()
            .take(longest + 1)
            .read_until(b'\n', &mut line);
        let next = match read {
            Err(_) | Ok(0) => return,
            Ok(_) if line.last() == Some(&b'\n') => {
                line.pop();
                Line::Whole(line)
            }
            Ok(length) if length > LONGEST_LINE => Line::TooLong,
            // The last line of a torn output.
            Ok(_) => Line::Whole(line),
        };
        let is_last = matches!(next, Line::TooLong);
        if lines.send(next).is_err() || is_last {
            return;
        }
    }
}

/// Keeps the end of what is written.
fn listen(mut error: impl Read, heard: &Mutex<Vec<u8>>) {
    let mut some = [0; 1_024];
    while let Ok(count) = error.read(&mut some) {
        if count == 0 {
            return;
        }
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.extend_from_slice(&some[..count]);
        let beyond = heard.len().saturating_sub(WORDS_KEPT);
        heard.drain(..beyond);
    }
}

fn quoted(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    match text.char_indices().nth(QUOTED) {
        None => text.into_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
