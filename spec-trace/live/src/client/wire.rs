//! The requests to a producer, in the conventions that there are.
//!
//! The one thing to know: every wait ends. What does not come as it should is a [`Trouble`] in words, and judges nothing.

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, LOCATION};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::convention::Convention;
use super::spawned::LISTENS_WITHIN;
use crate::recorder::{client, text, words};

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

/// A producer, as its clients reach it.
pub(super) struct Wire {
    client: Client,
    base: Url,
    bearer_token: Option<String>,
    convention: Convention,
    /// Which of its ways to start a session has been taken, by its place.
    starts: Cell<usize>,
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
        chosen: Option<&Convention>,
    ) -> Result<Self, Trouble> {
        let client = client().map_err(|error| Trouble(words(&error)))?;
        let specification = || Convention::named("specification");
        let is_guessed = chosen.is_none();
        let convention = chosen.cloned().or_else(specification);
        let mut wire = Self {
            client,
            base: base.clone(),
            bearer_token: bearer_token.map(str::to_owned),
            convention: convention.ok_or_else(|| Trouble("there is no convention".into()))?,
            starts: Cell::new(0),
        };
        wire.is_healthy().await?;
        let bound = wire.subscribe().await;
        if bound.is_ok() || !is_guessed {
            let opened = bound?;
            wire.follow(&opened, None).await?;
            wire.unsubscribe(&opened).await;
            return Ok(wire);
        }
        if let Some(either) = Convention::of_the_field() {
            wire.convention = either;
        }
        let opened = wire.subscribe().await?;
        match (bound, wire.follow(&opened, None).await) {
            (_, Ok(_)) => Ok(wire),
            // The certificate, say: it is no matter of the convention.
            (Err(bound), Err(field)) if words_of(&bound) == words_of(&field) => Err(bound),
            (Err(bound), Err(field)) => Err(Trouble(format!("{bound}; {field}"))),
            (Ok(_), Err(field)) => Err(field),
        }
    }

    /// Waits until the producer says that it is well, where the convention has a way to ask.
    pub async fn is_healthy(&self) -> Result<(), Trouble> {
        let Some(health) = &self.convention.health else {
            return Ok(());
        };
        let path = health.path.of("");
        let until = Instant::now() + LISTENS_WITHIN;
        loop {
            let asked = self.authorized(self.client.get(self.at(&path)?));
            let answered = within(&format!("GET {path}"), asked.send()).await?;
            let status = answered.status();
            if status.is_success() {
                return Ok(());
            }
            if Instant::now() > until {
                let seconds = LISTENS_WITHIN.as_secs();
                return Err(Trouble(format!(
                    "GET {path} is answered {status} for {seconds} seconds: expected 2xx"
                )));
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Whether strangers can be told from others by what they show.
    pub fn has_token(&self) -> bool {
        self.bearer_token.is_some()
    }

    /// Whether a subscription goes on while nobody follows its events.
    pub fn keeps_subscriptions(&self) -> bool {
        self.convention.subscription.is_some()
    }

    /// Whether a subscription can be closed.
    pub fn closes_subscriptions(&self) -> bool {
        let subscription = self.convention.subscription.as_ref();
        subscription.is_some_and(|it| it.close.is_some())
    }

    /// Opens a subscription that can reply.
    pub async fn subscribe(&self) -> Result<Subscription, Trouble> {
        let Convention {
            subscription,
            events,
            ..
        } = &self.convention;
        let Some(subscription) = subscription else {
            let (id, events) = (None, self.at(&events.path.of(""))?);
            return Ok(Subscription { id, events });
        };
        let path = &subscription.open.0;
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
            let id = id.as_deref().unwrap_or_default();
            self.at(&events.path.of(&encoded(id)))?
        };
        Ok(Subscription { id, events })
    }

    /// Closes a subscription, where there is a way: whether that was answered well.
    pub async fn unsubscribe(&self, subscription: &Subscription) -> bool {
        let own = self.convention.subscription.as_ref();
        let close = own.and_then(|it| it.close.as_ref());
        let (Some(close), Some(id)) = (close, &subscription.id) else {
            return false;
        };
        let Ok(at) = self.at(&close.of(&encoded(id))) else {
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
        let ways = &self.convention.session;
        let first = self.starts.get();
        for (place, way) in ways.iter().enumerate().skip(first) {
            let (mut body, path) = (way.with.clone(), &way.path.0);
            body.insert(way.prompt.clone(), prompt.into());
            let body = Value::from(body).to_string();
            let answer = self.post(path, body.into_bytes(), true).await?;
            let is_unknown = matches!(answer.status.as_u16(), 404 | 405 | 501);
            if is_unknown && place + 1 < ways.len() {
                continue;
            }
            if !answer.status.is_success() {
                return Err(answer.unexpected("POST", path, "2xx"));
            }
            self.starts.set(place);
            let id = &answer.json()[&way.session_id];
            return Ok(id.as_str().map(str::to_owned));
        }
        Err(Trouble("there is no way to start a session".to_owned()))
    }

    /// Sends a message of the protocol.
    pub async fn reply(&self, message: Vec<u8>, is_authorized: bool) -> Result<Answer, Trouble> {
        let path = self.convention.replies.path.of("");
        self.post(&path, message, is_authorized).await
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

/// A trouble, without the request that it came of.
fn words_of(trouble: &Trouble) -> Option<&str> {
    trouble.0.split_once(": ").map(|(_, words)| words)
}

/// What a producer calls a subscription, as it may stand in a path or a query.
fn encoded(id: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encoded = id.bytes().map(|byte| match byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    encoded.collect()
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
