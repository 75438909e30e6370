//! Replaces an editor's token in every file that has the old one.

use crate::apply::Done;
use crate::editors::{Desk, Refused};
use crate::entry::Kind;
use crate::entry::desired::{Gate, Transport};
use crate::plan::Wish;
use crate::table::Client;

impl Desk {
    /// Writes a new token into the entries that Evermoor wrote. Entries without a token stay.
    pub fn rewrite_token(
        &self,
        client: &'static Client,
        gate: &Gate,
    ) -> Result<Vec<Done>, Refused> {
        let mut done = Vec::new();
        let records = self.journal.records().into_iter();
        for record in records.filter(|record| record.client == client.id) {
            let entries = self.existing_at(client, &record.spot)?;
            let with_token = entries.iter().any(|entry| {
                let ours = record.doors.iter().any(|door| door.name == entry.name);
                ours && matches!(entry.kind, Kind::Http { .. } | Kind::Sse { .. })
            });
            if with_token {
                let wish = Wish {
                    doors: record.doors,
                    transport: Transport::Http,
                    take_over: true,
                    drop: Vec::new(),
                };
                done.push(self.apply(&self.plan_at(client, &record.spot, &wish, gate)?)?);
            }
        }
        Ok(done)
    }
}
