//! Words and phrases that ask for the same thing in other words.
//!
//! A small table of our own. A line belongs here only if each of its members can stand for the others in
//! *every* question; a test keeps opposites and different things asked apart. The first member of a line, or a
//! concept written `=so`, stands for all.

use std::collections::HashMap;
use std::sync::LazyLock;

/// One class a line, its members separated by `|`. Members may be several words, separated by blanks.
const CLASSES: &str = "
=how_to|how do I|how can I|how to|what is the way to|what is a way to|what is the procedure to|show me how to|explain how to|explain to me how to|teach me how to|what are the steps to|what steps do I take to|what do I need to do to|what do I have to do to
=at_least|at least|no less than|not less than|no fewer than|not fewer than
=at_most|at most|no more than|not more than
for example|for instance
difference between|differences between
united states|usa|united states of america|u.s.|u.s.a.
united kingdom|uk
capital|capital city
phone number|telephone number|phone no
tv|television
ok|okay
email|e-mail
wifi|wi-fi
website|web site
summarize|summarise
summarizing|summarising
organize|organise
organization|organisation
analyze|analyse
analyzing|analysing
recognize|recognise
optimize|optimise
optimization|optimisation
initialize|initialise
minimize|minimise
maximize|maximise
apologize|apologise
memorize|memorise
realize|realise
categorize|categorise
customize|customise
color|colour
colors|colours
flavor|flavour
favorite|favourite
behavior|behaviour
neighbor|neighbour
humor|humour
honor|honour
labor|labour
license|licence
center|centre
theater|theatre
gray|grey
catalog|catalogue
dialog|dialogue
canceled|cancelled
canceling|cancelling
traveling|travelling
traveler|traveller
jewelry|jewellery
defense|defence
offense|offence
mom|mum
pajamas|pyjamas
airplane|aeroplane
aluminum|aluminium
skeptical|sceptical
fulfill|fulfil
enroll|enrol
为什么|为何|为啥
什么|啥
什么时候|何时|啥时候
哪里|哪儿|什么 地方
多久|多长时间|多 长时间|多长 时间
写|撰写
买|购买
关闭|关掉|关上
打开|开启
删除|删掉
更换|换
能否|能不能|能 不 能|能 不能
可否|可不可以|可以 不 可以|可 不可以
是否|是不是
区别|差别|差异
方法|办法
番茄|西红柿
土豆|马铃薯
英文|英语
法文|法语
德文|德语
日文|日语
韩文|韩语
意大利文|意大利语
俄文|俄语
西班牙文|西班牙语
葡萄牙文|葡萄牙语
阿拉伯文|阿拉伯语
中文|汉语
解释|解释 一下
介绍|介绍 一下
说明|说明 一下
分析|分析 一下
总结|总结 一下
推荐|推荐 一下
列出|列举
周日|星期日|星期天|周天|礼拜天
周一|星期一|礼拜一
周二|星期二|礼拜二
周三|星期三|礼拜三
周四|星期四|礼拜四
周五|星期五|礼拜五
周六|星期六|礼拜六
";

/// The phrases that begin with a word: `(its words, what stands for it)`, the longest first.
pub(super) type Phrases = Vec<(Vec<&'static str>, &'static str)>;

static PHRASES: LazyLock<HashMap<&'static str, Phrases>> = LazyLock::new(|| {
    let mut phrases: HashMap<&str, Phrases> = HashMap::new();
    for line in CLASSES.lines() {
        let mut members = line.split('|');
        let Some(stands) = members.next().filter(|stands| !stands.is_empty()) else { continue };
        let spelled = !stands.starts_with('=');
        for member in members.chain(spelled.then_some(stands)) {
            let words: Vec<&str> = member.split(' ').collect();
            phrases.entry(words[0]).or_default().push((words, stands));
        }
    }
    for list in phrases.values_mut() {
        list.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
    }
    phrases
});

/// The phrases that begin with this word.
pub(super) fn beginning_with(word: &str) -> &'static [(Vec<&'static str>, &'static str)] {
    PHRASES.get(word).map_or(&[], Vec::as_slice)
}

/// What a contraction says in full.
pub(super) fn contraction(word: &str) -> Option<&'static [&'static str]> {
    Some(match word {
        "what's" => &["what", "is"],
        "who's" => &["who", "is"],
        "where's" => &["where", "is"],
        "how's" => &["how", "is"],
        "that's" => &["that", "is"],
        "it's" => &["it", "is"],
        "there's" => &["there", "is"],
        "I'm" => &["I", "am"],
        "I've" => &["I", "have"],
        "you're" => &["you", "are"],
        "they're" => &["they", "are"],
        "we're" => &["we", "are"],
        "don't" => &["do", "not"],
        "doesn't" => &["does", "not"],
        "didn't" => &["did", "not"],
        "isn't" => &["is", "not"],
        "aren't" => &["are", "not"],
        "wasn't" => &["was", "not"],
        "weren't" => &["were", "not"],
        "can't" | "cannot" => &["can", "not"],
        "couldn't" => &["could", "not"],
        "shouldn't" => &["should", "not"],
        "won't" => &["will", "not"],
        "wouldn't" => &["would", "not"],
        "haven't" => &["have", "not"],
        "hasn't" => &["has", "not"],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::guard::antonyms;

    #[test]
    fn no_class_holds_two_opposites() {
        for line in CLASSES.lines() {
            let members: Vec<&str> = line.split('|').collect();
            for a in &members {
                for b in &members {
                    assert!(!antonyms::opposed(a, b), "{a} and {b} are opposites");
                }
            }
        }
    }

    #[test]
    fn no_phrase_stands_in_two_classes() {
        let mut seen = HashMap::new();
        for line in CLASSES.lines().filter(|line| !line.is_empty()) {
            for member in line.split('|') {
                assert_eq!(seen.insert(member, line), None, "{member} stands twice");
            }
        }
    }
}
