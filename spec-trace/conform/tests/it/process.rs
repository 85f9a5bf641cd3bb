//! An implementation that is a process: whatever it does to its driver becomes a value, in time.

use std::ffi::OsString;
use std::time::Duration;

use countersign_conform::implementation::{Fault, Greeted, Lost, Process, Said};
use countersign_protocol::pending_action::PendingAction;
use countersign_protocol::{Common, Op};

/// 2026-05-24T14:22:20Z.
const NOW: i64 = 1_779_632_540_000;

type Partner = Greeted<PendingAction, Process>;

/// A shell that greets, and then does this.
fn greets_and(then: &str) -> Result<Partner, Lost> {
    shell(&format!("{GREETING}; {then}"))
}

const GREETING: &str = r#"read -r hello; echo '{"id":1,"name":"sh","supports":[]}'"#;

/// Longer than a shell takes to answer on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(1);

fn shell(script: &str) -> Result<Partner, Lost> {
    waited_for(PATIENCE, script)
}

fn waited_for(patience: Duration, script: &str) -> Result<Partner, Lost> {
    let command = ["sh", "-c", script].map(OsString::from).to_vec();
    Greeted::new(Process::new(command, patience))
}

/// What comes of asking twice.
fn fault_of(then: &str) -> Lost {
    let mut partner = greets_and(then).expect("it greets");
    let first = partner.reset(NOW);
    let lost = first.and_then(|_| partner.ask(NOW, Op::Common(Common::Tick {})));
    lost.expect_err("something is wrong")
}

const ANSWERS: &str =
    "while read -r line; do n=$((n+1)); echo \"{\\\"id\\\":$((n+1)),\\\"outputs\\\":[]}\"; done";

#[test]
fn an_implementation_that_answers_is_asked_on() {
    let mut partner = greets_and(ANSWERS).expect("it greets");
    assert_eq!(partner.greeting().name, "sh");
    for _ in 0..3 {
        let said = partner.reset(NOW);
        assert_eq!(said, Ok(Said::Outputs(Vec::new())));
    }
}

#[test]
fn a_command_that_there_is_not_is_told() {
    let command = vec![OsString::from("/no/such/program")];
    let lost = Partner::new(Process::new(command, Duration::from_secs(2))).err();
    assert!(matches!(
        lost.expect("it is not there").fault,
        Fault::NotStarted(_)
    ));
}

#[test]
fn one_that_hangs_is_not_waited_for() {
    // It greets within that time on a busy machine, too.
    let patience = Duration::from_secs(5);
    let hangs = format!("{GREETING}; echo stuck >&2; exec sleep 600");
    let mut partner = waited_for(patience, &hangs).expect("it greets");
    let lost = partner.reset(NOW).expect_err("it hangs");
    assert_eq!(lost.fault, Fault::Silent(patience));
    assert_eq!(lost.last_words, "stuck\n");
}

#[test]
fn one_that_dies_leaves_its_status_and_its_last_words() {
    let lost = fault_of("read -r line; echo 'out of luck' >&2; exit 7");
    assert_eq!(lost.fault, Fault::Ended(Some("exit status: 7".to_owned())));
    assert_eq!(lost.last_words, "out of luck\n");
    assert_eq!(
        lost.to_string(),
        "the adapter ended (exit status: 7); stderr: out of luck"
    );
}

#[test]
fn one_that_dies_before_it_greets_was_never_there() {
    let lost = shell("echo no >&2; exit 3").err();
    let lost = lost.expect("it does not greet");
    assert_eq!(lost.fault, Fault::Ended(Some("exit status: 3".to_owned())));
    assert_eq!(lost.last_words, "no\n");
}

#[test]
fn a_line_that_is_no_response_is_quoted() {
    let Fault::Unreadable(line, _) = fault_of("read -r line; echo 'Traceback'").fault else {
        panic!("it is no response");
    };
    assert_eq!(line, "Traceback");
}

#[test]
fn a_response_under_another_id_is_none() {
    let lost = fault_of("read -r line; echo '{\"id\":9,\"outputs\":[]}'; cat >/dev/null");
    assert_eq!(lost.fault, Fault::Misnumbered(Some(9), 2));
}

#[test]
fn a_second_answer_is_seen_with_the_next_request() {
    let lost = fault_of(
        "read -r line; echo '{\"id\":2,\"outputs\":[]}'; echo '{\"id\":2,\"outputs\":[]}'; cat >/dev/null",
    );
    let unasked = "{\"id\":2,\"outputs\":[]}".to_owned();
    assert_eq!(lost.fault, Fault::Unasked(unasked));
}

#[test]
fn a_flood_of_lines_is_not_read_to_its_end() {
    let lost = fault_of(
        "read -r line; echo '{\"id\":2,\"outputs\":[]}'; exec yes '{\"id\":2,\"outputs\":[]}'",
    );
    assert!(matches!(lost.fault, Fault::Unasked(_)), "{lost}");
}

#[test]
fn a_line_without_an_end_is_not_read_to_its_end() {
    let lost = fault_of("read -r line; exec tr '\\0' x </dev/zero");
    assert_eq!(lost.fault, Fault::TooLong);
}

#[test]
fn an_error_in_answer_to_a_request_that_is_in_order_is_a_fault() {
    let lost = fault_of("read -r line; echo '{\"id\":2,\"error\":\"broken\"}'; cat >/dev/null");
    assert_eq!(lost.fault, Fault::Errored("broken".to_owned()));
}

#[test]
fn one_that_was_lost_is_started_again() {
    let mut partner = greets_and("read -r line; exit 7").expect("it greets");
    for _ in 0..2 {
        let lost = partner.reset(NOW).expect_err("it dies");
        assert_eq!(lost.fault, Fault::Ended(Some("exit status: 7".to_owned())));
    }
}
