//! What the benches of this package have in common: executors of each protocol with much to remember.
//!
//! Run them with `cargo bench -p countersign-benches`. Figures of one run can be compared with each other; figures of
//! two machines, or of two days on a shared one, cannot.

pub mod aaep;
pub mod lint;
pub mod mcp_aql;
pub mod pending_action;

/// The memory that this process has, where the system tells.
pub fn resident_bytes() -> Option<usize> {
    told_by_the_system("VmRSS:")
}

/// The most memory that this process ever had, where the system tells.
pub fn peak_resident_bytes() -> Option<usize> {
    told_by_the_system("VmHWM:")
}

fn told_by_the_system(name: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1_024)
}
