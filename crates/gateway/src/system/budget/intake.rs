//! Charges messages while they arrive on one socket or pipe.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::{Budget, Charge, NoRoom, RESERVE, ROOM_LIMIT, SMALL, SharedCharge};

/// How long a message waits for its turn to use the reserve.
const TURN_LIMIT: Duration = Duration::from_secs(60);

/// What has arrived and is not yet a whole message.
pub(crate) struct Intake {
    charge: Charge,
    arrived: usize,
    /// It may use the reserve.
    turn: Option<OwnedSemaphorePermit>,
}

impl Intake {
    pub(crate) fn new(budget: &Arc<Budget>) -> Self {
        let charge = Charge { budget: Arc::clone(budget), bytes: 0 };
        Self { charge, arrived: 0, turn: None }
    }

    /// Charges bytes that have arrived. Waits for room, and nothing more should be read meanwhile.
    pub(crate) async fn admit(&mut self, bytes: usize) -> Result<(), NoRoom> {
        self.arrived += bytes;
        if self.arrived <= SMALL {
            return Ok(());
        }
        let missing = self.arrived.saturating_sub(self.charge.bytes);
        let budget = Arc::clone(&self.charge.budget);
        let more = match budget.try_charge_leaving(RESERVE, missing) {
            Ok(more) => more,
            Err(_) => {
                self.take_turn(&budget).await?;
                budget.charge(missing, ROOM_LIMIT).await?
            }
        };
        self.charge.merge(more);
        Ok(())
    }

    async fn take_turn(&mut self, budget: &Arc<Budget>) -> Result<(), NoRoom> {
        if self.turn.is_none() {
            let turn = timeout(TURN_LIMIT, Arc::clone(&budget.turn).acquire_owned()).await;
            let limit = budget.limit.load(Ordering::Relaxed);
            let no_room = || budget.no_room(limit);
            self.turn = Some(turn.map_err(|_| no_room())?.map_err(|_| no_room())?);
        }
        Ok(())
    }

    /// A whole message of what has arrived, which stays charged until nobody refers to it.
    pub(crate) fn take(&mut self, message: Bytes) -> (Bytes, Option<SharedCharge>) {
        let size = message.len();
        if size <= SMALL {
            return (message, None);
        }
        self.turn = None;
        let mut charge = self.charge.split(size);
        let missing = size - charge.bytes;
        if missing > 0 {
            charge.merge(self.charge.budget.charge_anyway(missing));
        }
        let (message, charge) = charge.keep(message);
        (message, Some(charge))
    }

    /// Gives back what is charged for more than `bytes`, which are still not a whole message.
    pub(crate) fn keep_only(&mut self, bytes: usize) {
        self.arrived = bytes;
        if bytes <= SMALL {
            self.turn = None;
        }
        self.charge.shrink_to(if bytes <= SMALL { 0 } else { bytes });
    }
}
