//! `weir replay`: send a day of requests through the gateway and straight to the upstream, and compare.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use indicatif::{ProgressBar, ProgressStyle};

use super::sim::SimSize;
use crate::config::defaults_as_toml;
use crate::domain::duration_text;
use crate::replay::{
    Book, Ceiling, Entry, Gateway, Pace, Report, RunFigures, Story, Target, read, scale_ttls, send, write,
};
use crate::sim::{Sim, SimConfig, SimHandle, SimStats};

/// What to send, where, how fast.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// JSONL of {`at_ms`, path, headers, body, group}
    #[arg(required_unless_present = "story", conflicts_with = "story")]
    pub file: Option<PathBuf>,
    /// A story of this program's own instead of a file
    #[arg(long, value_enum)]
    pub story: Option<Story>,
    /// Write the story to a file and send nothing
    #[arg(long, value_name = "FILE", requires = "story")]
    pub write: Option<PathBuf>,
    /// How many times faster than its own pace (lifetimes in the gateway's cache shrink by as much)
    #[arg(long, value_name = "N", value_parser = pace)]
    pub speed: Option<Pace>,
    /// A running gateway (its lifetimes are its own) instead of one started for this replay
    #[arg(long, value_name = "URL")]
    pub gateway: Option<String>,
    /// A running upstream instead of the built-in simulator
    #[arg(long, value_name = "URL")]
    pub upstream: Option<String>,
    /// Configuration of the gateway that is started
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How long answers live in the gateway that is started, at the file's own pace
    #[arg(long, value_name = "TIME", value_parser = duration_text::parse)]
    pub ttl: Option<Duration>,
    /// Only one of the two runs
    #[arg(long, value_enum)]
    pub only: Option<Run>,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Size of the built-in simulator; the defaults are the story's
    #[command(flatten)]
    pub sim: SimSize,
}

/// One of the two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Run {
    /// Straight to the upstream
    Direct,
    /// Through the gateway
    Weir,
}

/// The upstream of a replay and how to ask it what it has done.
struct Upstream {
    url: String,
    /// The built-in simulator, which lives as long as this.
    _sim: Option<SimHandle>,
}

fn pace(text: &str) -> Result<Pace, String> {
    let times = text.parse().map_err(|_| "not a number".to_owned())?;
    Pace::new(times).ok_or_else(|| "must be above 0".to_owned())
}

/// Exit 0 if every answer was right, 1 if any was wrong.
pub async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (name, entries) = load(&args)?;
    if let Some(path) = &args.write {
        write(BufWriter::new(File::create(path)?), &entries)
            .with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}: {} requests", path.display(), entries.len());
        return Ok(ExitCode::SUCCESS);
    }
    let report = replay(&args, name, &entries).await?;
    println!("{report}");
    if let Some(path) = &args.json {
        serde_json::to_writer_pretty(File::create(path)?, &report)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(if report.has_wrong() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn load(args: &Args) -> anyhow::Result<(String, Vec<Entry>)> {
    match (&args.file, args.story) {
        (Some(path), _) => {
            let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            let entries = read(BufReader::new(file)).with_context(|| format!("cannot replay {}", path.display()))?;
            Ok((path.display().to_string(), entries))
        }
        (None, Some(story)) => Ok((format!("{story:?}").to_lowercase(), story.entries())),
        (None, None) => anyhow::bail!("give a file or a story"),
    }
}

async fn replay(args: &Args, name: String, entries: &[Entry]) -> anyhow::Result<Report> {
    let pace = args.speed.or_else(|| Pace::new(args.story?.speed())).unwrap_or(Pace::OWN);
    let book = Arc::new(Book::new(entries).context("the file cannot tell right from wrong")?);
    let groups: std::collections::HashSet<&str> = entries.iter().map(|entry| entry.group.as_str()).collect();
    let upstream = Upstream::of(args).await?;
    let mut report = Report {
        name,
        speed: pace.times(),
        requests: entries.len(),
        groups: groups.len(),
        ceiling: Ceiling::of(entries),
        direct: None,
        weir: None,
    };
    if args.only != Some(Run::Weir) {
        report.direct = Some(upstream.measure("direct", &upstream.url, entries, pace, &book).await);
    }
    if args.only != Some(Run::Direct) {
        let started = if args.gateway.is_some() { None } else { Some(gateway(args, &upstream.url, pace).await?) };
        let url = args.gateway.as_deref().or(started.as_ref().map(Gateway::url)).unwrap_or_default();
        report.weir = Some(upstream.measure("weir", url, entries, pace, &book).await);
    }
    Ok(report)
}

async fn gateway(args: &Args, upstream: &str, pace: Pace) -> anyhow::Result<Gateway> {
    let given = match &args.config {
        Some(path) => std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?,
        None => String::new(),
    };
    let ttl = args.ttl.or_else(|| args.story?.ttl());
    let config = scale_ttls(&defaults_as_toml(), &given, ttl, pace)?;
    let program: &Path = &std::env::current_exe().context("cannot find this program")?;
    Ok(Gateway::start(program, upstream, &config).await?)
}

// === impl Upstream ===

impl Upstream {
    async fn of(args: &Args) -> anyhow::Result<Self> {
        if let Some(url) = &args.upstream {
            return Ok(Self { url: url.clone(), _sim: None });
        }
        let base = args.story.map_or_else(SimConfig::default, Story::sim);
        let sim = Sim::start(args.sim.over(base)).await.context("cannot start the simulator")?;
        Ok(Self { url: sim.url(), _sim: Some(sim) })
    }

    /// One run: the figures begin at nothing and end with the last answer.
    async fn measure(
        &self,
        name: &'static str,
        url: &str,
        entries: &[Entry],
        pace: Pace,
        book: &Arc<Book>,
    ) -> RunFigures {
        let upstream = Target::new(&self.url);
        // A real upstream knows neither page; then there are no figures of its GPU.
        let _ = upstream.post("/sim/reset", Bytes::new()).await;
        let bar = progress(name, entries.len());
        let samples = send(entries, &Target::new(url), pace, book, &bar).await;
        bar.finish_and_clear();
        let stats = upstream.get("/sim/stats").await;
        RunFigures::of(&samples, stats.and_then(|page| serde_json::from_slice::<SimStats>(&page).ok()))
    }
}

/// Shown on a terminal only.
fn progress(name: &'static str, requests: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:>8} {wide_bar} {pos}/{len} {eta}");
    let bar = ProgressBar::new(requests as u64).with_message(name);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
