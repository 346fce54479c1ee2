//! Addresses and the end.

use std::net::{SocketAddr, ToSocketAddrs};

use weir::sim::{Sim, SimConfig};

use super::support::{Gateway, Setting, ask, instant, until};

#[tokio::test]
async fn k12_05_localhost_is_found_whichever_family_the_upstream_listens_on() {
    for (listen, literal) in [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "[::1]")] {
        let config = SimConfig { listen: listen.parse::<SocketAddr>().unwrap(), ..SimConfig::instant() };
        let sim = Sim::start(config).await.unwrap();
        // There are machines whose localhost has one family only.
        let known = ("localhost", 0).to_socket_addrs().unwrap().any(|address| address.ip() == sim.addr.ip());
        let host = if known { "localhost" } else { literal };
        let url = format!("http://{host}:{}", sim.addr.port());
        let gateway = Gateway::start(&url, Setting { listen: Some("[::1]:0"), ..Setting::default() }).await;
        assert!(gateway.callers.is_ipv6());
        assert_eq!(gateway.chat(&ask("Who wrote Faust?")).await.status, 200, "upstream at {listen}");
        assert_eq!(gateway.get("/v1/models").await.status, 200);
    }
}

#[tokio::test]
async fn at_sigterm_running_streams_finish_and_the_program_ends_with_0() {
    let sim = instant().await;
    let mut gateway = Gateway::before(&sim, Setting::default()).await;
    sim.hold_after(2);
    let mut stream = gateway.stream("Who wrote Faust?").await;
    let first = stream.word().await.unwrap();
    gateway.terminate().await;
    until(async || (gateway.ready().await == 503).then_some(())).await;
    sim.release();
    let said = first + &stream.rest().await;
    assert!(!said.is_empty());
    assert_eq!(gateway.ended().await, Some(0));
}
