//! The requests to a producer, in the conventions that there are.
//!
//! The one thing to know: every wait ends. What does not come as it should is a [`Trouble`] in words, and judges nothing.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, LOCATION};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url, redirect};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::recorder::{CONNECTED_WITHIN, text, words};

/// How long a producer may take to answer a request.
pub const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// The longest answer that is kept, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;

/// What kept the producer from being driven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble(pub String);

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Trouble {}

/// Which path takes what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// The binding of the specification: subscriptions at `/aaep/v1`, and the application's own way to start a session.
    Specification,
    /// The published example producers: `/sessions`, `/events`, `/messages`.
    Examples,
    /// The published conformance suite: `/events`, and `/messages` for prompts too.
    Suite,
}

impl Convention {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Specification, Self::Examples, Self::Suite];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Specification => "specification",
            Self::Examples => "examples",
            Self::Suite => "suite",
        }
    }
}

/// A producer, as its clients reach it.
pub(super) struct Wire {
    client: Client,
    base: Url,
    bearer_token: Option<String>,
    convention: Cell<Convention>,
    /// Whether the convention was found out and not chosen.
    is_guessed: bool,
}

/// What a request was answered with.
pub(super) struct Answer {
    pub status: StatusCode,
    pub body: Vec<u8>,
    location: Option<String>,
}

/// A subscription that was opened.
#[derive(Clone)]
pub(super) struct Subscription {
    /// Its id, where the producer has named it.
    pub id: Option<String>,
    events: Url,
}

impl Wire {
    /// Finds out how the producer is spoken to, unless that is chosen.
    pub async fn find(
        base: &Url,
        bearer_token: Option<&str>,
        chosen: Option<Convention>,
    ) -> Result<Self, Trouble> {
        // Fails where another one was chosen already, which will do.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().redirect(redirect::Policy::none());
        let client = client.no_proxy().connect_timeout(CONNECTED_WITHIN);
        let client = client.build().map_err(|error| Trouble(words(&error)))?;
        let mut wire = Self {
            client,
            base: base.clone(),
            bearer_token: bearer_token.map(str::to_owned),
            convention: Cell::new(chosen.unwrap_or(Convention::Specification)),
            is_guessed: chosen.is_none(),
        };
        let bound = wire.subscribe().await;
        if bound.is_ok() || chosen.is_some() {
            let opened = bound?;
            wire.follow(&opened, None).await?;
            wire.unsubscribe(&opened).await;
            return Ok(wire);
        }
        wire.convention = Cell::new(Convention::Examples);
        let opened = wire.subscribe().await?;
        match (bound, wire.follow(&opened, None).await) {
            (_, Ok(_)) => Ok(wire),
            (Err(bound), Err(field)) => Err(Trouble(format!("{bound}; {field}"))),
            (Ok(_), Err(field)) => Err(field),
        }
    }

    /// Whether strangers can be told from others by what they show.
    pub fn has_token(&self) -> bool {
        self.bearer_token.is_some()
    }

    /// Whether a subscription goes on while nobody follows its events.
    pub fn keeps_subscriptions(&self) -> bool {
        self.convention.get() == Convention::Specification
    }

    /// Opens a subscription that can reply.
    pub async fn subscribe(&self) -> Result<Subscription, Trouble> {
        if !self.keeps_subscriptions() {
            let (id, events) = (None, self.at("/events")?);
            return Ok(Subscription { id, events });
        }
        let path = "/aaep/v1/subscriptions";
        let asked = json!({
            "type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "countersign",
            "capabilities": {"supports_confirmation_reply": true},
        });
        let answer = self
            .post(path, asked.to_string().into_bytes(), true)
            .await?;
        let read = answer.json();
        let id = read["subscription_id"].as_str().map(str::to_owned);
        if !answer.status.is_success() || id.is_none() {
            return Err(answer.unexpected("POST", path, "2xx and a subscription_id"));
        }
        let events = if let Some(location) = &answer.location {
            let events = self.at(path)?.join(location).ok();
            let own = events.filter(|it| it.origin() == self.base.origin());
            own.ok_or_else(|| Trouble(format!("POST {path} leads elsewhere: {location}")))?
        } else {
            let mut events = self.at("/aaep/v1/events")?;
            let id = id.as_deref().unwrap_or_default();
            events.query_pairs_mut().append_pair("subscription_id", id);
            events
        };
        Ok(Subscription { id, events })
    }

    /// Closes a subscription, where there is a way: whether that was answered well.
    pub async fn unsubscribe(&self, subscription: &Subscription) -> bool {
        let Some(id) = subscription
            .id
            .as_ref()
            .filter(|_| self.keeps_subscriptions())
        else {
            return false;
        };
        let Ok(at) = self.at(&format!("/aaep/v1/subscriptions/{id}")) else {
            return false;
        };
        let asked = self.authorized(self.client.delete(at));
        let answered = within("DELETE", asked.send()).await;
        answered.is_ok_and(|it| it.status().is_success())
    }

    /// The stream of its events, and the id of the subscription, where the answer names it.
    pub async fn follow(
        &self,
        subscription: &Subscription,
        last_event_id: Option<&str>,
    ) -> Result<(Response, Option<String>), Trouble> {
        let path = subscription.events.path();
        let asked = self.client.get(subscription.events.clone());
        let mut asked = self.authorized(asked).header(ACCEPT, "text/event-stream");
        if let Some(id) = last_event_id {
            asked = asked.header("last-event-id", id);
        }
        let response = within(&format!("GET {path}"), asked.send()).await?;
        let kind = text(response.headers(), &CONTENT_TYPE).unwrap_or_default();
        let is_stream = kind.split(';').next().unwrap_or_default().trim();
        let is_stream = is_stream.eq_ignore_ascii_case("text/event-stream");
        if response.status() != StatusCode::OK || !is_stream {
            let told = told(response.status(), text(response.headers(), &LOCATION), kind);
            let expected = "expected 200 and text/event-stream";
            return Err(Trouble(format!(
                "GET {path} is answered {told}: {expected}"
            )));
        }
        let named = HeaderName::from_static("aaep-subscription-id");
        let id = text(response.headers(), &named).map(str::to_owned);
        Ok((response, id.or_else(|| subscription.id.clone())))
    }

    /// Starts a session: its id, where the answer names it.
    pub async fn prompt(&self, prompt: &str) -> Result<Option<String>, Trouble> {
        let by_session = ("/sessions", json!({"user_message": prompt}));
        let by_message = ("/messages", json!({"kind": "user_input", "text": prompt}));
        let (first, second) = match self.convention.get() {
            Convention::Suite => (by_message, None),
            Convention::Examples if !self.is_guessed => (by_session, None),
            Convention::Examples | Convention::Specification => (by_session, Some(by_message)),
        };
        let (mut path, body) = first;
        let mut answer = self.post(path, body.to_string().into_bytes(), true).await?;
        let is_unknown = matches!(answer.status.as_u16(), 404 | 405 | 501);
        if let Some((other, body)) = second.filter(|_| is_unknown) {
            path = other;
            answer = self.post(path, body.to_string().into_bytes(), true).await?;
            if answer.status.is_success() && self.convention.get() == Convention::Examples {
                self.convention.set(Convention::Suite);
            }
        }
        if !answer.status.is_success() {
            return Err(answer.unexpected("POST", path, "2xx"));
        }
        let id = answer.json()["session_id"].as_str().map(str::to_owned);
        Ok(id)
    }

    /// Sends a message of the protocol.
    pub async fn reply(&self, message: Vec<u8>, is_authorized: bool) -> Result<Answer, Trouble> {
        let path = if self.keeps_subscriptions() {
            "/aaep/v1/replies"
        } else {
            "/messages"
        };
        self.post(path, message, is_authorized).await
    }

    async fn post(&self, path: &str, body: Vec<u8>, authorized: bool) -> Result<Answer, Trouble> {
        let asked = self.client.post(self.at(path)?);
        let asked = if authorized {
            self.authorized(asked)
        } else {
            asked
        };
        let asked = asked.header(CONTENT_TYPE, "application/json").body(body);
        let what = format!("POST {path}");
        let whole = async {
            let mut response = asked.send().await?;
            let mut kept = Vec::new();
            while let Some(bytes) = response.chunk().await? {
                let room = LONGEST_ANSWER - kept.len();
                kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
                if kept.len() == LONGEST_ANSWER {
                    break;
                }
            }
            let location = text(response.headers(), &LOCATION).map(str::to_owned);
            Ok(Answer {
                status: response.status(),
                body: kept,
                location,
            })
        };
        within(&what, whole).await
    }

    fn authorized(&self, asked: RequestBuilder) -> RequestBuilder {
        match &self.bearer_token {
            Some(token) => asked.header(AUTHORIZATION, format!("Bearer {token}")),
            None => asked,
        }
    }

    fn at(&self, path: &str) -> Result<Url, Trouble> {
        let base = self.base.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}{path}")).map_err(|error| Trouble(words(&error)))
    }
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn unexpected(&self, method: &str, path: &str, expected: &str) -> Trouble {
        let body = String::from_utf8_lossy(&self.body);
        let body: String = body.chars().take(200).collect();
        let told = told(self.status, self.location.as_deref(), &body);
        Trouble(format!(
            "{method} {path} is answered {told}: expected {expected}"
        ))
    }
}

/// An answer in words.
fn told(status: StatusCode, location: Option<&str>, rest: &str) -> String {
    let leads = location.map_or_else(String::new, |it| format!(", leads to {it}"));
    let rest = if rest.is_empty() {
        String::new()
    } else {
        format!(", {rest}")
    };
    format!("{}{leads}{rest}", status.as_u16())
}

/// What is answered in time.
async fn within<T>(
    what: &str,
    answered: impl Future<Output = Result<T, reqwest::Error>>,
) -> Result<T, Trouble> {
    match timeout(ANSWERED_WITHIN, answered).await {
        Ok(Ok(answered)) => Ok(answered),
        Ok(Err(error)) => Err(Trouble(format!("{what}: {}", words(&error)))),
        Err(_) => {
            let seconds = ANSWERED_WITHIN.as_secs();
            Err(Trouble(format!("{what}: no answer in {seconds} seconds")))
        }
    }
}
