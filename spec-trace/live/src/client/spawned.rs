//! The process of a producer that is started for one run.

use std::ffi::OsString;
use std::io::{self, Read};
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use reqwest::Url;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::time::sleep;

use super::wire::Trouble;

/// How long a producer may take until it listens, and until it is well.
pub(super) const LISTENS_WITHIN: Duration = Duration::from_secs(30);
/// How many bytes of its last words are kept.
const LAST_WORDS: usize = 2_000;

/// A process with all that it has started. Its end is the end of all of them.
pub(super) struct Spawned {
    child: Child,
    words: Arc<Mutex<Vec<u8>>>,
}

impl Spawned {
    /// Starts it, and waits until it listens where the URL says.
    pub async fn start(command: &[OsString], url: &Url) -> Result<Self, Trouble> {
        let addresses = url.socket_addrs(|| None);
        let addresses = addresses.map_err(|error| Trouble(format!("{url}: {error}")))?;
        let listens = || {
            let mut addresses = addresses.iter();
            addresses.any(|it| TcpStream::connect_timeout(it, Duration::from_secs(1)).is_ok())
        };
        if listens() {
            return Err(Trouble(format!(
                "something listens at {url} already, where the producer is to be started"
            )));
        }
        let [program, arguments @ ..] = command else {
            return Err(Trouble("no command given".to_owned()));
        };
        let shown = program.to_string_lossy();
        let mut started = Self::of(program, arguments)
            .map_err(|error| Trouble(format!("{shown} cannot be started: {error}")))?;
        let until = Instant::now() + LISTENS_WITHIN;
        while !listens() {
            if let Some(ended) = started.ended() {
                return Err(Trouble(format!(
                    "{shown} ended before it listened: {ended}"
                )));
            }
            if Instant::now() > until {
                let seconds = LISTENS_WITHIN.as_secs();
                return Err(Trouble(format!(
                    "{shown} does not listen at {url} within {seconds} seconds"
                )));
            }
            sleep(Duration::from_millis(50)).await;
        }
        Ok(started)
    }

    fn of(program: &OsString, arguments: &[OsString]) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).process_group(0);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let words = Arc::new(Mutex::new(Vec::new()));
        if let Some(stdout) = child.stdout.take() {
            listen(stdout, &words);
        }
        if let Some(stderr) = child.stderr.take() {
            listen(stderr, &words);
        }
        Ok(Self { child, words })
    }

    /// How it has ended, with its last words, if it has.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        // Its last words may still be on their way.
        thread::sleep(Duration::from_millis(50));
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(&words);
        Some(format!("{status}; its last words: {:?}", words.trim()))
    }
}

/// Keeps the last words, and lets nobody wait who says more.
fn listen(mut output: impl Read + Send + 'static, words: &Arc<Mutex<Vec<u8>>>) {
    let words = Arc::clone(words);
    thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(read @ 1..) = output.read(&mut piece) {
            let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
            words.extend_from_slice(&piece[..read]);
            let more = words.len().saturating_sub(LAST_WORDS);
            words.drain(..more);
        }
    });
}

impl Drop for Spawned {
    fn drop(&mut self) {
        // Its whole group: a shell may have started the producer.
        let _ended = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ended = self.child.wait();
    }
}
