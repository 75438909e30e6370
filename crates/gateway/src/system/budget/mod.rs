//! Limits the memory for messages from upstreams and editors.
//!
//! # Theory of operation
//! Every upstream and every editor has a [`Budget`], and there is one for all of them together. Bytes are
//! charged when they are read from a socket or a pipe, until the last reference to them is dropped: the
//! buffer owns its charge ([`Charge::keep`]). An answer is charged to its upstream while it arrives, and
//! then to the editor that made the call.
//!
//! If there is no room, the reader stops reading its socket. If there is still none after a while, a
//! request is rejected unread, or an answer is dropped and its call ends with an error that says that it
//! ran.
//!
//! Messages arrive in parts, so many that arrive at once could block each other forever. A part of each
//! budget, [`RESERVE`], is therefore kept for one message at a time, which can then arrive whole.
//!
//! Messages up to [`SMALL`] are not charged, so they never wait. Their number is limited elsewhere: calls
//! in flight, held calls, connections, queues. The first megabyte of each budget does not count against
//! the common budget, so nobody is blocked because others have used it up.
//!
//! - [`charge`]: bytes that are charged; [`intake`]: charges a message while it arrives
//! - [`answer`]: what the answer to a call is charged to; [`connections`]: the connections of editors

mod answer;
mod charge;
mod connections;
mod intake;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, timeout};

use evermoor_core::config::buffer_limits::{BufferLimits, DEFAULT_BUFFER_LIMIT};
use evermoor_core::config::memory_size::format_bytes;
use evermoor_core::protocol::envelope::Response;
use evermoor_core::protocol::json::Raw;

pub use answer::AnswerCharge;
pub(crate) use charge::{Charge, SharedCharge};
pub(crate) use connections::ConnectionCharge;
use connections::ConnectionPlaces;
pub(crate) use intake::Intake;

/// Larger messages are charged.
pub(crate) const SMALL: usize = 16 << 10;
/// How much of each budget does not count against the budget of all.
const OWN: usize = 1 << 20;
/// The largest message fits into this part of a budget.
const RESERVE: usize = 17 << 20;
/// How long a reader waits for room.
pub(crate) const ROOM_LIMIT: Duration = Duration::from_secs(10);
/// A budget that is used up is logged this often at most.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The budgets of a gateway.
#[derive(Clone, Default)]
pub struct Budgets(Arc<AllBudgets>);

#[derive(Default)]
struct AllBudgets {
    pool: Arc<Pool>,
    connections: ConnectionPlaces,
    editor_limit: AtomicUsize,
    upstreams: Mutex<HashMap<String, Arc<Budget>>>,
    editors: Mutex<HashMap<String, Arc<Budget>>>,
}

/// What all budgets share.
struct Pool {
    limit: AtomicUsize,
    used: Mutex<usize>,
    /// Notified when anything is freed.
    freed: Notify,
}

/// How many bytes of one upstream or editor may be kept.
pub(crate) struct Budget {
    owner: Owner,
    limit: AtomicUsize,
    used: Mutex<usize>,
    /// Who holds this may use the reserve.
    turn: Arc<Semaphore>,
    /// How much of it are answers that wait until their editors have room.
    waiting: Mutex<usize>,
    pool: Arc<Pool>,
    /// What can be dropped if there is no room, the oldest first.
    droppable: Mutex<VecDeque<Weak<dyn Droppable>>>,
    logged: Mutex<Option<Instant>>,
}

/// The sender or receiver that bytes are charged to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Owner {
    Upstream(String),
    Editor(String),
}

/// Something that is kept in case it is needed.
pub(crate) trait Droppable: Send + Sync {
    /// Drops what it keeps, unless it is in use. Returns whether it needs to be asked again.
    fn drop_unused(&self) -> StillUsed;
}

/// Whether something could not be dropped because it is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StillUsed {
    Yes,
    No,
}

/// A budget is used up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoRoom {
    #[error("{limit} of its messages are waiting to be read")]
    Upstream { limit: String },
    #[error("this editor already has {limit} of requests and unread answers")]
    Editor { limit: String },
    #[error("Evermoor already holds {limit} of messages")]
    All { limit: String },
}

impl Budgets {
    /// Applies the limits of the gateway's settings.
    pub fn set_limits(&self, limits: BufferLimits) {
        self.0.pool.limit.store(limits.all, Ordering::Relaxed);
        self.0.editor_limit.store(limits.editor, Ordering::Relaxed);
        self.0.editors.lock().values().for_each(|editor| editor.set_limit(limits.editor));
        self.0.pool.freed.notify_waiters();
    }

    /// The budget of an upstream, with this limit.
    pub(crate) fn upstream(&self, name: &str, limit: usize) -> Arc<Budget> {
        let owner = || Owner::Upstream(name.to_owned());
        let budget = self.of(&self.0.upstreams, name, owner, limit);
        budget.set_limit(limit);
        budget
    }

    /// The budget of an editor.
    pub(crate) fn editor(&self, name: &str) -> Arc<Budget> {
        let limit = match self.0.editor_limit.load(Ordering::Relaxed) {
            0 => DEFAULT_BUFFER_LIMIT,
            limit => limit,
        };
        self.of(&self.0.editors, name, || Owner::Editor(name.to_owned()), limit)
    }

    fn of(
        &self,
        all: &Mutex<HashMap<String, Arc<Budget>>>,
        name: &str,
        owner: impl FnOnce() -> Owner,
        limit: usize,
    ) -> Arc<Budget> {
        let mut all = all.lock();
        if let Some(budget) = all.get(name) {
            return Arc::clone(budget);
        }
        let budget = Arc::new(Budget::new(owner(), limit, Arc::clone(&self.0.pool)));
        all.insert(name.to_owned(), Arc::clone(&budget));
        budget
    }
}

impl Default for Pool {
    fn default() -> Self {
        let limit = AtomicUsize::new(BufferLimits::default().all);
        Self { limit, used: Mutex::new(0), freed: Notify::new() }
    }
}

impl Budget {
    fn new(owner: Owner, limit: usize, pool: Arc<Pool>) -> Self {
        Self {
            owner,
            limit: AtomicUsize::new(limit),
            used: Mutex::new(0),
            turn: Arc::new(Semaphore::new(1)),
            waiting: Mutex::new(0),
            pool,
            droppable: Mutex::default(),
            logged: Mutex::default(),
        }
    }

    pub(crate) fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Ordering::Relaxed);
        self.pool.freed.notify_waiters();
    }

    /// Charges bytes. Waits for room, at most for `patience`.
    pub(crate) async fn charge(
        self: &Arc<Self>,
        bytes: usize,
        patience: Duration,
    ) -> Result<Charge, NoRoom> {
        let waiting = async {
            loop {
                let mut freed = std::pin::pin!(self.pool.freed.notified());
                freed.as_mut().enable();
                if let Ok(charge) = self.try_charge(bytes) {
                    return charge;
                }
                freed.await;
            }
        };
        if let Ok(charge) = self.try_charge(bytes) {
            return Ok(charge);
        }
        match timeout(patience, waiting).await {
            Ok(charge) => Ok(charge),
            Err(_) => self.try_charge(bytes).inspect_err(|no_room| self.log(no_room)),
        }
    }

    /// Charges bytes if there is room now, or if there is after dropping what nobody needs.
    pub(crate) fn try_charge(self: &Arc<Self>, bytes: usize) -> Result<Charge, NoRoom> {
        self.try_charge_leaving(0, bytes)
    }

    /// Charges only if `free` bytes of the budget remain.
    fn try_charge_leaving(self: &Arc<Self>, free: usize, bytes: usize) -> Result<Charge, NoRoom> {
        let mut taken = self.take(free, bytes);
        while taken.is_err() && self.drop_unused() {
            taken = self.take(free, bytes);
        }
        taken.map(|()| Charge { budget: Arc::clone(self), bytes })
    }

    /// Charges bytes that are in memory already and replace others, even if there is no room.
    pub(crate) fn charge_anyway(self: &Arc<Self>, bytes: usize) -> Charge {
        let mut used = self.used.lock();
        *self.pool.used.lock() += over_own(*used + bytes) - over_own(*used);
        *used += bytes;
        Charge { budget: Arc::clone(self), bytes }
    }

    /// The same bytes, a copy of others that were charged before, charged in their place.
    pub(crate) fn keep_copy(self: &Arc<Self>, copy: Bytes) -> Bytes {
        if copy.len() <= SMALL {
            return copy;
        }
        self.charge_anyway(copy.len()).keep(copy).0
    }

    /// A response that replaces `before`, which was charged. What of it is a copy is charged.
    pub(crate) fn replace_response(self: &Arc<Self>, before: &Raw, response: Response) -> Response {
        match response.outcome.payload().is_part_of(before) {
            true => response,
            false => with_payload(response, |copy| self.keep_copy(copy)),
        }
    }

    /// A response made from `before`, which others use as well and nobody is charged for. What of it is a
    /// copy is charged, if there is room.
    pub(crate) fn keep_response(
        self: &Arc<Self>,
        before: Option<&Raw>,
        response: Response,
    ) -> Result<Response, NoRoom> {
        let payload = response.outcome.payload();
        let size = payload.as_bytes().len();
        if size <= SMALL || before.is_some_and(|before| payload.is_part_of(before)) {
            return Ok(response);
        }
        let charge = self.try_charge(size).inspect_err(|no_room| self.log(no_room))?;
        Ok(with_payload(response, |copy| charge.keep(copy).0))
    }

    /// Whether so many bytes could be charged now.
    pub(crate) fn has_room(self: &Arc<Self>, bytes: usize) -> bool {
        bytes <= SMALL || self.try_charge(bytes).is_ok()
    }

    /// Asks `one` to drop what it keeps when there is no room.
    pub(crate) fn add_droppable(&self, one: Weak<dyn Droppable>) {
        let mut droppable = self.droppable.lock();
        droppable.retain(|known| known.strong_count() > 0);
        droppable.push_back(one);
    }

    /// Lets an answer of this upstream wait until its editor has room. Only half of the budget may wait
    /// in this way, so that editors that do not read keep no answers from others.
    pub(crate) fn wait_for_editor(self: &Arc<Self>, bytes: usize) -> Option<WaitsForEditor> {
        let mut waiting = self.waiting.lock();
        let fits = *waiting + bytes <= self.limit.load(Ordering::Relaxed) / 2;
        fits.then(|| {
            *waiting += bytes;
            WaitsForEditor { budget: Arc::clone(self), bytes }
        })
    }

    fn take(&self, free: usize, bytes: usize) -> Result<(), NoRoom> {
        let mut used = self.used.lock();
        let limit = self.limit.load(Ordering::Relaxed);
        if *used + bytes > limit.saturating_sub(free) {
            return Err(self.no_room(limit));
        }
        let drawn = over_own(*used + bytes) - over_own(*used);
        let mut all = self.pool.used.lock();
        let limit = self.pool.limit.load(Ordering::Relaxed);
        if drawn > 0 && *all + drawn > limit {
            return Err(NoRoom::All { limit: format_bytes(limit as u64) });
        }
        *all += drawn;
        *used += bytes;
        Ok(())
    }

    fn no_room(&self, limit: usize) -> NoRoom {
        let limit = format_bytes(limit as u64);
        match self.owner {
            Owner::Upstream(_) => NoRoom::Upstream { limit },
            Owner::Editor(_) => NoRoom::Editor { limit },
        }
    }

    fn give_back(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let mut used = self.used.lock();
        *self.pool.used.lock() -= over_own(*used) - over_own(*used - bytes);
        *used -= bytes;
        drop(used);
        self.pool.freed.notify_waiters();
    }

    /// Drops the oldest thing that nobody needs. Returns whether there was one.
    fn drop_unused(&self) -> bool {
        let mut in_use = VecDeque::new();
        let mut dropped = false;
        while !dropped {
            // The lock is not held meanwhile: what is dropped gives back its bytes.
            let Some(oldest) = self.droppable.lock().pop_front() else { break };
            let Some(one) = oldest.upgrade() else { continue };
            match one.drop_unused() {
                StillUsed::Yes => in_use.push_back(oldest),
                StillUsed::No => dropped = true,
            }
        }
        let mut droppable = self.droppable.lock();
        in_use.append(&mut droppable);
        *droppable = in_use;
        dropped
    }

    fn log(&self, no_room: &NoRoom) {
        let mut logged = self.logged.lock();
        if logged.is_some_and(|at| at.elapsed() < LOG_INTERVAL) {
            return;
        }
        *logged = Some(Instant::now());
        match &self.owner {
            Owner::Upstream(upstream) => {
                tracing::warn!(%upstream, "dropped a message: {no_room}; `buffer_limit` raises the limit");
            }
            Owner::Editor(editor) => {
                tracing::warn!(%editor, "dropped a message: {no_room}; `editor_buffer_limit` raises the limit");
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        *self.used.lock()
    }
}

impl Default for Budget {
    /// The budget of messages that belong to no editor.
    fn default() -> Self {
        Self::new(Owner::Editor(String::new()), usize::MAX / 4, Arc::default())
    }
}

/// An answer waits until its editor has room.
pub(crate) struct WaitsForEditor {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Drop for WaitsForEditor {
    fn drop(&mut self) {
        *self.budget.waiting.lock() -= self.bytes;
    }
}

/// The response with its payload in the buffer that `keep` makes of it.
fn with_payload(response: Response, keep: impl FnOnce(Bytes) -> Bytes) -> Response {
    let outcome = response.outcome.map(|payload| payload.kept_by(keep));
    Response { outcome, ..response }
}

/// How much of these bytes counts against the budget of all.
fn over_own(bytes: usize) -> usize {
    bytes.saturating_sub(OWN)
}
