//! Taking the place of a gateway that runs.
//!
//! # Theory of operation
//! The one that comes has read its configuration and its keys and has tried its upstreams before it
//! asks: nothing that can fail is left. It asks, is given the listening socket and the lock, says
//! that it is ready, and serves when it is told to (`evermoor_core::lifecycle::handover` has the words). If
//! anything goes wrong before that, it ends, and the other goes on as if nothing had been.
//!
//! After that the other has calls under way for a while. It sends connections as they come to rest,
//! and is told what editors send about its calls.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout};

use evermoor_core::lifecycle::handover::{CONVERSATION, Coming, Going};
use evermoor_core::lifecycle::runtime::Runtime;
use evermoor_core::lifecycle::version;
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::fs::private;
use evermoor_platform::fs::private::Prepared;
use evermoor_platform::handover::{Line, Packet, Stand};
use evermoor_platform::paths::Paths;

use crate::VERSION;
use crate::lifecycle::assembly::Assembly;
use crate::lifecycle::bind;
use crate::lifecycle::bind::LOCK_PATIENCE;
use crate::lifecycle::predecessor;
use crate::lifecycle::start_error::StartError;

/// Which gateway may be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terms {
    /// Whichever runs.
    Any,
    /// One of an older version, and no other.
    Older,
}

/// The gateway that runs, found and willing to talk.
pub(crate) struct RunningGateway {
    pub(crate) runtime: Runtime,
    line: Line,
}

/// Why a gateway that runs was not taken over.
#[derive(Debug, thiserror::Error)]
pub enum TakeoverError {
    /// It is as new as this one, and only an older one may be taken over.
    #[error("it is not older")]
    NotOlder,
    #[error("it says nowhere how it is reached")]
    Unannounced,
    #[error("it cannot be asked: {0}")]
    NoStand(std::io::Error),
    #[error("it refused: {0}")]
    Refused(String),
    #[error("it did not answer in time")]
    Silent,
    #[error("it hung up")]
    HungUp,
    #[error("what it gave cannot be used: {0}")]
    Useless(std::io::Error),
}

/// How long it may attend to somebody else, who tries its upstreams.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);
/// How often to look again if it goes just then.
const MAX_TURNS: u32 = 3;
/// How long each answer may take. The other one waits longer, so that whoever has lost patience here
/// is not believed to be serving there.
const STEP_TIMEOUT: Duration = Duration::from_secs(5);

impl RunningGateway {
    /// Finds the gateway that runs, and waits until it attends to us.
    pub(crate) async fn find(paths: &Paths, terms: Terms) -> Result<Self, TakeoverError> {
        let runtime = announced(paths).ok_or(TakeoverError::Unannounced)?;
        let stand = paths.handover_file();
        let line = timeout(STEP_TIMEOUT, Line::to(&stand, runtime.pid)).await;
        let line = line.map_err(|_| TakeoverError::Silent)?.map_err(TakeoverError::NoStand)?;
        let mut running = Self { runtime, line };
        match running.receive_within(TURN_TIMEOUT).await?.1 {
            Going::Welcome => {}
            Going::Refused { why } => return Err(TakeoverError::Refused(why)),
            Going::Yours
            | Going::Go { .. }
            | Going::Connection { .. }
            | Going::Wishes { .. }
            | Going::Unknown => return Err(TakeoverError::HungUp),
        }
        // Another one may have taken over since the file was read; by now it has written its own.
        running.runtime = announced(paths).ok_or(TakeoverError::Unannounced)?;
        if terms == Terms::Older && !version::is_older(&running.runtime.version, VERSION) {
            return Err(TakeoverError::NotOlder);
        }
        Ok(running)
    }

    /// Asks for its place.
    pub(crate) async fn ask(
        &mut self,
        paths: &Paths,
    ) -> Result<(TcpListener, InstanceLock), TakeoverError> {
        let (version, pid) = (VERSION.to_owned(), std::process::id());
        self.send(&Coming::Ask { conversation: CONVERSATION, version, pid }).await?;
        let (packet, message) = self.receive().await?;
        match message {
            Going::Yours => {}
            Going::Refused { why } => return Err(TakeoverError::Refused(why)),
            Going::Welcome
            | Going::Go { .. }
            | Going::Connection { .. }
            | Going::Wishes { .. }
            | Going::Unknown => return Err(TakeoverError::HungUp),
        }
        let place = packet.into_place(&paths.lock_file());
        let usable = |(listener, lock): (std::net::TcpListener, _)| {
            listener.set_nonblocking(true)?;
            Ok((TcpListener::from_std(listener)?, lock))
        };
        place.and_then(usable).map_err(TakeoverError::Useless)
    }

    /// Says that all is ready, and waits until nothing more is written by the other. Returns the links
    /// that it has given out.
    pub(crate) async fn ready(&mut self) -> Result<Vec<(String, Duration)>, TakeoverError> {
        let ready = Instant::now();
        self.send(&Coming::Ready).await?;
        match self.receive().await?.1 {
            // A process that was frozen in between is not waited for any more.
            Going::Go { links } if ready.elapsed() < STEP_TIMEOUT => {
                let age = |(code, millis)| (code, Duration::from_millis(millis));
                Ok(links.into_iter().map(age).collect())
            }
            Going::Go { .. } => Err(TakeoverError::Silent),
            Going::Refused { why } => Err(TakeoverError::Refused(why)),
            Going::Welcome
            | Going::Yours
            | Going::Connection { .. }
            | Going::Wishes { .. }
            | Going::Unknown => Err(TakeoverError::HungUp),
        }
    }

    /// Says that this gateway serves, and attends to what the other still has.
    pub(crate) async fn serving(mut self, assembly: &Assembly) -> Result<(), TakeoverError> {
        self.send(&Coming::Serving).await?;
        let (endpoint, reception) =
            (Arc::clone(&assembly.endpoint), Arc::clone(&assembly.reception));
        let stop = assembly.reception.stop();
        let attending = predecessor::attend(self.line, endpoint, reception);
        assembly.calls.spawn(stop.run_until_cancelled_owned(attending));
        Ok(())
    }

    async fn send(&mut self, message: &Coming) -> Result<(), TakeoverError> {
        let words = serde_json::to_vec(message).expect("strings and numbers serialise");
        match timeout(STEP_TIMEOUT, self.line.speaking.say(&words)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(TakeoverError::HungUp),
            Err(_) => Err(TakeoverError::Silent),
        }
    }

    async fn receive(&mut self) -> Result<(Packet, Going), TakeoverError> {
        self.receive_within(STEP_TIMEOUT).await
    }

    async fn receive_within(
        &mut self,
        patience: Duration,
    ) -> Result<(Packet, Going), TakeoverError> {
        let received = timeout(patience, self.line.hearing.next()).await;
        match received.map_err(|_| TakeoverError::Silent)? {
            Ok(Some(packet)) => {
                let message = serde_json::from_slice(&packet.words).unwrap_or(Going::Unknown);
                Ok((packet, message))
            }
            Ok(None) | Err(_) => Err(TakeoverError::HungUp),
        }
    }
}

fn announced(paths: &Paths) -> Option<Runtime> {
    let content = private::read_private(&paths.runtime_file()).ok()??;
    serde_json::from_slice(&content).ok()
}

/// Gets the place of the gateway that runs. Until the last step it can have it back.
pub(crate) async fn move_in(
    mut running: RunningGateway,
    assembly: &Assembly,
    announcement: Prepared,
    paths: &Paths,
) -> Result<(TcpListener, InstanceLock, Option<Stand>), StartError> {
    let (listener, lock) = running.ask(paths).await.map_err(StartError::NotHandedOver)?;
    let links = running.ready().await.map_err(StartError::NotHandedOver)?;
    assembly.control.links.inherit(links);
    // From here on the other one writes nothing, and what it wrote is complete.
    assembly.pen.grant();
    assembly.endpoint.sessions.recall();
    announcement.put().map_err(|source| bind::unwritable(paths, source))?;
    let stand = bind::open_stand(paths);
    running.serving(assembly).await.map_err(StartError::NotHandedOver)?;
    Ok((listener, lock, stand))
}

/// Who serves at the moment.
pub(crate) enum CurrentGateway {
    None(InstanceLock),
    Running(RunningGateway),
}

/// The gateway that runs, or its lock if there is none. One that begins or ends is given a moment.
pub(crate) async fn find(paths: &Paths, terms: Terms) -> Result<CurrentGateway, StartError> {
    let (deadline, mut turns) = (Instant::now() + LOCK_PATIENCE, 0);
    loop {
        if let Some(lock) = bind::try_lock(paths)? {
            return Ok(CurrentGateway::None(lock));
        }
        match RunningGateway::find(paths, terms).await {
            Ok(running) => return Ok(CurrentGateway::Running(running)),
            Err(TakeoverError::NotOlder) => return Err(StartError::RunsAlready),
            // It has just given its place to somebody else.
            Err(TakeoverError::HungUp) if turns < MAX_TURNS => turns += 1,
            Err(error) if Instant::now() >= deadline => {
                return Err(StartError::NotHandedOver(error));
            }
            Err(_) => sleep(LOCK_PATIENCE / 20).await,
        }
    }
}
