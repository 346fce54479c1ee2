//! Pairs of opposites: each question of such a pair is very near the other in every measure, and its answer
//! is the wrong one.

use std::collections::HashSet;
use std::sync::LazyLock;

/// `a:b` stands for both directions.
const PAIRS: &str = "
on:off open:close open:closed open:shut opened:closed opening:closing lock:unlock locked:unlocked enable:disable enabled:disabled
enabling:disabling activate:deactivate start:stop start:end start:finish begin:end begin:finish first:last earliest:latest
early:late earlier:later before:after previous:next prior:subsequent past:future old:new older:newer oldest:newest young:old
older:younger oldest:youngest ancient:modern up:down upper:lower upward:downward upwards:downwards above:below over:under top:bottom
left:right front:back forward:backward forwards:backwards ahead:behind in:out inside:outside inner:outer indoor:outdoor
interior:exterior internal:external enter:exit enter:leave entrance:exit input:output import:export imports:exports
imported:exported importing:exporting inbound:outbound incoming:outgoing upload:download uploading:downloading send:receive
sent:received sender:receiver sender:recipient push:pull read:write give:take give:get lend:borrow lender:borrower buy:sell
buying:selling buyer:seller bought:sold purchase:sell rent:let employer:employee landlord:tenant teacher:student parent:child
doctor:patient debit:credit deposit:withdraw deposits:withdrawals deposit:withdrawal income:expense income:expenses
profit:loss gain:loss gain:lose win:lose won:lost winner:loser increase:decrease increased:decreased increasing:decreasing
increases:decreases raise:lower raise:reduce rise:fall rises:falls rising:falling rose:fell grow:shrink growth:decline
expand:shrink expand:contract expand:collapse more:less more:fewer most:least maximum:minimum max:min maximize:minimize
maximise:minimise maximal:minimal largest:smallest larger:smaller large:small big:small bigger:smaller biggest:smallest high:low
higher:lower highest:lowest tall:short taller:shorter tallest:shortest long:short longer:shorter longest:shortest wide:narrow
wider:narrower thick:thin thicker:thinner deep:shallow heavy:light heavier:lighter heaviest:lightest fast:slow faster:slower
fastest:slowest quick:slow quickly:slowly quickest:slowest cheap:expensive cheap:dear cheaper:dearer cheapest:dearest
cheaper:pricier cheapest:priciest best:worst better:worse good:bad good:evil well:badly right:wrong correct:incorrect
correct:wrong true:false valid:invalid positive:negative plus:minus add:subtract add:remove add:delete added:removed
addition:subtraction multiply:divide multiplication:division insert:delete insert:remove create:delete create:destroy
create:remove build:destroy make:break install:uninstall mount:unmount connect:disconnect connected:disconnected
attach:detach join:leave join:split merge:split combine:separate pack:unpack zip:unzip compress:decompress
compress:extract encrypt:decrypt encryption:decryption encode:decode encoding:decoding sign:unsign subscribe:unsubscribe
follow:unfollow like:dislike like:unlike love:hate accept:reject accept:refuse accept:decline approve:reject approve:deny
approved:rejected allow:forbid allow:deny allow:block allowed:forbidden allowed:prohibited allowed:disallowed permit:prohibit
legal:illegal lawful:unlawful include:exclude included:excluded including:excluding inclusive:exclusive with:without
show:hide visible:hidden visible:invisible shown:hidden public:private mute:unmute pause:resume play:pause expand:collapse
upgrade:downgrade upgrading:downgrading promote:demote promotion:demotion hire:fire hired:fired accelerate:decelerate
strengthen:weaken strong:weak stronger:weaker hard:soft hard:easy harder:easier difficult:easy simple:complex
simple:complicated easy:difficult hot:cold warm:cool warmer:cooler hotter:colder hottest:coldest heat:cool heating:cooling
summer:winter day:night morning:evening am:pm a.m.:p.m. sunrise:sunset dawn:dusk wet:dry rainy:sunny light:dark bright:dark
black:white full:empty fill:empty rich:poor safe:dangerous safe:unsafe healthy:unhealthy happy:sad happy:unhappy
love:hatred friend:enemy hero:villain male:female man:woman men:women boy:girl husband:wife father:mother son:daughter
brother:sister uncle:aunt king:queen he:she him:her his:her north:south east:west northern:southern eastern:western
northeast:southwest northwest:southeast ascending:descending asc:desc ascend:descend horizontal:vertical row:column
rows:columns odd:even sync:async synchronous:asynchronous static:dynamic local:remote local:global client:server
frontend:backend online:offline wired:wireless manual:automatic manually:automatically temporary:permanent
temporarily:permanently optional:required optional:mandatory voluntary:mandatory voluntary:compulsory active:inactive
active:passive alive:dead live:die birth:death born:died married:single married:divorced arrive:depart arrival:departure
arrivals:departures arriving:departing arrived:departed land:takeoff to:from into:out onto:off for:against pro:con
pros:cons advantage:disadvantage advantages:disadvantages benefit:drawback benefits:drawbacks benefits:risks
strength:weakness strengths:weaknesses cause:effect causes:effects cause:prevent question:answer ask:answer problem:solution
theory:practice always:never all:none everyone:nobody everything:nothing everybody:nobody many:few much:little both:neither
either:neither any:none yes:no agree:disagree same:different similar:different equal:unequal at_least:at_most more_than:less_than
since:until from:until singular:plural formal:informal formally:informally polite:rude serious:humorous serious:funny
optimistic:pessimistic hopeful:hopeless success:failure succeed:fail successful:unsuccessful pass:fail passed:failed
remember:forget find:lose found:lost save:spend save:delete saving:spending earn:spend pay:earn debt:asset assets:liabilities
bull:bear bullish:bearish long:short import:ship source:destination origin:destination sent:delivered parent:children
encourage:discourage attack:defend offense:defense offensive:defensive war:peace guilty:innocent plaintiff:defendant
supply:demand cathode:anode acid:base acidic:alkaline proton:electron oxidation:reduction hyper:hypo hypertension:hypotension
hyperglycemia:hypoglycemia hyperthyroidism:hypothyroidism systolic:diastolic artery:vein benign:malignant acute:chronic
inhale:exhale absorb:emit freeze:melt freeze:thaw boil:freeze float:sink push:pop enqueue:dequeue get:set getter:setter
get:post load:unload bind:unbind commit:rollback lock:release allocate:free serialize:deserialize stringify:parse
prefix:suffix header:footer uppercase:lowercase upper:lower ltr:rtl big-endian:little-endian
打开:关闭 打开:关掉 打开:关上 开:关 开启:关闭 启用:禁用 启用:停用 激活:停用 启动:停止 启动:关闭 开始:结束 开始:停止 开头:结尾
开门:关门 开机:关机 开灯:关灯 锁定:解锁 上锁:解锁 绑定:解绑 登录:登出 登录:退出 登入:登出 注册:注销 进入:退出 进入:离开 进:出
进口:出口 入口:出口 进站:出站 入境:出境 入院:出院 入职:离职 入住:退房 入库:出库 流入:流出 导入:导出 输入:输出 上传:下载
上行:下行 上班:下班 上课:下课 上车:下车 上游:下游 上升:下降 上涨:下跌 上调:下调 上面:下面 上方:下方 上半年:下半年 上午:下午
上周:下周 上个月:下个月 上一个:下一个 上联:下联 上:下 升:降 升序:降序 升高:降低 升级:降级 升职:降职 升值:贬值 涨:跌 涨价:降价
提高:降低 提升:降低 提前:推迟 提前:延后 提前:延迟 增加:减少 增加:降低 增大:减小 增长:下降 增强:减弱 增肥:减肥 增重:减重 加:减
加法:减法 加速:减速 加热:冷却 加入:退出 添加:删除 添加:移除 新增:删除 创建:删除 插入:删除 安装:卸载 连接:断开 接通:断开 合并:拆分
合并:分割 压缩:解压 加密:解密 编码:解码 订阅:取消订阅 关注:取关 点赞:取消点赞 收藏:取消收藏 同意:拒绝 同意:反对 接受:拒绝 批准:拒绝
通过:拒绝 允许:禁止 允许:不允许 支持:反对 赞成:反对 赞同:反对 肯定:否定 承认:否认 合法:违法 合法:非法 合格:不合格 包含:不包含 包括:排除 显示:隐藏
公开:私密 公开:保密 公有:私有 静音:取消静音 暂停:继续 播放:暂停 购买:出售 买:卖 买入:卖出 买家:卖家 买方:卖方 买进:卖出 租:售
出租:求租 借:还 借款:还款 借入:借出 借方:贷方 存:取 存款:取款 存入:取出 充值:提现 转入:转出 收入:支出 收款:付款 盈利:亏损 赚:亏
赚:赔 赢:输 胜:负 胜利:失败 成功:失败 得到:失去 获得:失去 甲方:乙方 供应:需求 供给:需求 债权:债务 资产:负债 牛市:熊市 看涨:看跌
看多:看空 做多:做空 利多:利空 利好:利空 多:少 更多:更少 最多:最少 多于:少于 大:小 大于:小于 更大:更小 最大:最小 最大值:最小值
最大化:最小化 较大:较小 高:低 更高:更低 最高:最低 最高价:最低价 高于:低于 高温:低温 高血压:低血压 高血糖:低血糖 高估:低估 长:短
最长:最短 更长:更短 宽:窄 粗:细 厚:薄 深:浅 重:轻 最重:最轻 远:近 最远:最近 快:慢 更快:更慢 最快:最慢 早:晚 更早:更晚 最早:最晚
最早:最迟 早上:晚上 早晨:晚上 早班:晚班 前:后 之前:之后 以前:以后 前面:后面 前天:后天 前端:后端 饭前:饭后 餐前:餐后 睡前:睡后
婚前:婚后 产前:产后 术前:术后 税前:税后 课前:课后 事前:事后 昨天:今天 昨天:明天 今天:明天 去年:明年 去年:今年 今年:明年
过去:未来 过去:现在 新:旧 最新:最旧 新版:旧版 老:新 老:少 年轻:年老 古代:现代 左:右 左边:右边 左侧:右侧 左对齐:右对齐 里:外
里面:外面 内:外 内部:外部 室内:室外 国内:国外 境内:境外 内存:外存 东:西 南:北 东部:西部 南方:北方 南部:北部 向前:向后 向上:向下
正:反 正面:负面 正面:反面 正数:负数 正向:反向 正向:负向 正向:逆向 正序:倒序 顺序:倒序 顺时针:逆时针 正确:错误 对:错 真:假 真:伪
是:否 有效:无效 有:没有 有:无 有利:不利 有益:有害 好:坏 好处:坏处 优点:缺点 优势:劣势 长处:短处 利:弊 最好:最坏 最好:最差 更好:更差
最优:最差 好评:差评 表扬:批评 赞美:批评 鼓励:打击 喜欢:讨厌 爱:恨 强:弱 最强:最弱 硬:软 难:易 困难:容易 简单:复杂 容易:困难
冷:热 冷:暖 寒冷:炎热 冬天:夏天 春天:秋天 白天:黑夜 白天:晚上 白天:夜间 晴天:雨天 干:湿 干燥:潮湿 明:暗 亮:暗 黑:白 满:空 贫:富 贫穷:富有
安全:危险 健康:不健康 高兴:难过 快乐:悲伤 开心:伤心 乐观:悲观 积极:消极 主动:被动 自动:手动 人工:自动 手动:自动 同步:异步
静态:动态 本地:远程 局部:全局 客户端:服务器 客户端:服务端 在线:离线 线上:线下 有线:无线 临时:永久 可选:必选 自愿:强制 男:女 男性:女性
男生:女生 男孩:女孩 男人:女人 丈夫:妻子 爸爸:妈妈 父亲:母亲 儿子:女儿 哥哥:弟弟 姐姐:妹妹 爷爷:奶奶 生:死 出生:死亡 活:死 结婚:离婚
到达:出发 抵达:出发 到:从 起飞:降落 起点:终点 出发地:目的地 发送:接收 发件人:收件人 寄件:收件 寄:收 发货:收货 推:拉 读:写 读取:写入 问:答
原因:结果 因:果 便宜:贵 更便宜:更贵 最便宜:最贵 省钱:费钱 节约:浪费 节省:浪费 正式:非正式 严肃:幽默 单数:复数 奇数:偶数 单号:双号
横向:纵向 水平:垂直 行:列 大写:小写 必须:不必 总是:从不 全部:部分 所有:部分 都:都不 相同:不同 一样:不一样 相等:不等 至少:至多 至少:最多 不少于:不多于
不少于:不超过 不低于:不高于 不小于:不大于 以上:以下 超过:不足 超过:低于 之上:之下 良性:恶性 急性:慢性 阴性:阳性 阴:阳 收缩压:舒张压 动脉:静脉 甲亢:甲减
吸气:呼气 吸收:释放 氧化:还原 酸性:碱性 凝固:融化 进攻:防守 攻击:防御 战争:和平 原告:被告 父:母 老师:学生 医生:病人 老板:员工 房东:房客 房东:租客
可以:不可以 能:不能 会:不会 要:不要 应该:不应该 可能:不可能 需要:不需要 必要:不必要 涨停:跌停 入门:精通 初级:高级 免费:收费 免费:付费
放大:缩小 扩大:缩小 展开:收起 展开:折叠 延长:缩短 穿:脱 戴:摘 装:拆 组装:拆卸 建立:撤销 恢复:撤销 撤销:重做 签到:签退 报名:退出 录取:落榜
";

static OPPOSED: LazyLock<HashSet<(&'static str, &'static str)>> = LazyLock::new(|| {
    let pairs = PAIRS.split_whitespace().filter_map(|pair| pair.split_once(':'));
    pairs.flat_map(|(a, b)| [(a, b), (b, a)]).collect()
});

/// Whether two words stand against each other.
pub(super) fn opposed(a: &str, b: &str) -> bool {
    OPPOSED.contains(&(a, b)) || by_prefix(a, b) || by_prefix(b, a)
}

/// possible/impossible, safe/unsafe, 允许/不允许
fn by_prefix(plain: &str, negated: &str) -> bool {
    const PREFIXES: [&str; 10] = ["un", "in", "im", "dis", "non-", "ir", "il", "不", "非", "未"];
    let long = plain.len() > 2 && plain != negated;
    long && PREFIXES.iter().any(|prefix| negated.strip_prefix(prefix) == Some(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites_are_opposed_in_both_directions() {
        for (a, b) in [
            ("打开", "关掉"),
            ("cheapest", "dearest"),
            ("possible", "impossible"),
            ("升序", "降序"),
            ("允许", "不允许"),
        ] {
            assert!(opposed(a, b) && opposed(b, a), "{a} and {b}");
        }
        assert!(!opposed("open", "open") && !opposed("cat", "dog"));
    }

    #[test]
    fn the_table_knows_hundreds_of_pairs() {
        assert!(OPPOSED.len() > 1000, "{}", OPPOSED.len());
    }

    #[test]
    fn no_word_is_its_own_opposite() {
        assert!(OPPOSED.iter().all(|(a, b)| a != b));
    }
}
