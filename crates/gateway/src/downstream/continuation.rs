//! Calls that wait for an editor of the newer revision to come back with what was asked.
//!
//! An older upstream asks in the middle of its work. An editor of the newer revision cannot be
//! asked then: it gets an answer that says what is needed, and calls again. In between the call
//! is kept here, under a sealed word (see `evermoor_core::era::seal`) that is good once, for the same
//! editor with the same call, for a while. An editor that does not come back has its call cancelled.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use evermoor_core::envelope::{Outcome, Request};
use evermoor_core::era::question::{Needed, by_name};
use evermoor_core::era::seal::{Waits, Word, Worth};
use evermoor_core::json::Raw;
use evermoor_core::session::SessionKey;

use super::exchange::Exchange;
use crate::keys;
use crate::upstream::Question;

pub struct Continuations {
    key: SessionKey,
    /// Tells this life of the gateway from others.
    edition: String,
    waiting: Mutex<HashMap<String, Waiting>>,
    /// Words behind which no call waits, once they were brought back.
    spent: Mutex<VecDeque<String>>,
    /// Told of every call that begins to wait.
    added: Notify,
}

struct Waiting {
    exchange: Exchange,
    question: Question,
    since: Instant,
}

/// The name under which the one thing that is needed stands.
const KEY: &str = "answer";
/// An editor that has not come back by then does not.
const PATIENCE: Duration = Duration::from_secs(600);
const MOST: usize = 1024;

/// What became of an editor's coming back.
pub enum Back {
    /// It brought no word of ours.
    New,
    /// The call goes on.
    Goes(Box<Exchange>),
    /// The call, which its upstream had turned away, is made.
    Again,
    /// A person did not want to do what the upstream needs; it was not called again.
    Declined,
    /// The word is good for nothing.
    Refused(&'static str),
    /// It was good, and its call is gone: nobody knows what became of it since this moment.
    Lost(SystemTime, &'static str),
}

impl Continuations {
    pub fn new(key: SessionKey, edition: &str) -> Self {
        let (waiting, spent) = (Mutex::default(), Mutex::default());
        Self { key, edition: edition.to_owned(), waiting, spent, added: Notify::new() }
    }

    /// Keeps a call, and says what the editor is told.
    pub fn keep(
        &self,
        exchange: Exchange,
        question: Question,
        editor: &str,
        request: &Request,
    ) -> Option<Raw> {
        let word = self.word(editor, request)?;
        let needed = by_name([(KEY.to_owned(), &question.request)].into_iter());
        let result = Needed::result(&needed, &word.seal(&self.key));
        let mut all = self.waiting.lock();
        if all.len() >= MOST {
            return None;
        }
        all.insert(word.nonce, Waiting { exchange, question, since: Instant::now() });
        drop(all);
        self.added.notify_one();
        Some(result)
    }

    /// What an editor is told whose call was turned away until a person has opened these links.
    pub fn links(&self, links: &[Request], editor: &str, request: &Request) -> Option<Raw> {
        let word = self.word(editor, request)?.for_nothing();
        let named = (1..).zip(links).map(|(number, link)| (format!("{KEY}{number}"), link));
        Some(Needed::result(&by_name(named), &word.seal(&self.key)))
    }

    /// The call that an editor comes back for, with the answer it brings.
    pub fn resume(&self, editor: &str, request: &Request) -> Back {
        let params = request.params.as_ref();
        let Some(state) = params.and_then(|params| params.text_member("requestState")) else {
            return Back::New;
        };
        let brought = params.and_then(|params| params.member("inputResponses"));
        let word = match Word::open(&state, &self.key, editor, request, now()) {
            Worth::Foreign => return Back::New,
            Worth::Nothing => {
                return Back::Refused(
                    "`requestState` is not the one that was given for this call.",
                );
            }
            Worth::Expired(word) if word.waits == Waits::Nothing => {
                return Back::Refused(
                    "`requestState` has expired. Make the call again without it.",
                );
            }
            Worth::Expired(word) => {
                let why = "what it needed did not come in time, so it was cancelled";
                return Back::Lost(given(&word), why);
            }
            Worth::Good(word) => word,
        };
        const USED: Back = Back::Refused("`requestState` is good once, and was used already.");
        if word.waits == Waits::Nothing {
            return match self.spend(word.nonce) {
                true if brought.is_some_and(|brought| accepted(&brought)) => Back::Again,
                true => Back::Declined,
                false => USED,
            };
        }
        let Some(waiting) = self.waiting.lock().remove(&word.nonce) else {
            return match word.edition == self.edition {
                true => USED,
                false => {
                    let why = "Evermoor was started again while it waited for what it needed";
                    Back::Lost(given(&word), why)
                }
            };
        };
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
            let late = |_: &String, waiting: &mut Waiting| waiting.since.elapsed() >= PATIENCE;
            let late: Vec<_> = self.waiting.lock().extract_if(late).collect();
            for (_, waiting) in late {
                waiting.question.decline();
                // Dropping it tells the upstream that nobody waits for the answer any more.
                drop(waiting.exchange);
            }
        }
    }

    fn word(&self, editor: &str, request: &Request) -> Option<Word> {
        let word = Word::new(keys::unguessable().ok()?, &self.edition, editor, request);
        Some(word.given(now(), PATIENCE.as_secs()))
    }

    /// Says whether the word was still good.
    fn spend(&self, nonce: String) -> bool {
        let mut spent = self.spent.lock();
        if spent.contains(&nonce) {
            return false;
        }
        spent.push_back(nonce);
        if spent.len() > MOST {
            spent.pop_front();
        }
        true
    }
}

/// Whether everything that was asked was done.
fn accepted(brought: &Raw) -> bool {
    let answers = brought.entries().unwrap_or_default();
    let done = |answer: &Raw| answer.text_member("action").as_deref() == Some("accept");
    !answers.is_empty() && answers.iter().all(|(_, answer)| done(answer))
}

fn given(word: &Word) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(word.given)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
