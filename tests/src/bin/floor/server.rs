//! The server of the benchmark. It speaks as little MCP as a gateway needs and returns the text that
//! a call sends, as cheaply as possible, so that it costs little next to what is measured.
//!
//! `floor-server <address> [tools]` listens at the address and offers that many tools. All of them
//! do the same.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A larger body is not parsed; what is needed is at its start and its end.
const PARSED: usize = 4096;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let address = std::env::args().nth(1).expect("the first argument is an address");
    let tools = std::env::args().nth(2).and_then(|tools| tools.parse().ok()).unwrap_or(1);
    let listener = TcpListener::bind(address).await.expect("the address is free");
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.expect("connections can be accepted");
        connections.spawn(serve(stream, tools));
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(mut stream: TcpStream, tools: usize) {
    let _ = stream.set_nodelay(true);
    let mut bytes = Vec::with_capacity(8192);
    loop {
        let length = loop {
            if let Some(length) = request_length(&bytes)
                && bytes.len() >= length.0 + length.1
            {
                break length;
            }
            match stream.read_buf(&mut bytes).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        };
        let (head, body) = length;
        let answer = match bytes.starts_with(b"POST") {
            true => answer(&bytes[head..head + body], tools),
            false => http("405 Method Not Allowed", &[]),
        };
        bytes.drain(..head + body);
        if stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}

/// The lengths of the head and the body of the request at the start of `bytes`.
fn request_length(bytes: &[u8]) -> Option<(usize, usize)> {
    let head = find(&bytes[..bytes.len().min(PARSED)], b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&bytes[..head]).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    Some((head, length.unwrap_or(0)))
}

fn answer(body: &[u8], tools: usize) -> Vec<u8> {
    let result = |id: &Value, result: &Value| {
        http(
            "200 OK",
            json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string().as_bytes(),
        )
    };
    if body.len() > PARSED {
        return large(body);
    }
    let Ok(message) = serde_json::from_slice::<Value>(body) else {
        return http("400 Bad Request", &[]);
    };
    let Some(id) = message.get("id") else { return http("202 Accepted", &[]) };
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => result(
            id,
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "floor", "version": "1" },
            }),
        ),
        "tools/list" => result(id, &json!({ "tools": (0..tools).map(tool).collect::<Vec<_>>() })),
        "tools/call" => {
            let text = &message["params"]["arguments"]["text"];
            result(id, &json!({ "content": [{ "type": "text", "text": text }] }))
        }
        _ => result(id, &json!({})),
    }
}

fn tool(number: usize) -> Value {
    json!({
        "name": format!("mirror{number}"),
        "description": "Returns a text.",
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
    })
}

/// The answer to a call with a large text, which consists of the letter x.
fn large(body: &[u8]) -> Vec<u8> {
    let (start, end) = (&body[..PARSED], &body[body.len() - PARSED / 4..]);
    let text = find(start, b"\"xxx").expect("the text starts early") + 1;
    let after = end.iter().rposition(|byte| *byte == b'x').expect("the text ends late") + 1;
    let after = body.len() - PARSED / 4 + after;
    let id = id(&body[..text]).or_else(|| id(&body[after..])).unwrap_or(b"null");
    let lead =
        [br#"{"jsonrpc":"2.0","id":"#, id, br#","result":{"content":[{"type":"text","text":""#];
    let mut answer = Vec::with_capacity(body.len() + 256);
    answer.extend_from_slice(&lead.concat());
    answer.extend_from_slice(&body[text..after]);
    answer.extend_from_slice(br#""}]}}"#);
    http("200 OK", &answer)
}

/// The id in a part of a message.
fn id(part: &[u8]) -> Option<&[u8]> {
    let value = &part[find(part, br#""id":"#)? + 5..];
    Some(&value[..value.iter().position(|byte| matches!(byte, b',' | b'}'))?])
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|part| part == wanted)
}

fn http(status: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
