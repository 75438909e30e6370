//! Applies the faults that a test sends to the fake PiecesOS.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::behaviour::AppBehaviour;
use super::fault::Fault;
use super::process::{AppExit, Ballast, FakeApp};
use super::settings::AppSettings;
use super::test_connection::TestConnection;

impl FakeApp {
    /// Applies the test's faults until the test is over.
    pub(super) async fn apply_faults(self: Arc<Self>, mut test: TestConnection) {
        while let Some(fault) = test.fault().await {
            let exit = self.apply(fault);
            test.done().await;
            if let Some(exit) = exit {
                let _ = self.leave.send(exit);
            }
        }
        std::process::exit(0)
    }

    /// Applies a fault. Returns how the process exits, for faults that end it.
    fn apply(&self, fault: Fault) -> Option<AppExit> {
        match fault {
            Fault::Drop => self.connections.cut(),
            Fault::Abort => return Some(AppExit::Crash { next_after: None }),
            Fault::Quit => return Some(AppExit::Quit),
            Fault::Hang(area) => self.behaviours.set(area, AppBehaviour::Hangs),
            Fault::Slow { area, millis } => {
                self.behaviours.set(area, AppBehaviour::Slow { millis })
            }
            Fault::Refuse { area, status, times } => {
                self.behaviours.set(area, AppBehaviour::Refuses { status, times });
            }
            Fault::LoseReplies { times } => self.lost_replies.store(times, Ordering::SeqCst),
            Fault::Move => {
                AppSettings::alter(&self.folder, |settings| {
                    settings.port = Some(settings.port_after(self.port));
                });
                return Some(AppExit::Restart);
            }
            Fault::Forget => self.sessions.forget(),
            Fault::Grow { bytes, for_good } => {
                // Ones, not zeros: the system only allocates a page when it is written to.
                self.ballast.lock().push(Ballast { for_good, _bytes: vec![1; bytes] });
            }
            Fault::AnnounceTools => self.sessions.announce_tools(),
            Fault::Babble => self.sessions.babble(),
            Fault::Behave => {
                self.behaviours.behave();
                self.lost_replies.store(0, Ordering::SeqCst);
            }
        }
        None
    }
}
