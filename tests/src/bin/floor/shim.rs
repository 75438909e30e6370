//! A stdio shim that only forwards lines: what `evermoor connect` costs at least. Each line becomes
//! one POST, and the body of the response one line, one after the other.
//! `floor-shim <address> <path>`

use std::io::{BufRead as _, Read as _, Write as _};
use std::net::TcpStream;

fn main() {
    let mut args = std::env::args().skip(1);
    let (address, path) = (args.next().expect("an address"), args.next().expect("a path"));
    let mut server = TcpStream::connect(&address).expect("the server listens");
    server.set_nodelay(true).expect("this is a TCP connection");
    #[expect(clippy::disallowed_methods, reason = "standard output carries the protocol")]
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let (mut line, mut answer) = (Vec::new(), Vec::new());
    while input.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let body = line.trim_ascii_end();
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        server.write_all(&request).expect("the server reads");
        let body = receive(&mut server, &mut answer);
        if body < answer.len() {
            answer.push(b'\n');
            output.write_all(&answer[body..]).expect("the editor reads");
            output.flush().expect("the editor reads");
        }
        line.clear();
    }
}

/// Reads a response. Returns where its body starts.
fn receive(server: &mut TcpStream, into: &mut Vec<u8>) -> usize {
    into.clear();
    loop {
        let at = into.len();
        into.resize(at + (64 << 10), 0);
        let read = server.read(&mut into[at..]).expect("the server answers");
        assert!(read > 0, "the server answers");
        into.truncate(at + read);
        let Some(head) = into.windows(4).take(4096).position(|part| part == b"\r\n\r\n") else {
            continue;
        };
        let text = std::str::from_utf8(&into[..head]).expect("a head is text");
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|length| length.parse().ok()).expect("a length");
        let whole = head + 4 + length;
        if into.len() < whole {
            let read = into.len();
            into.resize(whole, 0);
            server.read_exact(&mut into[read..]).expect("the server answers");
        }
        return head + 4;
    }
}
