//! What an embedding takes, the way to the model's thread and back included.
//!
//! `models/setup.sh && cargo bench --bench embed`. The memory for embeddings is switched off, so that every
//! call is a run. `WEIR_MODEL` names another model folder.

use std::env;
use std::fmt;
use std::fs;
use std::time::Duration;

use divan::Bencher;
use weir::embed::{Config, EmbedState, Embedder, OnnxEmbedder};
use weir::meter::Meter;

/// A text by its length, as the default model counts it.
struct Sample {
    name: &'static str,
    text: &'static str,
}

const SAMPLES: [Sample; 4] = [
    Sample { name: "9 tokens, Chinese", text: "澳大利亚的首都是哪里？" },
    Sample { name: "8 tokens", text: "Why is the sky blue?" },
    Sample { name: "33 tokens", text: ENGLISH_33 },
    Sample { name: "129 tokens", text: ENGLISH_129 },
];

const ENGLISH_33: &str = "I want to open a coffee shop aimed at young people. Please write a business plan that covers \
     market analysis, competitors, location advice and staffing.";

const ENGLISH_129: &str = "I want to open a coffee shop aimed at young people. Please write a business plan that covers \
     market analysis, competitors, location advice, the renovation budget, staffing, menu design, a marketing plan \
     and a financial forecast for the first six months, and explain the risks we may meet and how to respond to \
     them. Keep the language formal and the structure clear, preferably with tables for the key data. Also explain \
     how short video platforms and a membership scheme can raise the repeat purchase rate, list three success \
     stories worth copying, discuss their strengths and weaknesses, and finish with a ninety day opening checklist.";

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

fn main() {
    divan::main();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM")) {
        println!("{line}");
    }
}

#[divan::bench(args = SAMPLES, sample_count = 200, sample_size = 1)]
fn embed(bencher: Bencher, sample: &Sample) {
    let defaults = Config::default();
    let model = env::var_os("WEIR_MODEL").map_or(defaults.model.clone(), Into::into);
    let config = Config { model, cache: 0, budget: Duration::from_secs(10), ..defaults };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else { return };
    let engine = OnnxEmbedder::start(&config, Meter::new());
    let state = runtime.block_on(engine.loaded());
    assert_eq!(state, EmbedState::Ready, "run models/setup.sh");
    bencher.bench_local(|| runtime.block_on(engine.embed(sample.text)));
}
