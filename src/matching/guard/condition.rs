//! Conditions, reasons and the prepositions that say how things hang together.

use std::sync::LazyLock;

use super::tables::{Words, words};

pub(super) static WORDS: Words = LazyLock::new(|| {
    words(
        "if unless when whenever while until till before after since because although though despite whereas otherwise \
         provided assuming during once without with within except or and but so then therefore instead \
         如果 若 假如 要是 除非 只要 只有 当 在 之前 之后 以前 以后 因为 由于 所以 因此 虽然 尽管 但 但是 否则 不然 即使 直到 期间 的时候 时 \
         或 或者 还是 和 与 并 并且 而 而且 以及 对 对于 关于 给 被 把 让 从 到 向 往 由 为 为了 跟 用 按 根据",
    )
});
