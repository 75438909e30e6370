//! A queue of events with one event: the end of the process.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::kqueue::{Event, EventFilter, EventFlags, ProcessEvents, kevent, kqueue};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::process::child::Exit;
use crate::process::info;

#[derive(Debug)]
pub(super) struct Process {
    pid: Pid,
    /// When it started: the number may come again.
    started: Option<u64>,
    queue: AsyncFd<OwnedFd>,
}

impl Process {
    pub(super) fn open(pid: u32) -> io::Result<Self> {
        let started = info::of(pid).map(|facts| facts.started);
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = number.ok_or(io::ErrorKind::NotFound)?;
        let queue = kqueue()?;
        let end = EventFilter::Proc { pid, flags: ProcessEvents::EXIT };
        let event = Event::new(end, EventFlags::ADD, std::ptr::null_mut());
        let mut none: [Event; 0] = [];
        #[expect(
            unsafe_code,
            reason = "an event may name a file that must be open; this one does not"
        )]
        // SAFETY: the event names a process and no file.
        unsafe {
            kevent(&queue, &[event], &mut none, Some(Duration::ZERO))?;
        }
        #[expect(unsafe_code, reason = "who registers a file must keep it open")]
        // SAFETY: the file is owned, and stays open for as long as it is registered.
        let queue = unsafe { AsyncFd::register_with_interest(queue, Interest::READABLE) }?;
        Ok(Self { pid, started, queue })
    }

    pub(super) async fn ended(&self) {
        // The event is not taken out, so that everybody who waits is told.
        let _ = self.queue.readable().await;
    }

    /// How it ended is told to its parent only.
    pub(super) async fn how(&self) -> Exit {
        self.ended().await;
        Exit::Untold
    }

    pub(super) fn end(&self, by_force: bool) -> io::Result<()> {
        let now = u32::try_from(self.pid.as_raw_nonzero().get()).ok().and_then(info::of);
        if now.map(|facts| facts.started) != self.started {
            return Err(io::ErrorKind::NotFound.into());
        }
        let signal = if by_force { Signal::KILL } else { Signal::TERM };
        kill_process(self.pid, signal)?;
        if !by_force {
            // One that is stopped must run to hear it.
            let _ = kill_process(self.pid, Signal::CONT);
        }
        Ok(())
    }
}
