//! Tables of what is refused, and laws of the canonical form.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn refused(bytes: &[u8]) -> (ProblemKind, Option<String>) {
    let problem = parse(bytes).expect_err(&String::from_utf8_lossy(bytes));
    (problem.kind, problem.path)
}

fn key(text: &str) -> String {
    canonical(&parse(text.as_bytes()).unwrap())
}

#[test]
fn a_key_given_twice_is_refused_with_its_path() {
    for (body, path) in [
        (r#"{"model":"m-chat","model":"m-forbidden"}"#, "model"),
        (r#"{"messages":[{"role":"user","content":"safe","content":"other"}]}"#, "messages[0].content"),
        (r#"{"a":[[],[{"b":{"c":1,"c":1}}]]}"#, "a[1][0].b.c"),
        (r#"{"mod\u0065l":1,"model":2}"#, "model"),
        (r#"[{"a":1,"a":2}]"#, "[0].a"),
    ] {
        assert_eq!(refused(body.as_bytes()), (ProblemKind::DuplicateKey, Some(path.to_owned())), "{body}");
    }
}

#[test]
fn an_error_tells_only_the_beginning_of_a_long_path() {
    let key = "k".repeat(100_000);
    let (_, path) = refused(format!(r#"{{"{key}":1,"{key}":2}}"#).as_bytes());
    assert_eq!(path.map(|path| path.len()), Some(256));
}

#[test]
fn a_key_given_twice_is_found_among_many() {
    let many: Vec<String> = (0..1000).map(|n| format!("\"k{n}\":{n}")).collect();
    assert_eq!(
        refused(format!("{{{},\"k3\":0}}", many.join(",")).as_bytes()),
        (ProblemKind::DuplicateKey, Some("k3".to_owned()))
    );
}

#[test]
fn what_two_readers_could_understand_differently_is_refused() {
    let deep = [b"[".repeat(129), b"]".repeat(129)].concat();
    let table: [(&[u8], ProblemKind); 19] = [
        (b"", ProblemKind::Empty),
        (b" \n", ProblemKind::Empty),
        (b"\xEF\xBB\xBF{}", ProblemKind::ByteOrderMark),
        (b"{\"a\":\"\xFF\"}", ProblemKind::NotUtf8),
        (b"{} {}", ProblemKind::Trailing),
        (b"{}\0", ProblemKind::Trailing),
        (&deep, ProblemKind::TooDeep),
        (b"{\"a\":1", ProblemKind::UnexpectedEnd),
        (b"\"abc", ProblemKind::UnexpectedEnd),
        (b"\"abc\\", ProblemKind::UnexpectedEnd),
        (b"{\"a\" 1}", ProblemKind::Malformed),
        (b"{\"a\":1,}", ProblemKind::Malformed),
        (b"[1,]", ProblemKind::Malformed),
        (b"{a:1}", ProblemKind::Malformed),
        (b"NaN", ProblemKind::Malformed),
        (b"01", ProblemKind::Trailing),
        (b"1.", ProblemKind::UnexpectedEnd),
        (b"1e999", ProblemKind::NumberRange),
        (b"\"\\ud800\"", ProblemKind::Malformed),
    ];
    for (bytes, kind) in table {
        assert_eq!(refused(bytes).0, kind, "{}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(refused(b"\"a\nb\"").0, ProblemKind::Malformed);
    let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
    assert_eq!(refused(many.as_bytes()).0, ProblemKind::TooMany);
    let as_deep_as_allowed = [b"[".repeat(128), b"]".repeat(128)].concat();
    assert!(parse(&as_deep_as_allowed).is_ok());
}

#[test]
fn a_member_knows_where_its_value_stands() {
    let body = r#" { "a" : [ 1 , 2 ] , "b":{"c":"x"}}"#;
    let root = parse(body.as_bytes()).unwrap();
    let [a, b] = root.members() else { panic!("two members") };
    assert_eq!(&body[a.span.clone()], "[ 1 , 2 ]");
    assert_eq!(&body[b.span.clone()], r#"{"c":"x"}"#);
    assert_eq!(&body[b.value.members()[0].span.clone()], r#""x""#);
}

#[test]
fn numbers_are_one_in_any_spelling_and_exact() {
    for same in [["0", "0.0", "-0"], ["1", "1e0", "1.000"], ["150", "1.5e2", "15E+1"], ["-0.25", "-25e-2", "-0.250"]] {
        assert_eq!(key(same[0]), key(same[1]));
        assert_eq!(key(same[0]), key(same[2]));
    }
    for [a, b] in [
        ["1", "-1"],
        ["1", "10"],
        ["9007199254740992", "9007199254740993"],
        ["18446744073709551616", "18446744073709551617"],
        ["0.1", "0.10000000000000000001"],
        ["1", "\"1\""],
    ] {
        assert_ne!(key(a), key(b));
    }
}

#[test]
fn whole_numbers_are_whole_in_any_spelling() {
    let whole = |spelled: &str| match parse(spelled.as_bytes()).unwrap() {
        Json::Number(number) => number.as_i64(),
        _ => None,
    };
    assert_eq!(whole("100"), Some(100));
    assert_eq!(whole("1e2"), Some(100));
    assert_eq!(whole("100.0"), Some(100));
    assert_eq!(whole("-0"), Some(0));
    assert_eq!(whole("-9223372036854775808"), Some(i64::MIN));
    assert_eq!(whole("9223372036854775808"), None);
    assert_eq!(whole("1.5"), None);
    assert_eq!(whole("1e300"), None);
}

#[test]
fn the_order_of_keys_is_meaning_only_inside_a_schema() {
    assert_eq!(key(r#"{"a":1,"b":{"c":2,"d":3}}"#), key(r#"{ "b": {"d":3, "c":2}, "a": 1 }"#));
    for name in ["response_format", "tools", "functions", "guided_json"] {
        let schema = |inner: &str| key(&format!(r#"{{"x":1,"{name}":[{{"deep":{inner}}}]}}"#));
        assert_ne!(schema(r#"{"verdict":1,"because":2}"#), schema(r#"{"because":2,"verdict":1}"#), "{name}");
    }
}

#[test]
fn strings_and_arrays_are_exact() {
    for [a, b] in [
        [r#""a b""#, r#""a  b""#],
        [r#""A""#, r#""a""#],
        ["[1,2]", "[2,1]"],
        [r#"["a","b"]"#, r#"["a\",\"b"]"#],
        ["null", "false"],
        [r#"{"a":null}"#, "{}"],
    ] {
        assert_ne!(key(a), key(b));
    }
    assert_eq!(key(r#""\u4f60\/""#), key(r#""你/""#));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        "\\PC{0,8}|[\"\\\\\n\u{0}你]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-e]{1,2}", inner, 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            Value::Object(fields.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect())
        }
        Value::Array(elements) => Value::Array(elements.iter().map(reversed).collect()),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn white_space_and_key_order_change_nothing(value in any_json()) {
        prop_assert_eq!(key(&value.to_string()), key(&serde_json::to_string_pretty(&reversed(&value)).unwrap()));
    }

    #[test]
    fn different_values_have_different_texts(a in any_json(), b in any_json()) {
        // serde_json tells 1 from 1.0; we do not.
        let as_floats = |value: &Value| format!("{:?}", floats(value));
        prop_assume!(as_floats(&a) != as_floats(&b));
        prop_assert_ne!(key(&a.to_string()), key(&b.to_string()));
    }

    #[test]
    fn we_accept_nothing_that_serde_json_refuses(bytes in "[{}\\[\\]\",:0-9.eE+\\- tfnulraes\\\\]{0,24}") {
        if parse(bytes.as_bytes()).is_ok() {
            prop_assert!(serde_json::from_str::<Value>(&bytes).is_ok());
        }
    }

    #[test]
    fn we_accept_what_serde_json_writes(value in any_json()) {
        prop_assert!(parse(value.to_string().as_bytes()).is_ok());
    }
}

/// Every number as a float and every object in order of its keys.
fn floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::from(format!("{:?}", number.as_f64().map(|number| number + 0.0))),
        Value::Object(fields) => {
            let sorted: std::collections::BTreeMap<_, _> = fields.iter().map(|(k, v)| (k.clone(), floats(v))).collect();
            Value::Object(sorted.into_iter().collect())
        }
        Value::Array(elements) => Value::Array(elements.iter().map(floats).collect()),
        other => other.clone(),
    }
}
