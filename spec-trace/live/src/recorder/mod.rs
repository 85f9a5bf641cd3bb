//! A proxy in front of a live producer: what passes through it stands in a recording.
//!
//! The one thing to know: nothing waits for the recording. Bytes go on as they came; what is read out of them is read beside that.
//!
//! The same event comes once to each subscriber, and is recorded once. As often as it comes in one stream it stands there.

use std::collections::HashMap;
use std::error::Error;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::body::{self, Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use reqwest::{Client, redirect};
#[cfg(feature = "tls")]
use rustls::CertificateError;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use crate::accept::{CONNECTIONS, accept, stopped, waiting};
use crate::http::{Frames, now};
pub use reqwest::Url;

use line::{Answered, Passed, Written};
use sse::{Event, Events, Told};

pub mod line;
pub mod sse;

/// The longest body of a request that is passed on, in bytes.
pub const LONGEST_REQUEST: usize = 16 * 1024 * 1024;
/// The first line of a recording: each reply that passes is in it, so that where there is none, none was sent; and it is taken down
/// before the producer has it, so that no event behind which it stands came of it.
const HEAD: &[u8] =
    b"{\"type\":\"countersign.recording\",\"replies\":\"all\",\"order\":\"receipt\"}\n";
/// The longest body of an answer to a message that is recorded, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;
/// How long a connection to the producer may take.
const CONNECTED_WITHIN: Duration = Duration::from_secs(10);
/// How long a client may take to send the head of a request.
const PATIENCE: Duration = Duration::from_mins(1);

/// What an operator chooses.
#[derive(Debug)]
pub struct Settings {
    /// The producer: scheme, host, port, and a path that stands before every other one.
    pub to: Url,
    /// Where the operator reads what could not be passed on or recorded.
    pub troubles: SyncSender<String>,
}

/// How it went.
#[derive(Debug)]
pub struct Recorded {
    /// What stands in the recording.
    pub written: Written,
    /// In how many streams events came.
    pub streams: u64,
    /// What is not in the recording although it passed: events that were too long, and answers in a coding.
    pub left_out: u64,
}

/// Passes everything on until `stop` is ready, or the recording cannot be written.
///
/// # Errors
///
/// Where the listener cannot be used, there is no client for this, or the recording cannot be written.
pub fn run(
    listener: TcpListener,
    settings: Settings,
    mut output: impl Write + Send + 'static,
    stop: impl Future<Output = ()>,
) -> io::Result<Recorded> {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build()?;
    let (sender, passed) = channel();
    let (ended, mut ending) = watch::channel(false);
    let writer = thread::spawn(move || {
        let written = output
            .write_all(HEAD)
            .and_then(|()| line::write(&passed, output));
        ended.send_replace(true);
        written
    });
    let heard = Arc::new(Mutex::new(Heard::default()));
    let stop = async {
        tokio::select! {
            () = stop => {}
            () = stopped(&mut ending) => {}
        }
    };
    let passed_on = runtime.block_on(pass(listener, settings, sender, Arc::clone(&heard), stop));
    // Whoever still holds an end of the channel goes with it.
    drop(runtime);
    let written = writer
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the writer failed")))?;
    passed_on?;
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Recorded {
        written,
        streams: heard.streams,
        left_out: heard.left_out,
    })
}

/// What has been heard of all streams.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    hasher: RandomState,
    /// How often each event is in the recording, by the hash of its bytes.
    recorded: HashMap<u64, u32>,
    streams: u64,
    left_out: u64,
}

/// What has been heard of one stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    number: u64,
    /// How often each event came.
    came: HashMap<u64, u32>,
}

impl Heard {
    /// Whether an event that has come in a stream is to be recorded: it came in no other as often.
    pub(crate) fn is_new(&mut self, stream: &mut Stream, event: &[u8]) -> bool {
        let hash = self.hasher.hash_one(event);
        let came = stream.came.entry(hash).or_default();
        *came += 1;
        let recorded = self.recorded.entry(hash).or_default();
        let is_new = *came > *recorded;
        *recorded = (*recorded).max(*came);
        is_new
    }
}

/// What all connections share.
struct Shared {
    client: Client,
    settings: Settings,
    recording: Sender<Passed>,
    heard: Arc<Mutex<Heard>>,
    stopping: watch::Receiver<bool>,
    /// Why the producer's certificate is not accepted, once it is not.
    distrusted: watch::Sender<Option<String>>,
}

async fn pass(
    listener: TcpListener,
    settings: Settings,
    recording: Sender<Passed>,
    heard: Arc<Mutex<Heard>>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let listener = waiting(listener)?;
    let client = client().map_err(io::Error::other)?;
    let (stopper, stopping) = watch::channel(false);
    let shared = Arc::new(Shared {
        client,
        settings,
        recording,
        heard,
        stopping,
        distrusted: watch::Sender::new(None),
    });
    let mut distrusted = shared.distrusted.subscribe();
    let stop = async {
        tokio::select! {
            () = stop => {}
            // It ends with `shared`, not before.
            _ = distrusted.wait_for(Option::is_some) => {}
        }
    };
    let router = Router::new().fallback(forward);
    let router = router.with_state(Arc::clone(&shared));
    accept(listener, router, (PATIENCE, CONNECTIONS), stop, stopper).await;
    let why = shared.distrusted.borrow().clone();
    why.map_or(Ok(()), |why| Err(io::Error::other(why)))
}

/// A client of a producer. Redirects are for its caller to see.
pub(crate) fn client() -> reqwest::Result<Client> {
    // Fails where another one was chosen already, which will do.
    #[cfg(feature = "tls")]
    let _chosen = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().redirect(redirect::Policy::none());
    client.no_proxy().connect_timeout(CONNECTED_WITHIN).build()
}

impl Shared {
    fn tell(&self, trouble: String) {
        // A log that is full, or that nobody reads, holds nobody up.
        let _lost = self.settings.troubles.try_send(trouble);
    }

    fn heard(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, passed: Passed) {
        // Where it cannot be written any more, everything ends.
        let _ended = self.recording.send(passed);
    }

    fn leave_out(&self, what: &str) {
        self.heard().left_out += 1;
        self.tell(format!("not recorded: {what}"));
    }

    /// The address at the producer.
    fn address(&self, request: &Request) -> Option<Url> {
        let path = request.uri().path_and_query()?.as_str();
        let base = self.settings.to.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}{path}")).ok()
    }
}

/// One request, and the response to it.
async fn forward(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let Some(address) = shared.address(&request) else {
        return failed(StatusCode::BAD_REQUEST, "expected a path");
    };
    let (parts, body) = request.into_parts();
    let Ok(body) = body::to_bytes(body, LONGEST_REQUEST).await else {
        shared.leave_out(&format!(
            "{} {} has no body of at most 16 MiB",
            parts.method,
            parts.uri.path()
        ));
        return failed(
            StatusCode::PAYLOAD_TOO_LARGE,
            "expected a body of at most 16 MiB",
        );
    };
    let path = parts.uri.path().to_owned();
    let answer = (parts.method == Method::POST && is_message(&path, &body)).then(|| {
        let (answered, answer) = sync_channel(1);
        shared.record(Passed::Message {
            at: now(),
            body: body.to_vec(),
            has_authorization: parts.headers.contains_key(header::AUTHORIZATION),
            sender: None,
            answer,
        });
        answered
    });
    let named = address
        .query_pairs()
        .find(|(name, _)| name == "subscription_id");
    let named = named.map(|(_, id)| id.into_owned());
    let mut headers = onward(&parts.headers);
    headers.remove(header::HOST);
    headers.remove(header::CONTENT_LENGTH);
    // What comes in a coding could not be read here.
    headers.remove(header::ACCEPT_ENCODING);
    let asked = shared
        .client
        .request(parts.method, address)
        .headers(headers);
    let mut stopping = shared.stopping.clone();
    let asked = tokio::select! {
        answered = asked.body(body).send() => answered,
        () = stopped(&mut stopping) => return failed(StatusCode::BAD_GATEWAY, "the recorder stops"),
    };
    let asked = match asked {
        Ok(asked) => asked,
        Err(error) => {
            let why = words(&error);
            if certificate(&error).is_some() {
                // No other request would fare better.
                shared.distrusted.send_replace(Some(why.clone()));
            }
            shared.tell(format!("not passed on: {path}: {why}"));
            return failed(StatusCode::BAD_GATEWAY, &why);
        }
    };
    let status = asked.status();
    let mut headers = onward(asked.headers());
    if status != StatusCode::NO_CONTENT
        && let Some(length) = asked.headers().get(header::CONTENT_LENGTH)
    {
        headers.insert(header::CONTENT_LENGTH, length.clone());
    }
    let (client, frames) = mpsc::channel(64);
    let listened = Listened::of(&shared, asked.headers(), named);
    tokio::spawn(answered(shared, asked, client, listened, answer));
    (status, headers, Body::new(Frames(frames))).into_response()
}

/// A stream of events that passes.
struct Listened {
    events: Events,
    stream: Stream,
    subscription_id: Option<String>,
}

impl Listened {
    /// What is listened to in a response: nothing, where it is no stream of events that can be read.
    fn of(shared: &Shared, headers: &HeaderMap, named: Option<String>) -> Option<Self> {
        let kind = text(headers, &header::CONTENT_TYPE).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("text/event-stream") {
            return None;
        }
        let coding = text(headers, &header::CONTENT_ENCODING).unwrap_or("identity");
        if !coding.eq_ignore_ascii_case("identity") {
            shared.leave_out(&format!("a stream in the coding {coding}"));
            return None;
        }
        let mut heard = shared.heard();
        heard.streams += 1;
        let stream = Stream {
            number: heard.streams,
            ..Stream::default()
        };
        let told = HeaderName::from_static("aaep-subscription-id");
        Some(Self {
            events: Events::default(),
            stream,
            subscription_id: named.or_else(|| text(headers, &told).map(str::to_owned)),
        })
    }

    fn hear(&mut self, shared: &Shared, bytes: &[u8]) {
        let Self {
            events,
            stream,
            subscription_id,
        } = self;
        events.read(bytes, |event| match event {
            Event::TooLong => shared.leave_out("an event of more than 16 MiB"),
            Event::Told(Told { data, .. }) => {
                if shared.heard().is_new(stream, &data) {
                    shared.record(Passed::Event {
                        at: now(),
                        data,
                        stream: stream.number,
                        subscription_id: subscription_id.clone(),
                    });
                }
            }
        });
    }
}

/// Passes the body of a response on, until it ends, its reader has gone, or the recorder stops.
async fn answered(
    shared: Arc<Shared>,
    mut response: reqwest::Response,
    client: mpsc::Sender<io::Result<Bytes>>,
    mut listened: Option<Listened>,
    answer: Option<SyncSender<Answered>>,
) {
    let status = response.status().as_u16();
    let mut kept = Some(Vec::new()).filter(|_| answer.is_some());
    let mut stopping = shared.stopping.clone();
    loop {
        let chunk = tokio::select! {
            chunk = response.chunk() => chunk,
            () = client.closed() => break,
            () = stopped(&mut stopping) => break,
        };
        let bytes = match chunk {
            Ok(Some(bytes)) => bytes,
            Ok(None) => break,
            Err(error) => {
                shared.tell(format!("broke off: {}", words(&error)));
                let _gone = client.send(Err(io::Error::other(error))).await;
                break;
            }
        };
        if let Some(listened) = &mut listened {
            listened.hear(&shared, &bytes);
        }
        kept = kept.filter(|it: &Vec<u8>| it.len() + bytes.len() <= LONGEST_ANSWER);
        if let Some(kept) = &mut kept {
            kept.extend_from_slice(&bytes);
        }
        tokio::select! {
            sent = client.send(Ok(bytes)) => if sent.is_err() { break },
            () = stopped(&mut stopping) => break,
        }
    }
    if let Some(answer) = answer {
        // The line may not have waited so long.
        let _late = answer.try_send(Answered { status, body: kept });
    }
}

/// Whether a body that was posted is a message of the protocol: it says so, or comes where only messages come. A prompt is none.
fn is_message(path: &str, body: &[u8]) -> bool {
    let read: Value = serde_json::from_slice(body).unwrap_or_default();
    let says_so = read["type"] == "confirmation.reply" || read["type"] == "clarification.reply";
    let is_prompt = read.get("kind").is_some() || read.get("user_message").is_some();
    says_so || !is_prompt && (path.ends_with("/replies") || path.ends_with("/messages"))
}

/// The headers that are for the other end, and not for this connection alone.
fn onward(headers: &HeaderMap) -> HeaderMap {
    let named = text(headers, &header::CONNECTION).unwrap_or_default();
    let named = named.split(',').map(|it| it.trim().to_ascii_lowercase());
    let mut onward = headers.clone();
    for name in named.filter_map(|it| HeaderName::try_from(it).ok()) {
        onward.remove(name);
    }
    for name in [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ] {
        onward.remove(name);
    }
    onward
}

pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|it| it.to_str().ok())
}

fn failed(status: StatusCode, why: &str) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    let body = json!({"error": format!("countersign record: {why}")});
    (status, kind, body.to_string()).into_response()
}

/// What is wrong with the certificate of the other side, if that is what it came from.
#[cfg(feature = "tls")]
fn certificate<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a CertificateError> {
    if let Some(rustls::Error::InvalidCertificate(fault)) = error.downcast_ref() {
        return Some(fault);
    }
    // What an error of input and output holds is not its source.
    let held = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    match held {
        Some(held) => certificate(held),
        None => certificate(error.source()?),
    }
}

/// Without TLS nobody shows a certificate.
#[cfg(not(feature = "tls"))]
fn certificate(_: &(dyn Error + 'static)) -> Option<std::convert::Infallible> {
    None
}

/// An error with what it came from.
pub(crate) fn words(error: &(dyn Error + 'static)) -> String {
    if let Some(fault) = certificate(error) {
        return format!("the certificate of the producer is not accepted: {fault}");
    }
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let next = error.to_string();
        if !words.contains(&next) {
            words.push_str(": ");
            words.push_str(&next);
        }
        source = error.source();
    }
    words
}
