//! The reference as a live AAEP producer: a host around it, a scripted agent whose tools do nothing, and HTTP.
//!
//! The one thing to know: everything that happens goes through [`host::Host`], one call at a time and with the time as an
//! argument.

pub mod agent;
pub mod host;
pub mod log;
