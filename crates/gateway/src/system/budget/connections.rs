//! The connections of editors: each takes memory and a file descriptor.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use evermoor_platform::process::descriptors;

use super::{Budgets, Charge};

/// What a connection takes while it is idle.
const CONNECTION_SIZE: usize = 6 << 10;

/// How many connections each editor has.
#[derive(Default)]
pub(super) struct ConnectionPlaces(Arc<Mutex<HashMap<String, usize>>>);

/// A connection of an editor, until this is dropped.
pub(crate) struct ConnectionCharge {
    editor: String,
    connections: Arc<Mutex<HashMap<String, usize>>>,
    _memory: Charge,
}

impl Budgets {
    /// Takes what a connection of this editor needs. `None` if it has too many: all editors together
    /// leave a quarter of the file descriptors to everything else, and one editor takes half of them.
    pub(crate) fn connection(&self, editor: &str) -> Option<ConnectionCharge> {
        let memory = self.editor(editor).try_charge(CONNECTION_SIZE).ok()?;
        let connections = Arc::clone(&self.0.connections.0);
        let limit = descriptors::limit();
        {
            let mut open = connections.lock();
            let all: usize = open.values().sum();
            let own = open.get(editor).copied().unwrap_or_default();
            if own >= limit / 2 || all >= limit / 4 * 3 {
                return None;
            }
            open.insert(editor.to_owned(), own + 1);
        }
        Some(ConnectionCharge { editor: editor.to_owned(), connections, _memory: memory })
    }
}

impl Drop for ConnectionCharge {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        if let Some(count) = open.get_mut(&self.editor) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.editor);
            }
        }
    }
}
