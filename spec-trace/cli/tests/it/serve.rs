//! Whole conversations with `countersign serve`, over pipes and with ids that count up.

mod aaep;
mod bad_input;
mod driver;
mod http;
mod killed;
mod mcp_aql;
mod mcp_aql_bad_input;
mod mcp_aql_stage;
mod pending_action;
mod pending_action_bad_input;
mod pending_action_stage;
mod record;
use crate::running;
#[cfg(feature = "tls")]
mod tls;
mod transcripts;

use clap::{CommandFactory, Parser};
use countersign_cli::commands::serve::Args;

#[derive(Debug, Parser)]
struct CommandLine {
    #[command(flatten)]
    args: Args,
}

#[test]
fn the_command_line_wants_a_known_protocol_and_a_transport() {
    let parse = |arguments: &[&str]| {
        let arguments = ["serve"].iter().chain(arguments);
        CommandLine::try_parse_from(arguments).map_err(|error| error.to_string())
    };
    for known in ["aaep", "mcp-aql", "pending-action"] {
        assert!(parse(&[known, "--stdio"]).unwrap().args.stdio);
    }
    let unknown = parse(&["smtp", "--stdio"]).unwrap_err();
    assert!(
        unknown.contains("[possible values: aaep, mcp-aql, pending-action]"),
        "{unknown}"
    );
    let silent = parse(&["aaep"]).unwrap_err();
    assert!(silent.contains("--stdio"), "{silent}");
}

#[test]
fn help_lists_the_requests_with_their_fields() {
    let help = CommandLine::command().render_help().to_string();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        r#"{"id":1,"op":"hello","driver":1,"protocol":"mcp-aql"}"#,
        " restart lost? ",
        " finish_tool session_id, action, tool_call_id?, status: success|error|timeout ",
        " introspect adapter?, query: revoke_token|token_status, token ",
        " decide action_id, nonce?, decision: allow|deny, by, arguments? ",
        " rollback snapshot ",
    ] {
        assert!(help.contains(words), "{help}");
    }
}
