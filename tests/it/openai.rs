//! The official Python client of OpenAI, unchanged but for its base URL.

use std::path::{Path, PathBuf};

use tokio::process::Command;

use crate::config::gateway::Gateway;

/// The Python that `test.sh` sets up. Without it there is nothing to run, which only `test.sh` takes for a failure.
fn python() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/bin/python");
    assert!(python.exists() || std::env::var_os("WEIR_TEST_ALL").is_none(), "no {}", python.display());
    python.exists().then_some(python)
}

#[tokio::test]
async fn the_official_client_works_against_the_gateway() {
    let Some(python) = python() else {
        eprintln!("skipped: ./test.sh sets the client up");
        return;
    };
    let gateway = Gateway::start("[window]\nmax_callers = 10\n").await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openai/client.py");
    let output = Command::new(python).arg(script).arg(gateway.base_url()).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    gateway.stop().await;
}
