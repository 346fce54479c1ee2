//! Units and currencies, each under one name, so that `5 km`, `5 kilometres` and `5公里` are one amount.

use std::collections::HashMap;
use std::sync::LazyLock;

/// One unit a line, its names side by side; the first stands for all.
const UNITS: &str = "
km kilometer kilometers kilometre kilometres 公里 千米
m meter meters metre metres 米
cm centimeter centimeters centimetre centimetres 厘米 公分
mm millimeter millimeters millimetre millimetres 毫米
mile miles 英里
ft foot feet 英尺
inch inches 英寸
yard yards 码
kg kilogram kilograms kilo kilos 公斤 千克
g gram grams 克
mg milligram milligrams 毫克
tonne tonnes 吨
lb lbs pound_weight 磅
斤
oz ounce ounces 盎司
l liter liters litre litres 升
ml milliliter milliliters millilitre millilitres 毫升
gallon gallons 加仑
s sec secs second seconds 秒 秒钟
min mins minute minutes 分钟
h hr hrs hour hours 小时 钟头
day days 天
week weeks 周 星期 礼拜
month months 个月
year years
ms millisecond milliseconds 毫秒
% percent ％
‰ permille 千分之
$ usd dollar dollars 美元 美金
€ eur euro euros 欧元
£ gbp 英镑
¥ cny rmb yuan 人民币 元 块 块钱
jpy yen 日元 日圆
hkd 港币 港元
°C celsius 摄氏度
°F fahrenheit 华氏度
度 degree degrees
KB kilobyte kilobytes
MB megabyte megabytes
GB gigabyte gigabytes
TB terabyte terabytes
kW kilowatt kilowatts 千瓦
W watt watts 瓦
kWh 千瓦时
V volt volts 伏
Hz hertz 赫兹
MHz megahertz 兆赫
GHz gigahertz 吉赫
mph
㎡ 平方米 平米
亩
公顷 hectare hectares
字
句
条
岁
人
";

static NAMES: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let lines = UNITS.lines().filter(|line| !line.is_empty());
    let named = lines.filter_map(|line| Some((line.split(' ').next()?, line)));
    named.flat_map(|(unit, line)| line.split(' ').map(move |name| (name, unit))).collect()
});

/// The one name of a unit.
pub(super) fn unit(word: &str) -> Option<&'static str> {
    NAMES.get(word).copied()
}
