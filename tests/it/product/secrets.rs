//! K11-03: keys and prompts come out nowhere.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use weir::sim::{Sim, SimConfig};

use super::support::{Gateway, KEY, Setting, TOKEN, ask};

const OPERATORS: &str = "sk-operator-provider-key-0123456789";
const PROMPT: &str = "The secret ingredient is paprika";

/// An upstream that refuses everybody, and tells what it was given.
async fn parrot() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut seen, mut buffer) = (String::new(), [0; 4096]);
                while !seen.contains("\r\n\r\n") {
                    let Ok(count @ 1..) = stream.read(&mut buffer).await else { return };
                    seen += &String::from_utf8_lossy(&buffer[..count]);
                }
                let line = seen.lines().find(|line| line.to_ascii_lowercase().starts_with("authorization:"));
                let given = line.unwrap_or_default().to_owned();
                let body = json!({"error": {"message": format!("Incorrect API key: {given}"), "code": given}});
                let body = body.to_string();
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                     x-given: {given}\r\nconnection: close\r\n\r\n"
                );
                let _ = stream.write_all((head + &body).as_bytes()).await;
            });
        }
    });
    format!("http://{address}")
}

#[tokio::test]
async fn k11_03_no_key_and_no_prompt_comes_out_anywhere() {
    let guarded = Sim::start(SimConfig { api_key: Some("another".to_owned()), ..SimConfig::instant() }).await.unwrap();
    for upstream in [parrot().await, guarded.url()] {
        let setting = Setting { log: "trace", upstream: format!("api_key = \"{OPERATORS}\""), ..Setting::default() };
        let gateway = Gateway::start(&upstream, setting).await;
        let mut in_body = ask(PROMPT);
        in_body["api_key"] = json!("sk-in-the-body");
        let mut told = Vec::new();
        for (path, headers, body) in [
            ("/v1/chat/completions", vec![], ask(PROMPT).to_string()),
            (
                "/v1/chat/completions",
                vec![("authorization", "Bearer sk-wrong"), ("api-key", "sk-azure")],
                in_body.to_string(),
            ),
            ("/v1/chat/completions?api_key=sk-in-the-query", vec![], ask(PROMPT).to_string()),
            ("/v1/files?api_key=sk-in-the-query", vec![], PROMPT.to_owned()),
            ("/v1/chat/completions", vec![], format!("{{\"api_key\": \"sk-in-the-body\", \"x\": \"{PROMPT}\"")),
            ("/api/ai/qa", vec![], json!({"model": "m", "prompt": PROMPT, "sk-in-the-body": 1}).to_string()),
        ] {
            let reply = gateway.post(path, &headers, body).await;
            assert!(reply.status.is_client_error(), "{reply:?}");
            told.push(format!("{:?}", reply.headers));
            // A refusal may name the field that a caller sent: its key, never a value.
            told.push(
                reply.text().replace("`sk-in-the-body` is unknown", "").replace("\"param\":\"sk-in-the-body\"", ""),
            );
        }
        told.push(gateway.metrics().await.0);
        let page = gateway.in_force().await;
        assert_eq!(page["config"]["upstream"]["api_key"], Value::from("***"));
        told.push(page.to_string());
        gateway.until_logged("refused").await;
        told.push(gateway.log());
        for text in told {
            for secret in [OPERATORS, KEY, TOKEN, PROMPT, "sk-wrong", "sk-azure", "sk-in-the-query", "sk-in-the-body"] {
                let line = text.lines().find(|line| line.contains(secret));
                assert!(line.is_none(), "{secret} in {line:?}");
            }
        }
    }
}
