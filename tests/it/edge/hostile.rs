//! Callers that mean no good, or are very slow about it.

use http::StatusCode;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::interval;

use super::door::{Door, ask, in_time, ms};

/// K11-05, each on a fresh socket.
const SMUGGLING: [&str; 6] = [
    "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /admin/x HTTP/1.1\r\nHost: g\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\t\r\nContent-Length: 2\r\n\r\n{}",
    "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
    "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nContent-Length: +2\r\n\r\n{}",
];

#[tokio::test]
async fn k11_05_a_request_with_two_lengths_is_refused_and_its_connection_closed() {
    let door = Door::open().await;
    for bytes in SMUGGLING {
        // Returns only because the connection closes.
        let answer = door.raw_exchange(bytes).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{bytes:?} was answered {answer:?}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{bytes:?} was taken for more than one request: {answer:?}");
    }
    assert_eq!(door.sim.recorded(), [], "nothing of it went upstream");
}

#[tokio::test]
async fn k11_05_a_passed_through_request_with_two_lengths_is_one_request_upstream() {
    let door = Door::open().await;
    let smuggled = SMUGGLING[0].replace("/v1/chat/completions", "/other");
    let answer = door.raw_exchange(&smuggled).await;
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer:?}");
    let upstream = door.sim.recorded();
    assert_eq!(upstream.len(), 1);
    assert_eq!((upstream[0].path_and_query.as_str(), upstream[0].header("content-length")), ("/other", None));
}

/// Writes `text` byte by byte until the other side closes; whether it did before the text was out.
async fn trickle(mut stream: TcpStream, text: String) -> bool {
    let mut ticks = interval(ms(20));
    for byte in text.bytes() {
        let mut heard = [0; 512];
        tokio::select! {
            _ = ticks.tick() => {
                if stream.write_all(&[byte]).await.is_err() {
                    return true;
                }
            }
            read = stream.read(&mut heard) => {
                if matches!(read, Ok(0) | Err(_)) {
                    return true;
                }
            }
        }
    }
    false
}

async fn is_closed(mut stream: TcpStream) -> bool {
    let mut all = Vec::new();
    stream.read_to_end(&mut all).await.is_ok() || !all.is_empty()
}

#[tokio::test]
async fn k11_07_slow_sockets_are_closed_while_others_are_served() {
    let door = Door::with(|setting| {
        setting.server.header_timeout = ms(200);
        setting.server.body_timeout = ms(200);
    })
    .await;
    let mut slow = Vec::new();
    for _ in 0..20 {
        slow.push(tokio::spawn(is_closed(door.raw().await)));
        // A first byte that could still begin either protocol, and then none.
        let mut undecided = door.raw().await;
        undecided.write_all(b"P").await.unwrap();
        slow.push(tokio::spawn(is_closed(undecided)));
        // Both would take far longer than the test if nobody closed them.
        let head = format!("POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nx-slow: {}", "x".repeat(5000));
        slow.push(tokio::spawn(trickle(door.raw().await, head)));
        let mut with_head = door.raw().await;
        let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-length: 5000\r\n\r\n";
        with_head.write_all(head.as_bytes()).await.unwrap();
        slow.push(tokio::spawn(trickle(with_head, " ".repeat(5000))));
    }
    for n in 0..50 {
        assert_eq!(door.chat(&ask(&format!("What is the square of {n}?"))).await.status, StatusCode::OK);
    }
    for socket in slow {
        assert!(in_time(socket).await.unwrap(), "a slow socket was left open");
    }
    assert_eq!(door.metric("weir_calls_in_flight"), 0);
}

#[tokio::test]
async fn k11_07_http2_streams_opened_and_reset_cost_nothing() {
    let door = Door::open().await;
    let stream = TcpStream::connect(door.callers).await.unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    for n in 0..10_000 {
        let body = Full::new(bytes::Bytes::from(ask(&format!("What is the square of {n}?")).to_string()));
        let request = Request::post(format!("http://{}/v1/chat/completions", door.callers)).body(body).unwrap();
        // The server may end such a connection at any time, which is as good.
        if sender.ready().await.is_err() {
            break;
        }
        let answering = sender.send_request(request);
        tokio::task::yield_now().await;
        drop(answering);
    }
    drop(sender);
    connection.abort();
    assert_eq!(door.chat(&ask("How many moons does Mars have?")).await.status, StatusCode::OK);
    door.until_metric("weir_calls_in_flight", 0).await;
}

#[tokio::test]
async fn http2_with_prior_knowledge_is_served() {
    let door = Door::open().await;
    let stream = TcpStream::connect(door.callers).await.unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let body = Full::new(bytes::Bytes::from(ask("How many moons does Mars have?").to_string()));
    let request = Request::post(format!("http://{}/v1/chat/completions", door.callers)).body(body).unwrap();
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert!(!response.into_body().collect().await.unwrap().to_bytes().is_empty());
}

#[tokio::test]
async fn nothing_that_a_caller_wrote_gets_into_a_header() {
    let door = Door::open().await;
    let mut body = ask("hi");
    body["model"] = "m\r\nSet-Cookie: a=b".into();
    body["user"] = "u\r\nX-Forged: 1".into();
    let reply = door.chat(&body).await;
    assert!(reply.headers.get("set-cookie").is_none() && reply.headers.get("x-forged").is_none());
    assert!(!format!("{:?}", reply.headers).contains("a=b"));
}
