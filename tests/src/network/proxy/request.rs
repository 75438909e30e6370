//! Finds the end of an HTTP/1.1 request that has a content length.

/// The length of the first request in `bytes`, once it is complete.
pub(super) fn whole(bytes: &[u8]) -> Option<usize> {
    let head = head(bytes)?;
    let text = std::str::from_utf8(&bytes[..head]).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let end = head + length.unwrap_or_default();
    (bytes.len() >= end).then_some(end)
}

/// The length of the first head in `bytes`, including the empty line.
pub(super) fn head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|start| start + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_ends_with_its_body() {
        let request = b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(whole(request), Some(request.len()));
        assert_eq!(whole(&request[..request.len() - 1]), None);
        assert_eq!(whole(b"GET / HTTP/1.1\r\n\r\nmore"), Some(18));
    }
}
