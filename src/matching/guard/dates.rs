//! Dates and times.

use std::sync::LazyLock;

use super::tables::{Words, words};

pub(super) static WORDS: Words = LazyLock::new(|| {
    words(
        "today tomorrow yesterday tonight now currently nowadays recently soon later ago january february march april may \
         june july august september october november december monday tuesday wednesday thursday friday saturday sunday \
         weekday weekend morning afternoon evening noon midnight night daily weekly monthly yearly annual annually \
         quarterly spring summer autumn fall winter am pm century decade season quarter christmas easter \
         年 月 日 号 点 时 分 秒 今天 明天 昨天 后天 前天 大后天 今晚 明晚 昨晚 今早 明早 今年 明年 去年 前年 后年 本月 上个月 下个月 本周 上周 下周 \
         这周 周末 周一 周二 周三 周四 周五 周六 周日 周天 星期一 星期二 星期三 星期四 星期五 星期六 星期日 星期天 早上 上午 中午 下午 晚上 \
         凌晨 傍晚 半夜 夜里 春天 夏天 秋天 冬天 春季 夏季 秋季 冬季 季度 上半年 下半年 世纪 年代 月初 月底 年初 年底 现在 目前 刚才 最近 以后 春节 国庆 国庆节 \
         中秋 中秋节 端午 端午节 清明 清明节 元旦 圣诞节 每天 每周 每月 每年 周岁",
    )
});

/// Months and weekdays, cut short.
pub(super) fn full_name(word: &str) -> Option<&'static str> {
    Some(match word {
        "jan" => "january",
        "feb" => "february",
        "apr" => "april",
        "aug" => "august",
        "sep" | "sept" => "september",
        "oct" => "october",
        "nov" => "november",
        "dec" => "december",
        "mon" => "monday",
        "tue" | "tues" => "tuesday",
        "wed" => "wednesday",
        "thu" | "thurs" => "thursday",
        "fri" => "friday",
        _ => return None,
    })
}
