//! Tables of framings, and the law that chunking changes nothing.

use proptest::prelude::*;

use super::*;

fn split(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut splitter = Splitter::default();
    let mut events = Vec::new();
    for chunk in chunks {
        splitter.push(Bytes::copy_from_slice(chunk), &mut events).unwrap();
    }
    events.extend(splitter.finish());
    events.iter().map(|event| event.to_vec()).collect()
}

#[test]
fn line_ends_of_any_kind_close_events() {
    for stream in ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r"] {
        let events = split(&[stream.as_bytes()]);
        assert_eq!(events.len(), 2, "{stream:?}");
        assert_eq!(events.concat(), stream.as_bytes());
        assert_eq!(data(&events[1]).as_deref(), Some(b"b".as_slice()));
    }
}

#[test]
fn cr_and_lf_in_different_chunks_are_one_line_end() {
    let events = split(&[b"data: a\r", b"\n\r", b"\ndata: b\r\n", b"\r\n"]);
    assert_eq!(events, [b"data: a\r\n\r\n".to_vec(), b"data: b\r\n\r\n".to_vec()]);
}

#[test]
fn an_event_within_one_chunk_is_not_copied() {
    let chunk = Bytes::from_static(b"data: a\n\ndata: b\n\nda");
    let mut events = Vec::new();
    Splitter::default().push(chunk.clone(), &mut events).unwrap();
    assert_eq!(events[0].as_ptr(), chunk.as_ptr());
    assert_eq!(events[1].as_ptr(), chunk[9..].as_ptr());
}

#[test]
fn a_last_event_without_its_blank_line_is_closed_at_the_end() {
    for (stream, last) in [
        ("data: [DONE]", "data: [DONE]\n\n"),
        ("data: [DONE]\n", "data: [DONE]\n\n"),
        ("data: [DONE]\r", "data: [DONE]\r\n\n"),
        ("data: [DONE]\r\n", "data: [DONE]\r\n\n"),
        ("data: [DONE]\r\n\r", "data: [DONE]\r\n\r"),
    ] {
        let events = split(&[stream.as_bytes()]);
        assert_eq!(events, [last.as_bytes().to_vec()], "{stream:?}");
        assert!(is_done(&events[0]));
        assert_eq!(split(&[last.as_bytes(), b"data: x\n\n"]).len(), 2, "{last:?} is closed");
    }
    assert_eq!(Splitter::default().finish(), None);
}

#[test]
fn the_payload_is_read_past_comments_other_fields_and_tight_framing() {
    for (event, payload) in [
        ("data: {}\n\n", Some("{}")),
        ("data:{}\n\n", Some("{}")),
        ("data:  {}\n\n", Some(" {}")),
        (": ping\nid: 7\nevent: delta\nretry: 10\ndata: {}\n\n", Some("{}")),
        ("data: {\"a\":\r\ndata: 1}\r\n\r\n", Some("{\"a\":\n1}")),
        ("data: a\rdata\rdata: c\r\r", Some("a\n\nc")),
        ("\u{feff}data: a\n\n", Some("a")),
        ("data\n\n", Some("")),
        (": ping\n\n", None),
        ("database: x\n\n", None),
        ("\n", None),
    ] {
        let found = data(event.as_bytes());
        assert_eq!(found.as_deref(), payload.map(str::as_bytes), "{event:?}");
    }
    assert!(matches!(data(b"data: one line\n\n"), Some(Cow::Borrowed(_))));
}

#[test]
fn an_event_may_be_as_large_as_the_limit_and_no_larger() {
    let mut events = Vec::new();
    assert_eq!(Splitter::new(9).push(Bytes::from_static(b"data: a\n\n"), &mut events), Ok(()));
    let too_large = Err(EventTooLarge { limit: 8 });
    assert_eq!(Splitter::new(8).push(Bytes::from_static(b"data: a\n\n"), &mut events), too_large);
    let mut drop_by_drop = Splitter::new(8);
    for byte in b"data: ab" {
        assert_eq!(drop_by_drop.push(Bytes::copy_from_slice(&[*byte]), &mut events), Ok(()));
    }
    assert_eq!(drop_by_drop.push(Bytes::from_static(b"c"), &mut events), too_large);
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_events(
        stream in "(data: [a\u{4f60}]{0,3}|: c|id:1|\r|\n|\r\n){0,24}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let bytes = stream.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
        let whole = split(&[bytes]);
        prop_assert_eq!(&split(&chunks), &whole);
        prop_assert!(whole.concat().starts_with(bytes));
    }
}
