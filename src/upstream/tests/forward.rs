//! Pass-through: untouched both ways.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderMap, HeaderValue, Method, Request};
use http_body::Frame;
use http_body_util::{BodyExt, Empty, StreamBody};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::script::{Script, Then};
use super::{config, impatient, upstream};
use crate::domain::{Secret, UpstreamFailure};
use crate::upstream::body::while_progressing;
use crate::upstream::{BoxError, Config, Forward, HttpUpstream, PassBody};

fn empty() -> PassBody {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// A body whose frames the test hands over one by one.
fn by_hand() -> (mpsc::UnboundedSender<Frame<Bytes>>, PassBody) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let frames = futures_util::stream::unfold(receiver, async |mut receiver| {
        Some((Ok::<_, BoxError>(receiver.recv().await?), receiver))
    });
    (sender, StreamBody::new(frames).boxed_unsync())
}

fn request(method: Method, path: &str, body: PassBody) -> Request<PassBody> {
    Request::builder().method(method).uri(path).body(body).unwrap()
}

#[tokio::test]
async fn methods_paths_and_queries_pass_unchanged() {
    let script = Script::new(&["HTTP/1.1 204 No Content\r\nx-a: 1\r\nconnection: x-a\r\n\r\n"], Then::Stay).await;
    let upstream = upstream(&format!("{}/v1", script.url()));
    for (method, path) in [
        (Method::GET, "/v1/models"),
        (Method::PATCH, "/files/a%20b?x=%E4%B8%AD&y"),
        (Method::OPTIONS, "/v1/chat/completions"),
        (Method::DELETE, "/"),
    ] {
        let response = upstream.forward(request(method.clone(), path, empty())).await.unwrap();
        assert_eq!(response.status(), 204);
        assert!(!response.headers().contains_key("x-a"), "hop-by-hop");
        let heard = script.heard().pop().unwrap();
        assert!(heard.starts_with(&format!("{method} {path} HTTP/1.1\r\n")), "{heard}");
    }
}

#[tokio::test]
async fn the_answer_to_head_keeps_the_length_of_the_body_that_it_does_not_have() {
    let script = Script::new(&["HTTP/1.1 200 OK\r\ncontent-length: 1234\r\n\r\n"], Then::Stay).await;
    let response = upstream(&script.url()).forward(request(Method::HEAD, "/file", empty())).await.unwrap();
    assert_eq!(response.headers()["content-length"], "1234");
    assert!(response.into_body().collect().await.unwrap().to_bytes().is_empty());
}

#[tokio::test]
async fn a_response_streams_while_the_request_still_does() {
    let begin = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n";
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"3\r\none\r\n") {
            assert!(stream.read_buf(&mut heard).await.unwrap() > 0);
        }
        stream.write_all(begin).await.unwrap();
        while !heard.ends_with(b"3\r\ntwo\r\n0\r\n\r\n") {
            assert!(stream.read_buf(&mut heard).await.unwrap() > 0);
        }
        stream.write_all(b"6\r\nsecond\r\n0\r\n\r\n").await.unwrap();
    });
    let upstream = upstream(&format!("http://{address}"));
    let (sender, body) = by_hand();
    sender.send(Frame::data(Bytes::from_static(b"one"))).unwrap();
    let response = upstream.forward(request(Method::PUT, "/upload", body)).await.unwrap();
    let mut data = response.into_body().into_data_stream();
    assert_eq!(data.next().await.unwrap().unwrap(), "first");
    sender.send(Frame::data(Bytes::from_static(b"two"))).unwrap();
    drop(sender);
    assert_eq!(data.next().await.unwrap().unwrap(), "second");
    assert!(data.next().await.is_none());
}

#[tokio::test]
async fn trailers_pass() {
    let reply =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n2\r\nab\r\n0\r\nx-sum: 7\r\n\r\n";
    let script = Script::new(&[reply], Then::Stay).await;
    let response = upstream(&script.url()).forward(request(Method::GET, "/", empty())).await.unwrap();
    let collected = response.into_body().collect().await.unwrap();
    assert_eq!(collected.trailers(), Some(&HeaderMap::from_iter([("x-sum".parse().unwrap(), HeaderValue::from(7))])));
}

#[tokio::test]
async fn compressed_bytes_stay_compressed() {
    let reply = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x0b!";
    let script = Script::new(&[reply], Then::Stay).await;
    let mut request = request(Method::GET, "/v1/models", empty());
    request.headers_mut().insert("accept-encoding", HeaderValue::from_static("gzip"));
    let response = upstream(&script.url()).forward(request).await.unwrap();
    assert!(script.heard()[0].contains("accept-encoding: gzip\r\n"));
    assert_eq!(response.headers()["content-encoding"], "gzip");
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "\x1f\x0b!");
}

#[tokio::test]
async fn k11_03_a_passed_through_error_does_not_repeat_the_key() {
    let reply = "HTTP/1.1 403 Forbidden\r\ncontent-length: 19\r\n\r\nkey sk-operator bad";
    let script = Script::new(&[reply], Then::Stay).await;
    let config = Config { api_key: Secret::new("sk-operator"), ..config(&script.url()) };
    let response = HttpUpstream::new(config).unwrap().forward(request(Method::GET, "/", empty())).await.unwrap();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "key [redacted] bad");
}

#[tokio::test]
async fn a_hung_upstream_is_given_up() {
    let script = Script::new(&[], Then::Hang).await;
    let outcome = impatient(&script.url()).forward(request(Method::GET, "/", empty())).await;
    assert_eq!(outcome.unwrap_err(), UpstreamFailure::FirstByteTimeout);
}

#[tokio::test(start_paused = true)]
async fn an_upload_that_makes_progress_is_not_a_hung_upstream() {
    let patience = Duration::from_mins(5);
    let frames = AtomicU64::new(0);
    let uploading = async {
        for _ in 0..10 {
            sleep(patience * 3 / 4).await;
            frames.fetch_add(1, Ordering::Relaxed);
        }
    };
    assert!(while_progressing(patience, &frames, uploading).await.is_ok());
    assert!(while_progressing(patience, &frames, std::future::pending::<()>()).await.is_err());
}
