//! K12-01: stopping in good order, over real sockets, with shortened times.

use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::door::{Door, ask, ask_streaming, in_time, ms, piece};
use super::header;

/// Streams that have begun and are held by the simulator.
async fn begin_streams(door: &Door, count: usize) -> Vec<Incoming> {
    door.sim.hold_after(2);
    let mut streams = Vec::new();
    for n in 0..count {
        let body = ask_streaming(&format!("What is the square of {n}?")).to_string();
        let mut stream = door.begin("/v1/chat/completions", &body).await.into_body();
        assert!(piece(&mut stream).await.starts_with("data: "));
        streams.push(stream);
    }
    streams
}

async fn rest(stream: Incoming) -> String {
    String::from_utf8(in_time(stream.collect()).await.unwrap().to_bytes().to_vec()).unwrap()
}

async fn until_unready(door: &Door) {
    in_time(async { while door.ready().await != StatusCode::SERVICE_UNAVAILABLE {} }).await;
}

#[tokio::test]
async fn k12_01_running_streams_and_followers_finish_and_nothing_new_begins() {
    let mut door = Door::open().await;
    assert_eq!(door.ready().await, StatusCode::OK);
    let mut streams = begin_streams(&door, 20).await;
    // Five who follow a flight that is under way.
    for n in 0..5 {
        let body = ask_streaming(&format!("What is the square of {n}?")).to_string();
        let mut stream = door.begin("/v1/chat/completions", &body).await.into_body();
        assert!(piece(&mut stream).await.starts_with("data: "));
        streams.push(stream);
    }
    door.stop().await;
    until_unready(&door).await;

    let refused = door.chat(&ask("How many moons does Mars have?")).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(header(&refused.headers, "connection"), "close");
    assert!(refused.text.contains("shutting_down"), "{}", refused.text);
    assert_eq!(door.get("/v1/models").await.status, StatusCode::SERVICE_UNAVAILABLE);

    door.sim.release();
    for stream in streams {
        assert!(rest(stream).await.ends_with("data: [DONE]\n\n"));
    }
    door.ended().await;
    assert_eq!(door.sim.calls(), 20);
}

#[tokio::test]
async fn k12_01_idle_keep_alive_connections_are_closed_at_once() {
    let mut door = Door::open().await;
    let _stream = begin_streams(&door, 1).await;
    let mut idle = door.raw().await;
    let request = "GET /v1/models HTTP/1.1\r\nhost: g\r\n\r\n";
    idle.write_all(request.as_bytes()).await.unwrap();
    assert!(idle.read_u8().await.is_ok(), "served, and kept");
    door.stop().await;
    let mut rest = Vec::new();
    in_time(idle.read_to_end(&mut rest)).await.unwrap();
    door.stop().await;
    door.ended().await;
}

#[tokio::test]
async fn k12_01_streams_that_outlast_the_drain_get_an_error_frame() {
    let mut door = Door::with(|setting| setting.server.drain = ms(100)).await;
    let streams = begin_streams(&door, 3).await;
    door.stop().await;
    for stream in streams {
        let rest = rest(stream).await;
        assert!(rest.contains("shutting_down") && !rest.contains("[DONE]"), "{rest}");
    }
    door.ended().await;
}

#[tokio::test]
async fn k12_01_a_second_signal_ends_the_drain() {
    let mut door = Door::open().await;
    let streams = begin_streams(&door, 3).await;
    door.stop().await;
    until_unready(&door).await;
    door.stop().await;
    for stream in streams {
        assert!(rest(stream).await.contains("shutting_down"));
    }
    door.ended().await;
}

#[tokio::test]
async fn k12_01_a_call_without_its_answer_yet_gets_a_status() {
    let mut door = Door::with(|setting| setting.server.drain = ms(100)).await;
    door.sim.hold_after(0);
    let waiting = async { door.chat(&ask("How many moons does Mars have?")).await };
    let stopping = async {
        door.sim.until(|stats| stats.running == 1).await;
        door.stop().await;
    };
    let (reply, ()) = tokio::join!(waiting, stopping);
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
    door.ended().await;
}
