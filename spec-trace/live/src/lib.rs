//! The reference as a live AAEP producer: a host around it, a scripted agent whose tools do nothing, and HTTP.
//!
//! The one thing to know: everything that happens goes through [`host::Host`], one call at a time and with the time as an
//! argument. [`http`] has the clock, the sockets and the timer, and decides nothing that the protocol decides.

mod accept;
pub mod agent;
pub mod host;
pub mod http;
pub mod log;
pub mod recorder;
