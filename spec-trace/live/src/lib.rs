//! AAEP over HTTP: the reference as a live producer, with a host around it and a scripted agent whose tools do nothing; a proxy
//! that records; and a client that drives whatever producer there is.
//!
//! The one thing to know: everything that happens goes through [`host::Host`], one call at a time and with the time as an
//! argument. [`http`] has the clock, the sockets and the timer, and decides nothing that the protocol decides.

mod accept;
pub mod agent;
pub mod client;
pub mod host;
pub mod http;
pub mod log;
pub mod recorder;

/// How a file is opened to be written that nobody but its owner may read.
pub fn for_its_owner() -> std::fs::OpenOptions {
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
