//! Formats of others for what a command finds: what a finding is called there, and nothing of where findings come from.

pub mod junit;
pub mod sarif;
