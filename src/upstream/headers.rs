//! Which headers travel, and which belong to one connection only.

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::domain::{Form, Head, HeaderLine};

/// RFC 9110, 7.6.1, with the two that older software still sends.
const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Headers by which callers show their credential. The configured key takes the place of them all.
const CREDENTIALS: [HeaderName; 3] =
    [AUTHORIZATION, HeaderName::from_static("api-key"), HeaderName::from_static("x-api-key")];

/// Removes what belongs to one connection only, including what `Connection` names.
pub(super) fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// Puts the configured key in the place of the caller's credential.
pub(super) fn replace_credential(headers: &mut HeaderMap, bearer: &HeaderValue) {
    for name in &CREDENTIALS {
        headers.remove(name);
    }
    headers.insert(AUTHORIZATION, bearer.clone());
}

/// The credentials that the caller showed, without the scheme in front.
pub(super) fn credentials(headers: &HeaderMap) -> Vec<Vec<u8>> {
    CREDENTIALS
        .iter()
        .flat_map(|name| headers.get_all(name))
        .map(|value| value.as_bytes().rsplit(|byte| *byte == b' ').next().unwrap_or_default().to_vec())
        .collect()
}

/// The headers of an inference. Its response must be readable to us, so no compression is asked for; length
/// and host are those of our own request.
pub(super) fn of_inference(lines: &[HeaderLine]) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(lines.len() + 2);
    for (name, value) in lines {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_maybe_shared(value.clone())) {
            headers.append(name, value);
        }
    }
    strip_hop_by_hop(&mut headers);
    headers.remove(HOST);
    headers.remove(CONTENT_LENGTH);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers
}

/// The head that flights keep.
pub(super) fn head_of(status: u16, headers: &HeaderMap) -> Head {
    let mut kept = headers.clone();
    strip_hop_by_hop(&mut kept);
    kept.remove(CONTENT_LENGTH);
    let is_stream = kept.get(CONTENT_TYPE).is_some_and(|value| {
        value.as_bytes().get(..17).is_some_and(|start| start.eq_ignore_ascii_case(b"text/event-stream"))
    });
    Head {
        status,
        headers: kept
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), Bytes::copy_from_slice(value.as_bytes())))
            .collect(),
        form: if is_stream { Form::Stream } else { Form::Whole },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_connection_names_stay_on_their_connection() {
        let mut headers = HeaderMap::new();
        for (name, value) in
            [("connection", "close, X-Secret-Hop"), ("x-secret-hop", "1"), ("te", "trailers"), ("x-kept", "1")]
        {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        strip_hop_by_hop(&mut headers);
        assert_eq!(headers.keys().collect::<Vec<_>>(), ["x-kept"]);
    }

    #[test]
    fn the_configured_key_replaces_every_credential_of_the_caller() {
        let mut headers = of_inference(&[
            ("authorization".into(), Bytes::from_static(b"Bearer theirs")),
            ("api-key".into(), Bytes::from_static(b"theirs")),
        ]);
        assert_eq!(credentials(&headers), [b"theirs".to_vec(), b"theirs".to_vec()]);
        replace_credential(&mut headers, &HeaderValue::from_static("Bearer ours"));
        assert_eq!(headers.get(AUTHORIZATION).unwrap(), "Bearer ours");
        assert!(!headers.contains_key("api-key"));
    }

    #[test]
    fn an_event_stream_is_known_by_its_content_type() {
        let mut headers = HeaderMap::new();
        assert_eq!(head_of(200, &headers).form, Form::Whole);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("Text/Event-Stream; charset=utf-8"));
        assert_eq!(head_of(200, &headers).form, Form::Stream);
    }
}
