//! A server that says exactly the bytes it is told to say, and keeps what it hears.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// What happens behind the bytes of a reply.
#[derive(Clone, Copy)]
pub enum Then {
    /// The connection stays and hears the next request.
    Stay,
    /// The connection closes.
    Close,
    /// Nothing more is said, and the connection stays open.
    Hang,
}

/// A listening script. Every connection says the same to every request.
pub struct Script {
    pub address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
    /// One item for each connection that ended.
    pub ended: mpsc::UnboundedReceiver<()>,
}

impl Script {
    pub async fn on(address: &str, parts: &[&str], then: Then) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        Self::over(listener, parts, then)
    }

    pub async fn new(parts: &[&str], then: Then) -> Self {
        Self::on("127.0.0.1:0", parts, then).await
    }

    pub fn over(listener: TcpListener, parts: &[&str], then: Then) -> Self {
        let parts: Arc<Vec<String>> = Arc::new(parts.iter().map(|part| (*part).to_owned()).collect());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (tell, ended) = mpsc::unbounded_channel();
        let address = listener.local_addr().unwrap();
        let notes = Arc::clone(&heard);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (parts, heard, tell) = (Arc::clone(&parts), Arc::clone(&notes), tell.clone());
                tokio::spawn(async move {
                    let _ = converse(stream, &parts, then, &heard).await;
                    let _ = tell.send(());
                });
            }
        });
        Self { address, heard, ended }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

async fn converse(
    mut stream: TcpStream,
    parts: &[String],
    then: Then,
    heard: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    loop {
        let Some(request) = read_request(&mut stream).await? else { return Ok(()) };
        heard.lock().unwrap().push(request);
        for part in parts {
            stream.write_all(part.as_bytes()).await?;
            stream.flush().await?;
        }
        match then {
            Then::Stay => {}
            Then::Close => return stream.shutdown().await,
            Then::Hang => {
                // Until the other side gives up.
                while stream.read(&mut [0; 64]).await? > 0 {}
                return Ok(());
            }
        }
    }
}

/// One request with a body of announced length, or none.
async fn read_request(stream: &mut TcpStream) -> std::io::Result<Option<String>> {
    let mut text = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await?;
        if count == 0 {
            return Ok(None);
        }
        text.extend_from_slice(&chunk[..count]);
        let request = String::from_utf8_lossy(&text).into_owned();
        let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let complete = match length {
            Some(length) => body.len() >= length.parse().unwrap(),
            None => !head.contains("transfer-encoding: chunked") || body.ends_with("0\r\n\r\n"),
        };
        if complete {
            return Ok(Some(request));
        }
    }
}
