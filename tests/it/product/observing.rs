//! Metrics and logs that no caller can spoil.

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use super::support::{Gateway, Setting, ask, ask_streaming, instant, promtool_accepts};

#[tokio::test]
async fn promtool_finds_nothing_to_complain_about_in_an_ordinary_scrape() {
    let gateway = Gateway::before(&instant().await, Setting::default()).await;
    promtool_accepts(&gateway.metrics().await.0).await;
    gateway.chat(&ask("Who wrote Faust?")).await;
    gateway.chat(&ask_streaming("Who wrote Faust?")).await;
    gateway.get("/v1/models").await;
    gateway.post("/v1/chat/completions", &[], "{").await;
    promtool_accepts(&gateway.metrics().await.0).await;
}

/// Resident memory in MiB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

#[tokio::test]
async fn k9_01_names_that_callers_make_up_make_no_series() {
    let sim = instant().await;
    let gateway = Gateway::before(&sim, Setting::with("[cache]\nmax_entries = 100\n")).await;
    let ask_for = async |range: std::ops::Range<u64>| {
        let calls = stream::iter(range).map(|n| {
            let name = blake3::hash(&n.to_le_bytes()).to_hex();
            let body = json!({"model": format!("m-{name}"), "messages": [{"role": "user", "content": "hi"}]});
            let gateway = &gateway;
            async move { assert_eq!(gateway.chat(&body).await.status, 200) }
        });
        calls.buffer_unordered(16).collect::<Vec<()>>().await;
    };
    ask_for(0..2_000).await;
    let (before, memory) = (gateway.metrics().await, resident(gateway.pid()));
    ask_for(2_000..10_000).await;
    let (after, memory_after) = (gateway.metrics().await, resident(gateway.pid()));
    assert_eq!(sim.calls(), 10_000);
    assert_eq!(after.series(), before.series());
    assert!(after.0.len() < 1 << 20, "{} bytes", after.0.len());
    assert!(!after.0.contains("m-"), "no made-up name is anywhere");
    assert!(memory_after < memory + 64, "{memory} MiB became {memory_after}");
}

fn hostile() -> Vec<Value> {
    let hi = json!([{"role": "user", "content": "hi"}]);
    vec![
        json!({"model": "m\"} 1\nevil_total{x=\"y", "messages": hi}),
        json!({"model": "back\\slash\\", "messages": hi}),
        json!({"model": "m\r\nSet-Cookie: a=b", "messages": hi, "user": "u \u{0}"}),
        json!({"model": "m\u{1b}[31m 2026-01-01T00:00:00Z ERROR forged", "messages": hi, "temperature": "x\nforged"}),
    ]
}

#[tokio::test]
async fn k9_03_hostile_names_spoil_neither_the_scrape_nor_the_log_nor_a_header() {
    for format in ["json", "text"] {
        let config = format!("[log]\nformat = \"{format}\"\n");
        let setting = Setting { log: "debug,weir=trace", ..Setting::with(&config) };
        let gateway = Gateway::before(&instant().await, setting).await;
        for body in hostile() {
            let evil = body["model"].as_str().unwrap().replace(|c: char| c.is_control(), "%0d%0a");
            for reply in [
                gateway.chat(&body).await,
                gateway.chat_with(&[("x-task-type", "a\"} 1"), ("accept-language", "zh;q=\"\\n")], &body).await,
                gateway.get("/v1/evil_total%0d%0aSet-Cookie:%20a=b").await,
                gateway.post("/api/ai/evil%0aevil_total", &[("x-request-id", &evil)], body.to_string()).await,
            ] {
                assert!(!reply.headers.contains_key("set-cookie"), "{reply:?}");
            }
        }
        let metrics = gateway.metrics().await;
        promtool_accepts(&metrics.0).await;
        assert!(!metrics.0.contains("evil"), "{}", metrics.0);
        let log = gateway.log();
        assert!(log.lines().count() > 4, "the log is on: {log}");
        for line in log.lines() {
            let whole = match format {
                "json" => serde_json::from_str::<Value>(line).is_ok_and(|record| record.is_object()),
                _ => line.starts_with("20") && line.as_bytes()[4] == b'-',
            };
            assert!(whole && !line.contains('\u{1b}'), "no record of ours: {line:?}");
        }
    }
}
