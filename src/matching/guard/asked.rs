//! What is asked for: who, when, where, how much, why; and what is to be done.

use std::sync::LazyLock;

use super::tables::{Words, words};

pub(super) static WORDS: Words = LazyLock::new(|| {
    words(
        "what who whom whose which when where why how whether =how_to =why =when =where \
         什么 谁 哪 哪个 哪些 哪里 哪儿 几 几个 多少 怎么 怎么样 怎样 如何 为什么 何时 多久 多长 多大 多高 多远 多重 多快 是否 是不是 能不能 \
         能否 可否 可不可以 有没有 要不要 会不会 该不该 吗 呢 什么样 怎么办",
    )
});

/// Verbs that say what is to be done with the rest.
pub(super) static TASKS: Words = LazyLock::new(|| {
    words(
        "write summarize translate explain describe list compare classify rewrite paraphrase expand shorten extract \
         calculate solve convert sort filter count generate create design plan review correct proofread outline \
         analyze evaluate implement refactor debug test optimize draft compose define recommend suggest \
         写 总结 概括 翻译 解释 说明 描述 列出 列举 比较 对比 分类 改写 润色 扩写 缩写 提取 计算 求 解 转换 排序 筛选 统计 生成 创建 设计 \
         规划 评价 评测 批改 校对 分析 实现 重构 调试 测试 优化 起草 定义 推荐 建议 判断 模仿 续写 仿写 朗读 背诵",
    )
});
