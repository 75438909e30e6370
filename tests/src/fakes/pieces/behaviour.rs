//! How each area of the fake PiecesOS currently behaves.

use std::collections::BTreeMap;
use std::time::Duration;

use http::StatusCode;
use tokio::sync::watch;
use tokio::time::sleep;

use super::fault::Area;

/// The behaviour of each area. Areas that are not listed work normally.
pub(super) struct Moods(watch::Sender<BTreeMap<Area, Mood>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    Hangs,
    Slow { millis: u64 },
    Refuses { status: u16, times: Option<u32> },
}

impl Moods {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(BTreeMap::new()))
    }

    pub(super) fn set(&self, area: Area, mood: Mood) {
        self.0.send_modify(|moods| {
            moods.insert(area, mood);
        });
    }

    pub(super) fn behave(&self) {
        self.0.send_modify(BTreeMap::clear);
    }

    /// Waits as long as the area's behaviour requires. An error is the status to answer with.
    pub(super) async fn pass(&self, area: Area) -> Result<(), StatusCode> {
        let mut moods = self.0.subscribe();
        let mood = moods.borrow_and_update().get(&area).copied();
        match mood {
            None => Ok(()),
            Some(Mood::Slow { millis }) => {
                sleep(Duration::from_millis(millis)).await;
                Ok(())
            }
            Some(Mood::Hangs) => {
                let free = |moods: &BTreeMap<Area, Mood>| moods.get(&area) != Some(&Mood::Hangs);
                let _ = moods.wait_for(free).await;
                Ok(())
            }
            Some(Mood::Refuses { status, times }) => {
                self.spend(area, times);
                Err(StatusCode::from_u16(status).expect("a status of HTTP"))
            }
        }
    }

    fn spend(&self, area: Area, times: Option<u32>) {
        let Some(times) = times else { return };
        self.0.send_modify(|moods| match moods.get_mut(&area) {
            Some(Mood::Refuses { times: Some(left), .. }) if times > 1 => *left -= 1,
            Some(_) | None => {
                moods.remove(&area);
            }
        });
    }
}
