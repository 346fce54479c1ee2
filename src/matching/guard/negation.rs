//! Words that turn a statement round. 能不能 and 是不是 ask and do not negate: the segmenter gives them as one
//! word, so they never meet this list.

use std::sync::LazyLock;

use super::tables::{Words, words};

pub(super) static WORDS: Words = LazyLock::new(|| {
    words(
        "not no never none nothing nobody nowhere neither nor without cannot hardly barely scarcely seldom rarely \
         lack lacks lacking fail fails failed refuse refuses avoid avoids prevent prevents except excluding minus \
         non un anti dis forbidden prohibited disallowed impossible unable illegal unlawful invalid incorrect false \
         不 没 没有 无 非 未 别 勿 莫 不要 不用 不能 不可以 不可 不会 不是 不得 不必 不行 不应 不应该 不该 不想 不许 不准 \
         不再 不包含 不包括 未曾 从不 从未 从来不 并非 并不 并未 绝不 决不 禁止 无法 无需 不需要 无须 难以 拒绝 避免 防止 \
         免 除了 除 缺少 缺乏 毫无 毫不 尚未 没法 没人 不对 不好 不足 不及 不如 失败 否 否定 除外 排除",
    )
});

/// Whether a word negates.
pub(super) fn negates(word: &str) -> bool {
    WORDS.contains(word) || word.ends_with("n't")
}
