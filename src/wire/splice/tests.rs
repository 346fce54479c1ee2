//! All but the named spot stays byte-equal.

use super::*;

fn bytes(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

#[test]
fn usage_is_asked_for_and_all_else_stays() {
    for (body, spliced) in [
        (r#"{ "stream":true , "z":1.0 }"#, r#"{"stream_options":{"include_usage":true}, "stream":true , "z":1.0 }"#),
        (r#" {"stream_options":null}"#, r#" {"stream_options":{"include_usage":true}}"#),
        (r#"{"stream_options": { } }"#, r#"{"stream_options": {"include_usage":true } }"#),
        (r#"{"stream_options":{"x":1}}"#, r#"{"stream_options":{"include_usage":true,"x":1}}"#),
        (r#"{"stream_options":{"x":1,"include_usage": false}}"#, r#"{"stream_options":{"x":1,"include_usage": true}}"#),
        ("{}", r#"{"stream_options":{"include_usage":true}}"#),
    ] {
        assert_eq!(include_usage(&bytes(body)).unwrap(), spliced, "{body}");
    }
}

#[test]
fn a_body_that_asks_already_is_not_copied() {
    let body = bytes(r#"{"stream_options":{"include_usage":true}}"#);
    assert_eq!(include_usage(&body).unwrap().as_ptr(), body.as_ptr());
}

#[test]
fn a_value_is_replaced_or_added_in_place() {
    let body = bytes(r#"{"model" : "alias\u002dchat","schema":{"b":1,"a":1e0}}"#);
    assert_eq!(set_string(&body, &["model"], "m \"x\"").unwrap(), r#"{"model" : "m \"x\"","schema":{"b":1,"a":1e0}}"#);
    assert_eq!(
        set_number(&body, &["max_tokens"], 7).unwrap(),
        r#"{"max_tokens":7,"model" : "alias\u002dchat","schema":{"b":1,"a":1e0}}"#
    );
    assert_eq!(
        set_number(&body, &["schema", "b"], 2).unwrap(),
        r#"{"model" : "alias\u002dchat","schema":{"b":2,"a":1e0}}"#
    );
}

#[test]
fn the_way_to_the_spot_must_lead_through_objects() {
    let error = set_number(&bytes(r#"{"stream_options":[1]}"#), &["stream_options", "x"], 1).unwrap_err();
    assert_eq!(error, SpliceError::NotAnObject("stream_options".into()));
    assert!(matches!(include_usage(&bytes("{")), Err(SpliceError::Json(_))));
}

#[test]
fn what_was_spliced_is_read_back() {
    let body = bytes(r#"{"a":{"b":{"c":[1,{"d":2}]}},"e":"}"}"#);
    let spliced = set_string(&body, &["a", "b", "x", "y"], "你好\n").unwrap();
    let read: serde_json::Value = serde_json::from_slice(&spliced).unwrap();
    assert_eq!(read["a"]["b"]["x"]["y"], "你好\n");
    assert_eq!(read["a"]["b"]["c"][1]["d"], 2);
    assert_eq!(read["e"], "}");
}
