//! Progress tokens, which are replaced on each hop.
//!
//! Two editors of one upstream may use the same token. So a call is sent with its number as the
//! token, and progress that comes back gets the editor's token again.

use crate::protocol::envelope::Notification;
use crate::protocol::json::Raw;
use crate::protocol::params::{PROGRESS_TOKEN, Params};

/// The parameters to send for call `number`, and the editor's token if it asked for progress.
pub fn replace_token(params: Option<&Params>, number: u64) -> (Option<Params>, Option<Raw>) {
    let token = params.and_then(|params| params.meta(PROGRESS_TOKEN));
    let replaced = params.map(|params| match token {
        Some(_) => params.with_meta(PROGRESS_TOKEN, &Raw::of(&number)),
        None => params.clone(),
    });
    (replaced, token)
}

/// The number of the call that a progress notification is about, and its parameters.
pub fn call_number(notification: &Notification) -> Option<(u64, Raw)> {
    let params = notification.params.clone()?;
    let number = params.member(PROGRESS_TOKEN)?.read().ok()?;
    Some((number, params))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &'static str) -> Raw {
        Raw::parse(bytes::Bytes::from_static(text.as_bytes())).unwrap()
    }

    #[test]
    fn only_the_progress_token_is_replaced() {
        let params = raw(r#"{"name":"x","_meta":{"traceparent":"t","progressToken":"mine"}}"#);
        let (sent, token) = replace_token(Some(&params.into()), 7);
        assert_eq!(
            sent.unwrap().as_str(),
            r#"{"name":"x","_meta":{"traceparent":"t","progressToken":7}}"#
        );
        assert_eq!(token.unwrap().as_str(), r#""mine""#);
    }

    #[test]
    fn a_call_without_a_progress_token_is_unchanged() {
        let params = Params::from(raw(r#"{"name":"x","_meta":{}}"#));
        assert_eq!(replace_token(Some(&params), 7), (Some(params), None));
        assert_eq!(replace_token(None, 7), (None, None));
    }

    #[test]
    fn the_token_of_a_notification_is_the_number_of_the_call() {
        let progress = Notification::new(
            "notifications/progress",
            Some(raw(r#"{"progressToken":7,"progress":1}"#)),
        );
        assert_eq!(call_number(&progress).unwrap().0, 7);
        let foreign =
            Notification::new("notifications/progress", Some(raw(r#"{"progressToken":"x"}"#)));
        assert_eq!(call_number(&foreign), None);
    }
}
