//! `countersign explore`: a protocol's model in a browser, one step at a time.

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};

use countersign_model::aaep::Aaep;
use countersign_model::facade;
use countersign_model::facade::engine::{Catalog, Variation};
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use miette::{IntoDiagnostic, WrapErr};
use stateright::Model;

use crate::answer::{Answer, Status};
use crate::arguments::{Protocol, VARIANT, Variant};
use crate::explorer::ExploredText;

const EXAMPLES: &str = "\
Examples:
  countersign explore aaep --bounds small
  countersign explore aaep --without AAEP-6.3.4-4
  countersign explore mcp-aql --literal --port 0

The page is served to this machine only, until the command is stopped.";

/// The arguments of `countersign explore`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol
    #[arg(value_enum)]
    protocol: Protocol,
    /// Listen at this port; 0 takes a free one
    #[arg(long, default_value_t = 3000)]
    port: u16,
    #[command(flatten, next_help_heading = VARIANT)]
    variant: Variant,
}

/// Runs the command; it ends when the process is stopped.
///
/// # Errors
///
/// Bounds, rules or readings that there are not, or a port that is not free.
pub fn run(args: &Args) -> miette::Result<Answer> {
    let text = args.protocol.text();
    let model = args.variant.model(text)?;
    let address = (Ipv4Addr::LOCALHOST, free(args.port)?);
    let mut stdout = io::stdout().lock();
    writeln!(
        stdout,
        "{} at http://{}:{}/ (it runs until it is stopped)",
        args.variant.again(text, "explore"),
        address.0,
        address.1
    )
    .and_then(|()| stdout.flush())
    .into_diagnostic()
    .wrap_err("cannot say where it is")?;
    drop(stdout);
    serve(args.protocol, &*model, address);
    let (text, status) = (String::new(), Status::Holds);
    Ok(Answer { text, status })
}

fn serve(protocol: Protocol, model: &dyn facade::Model, address: (Ipv4Addr, u16)) {
    match protocol {
        Protocol::Aaep => serve_text::<Aaep>(model, address),
        Protocol::McpAql => serve_text::<McpAql>(model, address),
        Protocol::PendingAction => serve_text::<PendingAction>(model, address),
    }
}

fn serve_text<P: Catalog>(model: &dyn facade::Model, address: (Ipv4Addr, u16)) {
    let text: Option<&Variation<P>> = model.as_any().downcast_ref();
    if let Some(text) = text {
        ExploredText::new(text.clone()).checker().serve(address);
    }
}

/// The port, or any if it is 0. The Explorer panics on one that is in use, so it is tried first.
fn free(port: u16) -> miette::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let address = listener.and_then(|listener| listener.local_addr());
    let address = address
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot listen on port {port}"))?;
    Ok(address.port())
}
