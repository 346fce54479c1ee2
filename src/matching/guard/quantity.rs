//! How much of it, and on which side of a bound.

use std::sync::LazyLock;

use super::tables::{Words, words};

/// All, some, only.
pub(super) static QUANTIFIERS: Words = LazyLock::new(|| {
    words(
        "all any some every each both either half most many much few little several single double only just merely \
         entire whole partly mostly always often sometimes usually twice once again another other others else extra \
         additional also too even still already yet enough approximately about around nearly almost exactly roughly \
         最 都 只 仅 仅仅 只有 全部 所有 每 每个 各 各个 一些 有些 有的 部分 大部分 多数 少数 半 一半 几乎 大约 大概 左右 约 \
         另 另外 其他 其它 其余 任何 任意 某 某个 整个 全 总 总共 一共 共 还 也 再 又 已经 曾经 正在 经常 偶尔 有时 通常 刚刚 足够 多余",
    )
});

/// More, least, at most.
pub(super) static COMPARISONS: Words = LazyLock::new(|| {
    words(
        "=at_least =at_most =more_than =less_than more less fewer better worse best worst least most maximum minimum max min \
         bigger smaller larger largest smallest biggest higher highest lower lowest cheaper cheapest dearest dearer \
         longer longest shorter shortest faster fastest slower slowest older oldest newer newest earlier earliest later \
         latest than over under above below within between equal exactly \
         更 较 比 最大 最小 最高 最低 最多 最少 最好 最差 最新 最早 最晚 最快 最慢 最长 最短 最便宜 最贵 至少 至多 不少于 不多于 不超过 \
         超过 高于 低于 大于 小于 多于 少于 以上 以下 以内 之内 以外 等于 不足 更多 更少 更好 更快 比较 相比",
    )
});
