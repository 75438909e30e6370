//! A kqueue with one event: the exit of the process.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::kqueue::{Event, EventFilter, EventFlags, ProcessEvents, kevent, kqueue};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::process::child::ProcessExit;
use crate::process::info;

#[derive(Debug)]
pub(super) struct WatchedProcess {
    pid: Pid,
    /// The start time, because the id can be reused.
    started: Option<u64>,
    queue: AsyncFd<OwnedFd>,
}

impl WatchedProcess {
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
            reason = "an event can refer to a file that must be open; this one does not"
        )]
        // SAFETY: the event refers to a process, not to a file.
        unsafe {
            kevent(&queue, &[event], &mut none, Some(Duration::ZERO))?;
        }
        #[expect(unsafe_code, reason = "the caller must keep the file open")]
        // SAFETY: the file is owned and stays open while it is registered.
        let queue = unsafe { AsyncFd::register_with_interest(queue, Interest::READABLE) }?;
        Ok(Self { pid, started, queue })
    }

    pub(super) async fn ended(&self) {
        // The event stays in the queue, so every waiter is woken.
        let _ = self.queue.readable().await;
    }

    /// Only the parent gets the exit reason.
    pub(super) async fn how(&self) -> ProcessExit {
        self.ended().await;
        ProcessExit::Unknown
    }

    pub(super) fn end(&self, by_force: bool) -> io::Result<()> {
        let now = u32::try_from(self.pid.as_raw_nonzero().get()).ok().and_then(info::of);
        if now.map(|facts| facts.started) != self.started {
            return Err(io::ErrorKind::NotFound.into());
        }
        let signal = if by_force { Signal::KILL } else { Signal::TERM };
        kill_process(self.pid, signal)?;
        if !by_force {
            // A stopped process handles the signal only when it runs.
            let _ = kill_process(self.pid, Signal::CONT);
        }
        Ok(())
    }
}
