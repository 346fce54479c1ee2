//! Request and trace ids that some clients paste into the prompt.
//!
//! Removed only at the very beginning or end, only with their label, and only in a form that cannot be what
//! the question is about: in brackets, or after the end of a sentence in a text that speaks of no ids itself.

use super::chars::{fold_width, is_han};

const LABELS: [&str; 22] = [
    "x-request-id",
    "request_id",
    "request-id",
    "request id",
    "requestid",
    "req_id",
    "req-id",
    "req id",
    "reqid",
    "trace_id",
    "trace-id",
    "trace id",
    "traceid",
    "x-trace-id",
    "correlation_id",
    "correlation-id",
    "correlation id",
    "请求id",
    "请求编号",
    "追踪id",
    "request",
    "req",
];
/// Words that make an id the subject of a question.
const SUBJECTS: [&str; 20] = [
    "did it ",
    "is it ",
    "trace",
    "request",
    "correlation",
    "logs",
    "log of",
    "log for",
    "req_",
    "header",
    "uuid",
    "status",
    "ticket",
    "日志",
    "请求",
    "追踪",
    "链路",
    "工单",
    "进度",
    "状态",
];
/// Words that point at something outside the text, which may be the request itself, or tell what befell it.
const POINTERS: [&str; 18] = [
    "this", "these", "those", "fail", "fails", "failed", "failing", "failure", "error", "errors", "timeout", "timed",
    "valid", "id", "ids", "order", "approve", "reject",
];
/// The same in Chinese.
const POINTERS_ZH: [&str; 10] = ["这", "此", "它", "失败", "超时", "报错", "错误", "异常", "订单", "审批"];
/// Shorter ones might be a word or a number of the question.
const SHORTEST: usize = 4;
/// Ids at both ends and then some.
const ROUNDS: usize = 4;

/// The text without labelled ids at its ends.
pub(crate) fn strip(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..ROUNDS {
        let shorter = strip_brackets(rest).or_else(|| strip_bare(rest));
        match shorter {
            Some(shorter) if is_question(shorter) => rest = shorter,
            _ => break,
        }
    }
    rest
}

/// Whether enough remains to be a question, and it is not one about an id.
fn is_question(rest: &str) -> bool {
    let lower = rest.to_lowercase();
    let words = rest.split_whitespace().count() + rest.chars().filter(|c| is_han(*c)).count() / 2;
    let pointed = lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| POINTERS.contains(&word))
        || POINTERS_ZH.iter().any(|pointer| lower.contains(pointer));
    words >= 2 && !pointed && !SUBJECTS.iter().any(|subject| lower.contains(subject))
}

fn strip_brackets(text: &str) -> Option<&str> {
    for (open, close) in [('[', ']'), ('(', ')'), ('（', '）'), ('【', '】'), ('<', '>'), ('{', '}')] {
        if let Some(before) = text.strip_suffix(close)
            && let Some(at) = before.rfind(open)
            && is_labelled(&before[at + open.len_utf8()..])
        {
            return Some(before[..at].trim_end());
        }
        if let Some(after) = text.strip_prefix(open)
            && let Some(at) = after.find(close)
            && is_labelled(&after[..at])
        {
            return Some(after[at + close.len_utf8()..].trim_start());
        }
    }
    None
}

/// `… trace_id=8f3a01` as a last clause of its own.
fn strip_bare(text: &str) -> Option<&str> {
    let from = text.floor_char_boundary(text.len().saturating_sub(96));
    let tail = &text[from..];
    let label_at =
        LABELS.iter().filter(|label| label.len() > 3).filter_map(|label| find_ignoring_case(tail, label)).min()?;
    let (before, id) = (text[..from + label_at].trim_end(), &tail[label_at..]);
    let own_clause =
        before.ends_with(['.', '?', '!', '。', ';', ',', '|', '#']) || text[before.len()..].starts_with('\n');
    let separated = id.contains(['=', ':']);
    (own_clause && separated && is_labelled(id)).then(|| before.trim_end_matches(['|', '#', ',', ';', ' ']))
}

fn find_ignoring_case(text: &str, label: &str) -> Option<usize> {
    (0..text.len().saturating_sub(label.len() - 1))
        .filter(|at| *at == 0 || matches!(text.as_bytes()[at - 1], b' ' | b'\n'))
        .find(|at| text.as_bytes()[*at..*at + label.len()].eq_ignore_ascii_case(label.as_bytes()))
}

/// One or more `label: id`, and nothing else.
fn is_labelled(inner: &str) -> bool {
    let inner: String = inner.chars().map(fold_width).collect();
    inner.len() <= 160
        && !inner.trim().is_empty()
        && inner.split([',', ';', '|']).all(|piece| is_labelled_id(piece.trim()))
}

fn is_labelled_id(piece: &str) -> bool {
    let lower = piece.to_lowercase();
    LABELS.iter().any(|label| {
        lower.strip_prefix(label).is_some_and(|rest| {
            let id = rest.trim_start_matches([' ', ':', '=', '#', '-', '_']);
            // `request 12345` may be the number of a form; `req-12345` is no way to write one.
            let plain =
                rest.starts_with(' ') && matches!(*label, "request" | "req") && id.bytes().all(|b| b.is_ascii_digit());
            id.len() < rest.len() && is_id(id) && !plain
        })
    })
}

fn is_id(id: &str) -> bool {
    id.len() >= SHORTEST
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && id.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labelled_ids_at_the_ends_are_noise() {
        for text in [
            "how are you [req-8f3a91]",
            "how are you (request id: 12345678)",
            "[request_id=abc-123-def] how are you",
            "how are you [trace_id: 8f3a01, request_id: 77aa12]",
        ] {
            assert_eq!(strip(text), "how are you", "{text}");
        }
        assert_eq!(strip("how are you? trace_id=8f3a01"), "how are you?");
        assert_eq!(strip("怎么开发票?\n请求ID:20240501-7"), "怎么开发票?");
    }

    #[test]
    fn an_id_that_may_be_the_question_stays() {
        for text in [
            "what does trace_id=8f3a01 mean",
            "find the log of this request: request_id=8f3a01",
            "explain [req]",
            "translate [please]",
            "see (chapter 12345)",
            "find trace_id=8f3a01",
            "[req-8f3a91]",
            "tickets (request id: 12345)",
            "what is the status (request id: 12345)",
            "how are you (req 12345)",
        ] {
            assert_eq!(strip(text), text);
        }
    }
}
