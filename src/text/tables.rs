//! Lists of words that the folding of case needs.

use std::collections::HashSet;
use std::sync::LazyLock;

/// A list of words, written as one string.
pub(crate) type Words = LazyLock<HashSet<&'static str>>;

pub(crate) fn words(list: &'static str) -> HashSet<&'static str> {
    list.split_whitespace().collect()
}

/// A name or an acronym with a capital, another word without. Never folded, except by the company they keep.
pub(crate) static AMBIGUOUS: Words = LazyLock::new(|| {
    words(
        "act ada aids alexa alexandria alphabet amazon amber angular ansible ant apple april athena atom \
         august aurora austin basecamp basic bill blackberry block bob brave buffalo bun bush \
         cargo carter chad charlotte chase chef chile china chrome civic clojure cooper cork crane cricket \
         crystal cuba daisy dallas dart dawn dean deno discord django docker dodge drew earl easter \
         echo eclipse edge elixir elm ember ernest essen europa excel exodus express faith falcon fiesta \
         finch flask florence ford frank galaxy gap gay gene georgia go grace gradle guinea guy harry haskell \
         heath hive homebrew hull ira iris it ivy jack jackson jade jaguar java jay jean jenkins jira \
         jordan joy julia june jupiter kafka kindle lambda lance led lent lily lima lincoln lisp logo lyft \
         lynx mad madison mali mango march mark mars martin maven may mercury meta metro mint \
         montana mustang nano nato neptune nest nice nim notion opera oracle orlando outlook pascal passat \
         passover pat peg penny perl phoenix pierce pin pixel pluto polish polo presto prime puma puppet \
         python rails ram raspberry redshift ring rob robin rod rom ruby rugby rust rusty safari salt \
         sandy sap sat saturn scala scheme scratch shell signal slack snap snowflake spark split \
         spring sprint storm stripe sublime sue surface svelte swan swift teams ted telegram \
         titan travis troy turkey turner tyler uber uranus us venus victoria vim violet visa vue wade who \
         will windows zoom true false none null double long class object int float string integer boolean char short void \
         public private static final self super async await yield lambda let var const def return import export throw try \
         catch raise assert exception doors sting prince sun god bible",
    )
});

/// Programming languages and tools among them: clear in a text about code.
pub(crate) static PROGRAMMING: Words = LazyLock::new(|| {
    words(
        "swift rust go python ruby java perl dart julia crystal scala elixir clojure scheme lisp basic ada pascal \
         haskell nim elm flask django express rails spring react angular vue svelte node deno docker gradle maven vim",
    )
});

/// Words that show that a text is about code.
pub(crate) static CODE_CUES: Words = LazyLock::new(|| {
    words(
        "code function functions script scripts program class method methods loop array arrays list string strings \
         quicksort mergesort sort regex compile compiler library framework json csv api variable variables recursion \
         algorithm tutorial syntax parse parser package module import debugger",
    )
});

/// Acronyms without a double in small letters.
pub(crate) static ACRONYMS: Words = LazyLock::new(|| {
    words(
        "csv pdf sql html css json xml yaml toml api apis url urls http https gpu gpus cpu cpus usb dvd tv tvs faq atm \
         diy ceo cto cfo hr vpn wifi gps sms pc pcs uk usa gdp llm nlp ocr sdk ssh ssl tls tcp udp dns ip \
         php asap fyi rsvp hdmi ssd hdd pdfs jpg jpeg png gif mp3 mp4 kpi roi seo crm erp b2b",
    )
});

/// Plain words that people write in capitals to stress them.
pub(crate) static EMPHASISED: Words = LazyLock::new(|| {
    words("not never no all only must always any every please each both none nothing without except also cannot don't")
});

/// Names with a capital inside, as people write them without.
pub(crate) static CAMEL: Words = LazyLock::new(|| {
    words(
        "iphone iphones ipad ipads ipod imac macbook macbooks airpods icloud itunes ios macos ipados watchos javascript \
         typescript mysql postgresql sqlite mongodb mariadb github gitlab youtube facebook linkedin paypal whatsapp \
         wechat tiktok chatgpt openai powershell graphql nodejs opencv numpy pytorch tensorflow ebay mcdonald's \
         bitcoin ethereum powerpoint onedrive onenote sharepoint photoshop wordpress playstation hotmail gmail",
    )
});

/// Two words that together are one product.
pub(crate) static BRAND_PAIRS: LazyLock<HashSet<(&'static str, &'static str)>> = LazyLock::new(|| {
    let pairs = "apple:watch apple:phone apple:tv apple:pay apple:music apple:id apple:store apple:pencil \
        galaxy:phone galaxy:tablet galaxy:watch galaxy:buds pixel:phone pixel:watch pixel:buds surface:laptop \
        surface:pro amazon:prime amazon:echo kindle:fire google:chrome microsoft:word microsoft:excel microsoft:teams \
        microsoft:windows microsoft:edge microsoft:outlook visa:card";
    pairs.split_whitespace().filter_map(|pair| pair.split_once(':')).collect()
});

/// Words after which `i` is the pronoun.
pub(crate) static BEFORE_PRONOUN: Words = LazyLock::new(|| {
    words(
        "do can should did if when am may must will would could have had where what how that and because since as \
         before after was cannot shall why which until while once unless but than whether think say said so don't \
         can't didn't must need",
    )
});

/// Places and people's tongues whose small-lettered spelling is no other word: many people type no capitals.
pub(crate) static PLACES: Words = LazyLock::new(|| {
    words(
        "africa america asia australia europe antarctica afghanistan albania algeria angola argentina armenia austria \
         azerbaijan bangladesh belarus belgium bolivia bosnia botswana brazil bulgaria cambodia cameroon canada colombia \
         croatia cyprus denmark ecuador egypt england estonia ethiopia finland france germany ghana greece guatemala \
         honduras iceland india indonesia iran iraq ireland israel italy jamaica kazakhstan kenya korea kuwait latvia \
         lebanon libya lithuania luxembourg madagascar malaysia malta mexico mongolia morocco mozambique myanmar namibia \
         nepal netherlands nicaragua nigeria norway pakistan paraguay peru philippines portugal qatar romania russia \
         rwanda scotland senegal serbia singapore slovakia slovenia somalia spain sudan sweden switzerland syria taiwan \
         tanzania thailand tunisia uganda ukraine uruguay uzbekistan venezuela vietnam yemen zambia zimbabwe \
         amsterdam athens bangkok barcelona beijing berlin bogota boston brussels budapest cairo chengdu chicago \
         copenhagen delhi dublin edinburgh geneva guangzhou hamburg hangzhou hanoi helsinki houston istanbul jakarta \
         jerusalem kyiv lisbon london madrid manchester melbourne miami milan montreal moscow mumbai munich nairobi \
         naples osaka oslo ottawa paris philadelphia prague rome santiago seattle seoul shanghai shenzhen stockholm \
         sydney tokyo toronto vancouver vienna warsaw washington wuhan xian zurich california texas hawaii alaska \
         english french german spanish italian portuguese russian chinese japanese korean arabic hindi dutch swedish \
         norwegian finnish czech hungarian romanian ukrainian vietnamese indonesian \
         monday tuesday wednesday thursday friday saturday sunday january february april july september october \
         november december christmas",
    )
});
