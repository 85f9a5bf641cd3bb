//! The live producer under load, and what the recorder costs. Both are processes of their own.
//!
//! ```sh
//! cargo bench -p countersign-cli --bench live -- load                  # a round of 1,000 sessions
//! cargo bench -p countersign-cli --bench live -- load --seconds 600    # rounds for ten minutes
//! cargo bench -p countersign-cli --bench live -- record                # 1,000 events a second, then 100 MB
//! ```
//!
//! Each prints counts and percentiles, and ends with status 1 where a reply was lost, a default was more than 100 ms late, or something
//! did not come through.

mod load;
mod recorded;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo bench` adds one of its own.
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let words: Vec<&str> = words.into_iter().filter(|it| *it != "--bench").collect();
    let faults = match words[..] {
        ["load"] => load::run(0),
        ["load", "--seconds", seconds] => load::run(number(seconds)),
        ["record"] => recorded::run(),
        [] => load::run(0) + recorded::run(),
        _ => {
            eprintln!("expected load [--seconds N], or record");
            return ExitCode::from(2);
        }
    };
    ExitCode::from(u8::from(faults > 0))
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number of seconds")
}

/// A process of the command that does not outlive this one.
struct Running(Child);

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().expect("it starts"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// The address in the first line.
fn listens_at(told: impl Read + Send + 'static) -> String {
    let mut line = String::new();
    let mut told = BufReader::new(told);
    told.read_line(&mut line).expect("a line");
    // What comes behind it is read, so that nobody waits for this process.
    thread::spawn(move || io::copy(&mut told, &mut io::sink()));
    let address = line.trim().strip_prefix("listening on http://");
    address.expect("an address").to_owned()
}

/// Sends a request, of a version in which nothing is chunked: the status, the headers that came, and what is left to be read.
fn ask(address: &str, line: &str, body: &str) -> io::Result<(u16, String, BufReader<TcpStream>)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_mins(1)))?;
    stream.set_nodelay(true)?;
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.0\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes())?;
    let mut reader = BufReader::with_capacity(1 << 16, stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    Ok((status.unwrap_or(0), head, reader))
}

/// The median, the 90th and the 99th percentile, and the greatest of these.
fn percentiles(mut values: Vec<i64>) -> [i64; 4] {
    values.sort_unstable();
    let at = |share: usize| values.get((values.len().saturating_sub(1)) * share / 100);
    [50, 90, 99, 100].map(|share| at(share).copied().unwrap_or(0))
}
