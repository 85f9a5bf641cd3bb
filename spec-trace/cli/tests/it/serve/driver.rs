//! The driver's side of a conversation, whatever the protocol.
//!
//! The one thing to know: [`Driver::ask`] sends one request and waits for its response before the next one is sent, as
//! a driver does. A response that is not flushed would hang here. What is said on either side is held against the schema.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::sync::LazyLock;
use std::thread::{self, JoinHandle};

use countersign_cli::serve::{Service, stdio};
use countersign_protocol::Protocol;
use jsonschema::Validator;
use serde_json::{Value, json};

/// When everything begins.
pub const NOW: &str = "2026-05-24T14:22:20.000Z";

/// The schema of each message.
static MESSAGES: LazyLock<BTreeMap<String, Validator>> = LazyLock::new(|| {
    let schema = countersign_protocol::schema();
    let names = schema["$defs"].as_object().unwrap().keys();
    let of_message = |name: &String| {
        let mut schema = schema.clone();
        schema["anyOf"] = json!([{"$ref": format!("#/$defs/{name}")}]);
        let options = jsonschema::options().should_validate_formats(true);
        (name.clone(), options.build(&schema).unwrap())
    };
    names.map(of_message).collect()
});

/// One side of a conversation: the driver's.
pub struct Driver {
    requests: PipeWriter,
    responses: BufReader<PipeReader>,
    server: JoinHandle<io::Result<()>>,
    protocol: &'static str,
    summary: fn(&Value) -> String,
    /// The id of the last request. As long as everything is sent by [`Driver::ask`], also the number of its line.
    pub id: u64,
}

impl Driver {
    /// A server that nobody has talked to. `summary` says one output in a few words: its kind, and what tells it from
    /// others of its kind.
    pub fn connected<S: Service + Send + 'static>(
        service: S,
        summary: fn(&Value) -> String,
    ) -> Self {
        let (input, requests) = io::pipe().unwrap();
        let (responses, output) = io::pipe().unwrap();
        let server = thread::spawn(move || stdio::serve(BufReader::new(input), output, service));
        Self {
            requests,
            responses: BufReader::new(responses),
            server,
            protocol: <S::Protocol as Protocol>::NAME,
            summary,
            id: 0,
        }
    }

    /// The same server after `hello` and `reset`.
    pub fn greeted(mut self) -> Self {
        self.ask("hello", json!({"driver": 1, "protocol": self.protocol}));
        self.ask("reset", json!({"now": NOW}));
        self
    }

    /// Sends one request and gives what came out, a line for each output.
    pub fn at(&mut self, now: &str, op: &str, fields: Value) -> Vec<String> {
        let response = self.ask(op, timed(now, fields));
        let outputs = response["outputs"].as_array();
        let outputs = outputs.unwrap_or_else(|| panic!("no outputs in {response}"));
        outputs.iter().map(self.summary).collect()
    }

    /// Sends one request with the next id and gives its whole response, which has to carry that id.
    pub fn ask(&mut self, op: &str, fields: Value) -> Value {
        self.id += 1;
        let mut request = json!({"id": self.id, "op": op});
        let Value::Object(fields) = fields else {
            panic!("fields are an object");
        };
        request.as_object_mut().unwrap().extend(fields);
        let response = self.send(&request.to_string());
        assert_eq!(response["id"], self.id);
        response
    }

    /// Sends one line as it stands and gives the line that comes back.
    pub fn send_text(&mut self, line: &str) -> String {
        writeln!(self.requests, "{line}").unwrap();
        let mut response = String::new();
        self.responses.read_line(&mut response).unwrap();
        response
    }

    /// Sends one line as it stands and gives the response.
    pub fn send(&mut self, line: &str) -> Value {
        let response: Value = serde_json::from_str(&self.send_text(line)).unwrap();
        assert!(self.fits("response", &response), "{response}");
        let is_refused = |output: &Value| output.get("refused").is_some();
        let outputs = response["outputs"].as_array();
        if outputs.is_some_and(|outputs| !outputs.iter().any(is_refused)) {
            // What only a line can carry, such as a number that no double holds, is nothing that a validator is shown.
            let request = serde_json::from_str(line);
            assert!(
                request.map_or(true, |request| self.fits("request", &request)),
                "{line}"
            );
        }
        response
    }

    fn fits(&self, message: &str, value: &Value) -> bool {
        MESSAGES[&format!("{}.{message}", self.protocol)].is_valid(value)
    }

    /// Each request is answered with an error that names the line and says this.
    #[track_caller]
    pub fn complains(&mut self, cases: &[(&str, Value, &str)]) {
        for (op, fields, error) in cases {
            let fields = timed(NOW, fields.clone());
            let response = self.ask(op, fields.clone());
            let line = self.id;
            assert_eq!(response["error"], format!("line {line}: {error}"));
            let mut request = fields;
            (request["id"], request["op"]) = (json!(1), json!(op));
            assert!(!self.fits("request", &request), "{request}");
        }
    }

    /// Each request is refused, by no clause and with this reason.
    #[track_caller]
    pub fn refuses(&mut self, cases: &[(&str, Value, &str)]) {
        for (op, fields, reason) in cases {
            let fields = timed(NOW, fields.clone());
            let response = self.ask(op, fields.clone());
            assert_eq!(
                response["outputs"],
                json!([{"refused": {"reason": reason}}])
            );
            let mut request = fields;
            (request["id"], request["op"]) = (json!(1), json!(op));
            assert!(!self.fits("request", &request), "{request}");
        }
    }

    /// Ends the input; the server then ends by itself, without a further word.
    pub fn hang_up(mut self) {
        drop(self.requests);
        self.server.join().unwrap().unwrap();
        let mut rest = String::new();
        self.responses.read_line(&mut rest).unwrap();
        assert_eq!(rest, "");
    }
}

/// The fields of a request, with the time added.
pub fn timed(now: &str, mut fields: Value) -> Value {
    fields["now"] = json!(now);
    fields
}
