//! The orders of a fake upstream, and a count of its requests.

use std::collections::BTreeMap;

use bytes::Bytes;
use parking_lot::Mutex;

use crate::fakes::upstream::script::{Act, Forgotten, Order};

/// The orders in force.
#[derive(Default)]
pub(super) struct SharedOrders(Mutex<Orders>);

#[derive(Default)]
struct Orders {
    rules: Vec<Rule>,
    forgotten: Option<Forgotten>,
    counts: BTreeMap<String, u64>,
    /// The rest of interrupted streams, by their last event id.
    rests: BTreeMap<String, Bytes>,
    stock: Option<usize>,
}

struct Rule {
    on: String,
    times: Option<u32>,
    act: Act,
}

impl SharedOrders {
    /// Accepts an order. Returns true if the sessions must be forgotten.
    pub(super) fn take(&self, order: Order) -> bool {
        let mut orders = self.0.lock();
        match order {
            Order::Do { on, times, act } => orders.rules.push(Rule { on, times, act }),
            Order::Behave => orders.rules.clear(),
            Order::Stock { page } => orders.stock = Some(page),
            Order::Forget(style) => {
                orders.forgotten = Some(style);
                return true;
            }
        }
        false
    }

    /// The first remaining order for a request of this method.
    pub(super) fn act(&self, method: &str) -> Option<Act> {
        let mut orders = self.0.lock();
        *orders.counts.entry(method.to_owned()).or_default() += 1;
        let rule =
            orders.rules.iter_mut().find(|rule| rule.on == method && rule.times != Some(0))?;
        if let Some(times) = &mut rule.times {
            *times -= 1;
        }
        Some(rule.act.clone())
    }

    pub(super) fn forgotten(&self) -> Forgotten {
        self.0.lock().forgotten.unwrap_or(Forgotten::NotFound)
    }

    /// The page size, if prompts and resources are offered.
    pub(super) fn stock(&self) -> Option<usize> {
        self.0.lock().stock
    }

    pub(super) fn counts(&self) -> serde_json::Value {
        serde_json::json!(self.0.lock().counts)
    }

    /// Stores the rest of a stream and returns its event id.
    pub(super) fn keep_rest(&self, rest: Bytes) -> String {
        let mut orders = self.0.lock();
        let id = format!("event-{}", orders.rests.len() + 1);
        orders.rests.insert(id.clone(), rest);
        id
    }

    pub(super) fn rest_of(&self, id: &str) -> Option<Bytes> {
        self.0.lock().rests.get(id).cloned()
    }
}
