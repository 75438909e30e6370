//! A relay that copies bytes and knows nothing of HTTP or MCP: what a process between an editor and a
//! server costs at least. `floor-relay <address> <server>`

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args().skip(1);
    let (address, server) = (args.next().expect("an address"), args.next().expect("a server"));
    let listener = TcpListener::bind(address).await.expect("the address is free");
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.expect("connections can be accepted");
        connections.spawn(relay(stream, server.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn relay(mut client: TcpStream, server: String) {
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let _ = copy_bidirectional(&mut client, &mut server).await;
}
