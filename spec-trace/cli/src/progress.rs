//! Progress on stderr for long work. Nothing is drawn when stderr is not a terminal.

use std::io::{self, IsTerminal};
use std::sync::LazyLock;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// The lines of everything that goes on.
static ALL: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// A line that tells what is going on and how far it has come.
pub struct Progress(ProgressBar);

impl Progress {
    /// A spinner with a running count of `unit`, for work of unknown length.
    pub fn counting(what: &str, unit: &str) -> Self {
        let template = format!("{{spinner}} {what}  {{human_pos}} {unit}  {{elapsed}}");
        Self::with(ProgressBar::new_spinner(), &template)
    }

    /// A bar of `total` parts of `unit`.
    pub fn of(total: u64, what: &str, unit: &str) -> Self {
        let template =
            format!("{what}  {{wide_bar}} {{human_pos}} of {{human_len}} {unit}, {{eta}} left");
        Self::with(ProgressBar::new(total), &template)
    }

    /// A bar of so many bytes with their rate, or a running count of them where it is not known how many will come.
    pub fn of_bytes(total: Option<u64>, what: &str) -> Self {
        let Some(total) = total else {
            let template = format!("{{spinner}} {what}  {{bytes}}, {{bytes_per_sec}}  {{elapsed}}");
            return Self::with(ProgressBar::new_spinner(), &template);
        };
        let rate = "{bytes_per_sec}, {eta} left";
        let template = format!("{what}  {{wide_bar}} {{bytes}} of {{total_bytes}}, {rate}");
        Self::with(ProgressBar::new(total), &template)
    }

    fn with(bar: ProgressBar, template: &str) -> Self {
        if !io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        // A template that does not parse would be a slip of ours; the default style then serves.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let bar = ALL.add(bar);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Tells how much is done by now.
    pub fn at(&self, done: u64) {
        self.0.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
