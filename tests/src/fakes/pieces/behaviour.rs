//! How each area of the fake PiecesOS currently behaves.

use std::collections::BTreeMap;
use std::time::Duration;

use http::StatusCode;
use tokio::sync::watch;
use tokio::time::sleep;

use super::fault::Area;

/// The behaviour of each area. Areas that are not listed work normally.
pub(super) struct Behaviours(watch::Sender<BTreeMap<Area, AppBehaviour>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AppBehaviour {
    Hangs,
    Slow { millis: u64 },
    Refuses { status: u16, times: Option<u32> },
}

impl Behaviours {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(BTreeMap::new()))
    }

    pub(super) fn set(&self, area: Area, behaviour: AppBehaviour) {
        self.0.send_modify(|behaviours| {
            behaviours.insert(area, behaviour);
        });
    }

    pub(super) fn behave(&self) {
        self.0.send_modify(BTreeMap::clear);
    }

    /// Waits as long as the area's behaviour requires. An error is the status to answer with.
    pub(super) async fn pass(&self, area: Area) -> Result<(), StatusCode> {
        let mut behaviours = self.0.subscribe();
        let behaviour = behaviours.borrow_and_update().get(&area).copied();
        match behaviour {
            None => Ok(()),
            Some(AppBehaviour::Slow { millis }) => {
                sleep(Duration::from_millis(millis)).await;
                Ok(())
            }
            Some(AppBehaviour::Hangs) => {
                let free = |behaviours: &BTreeMap<Area, AppBehaviour>| {
                    behaviours.get(&area) != Some(&AppBehaviour::Hangs)
                };
                let _ = behaviours.wait_for(free).await;
                Ok(())
            }
            Some(AppBehaviour::Refuses { status, times }) => {
                self.spend(area, times);
                Err(StatusCode::from_u16(status).expect("a status of HTTP"))
            }
        }
    }

    fn spend(&self, area: Area, times: Option<u32>) {
        let Some(times) = times else { return };
        self.0.send_modify(|behaviours| match behaviours.get_mut(&area) {
            Some(AppBehaviour::Refuses { times: Some(left), .. }) if times > 1 => *left -= 1,
            Some(_) | None => {
                behaviours.remove(&area);
            }
        });
    }
}
