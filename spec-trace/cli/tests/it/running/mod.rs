//! Processes that listen, as the tests of them start and end them.

use std::io::BufRead;
use std::process::{Child, Command};

/// A process that does not outlive its test.
pub struct Ending(pub Child);

impl Ending {
    /// Has it end by a signal; its exit status.
    #[allow(dead_code, reason = "not every test asks one to end")]
    pub fn asked_to(&mut self) -> Option<i32> {
        let pid = self.0.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(killed.expect("there is a kill").success());
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// The address that is told in the first line.
pub fn listens_at(told: &mut impl BufRead) -> String {
    let mut line = String::new();
    told.read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("listening on http://");
    address.expect("an address").to_owned()
}
