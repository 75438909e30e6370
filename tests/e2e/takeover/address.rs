//! The address outlives the gateway: while none runs, connections wait for the next one.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use evermoor_client::launch::Launcher;
use evermoor_client::{GatewaySupervisor, Presence};
use evermoor_platform::paths::Paths;
use evermoor_platform::process::spawn;
use evermoor_tests::fakes::program::until_gone;
#[cfg(target_os = "linux")]
use evermoor_tests::gateway::Gateway;
use evermoor_tests::gateway::{next_gateway, runtime, until_held};
use evermoor_tests::scene::programs::evermoor;
use evermoor_tests::scene::wait::until;
use evermoor_tests::{PATIENCE, Scene};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Asks the gateway at an address whether it is alive, over a new connection.
async fn is_alive(address: SocketAddr) -> io::Result<bool> {
    let mut connection = TcpStream::connect(address).await?;
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await?;
    Ok(answer.starts_with("HTTP/1.1 200"))
}

fn address(home: &Path) -> SocketAddr {
    runtime(home).origin.trim_start_matches("http://").parse().expect("an origin has an address")
}

#[tokio::test]
async fn a_connection_made_while_no_gateway_runs_waits_for_the_next_one() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let (paths, address) = (Paths::find(Some(scene.home())).unwrap(), address(&scene.home()));
    let launcher = Launcher::new(scene.evermoor(), Some(scene.home()), paths.clone());
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let _supervisor = GatewaySupervisor::start(launcher, &tasks, stop.clone());
    until_held(&paths).await;
    let mut pid = gateway.process.pid();
    // Twice, because the second gateway gets its socket from the holder.
    for _ in 0..2 {
        spawn::kill(pid).unwrap();
        // While it dies, it may still accept a connection.
        until_gone(pid).await;
        let alive = timeout(PATIENCE, is_alive(address)).await.expect("an answer in time");
        assert!(alive.expect("the connection is not refused"));
        let next = next_gateway(&scene.home(), pid).await;
        assert_eq!(next.origin, gateway.origin);
        until_held(&paths).await;
        pid = next.pid;
    }
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    spawn::kill(pid).unwrap();
    assert!(!paths.listener_holder_file().exists(), "nothing stays behind");
    assert!(!paths.listener_holder_pid_file().exists(), "nothing stays behind");
}

/// Receives a message to the service manager, and the descriptor in it.
#[cfg(target_os = "linux")]
fn receive(manager: &std::os::unix::net::UnixDatagram) -> (String, Option<std::os::fd::OwnedFd>) {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0; 200];
    let mut parts = [io::IoSliceMut::new(&mut bytes)];
    let received = recvmsg(manager, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC).unwrap();
    let mut descriptor = None;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(mut descriptors) = message {
            descriptor = descriptors.next();
        }
    }
    (String::from_utf8_lossy(&bytes[..received.bytes]).into_owned(), descriptor)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn systemd_keeps_the_socket_of_a_gateway_that_was_killed() {
    let scene = Scene::new();
    scene.configure("", &[]);
    let path = scene.path("notify");
    let manager = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    let mut gateway = Gateway::start_as_service(&scene.home(), &path, None).await;
    assert_eq!(receive(&manager).0, "FDSTOREREMOVE=1\nFDNAME=listener");
    let (message, stored) = receive(&manager);
    assert_eq!(message, "FDSTORE=1\nFDNAME=listener");
    let address = address(&scene.home());
    gateway.process.kill().await;
    let home = scene.home();
    let starting = Gateway::start_as_service(&home, &path, stored.as_ref());
    let (alive, next) = tokio::join!(timeout(PATIENCE, is_alive(address)), starting);
    assert!(alive.expect("an answer in time").expect("the connection is not refused"));
    assert_eq!(next.origin, gateway.origin);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn connections_that_wait_for_a_service_are_closed_whatever_keeps_it_from_starting() {
    use std::os::fd::OwnedFd;
    let scene = Scene::new();
    let path = scene.path("notify");
    let _manager = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let other = format!("[gateway]\nlisten = \"{}\"\n", taken.local_addr().unwrap());
    let any = "[gateway]\nlisten = \"127.0.0.1:0\"\n";
    // Nothing can replace a folder that has something in it.
    for (number, (config, in_the_way)) in [
        ("nonsense", None),
        (other.as_str(), None),
        (any, Some("run/gateway.json/folder")),
        (any, Some("data/session.key/folder")),
    ]
    .into_iter()
    .enumerate()
    {
        let home = scene.path(&format!("home-{number}"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join("config.toml"), config).unwrap();
        if let Some(folder) = in_the_way {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        let stored = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut waiting = TcpStream::connect(stored.local_addr().unwrap()).await.unwrap();
        let mut service = Gateway::service(&home, &path, Some(&OwnedFd::from(stored)));
        let read = timeout(PATIENCE, waiting.read(&mut [0])).await.expect("it is closed");
        assert_eq!(read.unwrap_or(0), 0, "{config}");
        assert!(!service.ended().await.success(), "{config}");
    }
}

#[tokio::test]
async fn a_gateway_that_the_user_stopped_stays_stopped_and_its_address_is_closed() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let (paths, address) = (Paths::find(Some(scene.home())).unwrap(), address(&scene.home()));
    let launcher = Launcher::new(scene.evermoor(), Some(scene.home()), paths.clone());
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let supervisor = GatewaySupervisor::start(launcher, &tasks, stop.clone());
    // An idle editor does not start it again either.
    let _editor = gateway.editor_over_shim(None).await;
    let mut presence = supervisor.presence();
    for start in [true, false] {
        until_held(&paths).await;
        let before = runtime(&scene.home()).pid;
        let stopped = evermoor(&scene.home()).arg("stop").output().await.unwrap();
        assert_eq!(String::from_utf8_lossy(&stopped.stdout), "Evermoor is stopped.\n");
        let is_stopped = |presence: &Presence| *presence == Presence::Stopped;
        timeout(PATIENCE, presence.wait_for(is_stopped)).await.unwrap().unwrap();
        until("the address is closed", || std::net::TcpStream::connect(address).is_err()).await;
        match start {
            true => {
                let started = evermoor(&scene.home()).arg("start").output().await.unwrap();
                assert!(started.status.success());
            }
            false => supervisor.try_now(),
        }
        let serves = |presence: &Presence| matches!(presence, Presence::Serving { .. });
        timeout(PATIENCE, presence.wait_for(serves)).await.unwrap().unwrap();
        assert_ne!(runtime(&scene.home()).pid, before);
    }
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    spawn::kill(runtime(&scene.home()).pid).unwrap();
}
