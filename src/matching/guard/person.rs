//! Whose it is and who does it.

use std::sync::LazyLock;

use super::tables::{Words, words};

pub(super) static WORDS: Words = LazyLock::new(|| {
    words(
        "I me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself it \
         its itself they them their theirs themselves one someone somebody anyone anybody everyone everybody this that \
         these those here there \
         我 我们 我的 你 你们 您 他 他们 她 她们 它 它们 咱 咱们 自己 别人 他人 大家 人家 本人 这 那 这个 那个 这些 那些 这里 那里 这样 那样 \
         这么 那么 此 该 其 本",
    )
});
