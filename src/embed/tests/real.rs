//! With the model and the runtime that `models/setup.sh` puts in place.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::*;

/// One loaded model for all tests that do not damage it.
static ENGINE: LazyLock<OnnxEmbedder> = LazyLock::new(|| OnnxEmbedder::start(&real(), Meter::new()));

fn models() -> PathBuf {
    let folder = env::var_os("WEIR_MODELS").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("models"));
    let library = folder.join("runtime/libonnxruntime.so");
    assert!(library.exists(), "{} is missing: run models/setup.sh", library.display());
    folder
}

fn real() -> Config {
    let models = models();
    Config {
        runtime: models.join("runtime/libonnxruntime.so"),
        model: models.join("use-multilingual-3"),
        budget: PATIENT,
        ..Config::default()
    }
}

async fn embed(text: &str) -> Result<Embedding, EmbedError> {
    assert_eq!(ENGINE.loaded().await, EmbedState::Ready);
    ENGINE.embed(text).await
}

/// A folder with a copy of the model in which `name` has been replaced.
fn damaged(name: &str, content: &[u8]) -> (tempfile::TempDir, Config) {
    let (folder, config) = (tempfile::tempdir().unwrap(), real());
    for entry in fs::read_dir(&config.model).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    fs::write(folder.path().join(name), content).unwrap();
    let model = folder.path().to_owned();
    (folder, Config { model, ..config })
}

async fn failure(config: &Config) -> String {
    match OnnxEmbedder::start(config, Meter::new()).loaded().await {
        EmbedState::Failed(reason) => reason.to_string(),
        other => panic!("the model is {other:?}"),
    }
}

#[tokio::test]
async fn equal_texts_have_equal_vectors() {
    let once = embed("How do I boil an egg?").await.unwrap();
    let other_engine = OnnxEmbedder::start(&real(), Meter::new());
    assert_eq!(other_engine.loaded().await, EmbedState::Ready);
    assert_eq!(other_engine.embed("How do I boil an egg?").await.unwrap(), once);
    assert_eq!(once.dimensions(), 512);
}

#[tokio::test]
async fn related_texts_are_nearer_than_unrelated_ones_in_both_languages() {
    for (one, related, unrelated) in [
        ("Why is the sky blue?", "What makes the sky look blue?", "List three advantages of remote work."),
        ("天空为什么是蓝色的？", "为什么天看起来是蓝的？", "列出远程办公的三个优点。"),
    ] {
        let (one, related, unrelated) = (embed(one).await.unwrap(), embed(related).await, embed(unrelated).await);
        let (near, far) = (one.cosine(&related.unwrap()), one.cosine(&unrelated.unwrap()));
        assert!(near.get() > far.get() + 0.1, "{near} and {far}");
    }
}

#[tokio::test]
async fn a_text_is_embedded_whole_or_not_at_all() {
    let short = "天空为什么是蓝色的？".repeat(20);
    assert!(embed(&short).await.is_ok());
    let long = "天空为什么是蓝色的？".repeat(60);
    assert_eq!(embed(&long).await, Err(EmbedError::TooLong));
    assert_eq!(embed(&"word ".repeat(100_000)).await, Err(EmbedError::TooLong));
}

#[tokio::test]
async fn odd_texts_do_no_harm() {
    for text in ["", " ", "\0", "😀😀😀", "<s></s><unk>", "ＦＵＬＬ　ｗｉｄｔｈ", "\u{202e}abc"] {
        let outcome = embed(text).await;
        assert!(outcome.is_ok(), "{text:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn the_window_can_be_narrowed() {
    let engine = OnnxEmbedder::start(&Config { max_tokens: Some(24), ..real() }, Meter::new());
    assert_eq!(engine.loaded().await, EmbedState::Ready);
    assert!(engine.embed("Why is the sky blue?").await.is_ok());
    assert_eq!(engine.embed(&"sky blue ".repeat(20)).await, Err(EmbedError::TooLong));
}

#[tokio::test]
async fn a_damaged_model_fails_with_a_reason_and_never_panics() {
    let whole = fs::read(real().model.join("model.onnx")).unwrap();
    for (name, content, reason) in [
        ("model.onnx", &whole[..whole.len() / 2], "the model cannot be used"),
        ("model.onnx", b"not a model".as_slice(), "the model cannot be used"),
        ("tokenizer.json", b"{}", "the model cannot be used"),
        ("config.json", b"nonsense", "the model cannot be used"),
        ("model.toml", b"dimension = 512", "unknown field `dimension`"),
        ("model.toml", b"dimensions = 384", "gives 512 dimensions, model.toml says 384"),
    ] {
        let (_folder, config) = damaged(name, content);
        let found = failure(&config).await;
        assert!(found.contains(reason), "{name}: {found}");
    }
}

#[tokio::test]
async fn a_missing_model_names_the_set_up() {
    let found = failure(&Config { model: "nowhere".into(), ..real() }).await;
    assert!(found.contains("models/setup.sh"), "{found}");
}
