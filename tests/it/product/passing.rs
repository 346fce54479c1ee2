//! Bytes: what goes upstream is what the caller sent, and what is not ours is not touched.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::StreamExt;
use http::Request;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use tokio::sync::mpsc;

use super::support::{Gateway, Setting, in_time, instant};

/// Unusual spellings, unknown fields, an unusual order: everything that writing it anew would change.
const ODD: &str = "{ \"x_unknown\":1.0,\t\"temperature\" : 0.00, \"messages\":[{\"content\":\"caf\\u00e9 中文 \\/ \
                   ok\",\"role\":\"user\"}] ,\n \"model\":\"m\" }\n";

/// So that every request at the upstream is a caller's.
const NO_PROBE: &str = "[load]\nsource = \"off\"\n";

#[tokio::test]
async fn a_body_goes_upstream_byte_for_byte() {
    let sim = instant().await;
    let gateway = Gateway::before(&sim, Setting::with(NO_PROBE)).await;
    let path = "/v1/chat/completions?api-version=1&x=%E4%B8%AD";
    let headers = [("x-trace-id", "t1"), ("openai-organization", "org")];
    assert_eq!(gateway.post(path, &headers, ODD).await.status, 200);
    let seen = sim.recorded().pop().unwrap();
    assert_eq!((seen.path_and_query.as_str(), seen.method.as_str()), (path, "POST"));
    assert_eq!(seen.body, ODD);
    assert_eq!((seen.header("x-trace-id"), seen.header("openai-organization")), (Some("t1"), Some("org")));
}

#[tokio::test]
async fn a_streams_body_differs_by_the_named_splice_only() {
    let sim = instant().await;
    let gateway = Gateway::before(&sim, Setting::with(NO_PROBE)).await;
    let streaming = ODD.replacen("{ ", "{ \"stream\":true, ", 1);
    assert_eq!(gateway.post("/v1/chat/completions", &[], streaming.clone()).await.status, 200);
    let spliced = streaming.replacen('{', "{\"stream_options\":{\"include_usage\":true},", 1);
    assert_eq!(sim.recorded().pop().unwrap().body, spliced);
    assert_eq!(gateway.metrics().await.sum("weir_splices_total", &[("splice", "include_usage")]), 1.0);

    let asking = streaming.replacen("{ ", "{ \"stream_options\": {\"include_usage\" :true}, ", 1).replace("caf", "tea");
    assert_eq!(gateway.post("/v1/chat/completions", &[], asking.clone()).await.status, 200);
    assert_eq!(sim.recorded().pop().unwrap().body, asking, "it asks already");
}

#[tokio::test]
async fn models_and_unknown_paths_pass_through_byte_for_byte() {
    let sim = instant().await;
    let gateway = Gateway::before(&sim, Setting::with(NO_PROBE)).await;
    let direct = gateway.fetch(&format!("{}/v1/models", sim.url())).await;
    let passed = gateway.get("/v1/models").await;
    assert_eq!((passed.status, &passed.body), (direct.status, &direct.body));
    assert_eq!(passed.header("x-weir-source"), "passthrough");
    let unknown = gateway.get("/v9/%E4%B8%AD%2F..;x?a=%20&b").await;
    assert_eq!(unknown.status, 404);
    assert_eq!(sim.recorded().pop().unwrap().path_and_query, "/v9/%E4%B8%AD%2F..;x?a=%20&b");
    // Every byte there is, and not JSON.
    let bytes: Vec<u8> = (0..1 << 20).map(|n: u32| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    let echo = gateway.post("/sim/echo", &[("content-type", "application/octet-stream")], bytes.clone()).await;
    assert_eq!(echo.body, bytes);
}

#[tokio::test]
async fn an_upload_is_streamed_both_ways() {
    let gateway = Gateway::before(&instant().await, Setting::with(NO_PROBE)).await;
    let (upload, pieces) = mpsc::channel::<Bytes>(1);
    let pieces = futures_util::stream::unfold(pieces, |mut pieces| async { Some((pieces.recv().await?, pieces)) });
    let body = StreamBody::new(pieces.map(|piece| Ok::<_, Infallible>(Frame::data(piece)))).boxed_unsync();
    let request = Request::post(format!("http://{}/sim/echo", gateway.callers)).body(body).unwrap();
    let back = in_time(gateway.send(request)).await;
    assert_eq!(back.status(), 200);
    let mut back = back.into_body();
    for piece in ["one", "two", "three"] {
        // The next piece is sent only after this one has come back, so nothing on the way can be gathering.
        upload.send(Bytes::from(piece)).await.unwrap();
        let echoed = in_time(back.frame()).await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(echoed, piece);
    }
    drop(upload);
    assert!(in_time(back.frame()).await.is_none());
}
