//! What comes back: replies, streams of events, scrapes.

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

use super::support::in_time;

/// A complete reply.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// A scrape.
pub struct Metrics(pub String);

/// A client of server-sent events: what each event carries, as soon as it is complete.
pub struct Events {
    body: Incoming,
    buffer: String,
}

pub async fn complete(response: Response<Incoming>) -> Reply {
    let (parts, body) = response.into_parts();
    Reply { status: parts.status, headers: parts.headers, body: body.collect().await.unwrap().to_bytes() }
}

// === impl Reply ===

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// `error.code`
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The words of the answer, streamed or not.
    pub fn said(&self) -> String {
        match serde_json::from_slice::<Value>(&self.body) {
            Ok(body) => body["choices"][0]["message"]["content"].as_str().unwrap().to_owned(),
            Err(_) => self.text().split("\n\n").filter_map(|event| event.strip_prefix("data: ")).map(said_in).collect(),
        }
    }
}

/// The words of one chunk of a chat.
fn said_in(data: &str) -> String {
    let chunk: Value = serde_json::from_str(data).unwrap_or_default();
    chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned()
}

// === impl Events ===

impl Events {
    pub fn of(reply: Response<Incoming>) -> Self {
        Self { body: reply.into_body(), buffer: String::new() }
    }

    /// What the next event carries; `None` at the end.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.buffer.find("\n\n") {
                let event: String = self.buffer.drain(..end + 2).collect();
                return Some(event.trim_end().strip_prefix("data: ").expect("an event with data").to_owned());
            }
            let frame = in_time(self.body.frame()).await?.unwrap();
            self.buffer.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
    }

    /// The next event that says something.
    pub async fn word(&mut self) -> Option<String> {
        loop {
            let said = said_in(&self.next().await?);
            if !said.is_empty() {
                return Some(said);
            }
        }
    }

    /// Every word up to the end, which must be a whole one.
    pub async fn rest(&mut self) -> String {
        let (mut said, mut last) = (String::new(), String::new());
        while let Some(event) = self.next().await {
            said += &said_in(&event);
            last = event;
        }
        assert_eq!(last, "[DONE]");
        said
    }
}

// === impl Metrics ===

impl Metrics {
    /// The sum of the series of that name with these labels.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let wanted: Vec<String> = labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
        let values = self.0.lines().filter_map(|line| {
            let rest = line.strip_prefix(name)?;
            let of_that_name = rest.starts_with('{') || rest.starts_with(' ');
            let (series, value) = rest.rsplit_once(' ')?;
            (of_that_name && wanted.iter().all(|label| series.contains(label))).then(|| value.parse::<f64>().unwrap())
        });
        values.sum()
    }

    /// How many series there are.
    pub fn series(&self) -> usize {
        self.0.lines().filter(|line| !line.starts_with('#')).count()
    }
}
