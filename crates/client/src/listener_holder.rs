//! Keeps the gateway's address open while no gateway runs.
//!
//! # Theory of operation
//! One task has a copy of the gateway's listening socket. When the gateway dies, the socket stays open:
//! connections wait in its queue instead of being refused. The next gateway, whichever program starts
//! it, connects to the task and receives a copy in turn. If none has started after [`LONGEST_WAIT`], the
//! task closes its copy, because a refused connection is more honest than one that nobody accepts. When the
//! user stops the gateway, it closes it at once.
//!
//! The task asks each gateway that the supervisor attaches to for a copy. A gateway that does not know
//! the request closes the connection, and its address is not kept.

use std::io;
use std::net::TcpListener;
use std::pin::pin;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use evermoor_core::lifecycle::handover_messages::{PredecessorMessage, SuccessorMessage};
use evermoor_platform::fs::private;
use evermoor_platform::ipc::handover::{HandoverConnection, HandoverListener};
use evermoor_platform::paths::Paths;

use crate::control::ControlClient;

/// Whether there is a gateway, as the supervisor sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GatewayAttachment {
    /// Attached to a gateway. Each attachment has another number.
    Attached(u64),
    /// The gateway is gone.
    Lost,
    /// The user has stopped the gateway.
    Stopped,
}

/// How long the address stays open without a gateway.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How long a gateway may take to send the copy. A takeover may be in progress, which takes longer than
/// anything else it does for us.
const COPY_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a gateway that starts may take to read its copy.
const SEND_TIMEOUT: Duration = Duration::from_secs(2);

/// The task that keeps the address open.
pub(crate) struct ListenerHolder {
    paths: Paths,
    attachment: watch::Receiver<GatewayAttachment>,
    /// Where a gateway that starts asks for the socket.
    requests: HandoverListener,
    held: Option<TcpListener>,
}

impl ListenerHolder {
    pub(crate) fn open(
        paths: &Paths,
        attachment: watch::Receiver<GatewayAttachment>,
    ) -> io::Result<Self> {
        let requests = HandoverListener::open(&paths.listener_holder_file())?;
        let pid = std::process::id().to_string();
        private::write_private(&paths.listener_holder_pid_file(), pid.as_bytes())?;
        Ok(Self { paths: paths.clone(), attachment, requests, held: None })
    }

    /// Runs until the supervisor ends.
    pub(crate) async fn run(mut self) {
        loop {
            let attachment = *self.attachment.borrow_and_update();
            let goes_on = match attachment {
                GatewayAttachment::Attached(_) => self.attached().await,
                GatewayAttachment::Lost => self.lost().await,
                GatewayAttachment::Stopped => {
                    self.held = None;
                    self.answer_until_changed().await
                }
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Gets a copy from the gateway, then waits for a change. Returns whether there was one.
    async fn attached(&mut self) -> bool {
        let paths = self.paths.clone();
        let copying = async move { timeout(COPY_TIMEOUT, copy_from_gateway(&paths)).await };
        match self.answer_while(copying).await {
            Answered::Done(Ok(Ok(listener))) => self.held = Some(listener),
            Answered::Done(Ok(Err(error))) => {
                tracing::debug!(%error, "the gateway's address is not kept open");
                self.held = None;
            }
            Answered::Done(Err(_)) => self.held = None,
            Answered::Changed(goes_on) => return goes_on,
        }
        self.answer_until_changed().await
    }

    /// Waits for the next gateway, then gives up the address. Returns whether the attachment changed.
    async fn lost(&mut self) -> bool {
        match self.answer_while(tokio::time::sleep(LONGEST_WAIT)).await {
            Answered::Changed(goes_on) => return goes_on,
            Answered::Done(()) if self.held.take().is_some() => {
                tracing::warn!("no gateway started, so its address is closed");
            }
            Answered::Done(()) => {}
        }
        self.answer_until_changed().await
    }

    async fn answer_until_changed(&mut self) -> bool {
        match self.answer_while(std::future::pending::<()>()).await {
            Answered::Changed(goes_on) => goes_on,
            Answered::Done(()) => false,
        }
    }

    /// Passes the socket to gateways that start, until `work` is done or the attachment changes.
    async fn answer_while<T>(&mut self, work: impl Future<Output = T>) -> Answered<T> {
        let mut work = pin!(work);
        loop {
            let request = tokio::select! {
                biased;
                changed = self.attachment.changed() => return Answered::Changed(changed.is_ok()),
                done = &mut work => return Answered::Done(done),
                request = self.requests.next() => request,
            };
            let sent = match request {
                Ok(line) => timeout(SEND_TIMEOUT, self.pass_on(line)).await,
                Err(error) => Ok(Err(error)),
            };
            if let Ok(Err(error)) = sent {
                tracing::warn!(%error, "the address was not passed on to a gateway");
            }
        }
    }

    async fn pass_on(&self, mut line: HandoverConnection) -> io::Result<()> {
        let Some(listener) = &self.held else {
            let why = "no address is kept open".to_owned();
            return line.sender.say(&encoded(&PredecessorMessage::Refused { why })).await;
        };
        line.sender.send_copy(&encoded(&PredecessorMessage::Copy), listener).await?;
        // macOS can close a socket in transit when its sender is gone, so wait for the end.
        line.receiver.next().await.map(drop)
    }
}

impl Drop for ListenerHolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.paths.listener_holder_pid_file());
    }
}

/// Why answering requests ended.
enum Answered<T> {
    Done(T),
    /// The attachment changed; `false` if it never will again.
    Changed(bool),
}

async fn copy_from_gateway(paths: &Paths) -> io::Result<TcpListener> {
    let gone = || io::Error::from(io::ErrorKind::ConnectionAborted);
    let control = ControlClient::find(paths).ok_or_else(gone)?;
    let pid = control.runtime().pid;
    let mut line = HandoverConnection::connect(&paths.handover_file(), pid).await?;
    // The gateway says `Welcome` when it is this program's turn.
    line.receiver.next().await?.ok_or_else(gone)?;
    let request = serde_json::to_vec(&SuccessorMessage::Copy).expect("a word serialises");
    line.sender.say(&request).await?;
    line.receiver.next().await?.ok_or_else(gone)?.into_copy()
}

fn encoded(message: &PredecessorMessage) -> Vec<u8> {
    serde_json::to_vec(message).expect("strings serialise")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::net::{SocketAddr, TcpStream};

    use tokio::time::sleep;

    /// A holder of a new address, without a gateway.
    fn holder() -> (tempfile::TempDir, watch::Sender<GatewayAttachment>, ListenerHolder, SocketAddr)
    {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(folder.path().to_owned())).unwrap();
        let (attachment, attachments) = watch::channel(GatewayAttachment::Lost);
        let mut holder = ListenerHolder::open(&paths, attachments).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        holder.held = Some(listener);
        (folder, attachment, holder, address)
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_no_gateway_takes_is_closed_after_ten_seconds() {
        let (_folder, attachment, holder, address) = holder();
        let connecting = async {
            sleep(LONGEST_WAIT - Duration::from_millis(1)).await;
            assert!(TcpStream::connect(address).is_ok(), "it waits for a gateway");
            sleep(Duration::from_millis(2)).await;
            assert!(TcpStream::connect(address).is_err(), "nobody will accept it");
            drop(attachment);
        };
        tokio::join!(holder.run(), connecting);
    }

    #[tokio::test]
    async fn the_address_of_a_gateway_that_the_user_stopped_is_closed_at_once() {
        let (_folder, attachment, holder, address) = holder();
        let waiting = TcpStream::connect(address).unwrap();
        let stopping = async {
            attachment.send_replace(GatewayAttachment::Stopped);
            while TcpStream::connect(address).is_ok() {
                tokio::task::yield_now().await;
            }
            drop(attachment);
        };
        tokio::join!(holder.run(), stopping);
        assert_eq!((&waiting).read(&mut [0]).unwrap_or(0), 0, "it is not left to wait");
    }

    #[tokio::test]
    async fn a_gateway_that_starts_receives_the_socket_and_the_next_one_too() {
        let (_folder, attachment, holder, address) = holder();
        let path = holder.paths.listener_holder_file();
        let starting = async {
            for _ in 0..2 {
                let mut line =
                    HandoverConnection::connect(&path, std::process::id()).await.unwrap();
                let packet = line.receiver.next().await.unwrap().unwrap();
                assert_eq!(packet.into_copy().unwrap().local_addr().unwrap(), address);
            }
            drop(attachment);
        };
        tokio::join!(holder.run(), starting);
    }
}
