//! What a question says, as a sequence of meanings.
//!
//! Two questions are the same to the guard exactly if their readings are equal. A reading is made from one text
//! alone, so equality is reflexive, symmetric and transitive by construction, and costs one comparison of strings.
//! Every rule that makes two spellings one meaning (numbers, units, contractions, synonyms) is a statement that the
//! difference cannot change an answer; whatever no rule speaks of stays as it is, and is a veto if it differs.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::text::{CanonicalForm, Kind, Lexicon, Tag, tokenise};

use super::atoms::{self, Atom};
use super::tables::{Words, words};
use super::{Veto, antonyms, asked, condition, dates, language, negation, person, quantity, synonyms};

/// One meaning and the veto that it gives if the other question lacks it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Meaning {
    /// What it is, in the one spelling that stands for all.
    pub(crate) key: Box<str>,
    /// Which family it belongs to.
    pub(crate) family: Veto,
}

/// The meanings of a question, in order.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    meanings: Vec<Meaning>,
    /// For each meaning the token of the canonical text where it begins.
    tokens: Vec<usize>,
}

// === impl Reading ===

impl Reading {
    /// The reading of a question; that of one that must be taken at its word is the whole text.
    pub(crate) fn of(lexicon: &Lexicon, canonical: &CanonicalForm) -> Self {
        if canonical.is_opaque() {
            // Its words stand for themselves, but for the contraction that so many begin with.
            let text = canonical.as_str();
            let key = text.strip_prefix("what's ").map_or_else(|| text.into(), |rest| format!("what is {rest}").into());
            let whole = Meaning { key, family: Veto::TooDifferent };
            return Self { meanings: vec![whole], tokens: vec![0] };
        }
        let tokens = tokenise(lexicon, canonical.as_str());
        let mut atoms = atoms::split(&tokens);
        drop_particles(&mut atoms);
        join_phrases(&mut atoms);
        open_frames(&mut atoms);
        let tokens = atoms.iter().map(|atom| atom.token).collect();
        Self { meanings: atoms.into_iter().map(Meaning::from).collect(), tokens }
    }

    /// The meanings, in order.
    pub(crate) fn meanings(&self) -> &[Meaning] {
        &self.meanings
    }

    /// For each meaning the token of the canonical text where it begins.
    pub(crate) fn tokens(&self) -> &[usize] {
        &self.tokens
    }
}

impl PartialEq for Reading {
    fn eq(&self, other: &Self) -> bool {
        self.meanings == other.meanings
    }
}

/// 呢 and its like at the end soften a question or an order that stands without them; 苹果呢 asks by its 呢 alone,
/// and of a statement 吧 makes a guess.
fn drop_particles(atoms: &mut Vec<Atom<'_>>) {
    const SOFT: [&str; 6] = ["呢", "呀", "啊", "哦", "啦", "哈"];
    const LEAST: usize = 4;
    let asks_or_orders =
        atoms.iter().any(|atom| asked::WORDS.contains(&*atom.key) || asked::TASKS.contains(&*atom.key));
    let is_soft = |key: &str| SOFT.contains(&key) || (key == "吧" && asks_or_orders);
    while atoms.len() >= LEAST && atoms.last().is_some_and(|atom| atom.kind == Kind::Han && is_soft(&atom.key)) {
        atoms.pop();
    }
}

/// Verbs of what somebody does on purpose: before them 怎么 asks for the way, as 如何 does. Before others it may
/// ask why: 孩子怎么发烧.
static DONE_ON_PURPOSE: Words = LazyLock::new(|| {
    words(
        "把 将 用 在 从 通过 做 制作 使用 办理 办 申请 注册 登录 登陆 下载 安装 卸载 设置 配置 修改 更改 更换 换 取消 删除 删掉 添加 增加 查询 \
         查看 查 打开 开启 关闭 关掉 开通 激活 导出 导入 上传 连接 绑定 解绑 充值 充电 提现 退款 退货 换货 开具 开 写 撰写 学 学习 练习 提高 提升 改善 \
         选择 选 挑选 挑 计算 算 转换 转成 转 翻译 读 念 发音 说 联系 预约 预订 预定 购买 买 订 寄 付款 支付 缴费 报名 报销 恢复 备份 重置 找回 升级 \
         更新 清洗 清理 清除 洗 煮 炒 炖 蒸 烤 煎 泡 腌 保存 存放 种 种植 养 喂 治疗 治 预防 缓解 减肥 锻炼 避免 解决 处理 实现 编写 创建 新建 \
         部署 运行 调试 优化 排序 合并 拆分 拆 修 修理 维修 前往 乘坐 投诉 反馈 激活 关注 分享 发送 发布 编辑 剪辑 打印 扫描 复制 粘贴 截图 截屏 录屏 \
         录音 拍摄 画 折 系 搭配 化妆 护理 准备 制定 安排 管理 培养 开发 搭建 搭 训练 测试 验证 查找 搜索 下单 领取 兑换 续费 注销 申诉 挂失 补办 \
         挂号 学好 学会 做好 写好 说好 练好 用好 考好 求 求解 证明 分析 评估 区分 识别 判断 辨别 记忆 背 背诵 复习 备考",
    )
});

/// Replaces each phrase by what stands for its class.
fn join_phrases(atoms: &mut Vec<Atom<'_>>) {
    let mut joined: Vec<Atom<'_>> = Vec::with_capacity(atoms.len());
    let mut at = 0;
    while at < atoms.len() {
        let (length, stands) = phrase_at(atoms, at);
        if length == 0 {
            joined.push(atoms[at].clone());
            at += 1;
        } else {
            // What the dictionary says of one member must not tell it from the others.
            joined.push(Atom { key: Cow::Borrowed(stands), tag: Tag::Other, ..atoms[at].clone() });
            at += length;
        }
    }
    *atoms = joined;
}

fn phrase_at(atoms: &[Atom<'_>], at: usize) -> (usize, &'static str) {
    let atom = &atoms[at];
    if !matches!(atom.kind, Kind::Word | Kind::Han) {
        return (0, "");
    }
    if matches!(&*atom.key, "如何" | "怎样") {
        let rest = &atoms[at + 1..];
        let on_purpose = rest.first().is_some_and(|next| DONE_ON_PURPOSE.contains(&*next.key));
        // 怎么学不会 asks why, too, and so does 怎么走了.
        let otherwise = rest.iter().any(|atom| atom.key.contains(['不', '没', '了']));
        return if on_purpose && !otherwise { (1, "怎么") } else { (0, "") };
    }
    for (words, stands) in synonyms::beginning_with(&atom.key) {
        let spelled = atoms[at..].iter().take(words.len()).map(|atom| &*atom.key);
        if atoms.len() - at >= words.len() && spelled.eq(words.iter().copied()) {
            return (words.len(), stands);
        }
    }
    (0, "")
}

/// Whole questions that are built differently: `what is the capital of X` and `capital of X`; 什么是X and X是什么.
fn open_frames(atoms: &mut Vec<Atom<'_>>) {
    let keys = |range: &[Atom<'_>]| range.iter().map(|atom| atom.key.to_string()).collect::<Vec<_>>();
    if atoms.len() >= 5
        && keys(&atoms[..3]) == ["what", "is", "the"]
        && &*atoms[4].key == "of"
        && !asked::TASKS.contains(&*atoms[3].key)
    {
        atoms.drain(..3);
    } else if atoms.len() >= 4 && &*atoms[0].key == "the" && &*atoms[2].key == "of" {
        atoms.drain(..1);
    } else if atoms.len() >= 3
        && keys(&atoms[..2]) == ["什么", "是"]
        && atoms[2..].iter().all(|atom| atom.kind != Kind::Mark)
        && atoms.last().is_some_and(|atom| &*atom.key != "的")
    {
        atoms.rotate_left(2);
        let end = atoms.len();
        atoms.swap(end - 1, end - 2);
    }
}

// === impl Meaning ===

impl From<Atom<'_>> for Meaning {
    fn from(atom: Atom<'_>) -> Self {
        let family = atom.family.unwrap_or_else(|| family(&atom));
        Self { key: atom.key.into(), family }
    }
}

/// Which family a word belongs to.
fn family(atom: &Atom<'_>) -> Veto {
    let key = &*atom.key;
    match atom.kind {
        Kind::Code => return Veto::Code,
        Kind::Quote => return Veto::Quote,
        Kind::Identifier => return Veto::Identifier,
        Kind::Date => return Veto::Date,
        Kind::Number => return Veto::Number,
        Kind::Mark | Kind::Break => return Veto::Unexplained,
        Kind::Word | Kind::Han => {}
    }
    let listed = [
        (&negation::WORDS, Veto::Negation),
        (&asked::WORDS, Veto::Asked),
        (&quantity::COMPARISONS, Veto::Comparison),
        (&quantity::QUANTIFIERS, Veto::Quantifier),
        (&person::WORDS, Veto::Person),
        (&language::WORDS, Veto::Language),
        (&dates::WORDS, Veto::Date),
        (&condition::WORDS, Veto::Condition),
        (&asked::TASKS, Veto::Task),
    ];
    if negation::negates(key) {
        return Veto::Negation;
    }
    if let Some((_, veto)) = listed.iter().find(|(words, _)| words.contains(key)) {
        return *veto;
    }
    let capital = key.starts_with(char::is_uppercase) && key.len() > 1;
    if capital || atom.tag == Tag::Name { Veto::Name } else { Veto::Unexplained }
}

/// Whether two meanings stand against each other.
pub(crate) fn opposed(a: &Meaning, b: &Meaning) -> bool {
    antonyms::opposed(&a.key, &b.key)
}
