//! An ONNX sentence model in a folder, run by ONNX Runtime.
//!
//! fastembed runs the model and pools its output; what it would do silently is done here instead. It cuts
//! long texts, so the tokens are counted first. It takes the runtime library by its default name and panics
//! if there is none, so the library is opened here, by its path, after a look whether it is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fastembed::{InitOptionsUserDefined, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel};
use ort::environment::Environment;
use serde::Deserialize;

use super::worker::TextModel;
use super::{Config, Degenerate, EmbedError, Pooling, selftest};
use crate::vector::Embedding;

/// For a model that does not say: short enough for any encoder.
const DEFAULT_MAX_TOKENS: usize = 256;

/// No token stands for more bytes than this on average; a longer text is refused without counting.
const MAX_BYTES_PER_TOKEN: usize = 32;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file is not there or cannot be read.
    #[error("{path} cannot be read ({source}); models/setup.sh puts runtime and model in place")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// `model.toml` makes no sense.
    #[error("{path}: {message}")]
    ModelToml {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The library is no ONNX Runtime, or too old.
    #[error("the ONNX Runtime library cannot be used: {0}")]
    Runtime(String),
    /// The model or its tokenizer is damaged or of an unknown kind.
    #[error("the model cannot be used: {0}")]
    Model(String),
    /// It fails on every text, or gives vectors of an unexpected length.
    #[error("the model gives {found} dimensions, model.toml says {expected}")]
    Dimensions {
        /// What `model.toml` says.
        expected: usize,
        /// What comes out.
        found: usize,
    },
    /// It runs, but its vectors say nothing.
    #[error(transparent)]
    Degenerate(#[from] Degenerate),
}

/// Where the model is, and what the configuration says about its use.
#[derive(Clone, Debug)]
pub(super) struct ModelFiles {
    runtime: PathBuf,
    folder: PathBuf,
    hub: Option<String>,
    prefix: Option<String>,
    pooling: Option<Pooling>,
    max_tokens: Option<usize>,
}

/// `model.toml`: what the model's maker knows.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ModelToml {
    /// Only for people.
    #[serde(rename = "name")]
    _name: Option<String>,
    dimensions: Option<usize>,
    max_tokens: Option<usize>,
    pooling: Option<Pooling>,
    prefix: Option<String>,
}

/// A loaded model.
pub(super) struct OnnxModel {
    inner: TextEmbedding,
    prefix: String,
    max_tokens: usize,
}

// === impl ModelFiles ===

impl ModelFiles {
    pub(super) fn of(config: &Config) -> Self {
        Self {
            runtime: config.runtime.clone(),
            folder: config.model.clone(),
            hub: config.hub.clone(),
            prefix: config.prefix.clone(),
            pooling: config.pooling,
            max_tokens: config.max_tokens,
        }
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, LoadError> {
        let path = self.folder.join(name);
        fs::read(&path).map_err(|source| LoadError::File { path, source })
    }

    /// An absent `model.toml` says nothing.
    fn model_toml(&self) -> Result<ModelToml, LoadError> {
        let path = self.folder.join("model.toml");
        if !path.exists() {
            return Ok(ModelToml::default());
        }
        let text = String::from_utf8_lossy(&self.read("model.toml")?).into_owned();
        toml::from_str(&text).map_err(|error| LoadError::ModelToml { path, message: error.message().to_owned() })
    }

    fn tokenizer_files(&self) -> Result<TokenizerFiles, LoadError> {
        Ok(TokenizerFiles {
            tokenizer_file: self.read("tokenizer.json")?,
            config_file: self.read("config.json")?,
            special_tokens_map_file: self.read("special_tokens_map.json")?,
            tokenizer_config_file: self.read("tokenizer_config.json")?,
        })
    }
}

// === impl OnnxModel ===

impl OnnxModel {
    /// Reads, loads and tests the model. Takes a second or two.
    pub(super) fn load(files: &ModelFiles) -> Result<Self, LoadError> {
        // One text at a time has no use for a pool with a thread for every core.
        tokenizers::utils::parallelism::set_parallelism(false);
        let maker = files.model_toml()?;
        let max_tokens = files.max_tokens.or(maker.max_tokens).unwrap_or(DEFAULT_MAX_TOKENS);
        let mut inner = match &files.hub {
            Some(name) => open_from_hub(name, files, max_tokens)?,
            None => open_folder(files, files.pooling.or(maker.pooling).unwrap_or_default(), max_tokens)?,
        };
        // Otherwise the tokenizer cuts, and nobody could tell.
        inner.tokenizer.with_truncation(None).map_err(|error| LoadError::Model(error.to_string()))?;
        let mut model = Self { inner, prefix: files.prefix.clone().or(maker.prefix).unwrap_or_default(), max_tokens };
        let found = selftest::check(&mut model)?;
        match maker.dimensions {
            Some(expected) if expected != found => Err(LoadError::Dimensions { expected, found }),
            _ => Ok(model),
        }
    }

    /// Refuses what has more tokens than the model's window.
    fn measure(&self, text: &str) -> Result<(), EmbedError> {
        if text.len() > self.max_tokens * MAX_BYTES_PER_TOKEN {
            return Err(EmbedError::TooLong);
        }
        let tokens = self.inner.tokenizer.encode(text, true).map_err(|_| EmbedError::Unavailable)?;
        if tokens.len() > self.max_tokens { Err(EmbedError::TooLong) } else { Ok(()) }
    }
}

impl TextModel for OnnxModel {
    fn embed(&mut self, text: &str) -> Result<Embedding, EmbedError> {
        let text = format!("{}{text}", self.prefix);
        self.measure(&text)?;
        // One text per run: the vectors of an 8-bit model change with what else is in the batch.
        let vectors = self.inner.embed([&text], None).map_err(|_| EmbedError::Unavailable)?;
        vectors.first().and_then(|vector| Embedding::new(vector)).ok_or(EmbedError::Unavailable)
    }
}

fn open_folder(files: &ModelFiles, pooling: Pooling, max_tokens: usize) -> Result<TextEmbedding, LoadError> {
    let pooling = match pooling {
        Pooling::Mean => fastembed::Pooling::Mean,
        // Of one vector per text, fastembed's `Cls` takes the vector as it is.
        Pooling::Cls | Pooling::None => fastembed::Pooling::Cls,
    };
    let tokenizer = files.tokenizer_files()?;
    let model = UserDefinedEmbeddingModel::new(files.read("model.onnx")?, tokenizer).with_pooling(pooling);
    let options = InitOptionsUserDefined::new()
        .with_environment(environment(&files.runtime)?)
        .with_max_length(max_tokens)
        // More threads within one run wait for each other under load; more texts at once do not.
        .with_intra_threads(1);
    TextEmbedding::try_new_from_user_defined(model, options).map_err(|error| LoadError::Model(error.to_string()))
}

/// A model of fastembed's list, which knows its pooling; the folder keeps what was fetched.
#[cfg(feature = "hub")]
fn open_from_hub(name: &str, files: &ModelFiles, max_tokens: usize) -> Result<TextEmbedding, LoadError> {
    let name = name.parse::<fastembed::EmbeddingModel>().map_err(LoadError::Model)?;
    let options = fastembed::TextInitOptions::new(name)
        .with_environment(environment(&files.runtime)?)
        .with_cache_dir(files.folder.clone())
        .with_show_download_progress(false)
        .with_max_length(max_tokens)
        .with_intra_threads(1);
    TextEmbedding::try_new(options).map_err(|error| LoadError::Model(error.to_string()))
}

/// Configurations that want the hub are refused in a build without it; this is for who does not check.
#[cfg(not(feature = "hub"))]
fn open_from_hub(name: &str, _: &ModelFiles, _: usize) -> Result<TextEmbedding, LoadError> {
    Err(LoadError::Model(format!("{name} can be fetched only by a build with the cargo feature `hub`")))
}

/// ONNX Runtime, opened once: a process can have only one. It stays open to the end of the process.
fn environment(library: &Path) -> Result<Environment, LoadError> {
    static OPENED: Mutex<Option<Environment>> = Mutex::new(None);
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*opened {
        return Ok(environment.clone());
    }
    // ort would look for a relative path beside the executable, and it panics on some that do not exist.
    let library =
        fs::canonicalize(library).map_err(|source| LoadError::File { path: library.to_path_buf(), source })?;
    let environment = ort::environment::init_from(&library)
        .map_err(|error| LoadError::Runtime(error.to_string()))?
        .with_name("weir")
        .with_telemetry(false)
        .build()
        .map_err(|error| LoadError::Runtime(error.to_string()))?;
    Ok(opened.insert(environment).clone())
}
