//! What a supervisor publishes about its upstream.

use std::sync::Arc;

use tokio::sync::{Notify, watch};

use evermoor_core::catalog::Catalog;

use crate::history::recorder::IncidentRecorder;
use crate::upstream::notification_log::NotificationLog;
use crate::upstream::subscriptions::SubscriptionSet;
use crate::upstream::{ConnectionScope, KnownCatalog, UpstreamSnapshot};

pub(crate) struct PublishedState {
    pub(crate) scope: ConnectionScope,
    pub(crate) state: watch::Sender<UpstreamSnapshot>,
    /// Notified of every change of state.
    pub(crate) changed: Arc<Notify>,
    pub(crate) notification_log: NotificationLog,
    /// Records its outages.
    pub(crate) incidents: IncidentRecorder,
    /// What editors subscribe to.
    pub(crate) wanted: watch::Receiver<SubscriptionSet>,
}

impl PublishedState {
    pub(crate) fn set(&self, state: UpstreamSnapshot) {
        let new = state.known.clone();
        let old = self.state.send_replace(state).known;
        // List changes of shared connections are published for all upstreams together, by the
        // status task. Here they concern the one editor that owns the connection.
        if let (Some(_), Some(new)) = (&self.scope.owner, new)
            && old.as_ref().is_none_or(|old| !Arc::ptr_eq(old, &new))
        {
            let nothing = Catalog::default();
            let before = old.as_ref().map_or(&nothing, |old| &old.catalog);
            self.notification_log.lists_changed(&self.scope, before, &new.catalog);
        }
        self.changed.notify_one();
    }

    pub(crate) fn known(&self) -> Option<Arc<KnownCatalog>> {
        self.state.borrow().known.clone()
    }
}
