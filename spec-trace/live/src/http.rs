//! HTTP/1.1: the binding of the specification, and the two conventions in the field beside it.
//!
//! The one thing to know: whatever reaches the producer as a message is answered with the one constant response. What the transport
//! refuses, for its form or its origin and never for what it says, was not received.
//!
//! | | specification | example producers | conformance suite |
//! |---|---|---|---|
//! | start a session | `POST /sessions` | `POST /sessions` `{"user_message"}` | `POST /messages` `{"kind":"user_input","text"}` |
//! | events | `POST /aaep/v1/subscriptions`, `GET /aaep/v1/events?subscription_id=` | `GET /events` | `GET /events` |
//! | replies | `POST /aaep/v1/replies` | `POST /messages` | `POST /messages` |
//!
//! `GET /events` without a subscription opens one that can reply, names it in the header `aaep-subscription-id`, and closes it when the
//! connection ends. One that was opened by itself stays open until `DELETE /aaep/v1/subscriptions/ID`.

use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{self, Body, Bytes, HttpBody};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use countersign_reference::aaep::{Audit, Capabilities, SubscriptionId};
use countersign_reference::ids::IdSource;
use countersign_reference::time::Timestamp;
use hyper::body::Frame;
use serde_json::{Value, json};
use subtle::ConstantTimeEq;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::timeout;

pub use crate::accept::{CONNECTIONS, bind};
use crate::accept::{accept, stopped, waiting};
use crate::host::{Host, NotBegun};
use crate::log::{Following, Told};

/// The longest body, in bytes.
pub const LONGEST_BODY: usize = 256 * 1_024;
/// How long a client may take to send its headers, how long to send a body, and how long to read what it was sent.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How often a stream says that it is still there.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);
/// The timer looks at the clock at least so often, as that can be set.
const CLOCK_CHECK: Duration = Duration::from_secs(1);

/// What an operator chooses.
#[derive(Debug)]
pub struct Settings {
    /// What every client has to show. Without one every sender counts as authenticated, so that it is for the loopback alone.
    pub bearer_token: Option<String>,
    /// How long a client may take, [`PATIENCE`] by default.
    pub patience: Duration,
    /// How many connections there may be, [`CONNECTIONS`] by default.
    pub connections: u32,
    /// Where the operator reads why messages were ignored. What does not fit is lost: a log holds nobody up.
    pub audits: SyncSender<Audit>,
}

/// Serves until `stop` is ready. Then the streams end, and connections have five seconds to end.
///
/// # Errors
///
/// Where the listener cannot be used.
pub fn run<Ids: IdSource + Send + 'static>(
    listener: TcpListener,
    host: Host<Ids>,
    settings: Settings,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build()?;
    runtime.block_on(serve(listener, host, settings, stop))
}

/// Ready at the first signal that asks the process to end: SIGINT or SIGTERM.
///
/// # Panics
///
/// Where signals cannot be waited for.
pub async fn asked_to_end() {
    // Nothing is told, so that nothing fails.
    let _told = told_and_asked_to_end(|| Ok(())).await;
}

/// The same; `tell` is called when such a signal is waited for, so that whoever acts on what it tells can send one.
///
/// # Errors
///
/// Those of `tell`: then nothing is waited for.
///
/// # Panics
///
/// Where signals cannot be waited for.
pub async fn told_and_asked_to_end(tell: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt()).expect("a signal can be waited for");
    let mut terminate = signal(SignalKind::terminate()).expect("a signal can be waited for");
    tell()?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

/// The same, on the thread that calls it.
///
/// # Errors
///
/// Those of `tell`, and where nothing can be waited for.
pub fn wait_for_end(tell: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build()?;
    runtime.block_on(told_and_asked_to_end(tell))
}

/// What all connections share.
struct Shared<Ids> {
    host: Mutex<Host<Ids>>,
    /// Something has happened, so that the next deadline may be another.
    happened: Notify,
    settings: Settings,
    /// What a request may name as the host that it is for.
    authorities: [String; 2],
    stopping: watch::Receiver<bool>,
}

type Server<Ids> = State<Arc<Shared<Ids>>>;

async fn serve<Ids: IdSource + Send + 'static>(
    listener: TcpListener,
    host: Host<Ids>,
    settings: Settings,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let listener = waiting(listener)?;
    let address = listener.local_addr()?;
    let limits = (settings.patience, settings.connections);
    let (stopper, stopping) = watch::channel(false);
    let shared = Arc::new(Shared {
        host: Mutex::new(host),
        happened: Notify::new(),
        settings,
        authorities: [address.to_string(), format!("localhost:{}", address.port())],
        stopping,
    });
    let router = router(Arc::clone(&shared));
    let timer = tokio::spawn(keep_time(Arc::clone(&shared)));
    accept(listener, router, limits, stop, stopper).await;
    timer.abort();
    Ok(())
}

fn router<Ids: IdSource + Send + 'static>(shared: Arc<Shared<Ids>>) -> Router {
    Router::new()
        .route("/aaep/v1/subscriptions", post(subscribe::<Ids>))
        .route("/aaep/v1/subscriptions/{id}", delete(unsubscribe::<Ids>))
        .route("/aaep/v1/events", get(events::<Ids>))
        .route("/aaep/v1/replies", post(message::<Ids>))
        .route("/sessions", post(session::<Ids>))
        .route("/events", get(events::<Ids>))
        .route("/messages", post(message::<Ids>))
        .route("/healthz", get(health::<Ids>))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&shared),
            own_origin::<Ids>,
        ))
        .with_state(shared)
}

/// Lets time pass whenever something is due.
async fn keep_time<Ids: IdSource>(shared: Arc<Shared<Ids>>) {
    loop {
        let deadline = shared.lock().next_deadline();
        let wait = deadline.map(|it| u64::try_from(it.millis() - now().millis()).unwrap_or(0));
        match wait.map(Duration::from_millis) {
            Some(Duration::ZERO) => shared.happens(Host::tick),
            Some(wait) => {
                // Either may be first: then the deadline is looked at again.
                let _woken = timeout(wait.min(CLOCK_CHECK), shared.happened.notified()).await;
            }
            None => shared.happened.notified().await,
        }
    }
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

impl<Ids: IdSource> Shared<Ids> {
    fn lock(&self) -> MutexGuard<'_, Host<Ids>> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets something happen now.
    fn happens<T>(&self, call: impl FnOnce(&mut Host<Ids>, Timestamp) -> T) -> T {
        let mut host = self.lock();
        let result = call(&mut host, now());
        let audits = host.take_audits();
        drop(host);
        for audit in audits {
            // A log that is full, or that nobody reads, holds nobody up.
            let _lost = self.settings.audits.try_send(audit);
        }
        self.happened.notify_one();
        result
    }

    /// Whether the client has shown the token, or need not. A wrong one tells nothing by the time that it takes.
    fn is_authenticated(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.settings.bearer_token else {
            return true;
        };
        let shown = headers.get(header::AUTHORIZATION);
        let shown = shown.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        shown.is_some_and(|shown| shown.ct_eq(token.as_bytes()).into())
    }
}

/// No page of another origin gets in: neither by its own requests, nor under a name of its own that leads here.
async fn own_origin<Ids: IdSource + Send + 'static>(
    State(shared): Server<Ids>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let is_own = |authority: &[u8]| {
        let own = shared.authorities.iter();
        own.map(String::as_bytes).any(|own| own == authority)
    };
    let origin = headers
        .get(header::ORIGIN)
        .map(axum::http::HeaderValue::as_bytes);
    let is_foreign = origin.is_some_and(|it| !it.strip_prefix(b"http://").is_some_and(is_own));
    let host = headers
        .get(header::HOST)
        .map(axum::http::HeaderValue::as_bytes);
    // A page that leads here under another name has no token.
    let is_misled = shared.settings.bearer_token.is_none() && !host.is_some_and(is_own);
    if is_foreign || is_misled {
        return refused(StatusCode::FORBIDDEN, "not from here");
    }
    next.run(request).await
}

async fn health<Ids: IdSource>(State(shared): Server<Ids>) -> Response {
    let under_way = shared.lock().under_way();
    told(
        StatusCode::OK,
        &json!({"status": "ok", "sessions": under_way}),
    )
}

async fn session<Ids: IdSource>(State(shared): Server<Ids>, request: Request) -> Response {
    if !shared.is_authenticated(request.headers()) {
        return unauthorized();
    }
    let body = match received(request, shared.settings.patience).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    match body["user_message"].as_str() {
        Some(prompt) => start(&shared, prompt),
        None => refused(
            StatusCode::BAD_REQUEST,
            "expected an object with the string user_message",
        ),
    }
}

/// A reply, or with `"kind":"user_input"` a prompt.
async fn message<Ids: IdSource>(
    State(shared): Server<Ids>,
    uri: Uri,
    request: Request,
) -> Response {
    let is_authenticated = shared.is_authenticated(request.headers());
    let body = match received(request, shared.settings.patience).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    if uri.path() == "/messages" {
        let read: Value = serde_json::from_slice(&body).unwrap_or_default();
        if read["kind"] == "user_input" {
            return match read["text"].as_str() {
                _ if !is_authenticated => unauthorized(),
                Some(prompt) => start(&shared, prompt),
                None => refused(StatusCode::BAD_REQUEST, "expected the string text"),
            };
        }
    }
    shared.happens(|host, now| host.deliver(now, is_authenticated, &body));
    // AAEP-6.3.4-9: the same for every message there can be.
    StatusCode::NO_CONTENT.into_response()
}

fn start<Ids: IdSource>(shared: &Shared<Ids>, prompt: &str) -> Response {
    match shared.happens(|host, now| host.start(now, prompt)) {
        Ok(session_id) => told(StatusCode::ACCEPTED, &json!({"session_id": session_id})),
        Err(why) => not_begun(why),
    }
}

async fn subscribe<Ids: IdSource>(State(shared): Server<Ids>, request: Request) -> Response {
    if !shared.is_authenticated(request.headers()) {
        return unauthorized();
    }
    let body = match received(request, shared.settings.patience).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let read: Value = serde_json::from_slice(&body).unwrap_or_default();
    if !read["subscriber_id"].is_string() {
        return refused(
            StatusCode::BAD_REQUEST,
            "expected an object with the string subscriber_id",
        );
    }
    // AAEP-EV-14: a subscriber cannot reply unless it says so.
    let can_reply = read["capabilities"]["supports_confirmation_reply"] == true;
    let capabilities = Capabilities {
        supports_confirmation_reply: can_reply,
    };
    match shared.happens(|host, now| host.subscribe(now, capabilities)) {
        Ok(id) => {
            let stream = format!("/aaep/v1/events?subscription_id={id}");
            let accepted = json!({
                "type": "subscription.accepted",
                "subscription_id": id,
                "honored_capabilities": {"supports_confirmation_reply": can_reply},
            });
            (
                [(header::LOCATION, stream)],
                told(StatusCode::CREATED, &accepted),
            )
                .into_response()
        }
        Err(why) => not_begun(why),
    }
}

async fn unsubscribe<Ids: IdSource>(
    State(shared): Server<Ids>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if !shared.is_authenticated(&headers) {
        return unauthorized();
    }
    let id = SubscriptionId::parse(&id).ok();
    let closed = id.map(|id| shared.happens(|host, now| host.unsubscribe(now, &id)));
    match closed {
        Some(true) => StatusCode::NO_CONTENT.into_response(),
        None | Some(false) => refused(StatusCode::NOT_FOUND, "no such subscription is open"),
    }
}

async fn events<Ids: IdSource + Send + 'static>(
    State(shared): Server<Ids>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    if !shared.is_authenticated(&headers) {
        return unauthorized();
    }
    let is_bound = uri.path() == "/aaep/v1/events";
    let mut asked = uri.query().unwrap_or_default().split('&');
    let named = asked.find_map(|one| one.strip_prefix("subscription_id="));
    let (id, closes) = match named {
        Some(id) => (SubscriptionId::parse(id).ok(), false),
        None if is_bound => {
            return refused(StatusCode::BAD_REQUEST, "expected subscription_id");
        }
        None => {
            let capabilities = Capabilities {
                supports_confirmation_reply: true,
            };
            match shared.happens(|host, now| host.subscribe(now, capabilities)) {
                Ok(id) => (Some(id), true),
                Err(why) => return not_begun(why),
            }
        }
    };
    let last_event_id = headers.get("last-event-id").and_then(|it| it.to_str().ok());
    let followed = id.and_then(|id| Some((shared.lock().follow(&id, last_event_id)?, id)));
    let Some((following, id)) = followed else {
        return refused(StatusCode::NOT_FOUND, "no such subscription is open");
    };
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream".to_owned()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        (
            "aaep-subscription-id".parse().expect("a name"),
            id.to_string(),
        ),
    ];
    let (sender, receiver) = mpsc::channel(64);
    let closes = closes.then_some(id);
    tokio::spawn(tell(shared, following, sender, is_bound, closes));
    (headers, Body::new(Frames(receiver))).into_response()
}

/// Writes the stream of one reader until it has gone, is too slow, or the server stops.
async fn tell<Ids: IdSource>(
    shared: Arc<Shared<Ids>>,
    following: Following,
    reader: mpsc::Sender<io::Result<Bytes>>,
    is_bound: bool,
    closes: Option<SubscriptionId>,
) {
    let mut stopping = shared.stopping.clone();
    tokio::select! {
        () = write(following, &reader, is_bound, shared.settings.patience) => {}
        () = reader.closed() => {}
        () = stopped(&mut stopping) => {}
    }
    if let Some(id) = closes {
        shared.happens(|host, now| host.unsubscribe(now, &id));
    }
}

async fn write(
    following: Following,
    reader: &mpsc::Sender<io::Result<Bytes>>,
    is_bound: bool,
    patience: Duration,
) {
    let Following { missed, mut coming } = following;
    let mut missed = missed.into_iter();
    loop {
        let line = match missed.next() {
            Some(event) => of_event(&event, is_bound),
            None => match timeout(SIGN_OF_LIFE, coming.recv()).await {
                Ok(Ok(event)) => of_event(&event, is_bound),
                // Too much waits for this reader. It comes back with the last event that it has seen.
                Ok(Err(_)) => return,
                Err(_) => ":\n\n".into(),
            },
        };
        match timeout(patience, reader.send(Ok(line.into()))).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
}

/// An event in a stream. Readers of the conventions in the field know no names of events.
fn of_event(event: &Told, is_bound: bool) -> String {
    let name = if is_bound { "event: aaep.event\n" } else { "" };
    format!("{name}id: {}\ndata: {}\n\n", event.id, event.json)
}

/// A body that comes as it is written.
pub(crate) struct Frames(pub mpsc::Receiver<io::Result<Bytes>>);

impl HttpBody for Frames {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = self.0.poll_recv(context);
        frame.map(|frame| frame.map(|bytes| bytes.map(Frame::data)))
    }
}

/// The body, if its form is right.
async fn received(request: Request, patience: Duration) -> Result<Bytes, Response> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let why = "expected application/json";
        return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    let body = body::to_bytes(request.into_body(), LONGEST_BODY);
    match timeout(patience, body).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(_)) => {
            let why = "expected a body of at most 256 KiB";
            Err(refused(StatusCode::PAYLOAD_TOO_LARGE, why))
        }
        Err(_) => Err(refused(StatusCode::REQUEST_TIMEOUT, "the body was awaited")),
    }
}

fn not_begun(why: NotBegun) -> Response {
    match why {
        NotBegun::TooMany => refused(StatusCode::SERVICE_UNAVAILABLE, "too many are open"),
        NotBegun::Refused(refusal) => refused(StatusCode::CONFLICT, &refusal.to_string()),
    }
}

fn unauthorized() -> Response {
    let refusal = refused(StatusCode::UNAUTHORIZED, "expected the bearer token");
    ([(header::WWW_AUTHENTICATE, "Bearer")], refusal).into_response()
}

/// The connection ends with it: the rest of the request may never come.
fn refused(status: StatusCode, why: &str) -> Response {
    let refusal = told(status, &json!({"error": why}));
    ([(header::CONNECTION, "close")], refusal).into_response()
}

fn told(status: StatusCode, body: &Value) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (status, kind, body.to_string()).into_response()
}
