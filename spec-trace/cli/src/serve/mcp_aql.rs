//! MCP-AQL confirmation tokens over the driver protocol: requests as inputs of the gatekeeper, its outputs as JSON.
//!
//! The one thing to know: `params` is what a client sent, and reaches the gatekeeper as it is written. So a key twice, half
//! a surrogate pair or a number that is too large is answered by the gatekeeper, as the client would be, and not by the
//! reader of requests.

use countersign_reference::ids::IdSource;
use countersign_reference::mcp_aql::{
    Call, DangerLevel, Gatekeeper, Input, Outcome, Parameters, Purpose, Settings,
};
use countersign_reference::time::Timestamp;
use serde_json::Value;

use super::request::{BadRequest, Field, Fields, unknown_op};
use super::{Failure, Operation, Service, refusal, stored_and_read_back};

/// What [`McpAql`] carries out.
const OPS: &[&str] = &[
    "configure",
    "call",
    "introspect",
    "event",
    "end_session",
    "tick",
    "restart",
];

/// The gatekeeper, and beside it what its host keeps: the source of identifiers, and the settings of every new gatekeeper.
#[derive(Clone, Debug)]
pub struct McpAql<Ids> {
    gatekeeper: Gatekeeper,
    settings: Settings,
    ids: Ids,
}

impl<Ids: IdSource> McpAql<Ids> {
    /// A gatekeeper without tokens, drawing its identifiers from `ids`. A reset leaves the settings as they are.
    pub fn new(settings: Settings, ids: Ids) -> Self {
        Self {
            gatekeeper: Gatekeeper::new(settings.clone()),
            settings,
            ids,
        }
    }
}

impl<Ids: IdSource> Service for McpAql<Ids> {
    const PROTOCOL: &'static str = "mcp-aql";
    const SUPPORTS: &'static [&'static str] = &["restart", "clock"];
    const VERBATIM: &'static [&'static str] = &["params"];
    type Input = Input;

    fn reset(&mut self, now: Timestamp) -> Result<(), Failure> {
        self.gatekeeper = Gatekeeper::new(self.settings.clone());
        // There is nothing yet that could happen: this only tells the time.
        let _nothing = self.gatekeeper.handle(now, &mut self.ids, Input::Tick);
        Ok(())
    }

    fn read(op: &str, fields: &mut Fields) -> Result<Operation<Input>, BadRequest> {
        let input = match op {
            "configure" => configure(fields)?,
            "call" => Input::Call(call(fields)?),
            "introspect" => Input::Introspect {
                query: fields.required("query")?.word()?,
                token: fields.required("token")?.text()?,
            },
            "event" => Input::Event {
                kind: fields.required("kind")?.word()?,
                session_id: fields.optional("session_id").map(Field::word).transpose()?,
            },
            "end_session" => Input::EndSession {
                session_id: fields.required("session_id")?.word()?,
            },
            "tick" => Input::Tick,
            "restart" => Input::Restart,
            op => return Err(unknown_op(op, OPS)),
        };
        Ok(Operation::Do(input))
    }

    fn handle(&mut self, now: Timestamp, input: Input) -> Result<Vec<Value>, Failure> {
        if matches!(input, Input::Restart) {
            self.gatekeeper = stored_and_read_back(&self.gatekeeper)?;
        }
        let Outcome { outputs, refused } = self.gatekeeper.handle(now, &mut self.ids, input);
        let mut values = outputs
            .iter()
            .map(serde_json::to_value)
            .collect::<serde_json::Result<Vec<Value>>>()?;
        values.extend(refused.map(|refused| refusal(refused.clause(), &refused)));
        Ok(values)
    }
}

fn configure(fields: &mut Fields) -> Result<Input, BadRequest> {
    let critical = |field: Field| {
        field.read("an object with an array of the names of parameters for each operation")
    };
    Ok(Input::Configure {
        adapter: fields.required("adapter")?.word()?,
        clock_skew_tolerance_seconds: fields
            .optional("clock_skew_tolerance_seconds")
            .map(Field::whole_number)
            .transpose()?,
        oracle: fields.optional("oracle").map(Field::word).transpose()?,
        critical: fields.optional("critical").map(critical).transpose()?,
    })
}

fn call(fields: &mut Fields) -> Result<Call, BadRequest> {
    Ok(Call {
        adapter: fields.optional("adapter").map(Field::word).transpose()?,
        operation: fields.required("operation")?.word()?,
        params: Parameters::new(fields.required("params")?.verbatim()?),
        danger_level: danger_level(fields.required("danger_level")?)?,
        session_id: fields.optional("session_id").map(Field::word).transpose()?,
        // AQL-5.2-1: one use where nothing is said.
        max_uses: fields.optional("max_uses").map_or(Ok(1), max_uses)?,
        ttl_seconds: fields
            .optional("ttl_seconds")
            .map(Field::whole_number)
            .transpose()?,
        confirmation_token: fields
            .optional("confirmation_token")
            .map(Field::text)
            .transpose()?,
        purpose: fields
            .optional("purpose")
            .map_or(Ok(Purpose::default()), Field::word)?,
        reasons: fields.optional("reasons").map(Field::texts).transpose()?,
        confirmation_message: fields
            .optional("confirmation_message")
            .map(Field::text)
            .transpose()?,
    })
}

/// AQL-5.1-8: a level has a name and a number.
fn danger_level(field: Field) -> Result<DangerLevel, BadRequest> {
    field.read("`safe`, `reversible`, `destructive`, `dangerous`, `forbidden`, or their number from 0 to 4")
}

fn max_uses(field: Field) -> Result<u32, BadRequest> {
    field.read("a whole number, 0 to 4294967295")
}
