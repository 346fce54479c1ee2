//! From files to a checked [`Config`].

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::document::{Document, line_at};
use super::overlay::{self, Layer};
use super::problem::{ConfigError, Problem};
use super::thresholds::Layers;
use super::{Config, TaskName, TaskPatch};

/// What the command line says over the file; it stays in force when the file is reloaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--upstream`.
    pub upstream: Option<String>,
    /// `--listen`.
    pub listen: Option<SocketAddr>,
    /// `--admin`.
    pub admin: Option<SocketAddr>,
}

/// Knows the files, and makes a configuration of what they hold.
pub struct Loader {
    file: Option<PathBuf>,
    overlay: PathBuf,
    overrides: Overrides,
    environment: Environment,
    first: Texts,
}

type Environment = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// A configuration that passed every check, and where its thresholds came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    pub(super) layers: Layers,
}

/// What the files hold. Equal texts mean that nothing changed, however the files were replaced.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Texts {
    /// The configuration file; `None` if the gateway runs without one.
    pub(super) main: Option<String>,
    /// The overlay; `None` if there is none yet.
    pub(super) overlay: Option<String>,
}

/// All that an overlay file may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OverlayFile {
    tasks: std::collections::BTreeMap<TaskName, TaskPatch>,
}

// === impl Loader ===

impl Loader {
    /// Reads the files for the first time. Without a file the defaults hold.
    pub fn start(file: Option<&Path>, overrides: Overrides) -> Result<(Self, Loaded), ConfigError> {
        Self::start_in(file, overrides, |name| std::env::var(name).ok())
    }

    /// The same with another environment.
    pub fn start_in(
        file: Option<&Path>,
        overrides: Overrides,
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Result<(Self, Loaded), ConfigError> {
        let mut loader = Self {
            file: file.map(Path::to_owned),
            overlay: overlay::beside(file),
            overrides,
            environment: Box::new(environment),
            first: Texts::default(),
        };
        loader.first.main = loader.read_main()?;
        let alone = loader.build(&loader.first, &Layer::default())?;
        if alone.config.overlay.path != PathBuf::new() {
            loader.overlay = alone.config.overlay.path;
        }
        loader.first.overlay = overlay::read(&loader.overlay)?;
        let whole = loader.build(&loader.first, &Layer::default())?;
        Ok((loader, whole))
    }

    /// The file that thresholds are kept in.
    #[must_use]
    pub fn overlay_path(&self) -> &Path {
        &self.overlay
    }

    /// What the files held at the start.
    pub(super) fn first_texts(&self) -> Texts {
        self.first.clone()
    }

    /// Adds file and line to a problem with one of these texts.
    pub(super) fn locate(&self, texts: &Texts, problem: Problem) -> Problem {
        let name = self.file_name();
        match texts.main.as_deref().map(|text| Document::parse(&name, text)) {
            Some(Ok(document)) => document.locate(problem),
            _ => problem,
        }
    }

    fn file_name(&self) -> String {
        self.file.as_deref().unwrap_or(Path::new("")).display().to_string()
    }

    /// What the files hold now.
    pub(super) fn read(&self) -> Result<Texts, ConfigError> {
        Ok(Texts { main: self.read_main()?, overlay: overlay::read(&self.overlay)? })
    }

    fn read_main(&self) -> Result<Option<String>, ConfigError> {
        self.file.as_deref().map(read_text).transpose()
    }

    /// Makes a configuration of these texts with `live` thresholds on top.
    pub(super) fn build(&self, texts: &Texts, live: &Layer) -> Result<Loaded, ConfigError> {
        let main_name = self.file_name();
        let overlay_name = self.overlay.display().to_string();
        let mut problems = Vec::new();

        let main = texts.main.as_deref().map(|text| Document::parse(&main_name, text)).transpose()?;
        let main = main.map(|mut document| {
            problems.extend(document.fill_in(&*self.environment));
            document
        });
        let mut config = match &main {
            Some(document) => typed::<Config>(document, &mut problems),
            None => Config::default(),
        };
        self.overrides.apply(&mut config);

        let overlay = texts.overlay.as_deref().filter(|text| !text.trim().is_empty());
        let overlay = overlay.map(|text| Document::parse(&overlay_name, text)).transpose()?;
        if let Some(document) = &overlay {
            typed::<OverlayFile>(document, &mut problems);
        }
        let layers = Layers::new(main.as_ref(), overlay.as_ref(), live);
        if problems.is_empty() {
            config.tasks = layers.merged_over(&config.tasks)?;
        }

        for problem in config.check() {
            let in_overlay = overlay.as_ref().filter(|document| document.gives(&problem.path));
            problems.push(match in_overlay.or(main.as_ref()) {
                Some(document) => document.locate(problem),
                None => problem,
            });
        }
        ConfigError::from_all(problems)?;
        Ok(Loaded { config, layers })
    }
}

fn typed<T: serde::de::DeserializeOwned + Default>(document: &Document<'_>, problems: &mut Vec<Problem>) -> T {
    let (value, found) = document.read::<T>();
    problems.extend(found);
    value.unwrap_or_default()
}

/// A file as text, with its name in every error.
pub(super) fn read_text(path: &Path) -> Result<String, ConfigError> {
    let refuse = |reason: String| Problem { file: Some(path.display().to_string()), ..Problem::at("", reason) };
    let bytes = std::fs::read(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let line = line_at(error.as_bytes(), error.utf8_error().valid_up_to());
        Problem { line: Some(line), ..refuse("not UTF-8 text".to_owned()) }.into()
    })
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loader").field("file", &self.file).field("overlay", &self.overlay).finish_non_exhaustive()
    }
}

// === impl Overrides ===

impl Overrides {
    fn apply(&self, config: &mut Config) {
        if let Some(url) = &self.upstream {
            config.upstream.url.clone_from(url);
        }
        config.server.listen = self.listen.unwrap_or(config.server.listen);
        config.admin.listen = self.admin.unwrap_or(config.admin.listen);
    }
}
