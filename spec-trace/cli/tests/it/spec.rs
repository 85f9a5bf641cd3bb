//! The settings of a text as a file: what `spec` prints, and what `--spec` makes of it.

use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;
use countersign_model::facade::{self, Text};
use serde_json::Value;
use tempfile::TempDir;

/// The protocols, each with bounds that take no time.
const PROTOCOLS: [(&str, &str); 3] = [
    ("aaep", "one"),
    ("mcp-aql", "small,tokens=1"),
    ("pending-action", "small,actions=1"),
];

/// One confirmation, and subscriptions and sessions that stay.
const FEW: &str = "one,closings=0,endings=0";

fn countersign(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("countersign").expect("the binary is built");
    command.env("NO_COLOR", "1").args(arguments);
    command
}

/// What is printed on stdout and on stderr, and the exit status.
fn ran(arguments: &[&str]) -> (String, String, i32) {
    let output = countersign(arguments).output().expect("it runs");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("it is UTF-8"));
    (stdout, stderr, output.status.code().expect("it ends"))
}

fn document(arguments: &[&str]) -> Value {
    let (stdout, stderr, _) = ran(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"))
}

/// A folder with a file.
struct Kept {
    _folder: TempDir,
    path: PathBuf,
}

impl Kept {
    fn of(text: &str) -> Self {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("changed.toml");
        fs::write(&path, text).expect("it is written");
        Self {
            _folder: folder,
            path,
        }
    }

    fn shown(&self) -> &str {
        self.path.to_str().expect("it is UTF-8")
    }
}

fn printed(protocol: &str) -> String {
    let (text, stderr, status) = ran(&["spec", protocol]);
    assert_eq!((stderr.as_str(), status), ("", 0));
    text
}

/// What is printed with something changed in it.
fn changed(protocol: &str, from: &str, to: &str) -> Kept {
    let text = printed(protocol);
    assert_eq!(text.matches(from).count(), 1, "{from} in {text}");
    Kept::of(&text.replace(from, to))
}

#[test]
fn what_spec_prints_is_taken_as_it_is_and_changes_nothing() {
    for (protocol, bounds) in PROTOCOLS {
        let text = printed(protocol);
        let file = Kept::of(&text);
        let (again, _, status) = ran(&["spec", protocol, "--spec", file.shown()]);
        assert_eq!((again, status), (text, 0));
        let check = ["check", protocol, "--bounds", bounds];
        let [mut before, mut after] = [
            &check[..],
            &[&check[..], &["--spec", file.shown()]].concat(),
        ]
        .map(document);
        for document in [&mut before, &mut after] {
            document["seconds"] = Value::Null;
        }
        assert_eq!(before, after, "{protocol}");
        let setting = format!("spec:{}", file.shown());
        let (_, stderr, status) = ran(&["compare", protocol, "--b", &setting]);
        assert!(stderr.contains("the same variant"), "{stderr}");
        assert_eq!(status, 2);
    }
}

/// Each line can be read without being folded, and the file has all that there is.
#[test]
fn what_spec_prints_names_every_reading_and_every_number_with_its_clauses() {
    facade::TEXTS.iter().for_each(assert_all_named);
}

fn assert_all_named(of: &Text) {
    let text = printed(of.name);
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let document = document(&["spec", of.name]);
    let list = |name: &str| document[name].as_array().expect("a list").clone();
    assert_eq!(list("readings").len(), of.places.len());
    assert_eq!(list("numbers").len(), of.numbers.len());
    for place in &of.places {
        assert!(text.contains(&format!("\n{} = \"", place.name)));
    }
    for number in list("numbers") {
        let name = number["name"].as_str().expect("a name");
        let key = name.rsplit('.').next().unwrap_or(name);
        let shown = number["value"].to_string();
        let shown = if number["not_modelled"].is_string() {
            format!("\n#   {name} = ")
        } else {
            format!("\n{key} = {shown}\n")
        };
        assert!(text.contains(&shown), "{shown} in {text}");
        for clause in number["clauses"].as_array().expect("clauses") {
            let clause = clause.as_str().expect("an id");
            assert!(countersign_clauses::get(clause).is_ok(), "{clause}");
        }
    }
}

#[test]
fn what_is_changed_without_a_file_stands_in_what_spec_prints() {
    let (text, _, status) = ran(&[
        "spec",
        "mcp-aql",
        "--reading",
        "check-order=sample",
        "--without",
        "honours-used",
    ]);
    assert_eq!(status, 0);
    assert!(text.contains("\ncheck-order = \"sample\"\n"), "{text}");
    assert!(text.contains("\nleft_out = [\"AQL-4.1-3\"]\n"), "{text}");
    let file = Kept::of(&text);
    let (again, ..) = ran(&["spec", "mcp-aql", "--spec", file.shown()]);
    assert_eq!(again, text);
}

/// What is wrong in a file is told with its line and column.
#[test]
fn what_there_is_not_is_refused_at_its_place() {
    let wrong = [
        ("left_out = []", "1:1: the key protocol is missing"),
        (
            "protocol = \"aaep\"\nrules = []",
            "2:1: unknown key `rules`",
        ),
        ("protocol = 1", "1:12: protocol: expected \"aaep\""),
        (
            "protocol = \"mcp-aql\"",
            "1:12: this file is of the protocol \"mcp-aql\"",
        ),
        (
            "protocol = \"mcp-aql\"\n[numbers.lifetimes]",
            "1:12: this file is of the protocol \"mcp-aql\"",
        ),
        ("protocol = \"aaep\"\nprotocol", "2:"),
        (
            "protocol = \"aaep\"\nleft_out = [\"honours-late\", \"honours-early\"]",
            "2:29: ",
        ),
        (
            "protocol = \"aaep\"\nleft_out = \"honours-late\"",
            "2:12: left_out: expected a list of rules",
        ),
        (
            "protocol = \"aaep\"\n[readings]\nlate-replies = \"by-claim\"",
            "3:1: unknown reading `late-replies`: expected one of late-reply, ",
        ),
        (
            "protocol = \"aaep\"\n[readings]\n  late-reply = \"never\"",
            "3:16: late-reply: unknown value \"never\": expected \"by-arrival\" or \"by-claim\"",
        ),
        (
            "protocol = \"aaep\"\n[readings]\nlate-reply = true",
            "3:14: late-reply: expected \"by-arrival\" or \"by-claim\", and this is of the type boolean",
        ),
        (
            "protocol = \"aaep\"\n[numbers.default_decision]\nhigh = \"either\"",
            "3:1: unknown number `default_decision.high`: expected one of irreversible_high, ",
        ),
        (
            "protocol = \"aaep\"\n[numbers.default_decision]\nirreversible_high = \"accept\"",
            "3:21: default_decision.irreversible_high: unknown value \"accept\"",
        ),
        (
            "protocol = \"aaep\"\nnumbers.default_decision = 3",
            "2:28: numbers.default_decision: expected a table",
        ),
        (
            "protocol = \"aaep\"\n[numbers]\ntimeouts.longest = 86400",
            "3:10: timeouts.longest is not modelled, so it cannot be changed: the search has no run that tells it from another",
        ),
    ];
    for (text, expected) in wrong {
        assert_refused("aaep", text, expected);
    }
    let of_tokens = [
        (
            "tolerance.longest = 95",
            "tolerance.longest is 95: expected 0 to 600, a multiple of 30",
        ),
        (
            "tolerance.longest = \"60\"",
            "tolerance.longest: expected a whole number",
        ),
        (
            "lifetimes.quota.default = 660",
            "lifetimes.quota.default is 660, and lifetimes.quota.longest no more than 600",
        ),
        (
            "tolerances.longest = 60",
            "unknown number `tolerances`: expected one of lifetimes, tolerance, storage, uses, tokens, levels",
        ),
    ];
    for (text, expected) in of_tokens {
        let text = format!("protocol = \"mcp-aql\"\n[numbers]\n{text}");
        assert_refused("mcp-aql", &text, expected);
    }
}

fn assert_refused(protocol: &str, text: &str, expected: &str) {
    let file = Kept::of(text);
    let (stdout, stderr, status) = ran(&["check", protocol, "--spec", file.shown()]);
    assert_eq!((stdout.as_str(), status), ("", 2), "{text}\n{stderr}");
    let said = stderr.strip_prefix(&format!("error: {}:", file.shown()));
    assert!(
        said.is_some_and(|it| it.contains(expected)),
        "{text}\n{stderr}"
    );
}

#[test]
fn a_file_that_is_not_there_is_refused() {
    let (_, stderr, status) = ran(&["check", "aaep", "--spec", "nowhere.toml"]);
    assert!(
        stderr.starts_with("error: cannot read nowhere.toml: "),
        "{stderr}"
    );
    assert_eq!(status, 2);
}

/// AAEP-6.4.1-1, AAEP-6.9-5: a table that lets a timeout run what cannot be undone costs the guarantee that none does.
#[test]
fn a_changed_table_is_searched_and_says_what_it_costs() {
    let file = changed(
        "aaep",
        "irreversible_high = \"must-reject\"",
        "irreversible_high = \"either\"",
    );
    let check = ["check", "aaep", "--bounds", FEW, "--full", "--all"];
    let (stdout, _, status) = ran(&[&check[..], &["--spec", file.shown()]].concat());
    assert_eq!(status, 1, "{stdout}");
    let broken: Vec<_> = stdout
        .lines()
        .filter_map(|it| it.strip_prefix("BROKEN"))
        .map(str::trim)
        .collect();
    let number = "default_decision.irreversible_high = either";
    let expected = [
        "AAEP-6.4.1-1 silence runs nothing irreversible of medium or high risk",
        "AAEP-6.4.1-1 what is asked is what was to be asked, and can be answered",
    ];
    let expected = expected.map(|it| format!("{it} (by the file: {number})"));
    assert_eq!(broken, expected, "{stdout}");
    assert!(
        stdout.contains("AAEP-6.4.1-1 violated (guarantee): "),
        "{stdout}"
    );
    let again = format!(
        "again:  countersign check aaep --bounds {FEW} --spec {} --full",
        file.shown()
    );
    assert!(stdout.contains(&again), "{stdout}");
}

/// AAEP-6.4.1-2: a number that made a run possible is named, kept with the run, and told by whoever draws it.
#[test]
fn a_number_is_named_kept_and_drawn_with_the_run_that_it_made_possible() {
    let file = changed(
        "aaep",
        "irreversible_medium = \"must-reject\"",
        "irreversible_medium = \"either\"",
    );
    let folder = TempDir::new().expect("a folder");
    let saved = folder.path().join("saved.json");
    let saved = saved.to_str().expect("it is UTF-8");
    let check = ["check", "aaep", "--bounds", FEW];
    let check = [&check[..], &["--spec", file.shown(), "--save", saved]].concat();
    let (stdout, _, status) = ran(&check);
    assert_eq!(status, 1, "{stdout}");
    let number = "default_decision.irreversible_medium=either";
    let said = format!("allowed by {number} of AAEP-6.4.1-2 (by default must-reject)");
    let words = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&said), "{stdout}");
    let kept = fs::read_to_string(saved).expect("it was written");
    let kept: Value = serde_json::from_str(&kept).expect("JSON");
    assert_eq!(kept["numbers"], serde_json::json!([number]));
    let properties = kept["properties"].as_array().expect("a list");
    let broken = properties.iter().find(|it| it["holds"] == false);
    let by = &broken.expect("it is broken")["made_possible_by"];
    assert_eq!(by[0]["number"], number, "{by}");
    assert_eq!(by[0]["default"], "must-reject", "{by}");
    let (drawn, ..) = ran(&["show", saved]);
    let said = format!("made possible by the number {number} (AAEP-6.4.1-2)");
    assert!(drawn.contains(&said), "{drawn}");
    assert!(
        drawn.contains(&format!("bounds, with {number}, by")),
        "{drawn}"
    );
}

/// AAEP-6.4.1-1, AAEP-6.3.4-1: of all that a setting changes, that is named which the run needs.
#[test]
#[ignore = "night: compares whole graphs"]
fn compare_puts_a_run_down_to_what_it_needs() {
    let file = changed(
        "aaep",
        "irreversible_high = \"must-reject\"",
        "irreversible_high = \"either\"",
    );
    let more = "reading:deadline-boundary=inclusive,without:AAEP-6.3.4-1";
    let b = format!("spec:{},{more},bounds:one", file.shown());
    let a = "bounds:one";
    let compare = ["compare", "aaep", "--a", a, "--b", &b];
    let (stdout, ..) = ran(&[&compare[..], &["--all"]].concat());
    let number = "default_decision.irreversible_high=either";
    // A line that is longer than the screen goes on below.
    let words: Vec<_> = stdout.split_whitespace().collect();
    let text = words.join(" ");
    assert_eq!(
        text.matches("allowed by default_decision.").count(),
        1,
        "{stdout}"
    );
    // What b may ask for, a may refuse.
    let said = format!("allowed by {number} of AAEP-6.4.1-1 (under a must-reject)");
    assert!(text.contains(&said), "{stdout}");
    let document = document(&compare);
    let by = &document["only_b"]["run"]["made_possible_by"];
    assert_eq!(by.as_array().map(Vec::len), Some(1), "{by}");
    assert_eq!(by[0]["number"], number, "{by}");
    // What else is changed has its own run each, if it has any.
    let each = &document["only_b"]["by_each_other"];
    let named = each.as_array().into_iter().flatten().map(|it| &it["by"]);
    let expected = [
        "leaving out honours-malformed",
        "deadline-boundary=inclusive",
    ];
    assert_eq!(named.collect::<Vec<_>>(), expected, "{each:#}");
}

/// AQL-5.4-1: where a token has one use and no more, a second is not asked for in a session either.
#[test]
fn compare_tells_a_changed_number_from_the_text() {
    let file = changed("mcp-aql", "most = 0", "most = 1");
    let b = format!("spec:{},bounds:small,tokens=1", file.shown());
    let compared = document(&[
        "compare",
        "mcp-aql",
        "--a",
        "bounds:small,tokens=1",
        "--b",
        &b,
    ]);
    for (only, instead) in [
        ("only_a", "out: refused"),
        ("only_b", "CONFIRMATION_REQUIRED"),
    ] {
        let only = &compared[only];
        let steps = only["run"]["steps"].as_array().expect("steps");
        assert_eq!(steps.len(), 1, "{compared:#}");
        assert!(
            steps[0]["text"].to_string().contains("for 2 uses"),
            "{only:#}"
        );
        assert!(
            only["run"]["instead"].to_string().contains(instead),
            "{only:#}"
        );
    }
    assert_eq!(compared["b"]["setting"], b);
}

#[test]
fn a_rule_that_a_file_leaves_out_is_left_out() {
    let file = changed("pending-action", "left_out = []", "left_out = [\"PA-2\"]");
    let check = ["check", "pending-action", "--bounds", "small,actions=1"];
    let by_file = document(&[&check[..], &["--spec", file.shown()]].concat());
    let by_option = document(&[&check[..], &["--without", "PA-2"]].concat());
    assert_eq!(by_file["properties"], by_option["properties"]);
    let (_, stderr, status) = ran(&["ablate", "pending-action", "--spec", file.shown()]);
    assert!(stderr.contains("left_out has to be empty here"), "{stderr}");
    assert_eq!(status, 2);
}

#[test]
fn the_executor_takes_what_it_has_a_setting_for_and_refuses_the_rest() {
    let served = |protocol: &str, file: &Kept| {
        let arguments = ["serve", protocol, "--stdio", "--spec", file.shown()];
        let output = countersign(&arguments).write_stdin("").output();
        let output = output.expect("it runs");
        let stderr = String::from_utf8(output.stderr).expect("it is UTF-8");
        (stderr, output.status.code().expect("it ends"))
    };
    let order = ("check-order = \"table\"", "check-order = \"sample\"");
    let taken = changed("mcp-aql", order.0, order.1);
    assert_eq!(served("mcp-aql", &taken), (String::new(), 0));
    let refused = [
        (
            "mcp-aql",
            "warned_above = 60",
            "warned_above = 120",
            "it has the numbers of the text",
        ),
        (
            "aaep",
            "late-reply = \"by-arrival\"",
            "late-reply = \"by-claim\"",
            "it has no setting for that",
        ),
        (
            "aaep",
            "left_out = []",
            "left_out = [\"honours-late\"]",
            "the executor keeps every rule",
        ),
    ];
    for (protocol, from, to, expected) in refused {
        let (stderr, status) = served(protocol, &changed(protocol, from, to));
        assert!(stderr.contains(expected), "{stderr}");
        assert_eq!(status, 2);
    }
}

/// What is accepted of all that can be asked for; the first way of a place is that of the text, which the executor has by itself, but
/// for the connections: those of the driver protocol end with the process.
#[test]
#[ignore = "night: searches for minutes"]
fn the_executor_takes_the_readings_that_it_has_a_setting_for() {
    let [aaep, mcp_aql, pending_action] = &*facade::TEXTS;
    assert_served(aaep, &[]);
    assert_served(
        mcp_aql,
        &[
            "check-order=sample",
            "oracle=uniform",
            "session-binding=always",
            "ended-session=stays-ended",
            "restarted-session=ends",
        ],
    );
    assert_served(
        pending_action,
        &[
            "read-effect=runs",
            "expiry-boundary=after",
            "deciders-absent=nobody",
        ],
    );
    for (way, expected) in [("kept", "it keeps none"), ("signed", "")] {
        let reading = format!("token-storage={way}");
        let serve = ["serve", "mcp-aql", "--stdio", "--signed"];
        let (_, stderr, status) = ran(&[&serve[..], &["--reading", &reading]].concat());
        assert!(stderr.contains(expected), "{stderr}");
        assert_eq!(status, if expected.is_empty() { 0 } else { 2 });
    }
    assert_agreed("mcp-aql", &["--signed"], "token-storage=signed");
}

/// What is served by a reading is not accused by it, whatever it is told while it runs.
fn assert_agreed(protocol: &str, options: &[&str], reading: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let save = folder.path().to_str().expect("a path");
    let diff = ["diff", protocol, "--format", "json", "--runs", "15"];
    let taken = ["--reading", reading];
    let binary = env!("CARGO_BIN_EXE_countersign");
    let served = ["--save", save, "--", binary, "serve", protocol, "--stdio"];
    let arguments = [
        &diff[..],
        &taken,
        &served,
        &["--seed", "1"],
        &taken,
        options,
    ];
    let (stdout, stderr, _) = ran(&arguments.concat());
    let document: Value = serde_json::from_str(&stdout).expect("JSON");
    let none = Value::Array(Vec::new());
    assert_eq!(document["divergences"], none, "{reading}: {stderr}");
}

fn assert_served(text: &Text, taken: &[&str]) {
    for place in &text.places {
        for (which, choice) in place.choices.iter().enumerate() {
            let reading = format!("{}={}", place.name, choice.value);
            let serve = ["serve", text.name, "--stdio", "--reading", &reading];
            let (_, stderr, status) = ran(&serve);
            let is_usual = which == 0 && place.name != "restarted-session";
            if is_usual || taken.contains(&&*reading) {
                assert_eq!((&*stderr, status), ("", 0), "{reading}");
                assert_agreed(text.name, &[], &reading);
            } else {
                let (name, value) = (place.name, choice.value);
                let expected =
                    format!("--reading: the executor cannot carry out {name} = {value}: ");
                assert!(stderr.contains(&expected), "{stderr}");
                assert_eq!(status, 2);
            }
        }
    }
}

/// The numbers of a rule's worth are of the text as the file has it, and not of the text as it stands.
#[test]
fn worth_is_drawn_up_by_the_file() {
    let worth = ["worth", "pending-action", "--bounds", "small,actions=1"];
    let alone = ["--steps", "3", "--guarantee", "PA-7"];
    let after = ("expiry-boundary = \"at\"", "expiry-boundary = \"after\"");
    let file = changed("pending-action", after.0, after.1);
    let drawn = |options: &[&str]| document(&[&worth[..], &alone, options].concat());
    let by_file = drawn(&["--spec", file.shown()]);
    assert_eq!(by_file, drawn(&["--reading", "expiry-boundary=after"]));
    assert_ne!(by_file, drawn(&[]));
    let file = changed("pending-action", "left_out = []", "left_out = [\"PA-2\"]");
    let (_, stderr, status) = ran(&[&worth[..], &["--spec", file.shown()]].concat());
    assert!(stderr.contains("left_out has to be empty here"), "{stderr}");
    assert_eq!(status, 2);
}

/// What is named beside a file holds, whatever the file says; of two ways to take one place no command takes any.
#[test]
fn a_reading_goes_before_the_file_and_not_beside_another() {
    let sample = "check-order = \"sample\"";
    let file = changed("mcp-aql", "check-order = \"table\"", sample);
    let spec = |reading: &str| {
        let arguments = ["spec", "mcp-aql", "--spec", file.shown(), "--reading"];
        ran(&[&arguments[..], &[reading]].concat())
    };
    assert_eq!(spec("check-order=table").0, printed("mcp-aql"));
    assert!(spec("oracle=codes").0.contains(sample));
    let claimed = changed(
        "aaep",
        "late-reply = \"by-arrival\"",
        "late-reply = \"by-claim\"",
    );
    let serve = ["serve", "aaep", "--stdio", "--spec", claimed.shown()];
    let arrival = ["--reading", "late-reply=by-arrival"];
    assert_eq!(ran(&serve).2, 2);
    assert_eq!(ran(&[&serve[..], &arrival].concat()).2, 0);
    let both = ["--reading", "oracle=codes", "--reading", "oracle=uniform"];
    let binary = env!("CARGO_BIN_EXE_countersign");
    let implementation = ["--", binary, "serve", "mcp-aql", "--stdio"];
    for (command, rest) in [
        (["check", "mcp-aql"], &[][..]),
        (["worth", "mcp-aql"], &[]),
        (["serve", "mcp-aql"], &["--stdio"]),
        (["diff", "mcp-aql"], &implementation),
    ] {
        let (_, stderr, status) = ran(&[&command[..], &both, rest].concat());
        let expected = "reading oracle: codes and uniform exclude each other";
        assert!(stderr.contains(expected), "{command:?}: {stderr}");
        assert_eq!(status, 2, "{command:?}");
        let unknown = ["--reading", "oracles=codes"];
        let (_, stderr, status) = ran(&[&command[..], &unknown, rest].concat());
        let expected = "unknown reading `oracles`: expected one of check-order, oracle, ";
        assert!(stderr.contains(expected), "{command:?}: {stderr}");
        assert_eq!(status, 2, "{command:?}");
    }
}

/// AQL-5.1-5: a draft with a longer longest tolerance has what the text refuses taken.
#[test]
fn an_implementation_is_judged_by_the_draft() {
    let folder = TempDir::new().expect("a folder");
    let driven = |file: &Kept| -> Value {
        let save = folder.path().to_str().expect("it is UTF-8");
        let binary = env!("CARGO_BIN_EXE_countersign");
        let diff = ["diff", "mcp-aql", "--runs", "0", "--save", save];
        let format = ["--format", "json", "--spec", file.shown(), "--", binary];
        let (stdout, ..) = ran(&[&diff[..], &format, &["serve", "mcp-aql", "--stdio"]].concat());
        serde_json::from_str(&stdout).expect("one JSON document")
    };
    let found = |document: &Value| -> Vec<String> {
        let divergences = document["divergences"].as_array().expect("divergences");
        let clauses = divergences
            .iter()
            .map(|it| it["clause"].as_str().expect("an id"));
        clauses.map(str::to_owned).collect()
    };
    let as_it_is = Kept::of(&printed("mcp-aql"));
    assert_eq!(found(&driven(&as_it_is)), [""; 0]);
    let longest = changed(
        "mcp-aql",
        "\nlongest = 300\n\n# AQL-5.1-6",
        "\nlongest = 330\n\n# AQL-5.1-6",
    );
    let wrong = found(&driven(&longest));
    assert!(wrong.iter().any(|it| it == "AQL-5.1-5"), "{wrong:?}");
    let left_out = changed("mcp-aql", "left_out = []", "left_out = [\"honours-used\"]");
    let diff = [
        "diff",
        "mcp-aql",
        "--spec",
        left_out.shown(),
        "--",
        env!("CARGO_BIN_EXE_countersign"),
    ];
    let serve = ["serve", "mcp-aql", "--stdio"];
    let (_, stderr, status) = ran(&[&diff[..], &serve].concat());
    assert!(stderr.contains("left_out has to be empty here"), "{stderr}");
    assert_eq!(status, 2);
}

/// Places that an implementation may take in either way, and the model does not have: `diff` names them, and `readings` knows them.
#[test]
fn readings_knows_what_diff_finds_out() {
    let binary = env!("CARGO_BIN_EXE_countersign");
    let diff = [
        "diff", "mcp-aql", "--format", "json", "--runs", "1", "--save",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let save = folder.path().to_str().expect("a path");
    let serve = [save, "--", binary, "serve", "mcp-aql", "--stdio"];
    let (stdout, ..) = ran(&[&diff[..], &serve].concat());
    let document: Value = serde_json::from_str(&stdout).expect("JSON");
    let places = document["readings"].as_object().expect("readings");
    assert!(places.contains_key("longest-life"), "{document:#}");
    for place in places
        .keys()
        .filter(|it| facade::TEXTS[1].place(it).is_none())
    {
        let (stdout, stderr, status) = ran(&["readings", "mcp-aql", place]);
        assert_eq!((&*stderr, status), ("", 0), "{place}");
        assert!(stdout.contains("left open by AQL-"), "{stdout}");
    }
}

/// A file that is no text is told with the place where it ceases to be one.
#[test]
fn a_file_that_is_no_text_is_an_error_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("binary.toml");
    fs::write(&file, b"protocol = \"mcp-aql\"\nx = \xff").expect("a file");
    let (_, stderr, status) = ran(&["spec", "mcp-aql", "--spec", file.to_str().expect("a path")]);
    assert!(
        stderr.contains("binary.toml:2:5: this is no text"),
        "{stderr}"
    );
    assert_eq!(status, 2);
}
