use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::advance;
use tokio_util::sync::CancellationToken;

use super::page::{is_local, read_page, sample};
use super::*;
use crate::domain::{Load, LoadState};
use crate::meter::Meter;

// --- pages

const VLLM: &str = r#"
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a/b"} 7.0
vllm:num_requests_running{engine="1",model_name="a/b"} 5.0
vllm:num_requests_waiting{engine="0",model_name="a/b"} 0.0
vllm:num_requests_waiting{engine="1",model_name="a/b"} 0.0
vllm:kv_cache_usage_perc{engine="0",model_name="a/b"} 0.5
vllm:kv_cache_usage_perc{engine="1",model_name="a/b"} 2.5e-1
vllm:gpu_cache_usage_perc{engine="0",model_name="a/b"} 0.9
vllm:e2e_request_latency_seconds_bucket{le="+Inf",model_name="a/b"} 12.0
"#;

#[test]
fn requests_of_all_engines_are_summed_and_their_cache_use_is_averaged() {
    let reading = read_page(VLLM).unwrap();
    assert_eq!(reading, Reading { running: 12, waiting: 0, kv_use: Some(0.375), gpu_use: None });
}

#[test]
fn every_known_server_is_understood() {
    let cases = [
        ("vllm:num_requests_running 3\nvllm:num_requests_waiting 2\nvllm:gpu_cache_usage_perc 0.5", Some(0.5)),
        ("vllm_num_requests_running 3\nvllm_num_requests_waiting 2\nvllm_kv_cache_usage_perc 0.5", Some(0.5)),
        ("sglang:num_running_reqs{m=\"x\"} 3\nsglang:num_queue_reqs 2\nsglang:token_usage 0.28", Some(0.28)),
        ("tgi_batch_current_size 3\ntgi_queue_size 2", None),
        ("llamacpp:requests_processing 3\nllamacpp:requests_deferred 2\nllamacpp:kv_cache_usage_ratio 0.1", Some(0.1)),
        ("lmdeploy:num_requests_running{engine=\"0\"} 3.0\nlmdeploy:num_requests_waiting 2", None),
    ];
    for (page, kv_use) in cases {
        assert_eq!(read_page(page), Ok(Reading { running: 3, waiting: 2, kv_use, gpu_use: None }), "{page}");
    }
}

#[test]
fn a_page_without_load_is_told_from_a_page_at_rest() {
    assert_eq!(read_page(""), Err(LoadError::NoKnownMetrics));
    assert_eq!(read_page("go_goroutines 12\nvllm:num_requests_running_total 3"), Err(LoadError::NoKnownMetrics));
    assert_eq!(read_page("vllm:num_requests_waiting 0"), Ok(Reading::default()));
}

#[test]
fn numbers_that_are_none_count_for_nothing() {
    let page = "vllm:num_requests_running NaN\nvllm:num_requests_running 2\nvllm:num_requests_waiting -1\n\
                vllm:kv_cache_usage_perc NaN\nvllm:gpu_cache_usage_perc 1.7";
    assert_eq!(read_page(page), Ok(Reading { running: 2, waiting: 0, kv_use: Some(1.0), gpu_use: None }));
}

#[test]
fn lines_are_read_as_the_format_says() {
    let cases = [
        ("up 1", Some(("up", 1.0))),
        ("  up\t1.5  ", Some(("up", 1.5))),
        ("up 1 1700000000000", Some(("up", 1.0))),
        ("up 1e3", Some(("up", 1000.0))),
        ("up +Inf", Some(("up", f64::INFINITY))),
        ("up{} 2", Some(("up", 2.0))),
        (r#"up{a="x y",b="}"} 3"#, Some(("up", 3.0))),
        (r#"up{a="say \"hi\" } \\"} 4"#, Some(("up", 4.0))),
        (r#"up{a="问题"} 5"#, Some(("up", 5.0))),
        ("# TYPE up gauge", None),
        ("", None),
        ("up", None),
        ("up one", None),
        (r#"up{a="open 1"#, None),
        ("up 1 2 3", None),
        ("<html> <body>", None),
    ];
    for (line, expected) in cases {
        assert_eq!(sample(line), expected, "{line}");
    }
    assert!(sample("up NaN").is_some_and(|(_, value)| value.is_nan()));
}

#[test]
fn the_metrics_page_is_looked_for_beside_the_api_and_at_the_root() {
    assert_eq!(metrics_urls("http://gpu:8000/v1/"), ["http://gpu:8000/metrics"]);
    assert_eq!(metrics_urls("http://gpu:8000"), ["http://gpu:8000/metrics"]);
    assert_eq!(metrics_urls("https://host/llm/v1"), ["https://host/llm/metrics", "https://host/metrics"]);
}

#[test]
fn the_gpus_of_this_machine_speak_only_for_an_upstream_on_it() {
    for (url, local) in [
        ("http://127.0.0.1:8000/v1", true),
        ("http://localhost:8000", true),
        ("http://[::1]:8000", true),
        ("http://10.0.0.3:8000", false),
        ("https://localhost.example.org", false),
    ] {
        assert_eq!(is_local(url), local, "{url}");
    }
}

// --- idle

fn idle(reading: Reading, slots: Option<u32>) -> f32 {
    reading.idle(slots).0.get()
}

#[test]
fn idle_is_what_the_fullest_resource_leaves() {
    let reading = Reading { running: 3, waiting: 0, kv_use: Some(0.4), gpu_use: Some(0.99) };
    assert!((idle(reading, None) - 0.6).abs() < 1e-6);
    assert!((idle(reading, Some(4)) - 0.25).abs() < 1e-6, "three of four slots");
    assert!(idle(reading, Some(2)).abs() < 1e-6, "never below nothing");
    assert!(idle(Reading { waiting: 1, ..reading }, None).abs() < 1e-6, "something waits");
}

#[test]
fn gpu_utilisation_counts_only_where_it_is_all_there_is() {
    let only_gpu = Reading { gpu_use: Some(0.75), ..Reading::default() };
    assert!((idle(only_gpu, None) - 0.25).abs() < 1e-6);
    assert!((idle(Reading { kv_use: Some(0.1), ..only_gpu }, None) - 0.9).abs() < 1e-6);
    assert!((idle(Reading::default(), None) - 1.0).abs() < 1e-6);
}

// --- the probe

/// Says what the script says, then repeats its last word. `None` never answers.
struct Script(Mutex<VecDeque<Option<Result<Reading, LoadError>>>>);

impl LoadSource for Script {
    fn read(&self) -> BoxFuture<'_, Result<Reading, LoadError>> {
        let mut script = self.0.lock().unwrap();
        let word = if script.len() > 1 { script.pop_front() } else { script.front().cloned() };
        match word.flatten() {
            Some(word) => Box::pin(async move { word }),
            None => Box::pin(std::future::pending()),
        }
    }
}

fn script(words: impl IntoIterator<Item = Option<Result<Reading, LoadError>>>) -> Arc<dyn LoadSource> {
    Arc::new(Script(Mutex::new(words.into_iter().collect())))
}

fn busy(running: u32, kv_use: f64) -> Reading {
    Reading { running, kv_use: Some(kv_use), ..Reading::default() }
}

struct Probed {
    observed: watch::Receiver<Observation>,
    meter: Meter,
    cancel: CancellationToken,
}

fn probe(sources: Vec<Arc<dyn LoadSource>>) -> Probed {
    let (meter, cancel) = (Meter::new(), CancellationToken::new());
    let (probe, observed) = LoadProbe::new(sources, Config::default(), meter.clone());
    tokio::spawn(probe.run(cancel.clone()));
    Probed { observed, meter, cancel }
}

impl Probed {
    /// The state after so many milliseconds more.
    async fn after(&self, millis: u64) -> Observation {
        tokio::time::sleep(Duration::from_millis(millis)).await;
        *self.observed.borrow()
    }
}

#[tokio::test(start_paused = true)]
async fn a_fresh_reading_is_published_at_once() {
    let probed = probe(vec![script([Some(Ok(busy(3, 0.25)))])]);
    let seen = probed.after(1).await;
    assert_eq!(seen.state, LoadState::Fresh);
    assert_eq!(seen.load, Load::Known { idle: GpuIdle(Score::clamped(0.75)), waiting: 0, running: 3 });
    assert!(probed.meter.render().contains("weir_gpu_idle_ratio 0.75"));
}

#[tokio::test(start_paused = true)]
async fn several_backends_make_one_load_of_those_that_answer() {
    let probed = probe(vec![
        script([Some(Ok(busy(3, 0.2)))]),
        script([Some(Ok(busy(4, 0.6)))]),
        script([Some(Err(LoadError::Unreachable))]),
    ]);
    let seen = probed.after(1).await;
    assert_eq!(seen.load, Load::Known { idle: GpuIdle(Score::clamped(0.6)), waiting: 0, running: 7 });
}

#[tokio::test(start_paused = true)]
async fn an_outage_makes_the_load_stale_then_unknown_and_it_comes_back() {
    let outage = std::iter::repeat_n(Some(Err(LoadError::Unreachable)), 100);
    let probed =
        probe(vec![script(std::iter::once(Some(Ok(busy(1, 0.5)))).chain(outage).chain([Some(Ok(busy(2, 0.5)))]))]);
    assert_eq!(probed.after(4_500).await.state, LoadState::Fresh, "four failures are no outage yet");
    let stale = probed.after(2_000).await;
    assert_eq!(stale, Observation { load: Load::Unknown, state: LoadState::Stale });
    assert!(probed.meter.render().contains(r#"weir_load_state{state="stale"} 1"#));
    assert_eq!(probed.after(60_000).await, Observation::UNKNOWN);
    assert_eq!(probed.after(60_000).await.state, LoadState::Fresh);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_hangs_is_given_up_after_the_timeout() {
    let hanging = std::iter::repeat_n(None, 3);
    let probed = probe(vec![script(hanging.chain([Some(Ok(busy(1, 0.1)))]))]);
    assert_eq!(probed.after(10_000).await.state, LoadState::Fresh);
}

#[tokio::test(start_paused = true)]
async fn an_upstream_without_a_page_is_asked_less_and_less() {
    struct Counting(Mutex<u32>);
    impl LoadSource for Counting {
        fn read(&self) -> BoxFuture<'_, Result<Reading, LoadError>> {
            *self.0.lock().unwrap() += 1;
            Box::pin(async { Err(LoadError::Status(404)) })
        }
    }
    let counting = Arc::new(Counting(Mutex::new(0)));
    let probed = probe(vec![Arc::clone(&counting) as Arc<dyn LoadSource>]);
    assert_eq!(probed.after(3_600_000).await, Observation::UNKNOWN);
    let asked = *counting.0.lock().unwrap();
    assert!((60..80).contains(&asked), "{asked} times in an hour");
}

#[tokio::test(start_paused = true)]
async fn the_probe_ends_when_told_and_at_once_without_sources() {
    let (probe_without, _) = LoadProbe::new(Vec::new(), Config::default(), Meter::new());
    probe_without.run(CancellationToken::new()).await;
    let mut probed = probe(vec![script([Some(Ok(busy(1, 0.1)))])]);
    probed.after(1).await;
    probed.cancel.cancel();
    advance(Duration::from_millis(1)).await;
    while probed.observed.changed().await.is_ok() {}
}

#[tokio::test]
async fn nvml_without_its_library_is_a_clean_error() {
    // On a machine with a GPU it is a reading instead.
    match NvmlSource::new().read().await {
        Ok(reading) => assert!(reading.gpu_use.is_some_and(|share| (0.0..=1.0).contains(&share))),
        Err(error) => assert!(matches!(error, LoadError::NoNvml(_)), "{error}"),
    }
}

#[tokio::test]
async fn the_first_source_that_answers_is_the_source() {
    let page_then_gpu = FirstOf(vec![
        script([Some(Err(LoadError::Status(404)))]),
        script([Some(Ok(Reading { gpu_use: Some(0.5), ..Reading::default() }))]),
    ]);
    assert_eq!(page_then_gpu.read().await.unwrap().gpu_use, Some(0.5));
    let neither = FirstOf(vec![
        script([Some(Err(LoadError::Status(404)))]),
        script([Some(Err(LoadError::NoNvml("no library".into())))]),
    ]);
    assert_eq!(neither.read().await, Err(LoadError::Status(404)), "the first error is the telling one");
}

// --- fetching

/// A server that answers each connection with the next of `replies` and closes it.
async fn server(replies: &'static [&'static str]) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for reply in replies {
            let (mut socket, _) = listener.accept().await.unwrap();
            let _ = socket.read(&mut [0; 1024]).await.unwrap();
            socket.write_all(reply.as_bytes()).await.unwrap();
        }
    });
    format!("http://{address}")
}

#[tokio::test]
async fn a_page_is_read_over_http() {
    const PAGE: &str =
        "HTTP/1.1 200 OK\r\ncontent-length: 29\r\nconnection: close\r\n\r\nvllm:num_requests_running 5.0\n";
    let base = server(&[PAGE]).await;
    let page = MetricsPage::new(Arc::new(HttpFetch::new()), metrics_urls(&base));
    assert_eq!(page.read().await, Ok(Reading { running: 5, ..Reading::default() }));
}

#[tokio::test]
async fn the_root_is_asked_where_there_is_no_page_beside_the_api() {
    let base = server(&[
        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 16\r\nconnection: close\r\n\r\ntgi_queue_size 2",
    ])
    .await;
    let page = MetricsPage::new(Arc::new(HttpFetch::new()), metrics_urls(&format!("{base}/llm/v1")));
    assert_eq!(page.read().await, Ok(Reading { waiting: 2, ..Reading::default() }));
}

#[tokio::test]
async fn what_is_no_page_is_an_error_and_not_a_load() {
    struct Canned(&'static [u8]);
    impl Fetch for Canned {
        fn get<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Bytes, LoadError>> {
            Box::pin(async { Ok(Bytes::from_static(self.0)) })
        }
    }
    let read = async |page| MetricsPage::new(Arc::new(Canned(page)), vec!["http://x/metrics".into()]).read().await;
    assert_eq!(read(b"\xff\xfe").await, Err(LoadError::NotText));
    assert_eq!(read(b"<html>hello</html>").await, Err(LoadError::NoKnownMetrics));
    let closed = HttpFetch::new().get("http://127.0.0.1:1/metrics").await;
    assert_eq!(closed, Err(LoadError::Unreachable));
}

// --- configuration

#[test]
fn a_bad_value_is_named_by_its_key() {
    let bad = |text: &str| toml::from_str::<Config>(text).unwrap().check().unwrap_err().key;
    assert_eq!(bad("urls = [\"gpu:8000\"]"), "urls");
    assert_eq!(bad("urls = [\"file:///etc/passwd\"]"), "urls");
    assert_eq!(bad("interval = \"1ms\""), "interval");
    assert_eq!(bad("timeout = \"0s\""), "timeout");
    assert_eq!(bad("stale_after = \"1s\""), "stale_after");
    assert!(toml::from_str::<Config>("slots = 0").is_err());
    assert!(toml::from_str::<Config>("source = \"guess\"").is_err());
    assert!(Config::default().check().is_ok());
}

#[test]
fn the_sources_follow_the_configuration() {
    let here = ["http://127.0.0.1:8000/v1".to_owned()];
    let two = ["http://a:8000".to_owned(), "http://b:8000".to_owned()];
    let count = |source, upstreams: &[String]| sources(&Config { source, ..Config::default() }, upstreams).len();
    assert_eq!(count(SourceKind::Auto, &here), 1);
    assert_eq!(count(SourceKind::Auto, &two), 2);
    assert_eq!(count(SourceKind::Nvml, &two), 1);
    assert_eq!(count(SourceKind::Off, &here), 0);
    let own = Config { urls: vec!["http://c/metrics".into()], ..Config::default() };
    assert_eq!(sources(&own, &two).len(), 1);
}
