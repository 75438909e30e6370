//! Applies the faults that a test sends to the fake PiecesOS.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::behaviour::Mood;
use super::fault::Fault;
use super::process::{App, Ballast, Way};
use super::settings::Settings;
use super::test_connection::Line;

impl App {
    /// Applies the test's faults until the test is over.
    pub(super) async fn obey(self: Arc<Self>, mut line: Line) {
        while let Some(fault) = line.fault().await {
            let way = self.suffer(fault);
            line.done().await;
            if let Some(way) = way {
                let _ = self.leave.send(way);
            }
        }
        std::process::exit(0)
    }

    /// Applies a fault. Returns how the process exits, for faults that end it.
    fn suffer(&self, fault: Fault) -> Option<Way> {
        match fault {
            Fault::Drop => self.lines.cut(),
            Fault::Abort => return Some(Way::Crash { next_after: None }),
            Fault::Quit => return Some(Way::Quit),
            Fault::Hang(area) => self.moods.set(area, Mood::Hangs),
            Fault::Slow { area, millis } => self.moods.set(area, Mood::Slow { millis }),
            Fault::Refuse { area, status, times } => {
                self.moods.set(area, Mood::Refuses { status, times });
            }
            Fault::LoseReplies { times } => self.lost_replies.store(times, Ordering::SeqCst),
            Fault::Move => {
                Settings::alter(&self.folder, |settings| {
                    settings.port = Some(settings.port_after(self.port));
                });
                return Some(Way::Restart);
            }
            Fault::Forget => self.sessions.forget(),
            Fault::Grow { bytes, for_good } => {
                // Ones, not zeros: the system only allocates a page when it is written to.
                self.ballast.lock().push(Ballast { for_good, _bytes: vec![1; bytes] });
            }
            Fault::AnnounceTools => self.sessions.announce_tools(),
            Fault::Babble => self.sessions.babble(),
            Fault::Behave => {
                self.moods.behave();
                self.lost_replies.store(0, Ordering::SeqCst);
            }
        }
        None
    }
}
