//! How a delivery ends without its upstream: what the editor is told, and what the history counts.

use evermoor_core::failure::outcome;
use evermoor_core::failure::outcome::{Fate, Undelivered};
use evermoor_core::protocol::envelope::Response;

use super::Delivery;
use crate::history::{CallEnd, Touched};
use crate::monitoring::redaction;

impl Delivery<'_> {
    /// An outage touches this call.
    pub(super) fn touch(&mut self) -> &mut Touched {
        let tallies = &self.handle.tallies;
        self.touched.get_or_insert_with(|| tallies.touch())
    }

    /// Its one answer is that it came to this.
    pub(super) fn end(&mut self, fate: Fate) -> Response {
        let end = match self.whole(fate) {
            Fate::NotSent(_) => CallEnd::NotSent,
            Fate::Unknown(..) => CallEnd::Unknown,
            Fate::Unavailable(_) => CallEnd::Answered,
        };
        self.touched.iter_mut().for_each(|call| call.end(end));
        self.answer(fate)
    }

    /// That it was not sent this time does not undo the time before.
    fn whole(&self, fate: Fate) -> Fate {
        match (fate, self.lost) {
            (Fate::NotSent(_), Some((why, at))) => Fate::Unknown(why, at),
            (fate, _) => fate,
        }
    }

    pub(super) fn answer(&self, fate: Fate) -> Response {
        let fate = self.whole(fate);
        let (subject, is_tool) =
            outcome::subject(&self.request.method, self.request.params.as_ref());
        let undelivered = Undelivered {
            subject: &subject,
            is_tool,
            upstream: self.handle.name().as_str(),
            title: &self.handle.config.title,
            fate,
            detail: &redaction::scrub(&self.detail),
            attempts: self.attempts,
            held: self.began.elapsed(),
            retry_after: self.retry_after,
        };
        undelivered.answer(self.request.id.clone())
    }
}
