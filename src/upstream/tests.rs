//! What the client promises. A test of a given case carries its id.

mod forward;
mod names;
mod script;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use tokio::net::TcpListener;

use super::{Config, HttpUpstream, Upstream};
use crate::domain::{Form, Head, Secret, UpstreamFailure, UpstreamRequest};
use script::{Script, Then};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

fn config(url: &str) -> Config {
    Config { url: url.to_owned(), ..Config::default() }
}

fn upstream(url: &str) -> HttpUpstream {
    HttpUpstream::new(config(url)).unwrap()
}

/// Short where a test waits for silence to be noticed.
fn impatient(url: &str) -> HttpUpstream {
    let short = Duration::from_millis(50);
    HttpUpstream::new(Config { first_byte_timeout: short, idle_timeout: short, ..config(url) }).unwrap()
}

fn chat(body: &'static str) -> Arc<UpstreamRequest> {
    Arc::new(UpstreamRequest {
        method: "POST".into(),
        path_and_query: "/v1/chat/completions".into(),
        headers: vec![
            ("content-type".into(), Bytes::from_static(b"application/json")),
            ("authorization".into(), Bytes::from_static(b"Bearer sk-of-the-caller")),
            ("accept-encoding".into(), Bytes::from_static(b"gzip")),
            ("connection".into(), Bytes::from_static(b"keep-alive, x-hop")),
            ("x-hop".into(), Bytes::from_static(b"1")),
            ("x-kept".into(), Bytes::from_static(b"1")),
        ],
        body: Bytes::from_static(body.as_bytes()),
    })
}

/// The whole response, or the failure that ended it.
async fn ask(upstream: &HttpUpstream) -> Result<(Head, String), UpstreamFailure> {
    let mut response = upstream.send(chat("{\"a\":1}")).await?;
    let mut body = Vec::new();
    while let Some(chunk) = response.body.next().await {
        body.extend_from_slice(&chunk?);
    }
    Ok((response.head, String::from_utf8(body).unwrap()))
}

#[tokio::test]
async fn the_callers_bytes_arrive_with_only_end_to_end_headers() {
    let script = Script::new(&[OK], Then::Stay).await;
    let (head, body) = ask(&upstream(&format!("{}/v1/", script.url()))).await.unwrap();
    assert_eq!((head.status, head.form, body.as_str()), (200, Form::Whole, "{}"));
    let request = script.heard().remove(0);
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n{\"a\":1}"), "{request}");
    for line in ["accept-encoding: identity", "x-kept: 1", "authorization: Bearer sk-of-the-caller"] {
        assert!(request.contains(line), "{line} is not in {request}");
    }
    assert!(!request.contains("x-hop"), "{request}");
}

#[tokio::test]
async fn the_configured_key_takes_the_place_of_the_callers() {
    let script = Script::new(&[OK], Then::Stay).await;
    let config = Config { api_key: Secret::new("sk-operator"), ..config(&script.url()) };
    assert!(!format!("{config:?}").contains("sk-operator"));
    ask(&HttpUpstream::new(config).unwrap()).await.unwrap();
    let request = script.heard().remove(0);
    assert!(
        request.contains("authorization: Bearer sk-operator\r\n") && !request.contains("sk-of-the-caller"),
        "{request}"
    );
}

#[tokio::test]
async fn connections_are_used_again() {
    let mut script = Script::new(&[OK], Then::Stay).await;
    let upstream = upstream(&script.url());
    ask(&upstream).await.unwrap();
    ask(&upstream).await.unwrap();
    assert_eq!(script.heard().len(), 2);
    assert!(script.ended.try_recv().is_err(), "the first connection was not kept");
}

#[tokio::test]
async fn a_connection_that_the_server_closed_between_requests_fails_nobody() {
    let mut script = Script::new(&[OK], Then::Close).await;
    let upstream = upstream(&script.url());
    for _ in 0..5 {
        assert!(ask(&upstream).await.is_ok());
        script.ended.recv().await.unwrap();
    }
}

#[tokio::test]
async fn a_redirect_is_told_and_not_followed() {
    let reply = "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    let script = Script::new(&[reply], Then::Stay).await;
    assert_eq!(ask(&upstream(&script.url())).await.unwrap().0.status, 307);
}

#[tokio::test]
async fn k6_03_c_a_body_shorter_than_its_content_length_is_cut() {
    let reply = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"choices\":[]}";
    let script = Script::new(&[reply], Then::Close).await;
    assert_eq!(ask(&upstream(&script.url())).await.unwrap_err(), UpstreamFailure::Cut);
}

#[tokio::test]
async fn k6_03_d_a_chunked_body_without_its_last_chunk_is_cut() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let script = Script::new(&[head, "e\r\ndata: [DONE]\n\n\r\n"], Then::Close).await;
    assert_eq!(ask(&upstream(&script.url())).await.unwrap_err(), UpstreamFailure::Cut);
}

#[tokio::test]
async fn what_arrived_before_a_cut_is_delivered() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let script = Script::new(&[head, "9\r\ndata: a\n\n\r\n"], Then::Close).await;
    let mut response = upstream(&script.url()).send(chat("{}")).await.unwrap();
    assert_eq!(response.head.form, Form::Stream);
    assert_eq!(response.body.next().await, Some(Ok(Bytes::from_static(b"data: a\n\n"))));
    assert_eq!(response.body.next().await, Some(Err(UpstreamFailure::Cut)));
    assert_eq!(response.body.next().await, None);
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_unreachable() {
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert_eq!(ask(&upstream(&format!("http://{address}"))).await.unwrap_err(), UpstreamFailure::Unreachable);
}

#[tokio::test]
async fn silence_has_its_name_by_where_it_begins() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n";
    for (parts, failure) in [
        (&[][..], UpstreamFailure::FirstByteTimeout),
        (&[head], UpstreamFailure::FirstByteTimeout),
        (&[head, "{"], UpstreamFailure::IdleTimeout),
    ] {
        let mut script = Script::new(parts, Then::Hang).await;
        assert_eq!(ask(&impatient(&script.url())).await.unwrap_err(), failure);
        script.ended.recv().await.expect("giving up closes the connection");
    }
}

#[tokio::test]
async fn what_is_not_http_is_garbled() {
    for reply in ["SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}"] {
        let script = Script::new(&[reply], Then::Close).await;
        assert_eq!(ask(&upstream(&script.url())).await.unwrap_err(), UpstreamFailure::Garbled, "{reply}");
    }
}

#[tokio::test]
async fn a_response_beyond_its_bound_is_given_up() {
    let large = "x".repeat(70 << 10);
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", large.len());
    let script = Script::new(&[&head, &large], Then::Stay).await;
    let upstream = HttpUpstream::new(Config { max_response: 64 << 10, ..config(&script.url()) }).unwrap();
    assert_eq!(ask(&upstream).await.unwrap_err(), UpstreamFailure::TooLarge);
}

#[tokio::test]
async fn leaving_a_response_closes_its_connection() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n";
    let mut script = Script::new(&[head, "{"], Then::Hang).await;
    drop(upstream(&script.url()).send(chat("{}")).await.unwrap());
    script.ended.recv().await.expect("the server learns that nobody waits");
}

#[tokio::test]
async fn k11_03_keys_that_an_unhappy_upstream_repeats_do_not_come_back() {
    let head =
        "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer key=sk-operator\r\ntransfer-encoding: chunked\r\n\r\n";
    // The key is cut across two chunks.
    let parts = [head, "10\r\nbad key: sk-oper\r\n", "1c\r\nator (not sk-of-the-caller).\r\n", "0\r\n\r\n"];
    let script = Script::new(&parts, Then::Stay).await;
    let config = Config { api_key: Secret::new("sk-operator"), ..config(&script.url()) };
    let (head, body) = ask(&HttpUpstream::new(config).unwrap()).await.unwrap();
    assert_eq!(body, "bad key: [redacted] (not [redacted]).");
    assert_eq!(head.header("www-authenticate").unwrap(), b"Bearer key=[redacted]");
}

#[test]
fn each_value_out_of_range_is_refused_by_its_key() {
    let zero = Duration::ZERO;
    let good = Config::default();
    assert_eq!(good.check(), Ok(()));
    for (bad, key) in [
        (Config { url: "nonsense".into(), ..good.clone() }, "url"),
        (Config { api_key: Secret::new("two words"), ..good.clone() }, "api_key"),
        (Config { connect_timeout: zero, ..good.clone() }, "connect_timeout"),
        (Config { first_byte_timeout: zero, ..good.clone() }, "first_byte_timeout"),
        (Config { idle_timeout: zero, ..good.clone() }, "idle_timeout"),
        (Config { pool_idle_timeout: zero, ..good.clone() }, "pool_idle_timeout"),
        (Config { resolve_every: zero, ..good.clone() }, "resolve_every"),
        (Config { connection_max_age: zero, ..good.clone() }, "connection_max_age"),
        (Config { max_response: 1, ..good.clone() }, "max_response"),
    ] {
        assert_eq!(bad.check().unwrap_err().key, key);
    }
}
