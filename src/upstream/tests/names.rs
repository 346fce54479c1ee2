//! Names that change their addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::net::TcpListener;

use super::script::{Script, Then};
use super::{OK, ask, config, upstream};
use crate::upstream::{Config, HttpUpstream, Resolve};

/// A resolver that says what it was told last.
#[derive(Clone, Default)]
struct Zone(Arc<Mutex<Vec<IpAddr>>>);

impl Zone {
    fn set(&self, addresses: &[&str]) {
        *self.0.lock().unwrap() = addresses.iter().map(|address| address.parse().unwrap()).collect();
    }
}

impl Resolve for Zone {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        let addresses = self.0.lock().unwrap().iter().map(|ip| SocketAddr::new(*ip, port)).collect();
        Box::pin(async move { Ok(addresses) })
    }
}

/// Two backends behind one name: the same port of two loopback addresses.
async fn two_backends() -> (Script, Script, u16) {
    loop {
        let first = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = first.local_addr().unwrap().port();
        if let Ok(second) = TcpListener::bind(("127.0.0.2", port)).await {
            return (Script::over(first, &[OK], Then::Stay), Script::over(second, &[OK], Then::Stay), port);
        }
    }
}

fn named(zone: &Zone, port: u16) -> HttpUpstream {
    let config = Config { pool_idle_timeout: Duration::from_mins(1), ..config(&format!("http://models.test:{port}")) };
    HttpUpstream::with_resolver(config, Arc::new(zone.clone())).unwrap()
}

#[tokio::test]
async fn k12_03_requests_follow_the_addresses_of_the_name() {
    let (mut first, second, port) = two_backends().await;
    let zone = Zone::default();
    zone.set(&["127.0.0.1"]);
    let upstream = named(&zone, port);
    ask(&upstream).await.unwrap();
    assert_eq!((first.heard().len(), second.heard().len()), (1, 0));

    zone.set(&["127.0.0.1", "127.0.0.2"]);
    assert!(upstream.refresh().await);
    for _ in 0..4 {
        ask(&upstream).await.unwrap();
    }
    assert_eq!((first.heard().len(), second.heard().len()), (3, 2), "both are used in turn");

    zone.set(&["127.0.0.2"]);
    assert!(upstream.refresh().await);
    for _ in 0..4 {
        ask(&upstream).await.unwrap();
    }
    assert_eq!((first.heard().len(), second.heard().len()), (3, 6), "the removed one gets nothing more");
    for _ in 0..2 {
        first.ended.recv().await.expect("its idle connections are closed");
    }
}

#[tokio::test]
async fn k12_03_a_dead_backend_that_the_name_still_lists_fails_nobody() {
    let (first, second, port) = two_backends().await;
    let zone = Zone::default();
    zone.set(&["127.0.0.1", "127.0.0.2", "127.0.0.3"]);
    let upstream = named(&zone, port);
    assert!(upstream.refresh().await);
    for _ in 0..6 {
        ask(&upstream).await.unwrap();
    }
    assert_eq!(first.heard().len() + second.heard().len(), 6);
}

#[tokio::test]
async fn k12_03_a_request_that_finds_every_known_backend_dead_asks_the_name_again() {
    let (_first, second, port) = two_backends().await;
    let zone = Zone::default();
    zone.set(&["127.0.0.3"]);
    let upstream = named(&zone, port);
    assert!(upstream.refresh().await);
    zone.set(&["127.0.0.2"]);
    ask(&upstream).await.unwrap();
    assert_eq!(second.heard().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn k12_03_connections_that_are_too_old_are_replaced_though_the_name_stays_the_same() {
    let zone = Zone::default();
    zone.set(&["127.0.0.1"]);
    let upstream = named(&zone, 1);
    assert!(upstream.refresh().await, "the first answer makes a generation");
    assert!(!upstream.refresh().await, "the same answer does not");
    tokio::time::advance(Config::default().connection_max_age).await;
    assert!(upstream.refresh().await);
}

#[tokio::test]
async fn a_name_that_cannot_be_resolved_any_more_keeps_its_addresses() {
    let (first, _second, port) = two_backends().await;
    let zone = Zone::default();
    zone.set(&["127.0.0.1"]);
    let upstream = named(&zone, port);
    assert!(upstream.refresh().await);
    zone.set(&[]);
    assert!(!upstream.refresh().await);
    ask(&upstream).await.unwrap();
    assert_eq!(first.heard().len(), 1);
}

#[tokio::test]
async fn k12_05_localhost_reaches_a_server_that_listens_on_ipv4_only() {
    let script = Script::new(&[OK], Then::Stay).await;
    let zone = Zone::default();
    zone.set(&["::1", "127.0.0.1"]);
    let port = script.address.port();
    for upstream in [named(&zone, port), upstream(&format!("http://localhost:{port}/v1"))] {
        for _ in 0..3 {
            ask(&upstream).await.unwrap();
            upstream.refresh().await;
        }
    }
    assert_eq!(script.heard().len(), 6);
}

#[tokio::test]
async fn k12_05_localhost_and_the_literal_reach_a_server_that_listens_on_ipv6_only() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else { return };
    let script = Script::over(listener, &[OK], Then::Stay);
    let zone = Zone::default();
    zone.set(&["127.0.0.1", "::1"]);
    let port = script.address.port();
    for upstream in [named(&zone, port), upstream(&format!("http://[::1]:{port}/v1"))] {
        for _ in 0..3 {
            ask(&upstream).await.unwrap();
            upstream.refresh().await;
        }
    }
    assert_eq!(script.heard().len(), 6);
    assert!(script.heard()[5].contains(&format!("host: [::1]:{port}\r\n")));
}

#[test]
fn k12_05_a_bracketed_ipv6_literal_is_a_good_url() {
    assert!(HttpUpstream::new(config("http://[fd00::5]:8000/v1")).is_ok());
}
