//! Reads one reply: was it an answer, whose prompt made it, and how did the gateway come by it?

use hyper::StatusCode;
use hyper::http::response::Parts;
use serde_json::Value;

use super::Book;
use crate::domain::Tier;
use crate::sim::Tag;

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A complete answer.
    Answered {
        /// By whose prompt.
        made: Made,
        /// How the gateway says it came by it.
        shared: Shared,
    },
    /// 429 or 503: not now.
    Refused(u16),
    /// Anything else, in a few words.
    Failed(String),
}

/// Whose prompt made an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// One of the asker's group.
    ByOwnGroup,
    /// One of another group, or one that is not in the file: the answer is wrong.
    ByAnother,
    /// There is no tag in it: the upstream is not the simulator.
    Unverified,
}

/// `X-Weir-Source` and the tier of `X-Weir-Match`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shared {
    /// `upstream`, `cache`, `window`, `late_join`; empty if there is no such header.
    pub source: String,
    /// Only of answers that were shared.
    pub tier: Option<Tier>,
}

// === impl Reply ===

impl Reply {
    /// Judges a whole reply to a request of `group`.
    pub(super) fn read(parts: &Parts, body: &[u8], book: &Book, group: &str) -> Self {
        match parts.status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Self::Refused(parts.status.as_u16()),
            status if !status.is_success() => Self::Failed(format!("status {}", status.as_u16())),
            _ => match text(parts, body) {
                Ok(text) => Self::Answered { made: Made::of(&text, book, group), shared: Shared::read(parts) },
                Err(reason) => Self::Failed(reason.to_owned()),
            },
        }
    }
}

// === impl Made ===

impl Made {
    fn of(text: &str, book: &Book, group: &str) -> Self {
        match Tag::find(text).map(|tag| book.group(tag.prompt)) {
            None => Self::Unverified,
            Some(maker) if maker == Some(group) => Self::ByOwnGroup,
            Some(_) => Self::ByAnother,
        }
    }
}

// === impl Shared ===

impl Shared {
    fn read(parts: &Parts) -> Self {
        let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let source = header("x-weir-source").to_owned();
        let word = header("x-weir-match").split(';').next().unwrap_or_default().trim();
        let tier = Tier::ALL.into_iter().find(|tier| tier.as_str() == word);
        Self { tier: tier.filter(|_| !source.is_empty() && source != "upstream"), source }
    }
}

/// The answer's text, or why it is not whole.
fn text(parts: &Parts, body: &[u8]) -> Result<String, &'static str> {
    let kind = parts.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("text/event-stream") {
        let document: Value = serde_json::from_slice(body).map_err(|_| "a document that is not JSON")?;
        return if document.get("error").is_some() { Err("an error in a 200") } else { Ok(said(&document)) };
    }
    let body = std::str::from_utf8(body).map_err(|_| "a stream that is not UTF-8")?;
    let mut text = String::new();
    let mut done = false;
    for data in body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim) {
        if data == "[DONE]" {
            done = true;
        } else {
            let event: Value = serde_json::from_str(data).map_err(|_| "an event that is not JSON")?;
            text += &said(&event);
        }
    }
    if done { Ok(text) } else { Err("a stream without its end") }
}

/// What a document or an event says, in any of the shapes: a chat's message or delta, a completion's text, the
/// text of the gateway's own surface.
fn said(value: &Value) -> String {
    ["/choices/0/message/content", "/choices/0/delta/content", "/choices/0/text", "/text"]
        .iter()
        .find_map(|path| value.pointer(path).and_then(Value::as_str))
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use hyper::Response;

    use super::*;

    const FILE: &str = r#"{"at_ms":0,"path":"/v1/completions","body":{"prompt":"one"},"group":"a"}
{"at_ms":0,"path":"/v1/completions","body":{"prompt":"two"},"group":"b"}"#;

    fn tag(prompt: &str) -> Tag {
        let body = serde_json::json!({ "prompt": prompt }).to_string();
        let ask = crate::sim::Ask::read(crate::sim::Surface::Completions, body.as_bytes()).unwrap();
        Tag { prompt: ask.digest(), call: 1 }
    }

    fn judge(status: u16, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        let book = Book::new(&super::super::read(FILE.as_bytes()).unwrap()).unwrap();
        Reply::read(&response.body(()).unwrap().into_parts().0, body.as_bytes(), &book, "a")
    }

    fn made(body: &str) -> Made {
        match judge(200, &[], body) {
            Reply::Answered { made, .. } => made,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_made_by_another_groups_prompt_is_wrong() {
        let document = |tag: Tag| serde_json::json!({"choices": [{"text": format!("{tag} words")}]}).to_string();
        assert_eq!(made(&document(tag("one"))), Made::ByOwnGroup);
        assert_eq!(made(&document(tag("two"))), Made::ByAnother);
        assert_eq!(made(&document(tag("not in the file"))), Made::ByAnother);
        assert_eq!(made(r#"{"choices":[{"text":"hello"}]}"#), Made::Unverified);
    }

    #[test]
    fn a_tag_is_read_from_a_stream_even_if_it_is_cut_in_two() {
        let (left, right) = (tag("two").to_string()[..9].to_owned(), tag("two").to_string()[9..].to_owned());
        let event =
            |text: &str| format!("data: {}\n\n", serde_json::json!({"choices": [{"delta": {"content": text}}]}));
        let body = format!("{}{}data: [DONE]\n\n", event(&left), event(&right));
        let reply = judge(200, &[("content-type", "text/event-stream")], &body);
        assert_eq!(reply, Reply::Answered { made: Made::ByAnother, shared: Shared::default() });
    }

    #[test]
    fn what_is_not_whole_is_a_failure_and_not_an_answer() {
        let events = [("content-type", "text/event-stream")];
        for (headers, body) in [(&events[..], "data: {}\n\n"), (&[], "{"), (&[], r#"{"error":{}}"#)] {
            assert!(matches!(judge(200, headers, body), Reply::Failed(_)), "{body}");
        }
        assert_eq!(judge(429, &[], ""), Reply::Refused(429));
        assert!(matches!(judge(500, &[], ""), Reply::Failed(_)));
    }

    #[test]
    fn the_gateway_says_how_it_came_by_the_answer() {
        let shared = |source, matched| match judge(200, &[("x-weir-source", source), ("x-weir-match", matched)], "{}") {
            Reply::Answered { shared, .. } => (shared.source, shared.tier),
            other => panic!("{other:?}"),
        };
        assert_eq!(shared("late_join", "canonical;score=1.000"), ("late_join".into(), Some(Tier::Canonical)));
        assert_eq!(shared("upstream", "exact;score=1.000"), ("upstream".into(), None));
    }
}
