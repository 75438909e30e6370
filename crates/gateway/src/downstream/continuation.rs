//! Calls that wait for an editor of the newer revision to come back with what was asked.
//!
//! An older upstream asks in the middle of its work. An editor of the newer revision cannot be
//! asked then: it gets an answer that says what is needed, and calls again. In between the call
//! is kept here, under a word that nobody can guess and only once. It must be the same editor that
//! comes back with the same call.

use std::collections::HashMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use evermoor_core::envelope::{Outcome, Request};
use evermoor_core::era::abilities::ELICIT;
use evermoor_core::json::Raw;

use super::exchange::Exchange;
use crate::keys;
use crate::upstream::Question;

#[derive(Default)]
pub struct Continuations {
    waiting: Mutex<HashMap<String, Waiting>>,
    /// Told of every call that begins to wait.
    added: Notify,
}

struct Waiting {
    exchange: Exchange,
    question: Question,
    editor: String,
    digest: [u8; 32],
    since: Instant,
}

/// The name under which the one thing that is needed stands.
const KEY: &str = "answer";
/// What our own words begin with; others are the upstream's.
const MARK: &str = "evermoor.";
/// An editor that has not come back by then does not.
const PATIENCE: Duration = Duration::from_secs(600);
const MOST: usize = 1024;

/// What became of an editor's coming back.
pub enum Back {
    /// It brought no word of ours.
    New,
    /// The call goes on.
    Goes(Box<Exchange>),
    /// The word is not known here, or not to this editor, or for another call.
    Unknown,
}

impl Continuations {
    /// Keeps a call, and says what the editor is told.
    pub fn keep(
        &self,
        exchange: Exchange,
        question: Question,
        editor: &str,
        request: &Request,
    ) -> Option<Raw> {
        let word = format!("{MARK}{}", keys::unguessable().ok()?);
        let needed = serde_json::json!({ KEY: { "method": question.request.method } });
        let mut needed = Raw::of(&needed);
        if let Some(params) = &question.request.params {
            let asked = needed.member(KEY)?.with("params", &as_newer(&question.request, params));
            needed = needed.with(KEY, &asked);
        }
        let (editor, digest) = (editor.to_owned(), digest(request));
        let waiting = Waiting { exchange, question, editor, digest, since: Instant::now() };
        let mut all = self.waiting.lock();
        if all.len() >= MOST {
            return None;
        }
        all.insert(word.clone(), waiting);
        drop(all);
        self.added.notify_one();
        let result = serde_json::json!({ "resultType": "input_required", "requestState": word });
        Some(Raw::of(&result).with("inputRequests", &needed))
    }

    /// The call that an editor comes back for, with the answer it brings.
    pub fn resume(&self, editor: &str, request: &Request) -> Back {
        let params = request.params.as_ref();
        let word = params.and_then(|params| params.text_member("requestState"));
        let Some(word) = word.filter(|word| word.starts_with(MARK)) else { return Back::New };
        let mut all = self.waiting.lock();
        let fits = all
            .get(&word)
            .is_some_and(|waiting| waiting.editor == editor && waiting.digest == digest(request));
        let Some(waiting) = fits.then(|| all.remove(&word)).flatten() else {
            return Back::Unknown;
        };
        drop(all);
        let brought = params.and_then(|params| params.member("inputResponses"));
        match brought.and_then(|brought| brought.member(KEY)) {
            Some(answer) => waiting.question.answer(Outcome::Result(answer)),
            None => waiting.question.turn_away("The editor brought no answer."),
        }
        Back::Goes(Box::new(waiting.exchange))
    }

    /// Gives up, for ever, the calls whose editors do not come back.
    pub async fn tidy(&self) {
        loop {
            let oldest = self.waiting.lock().values().map(|waiting| waiting.since).min();
            match oldest {
                Some(since) => sleep_until(since + PATIENCE).await,
                None => self.added.notified().await,
            }
            self.waiting.lock().retain(|_, waiting| waiting.since.elapsed() < PATIENCE);
        }
    }
}

/// A question in the words of the newer revision.
fn as_newer(question: &Request, params: &Raw) -> Raw {
    if question.method != ELICIT {
        return params.clone();
    }
    let params = params.without(&["elicitationId"]);
    match params.member("mode") {
        Some(_) => params,
        None => params.with("mode", &Raw::of("form")),
    }
}

/// Tells calls apart, whatever is added to them on the way.
fn digest(request: &Request) -> [u8; 32] {
    let nothing = Raw::of(&serde_json::json!({}));
    let params = request.params.as_ref().unwrap_or(&nothing);
    let own = params.without(&["_meta", "inputResponses", "requestState"]);
    let mut members = own.entries().unwrap_or_default();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut hash = Sha256::new();
    hash.update(&request.method);
    for (key, value) in members {
        hash.update(BASE64.encode(key));
        hash.update([b'=']);
        hash.update(Sha256::digest(value.as_bytes()));
    }
    hash.finalize().into()
}
