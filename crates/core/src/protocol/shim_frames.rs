//! The frames between the stdio shim and the gateway on their private socket.
//!
//! # Theory of operation
//! ```text
//! shim                        gateway
//!   Hello          ──────▶      checks the token
//!                  ◀──────    Welcome, or Refused with an HTTP status
//!   Post 1, Get 2  ──────▶
//!                  ◀──────    Whole 1: a response in one frame
//!                  ◀──────    Head 2, Data 2 …, End 2 or Broken 2
//!   Cancel 2       ──────▶      the shim no longer waits for the response
//!                  ◀──────    GoAway: another connection takes the next requests
//! ```
//!
//! A request is an HTTP request without what never changes on a connection: the method and the path
//! are known, and only headers that differ from message to message are sent. Many requests are open
//! at a time; the number of a request identifies it. [`FrameKind::GoAway`] carries the last number that
//! the gateway handles. Requests after it were not handled and may be sent to another gateway.
//!
//! A frame is the length of its payload (four bytes, little endian), its kind (one byte), the number
//! of its request (four bytes) and the payload. The two sides may have different versions, so kinds
//! and fields keep their meaning, and unknown kinds are ignored.

use bytes::{Buf as _, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    Hello,
    Welcome,
    /// The payload is an HTTP status.
    Refused,
    Post,
    Get,
    Cancel,
    Head,
    Data,
    End,
    /// The response broke off.
    Broken,
    /// Head and body of a response in one frame.
    Whole,
    GoAway,
    Unknown,
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: FrameKind,
    /// The number of the request that it belongs to.
    pub number: u32,
    pub payload: Bytes,
}

/// The first frame of a shim.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The editor's token.
    pub token: String,
    /// The path of the endpoint, such as `/mcp/notes`.
    pub path: String,
    /// The shim's `User-Agent`.
    pub agent: String,
}

/// The status and headers of a response, or the headers of a request, whose status is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageHead {
    pub status: u16,
    pub headers: Vec<(String, String)>,
}

/// Reassembles frames from bytes as they arrive.
#[derive(Debug)]
pub struct FrameDecoder {
    received: BytesMut,
    max_payload: usize,
    /// The frame whose payload is dropped while it arrives.
    skipped: Option<SkippedFrame>,
}

#[derive(Debug)]
struct SkippedFrame {
    kind: FrameKind,
    number: u32,
    /// How much of its payload has yet to arrive.
    missing: usize,
}

/// The headers of a message are too long to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its headers are longer than {} KB", MAX_HEAD / 1_000)]
pub struct HeadTooLong;

/// The longest head, whose length is sent as two bytes.
const MAX_HEAD: usize = 65_535;

/// The bytes are not a frame, or the frame is larger than allowed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the other side sent an invalid frame")]
pub struct InvalidFrame;

const PREFIX: usize = 9;
/// How much is read at once while the length of the next frame is unknown.
const READ_AHEAD: usize = 16 << 10;

impl FrameKind {
    const fn code(self) -> u8 {
        match self {
            Self::Hello => 1,
            Self::Welcome => 2,
            Self::Refused => 3,
            Self::Post => 4,
            Self::Get => 5,
            Self::Cancel => 6,
            Self::Head => 7,
            Self::Data => 8,
            Self::End => 9,
            Self::Broken => 10,
            Self::Whole => 11,
            Self::GoAway => 12,
            Self::Unknown => 0,
        }
    }

    fn of(code: u8) -> Self {
        const ALL: [FrameKind; 12] = [
            FrameKind::Hello,
            FrameKind::Welcome,
            FrameKind::Refused,
            FrameKind::Post,
            FrameKind::Get,
            FrameKind::Cancel,
            FrameKind::Head,
            FrameKind::Data,
            FrameKind::End,
            FrameKind::Broken,
            FrameKind::Whole,
            FrameKind::GoAway,
        ];
        ALL.into_iter().find(|kind| kind.code() == code).unwrap_or(Self::Unknown)
    }
}

/// What precedes a payload of `length` bytes on the wire.
pub fn prefix(kind: FrameKind, number: u32, length: usize) -> [u8; PREFIX] {
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let number = number.to_le_bytes();
    let mut prefix = [0; PREFIX];
    prefix[..4].copy_from_slice(&length);
    prefix[4] = kind.code();
    prefix[5..].copy_from_slice(&number);
    prefix
}

impl MessageHead {
    /// The head as the start of a payload. The body follows.
    pub fn to_bytes(&self) -> Result<Vec<u8>, HeadTooLong> {
        let texts = self.headers.iter().flat_map(|(name, value)| [name, value]);
        let length = texts.clone().map(|text| text.len() + 1).sum::<usize>();
        let sent_length = u16::try_from(length).map_err(|_| HeadTooLong)?;
        let mut bytes = Vec::with_capacity(length + 4);
        bytes.extend_from_slice(&self.status.to_le_bytes());
        bytes.extend_from_slice(&sent_length.to_le_bytes());
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
        }
        Ok(bytes)
    }

    /// The head at the start of a payload, and the rest of the payload.
    pub fn split(mut payload: Bytes) -> Result<(Self, Bytes), InvalidFrame> {
        if payload.len() < 4 {
            return Err(InvalidFrame);
        }
        let (status, length) = (payload.get_u16_le(), usize::from(payload.get_u16_le()));
        if payload.len() < length {
            return Err(InvalidFrame);
        }
        let head = payload.split_to(length);
        let text = std::str::from_utf8(&head).map_err(|_| InvalidFrame)?;
        let mut texts = text.split_terminator('\0').map(str::to_owned);
        let mut headers = Vec::new();
        while let (Some(name), value) = (texts.next(), texts.next()) {
            headers.push((name, value.ok_or(InvalidFrame)?));
        }
        Ok((Self { status, headers }, payload))
    }

    pub fn header(&self, wanted: &str) -> Option<&str> {
        self.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }
}

impl FrameDecoder {
    pub fn new(max_payload: usize) -> Self {
        Self { received: BytesMut::new(), max_payload, skipped: None }
    }

    /// Changes how large a payload may be.
    pub fn set_max_payload(&mut self, max_payload: usize) {
        self.max_payload = max_payload;
    }

    /// How large the payload of the next frame is, once that is known and unless it is skipped.
    pub fn next_payload(&self) -> Result<Option<usize>, InvalidFrame> {
        if self.skipped.is_some() { Ok(None) } else { self.length() }
    }

    /// Drops the payload of the next frame, whose length is known, while it arrives. The frame is decoded
    /// with an empty one.
    pub fn skip_payload(&mut self) -> Result<(), InvalidFrame> {
        if let Some(missing) = self.next_payload()? {
            let (kind, number) = self.take_prefix()?;
            self.skipped = Some(SkippedFrame { kind, number, missing });
        }
        Ok(())
    }

    /// Where the next bytes from the other side go.
    pub fn space(&mut self) -> &mut BytesMut {
        let missing = match self.next_payload() {
            Ok(Some(length)) => (PREFIX + length).saturating_sub(self.received.len()),
            Ok(None) | Err(InvalidFrame) => READ_AHEAD,
        };
        self.received.reserve(missing.max(1));
        &mut self.received
    }

    /// The next whole frame, if it has arrived.
    pub fn decode(&mut self) -> Result<Option<Frame>, InvalidFrame> {
        if let Some(skipped) = &mut self.skipped {
            let dropped = skipped.missing.min(self.received.len());
            self.received.advance(dropped);
            skipped.missing -= dropped;
            if skipped.missing > 0 {
                return Ok(None);
            }
            let ended = self.skipped.take();
            return Ok(ended.map(|SkippedFrame { kind, number, .. }| Frame {
                kind,
                number,
                payload: Bytes::new(),
            }));
        }
        let Some(length) = self.length()? else { return Ok(None) };
        if self.received.len() < PREFIX + length {
            return Ok(None);
        }
        let (kind, number) = self.take_prefix()?;
        let payload = self.received.split_to(length).freeze();
        if length > READ_AHEAD {
            // What follows must not keep the memory of a long frame in use.
            self.received = BytesMut::from(&self.received[..]);
        }
        Ok(Some(Frame { kind, number, payload }))
    }

    fn take_prefix(&mut self) -> Result<(FrameKind, u32), InvalidFrame> {
        let prefix = self.received.split_to(PREFIX);
        let number = prefix[5..].try_into().map(u32::from_le_bytes).map_err(|_| InvalidFrame)?;
        Ok((FrameKind::of(prefix[4]), number))
    }

    /// The length of the payload of the next frame, once it is known.
    fn length(&self) -> Result<Option<usize>, InvalidFrame> {
        let Some(length) = self.received.first_chunk::<4>() else { return Ok(None) };
        if self.received.len() < PREFIX {
            return Ok(None);
        }
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| InvalidFrame)?;
        if length > self.max_payload { Err(InvalidFrame) } else { Ok(Some(length)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BufMut as _;
    use proptest::prelude::*;

    fn wire(kind: FrameKind, number: u32, payload: &[u8]) -> Vec<u8> {
        [&prefix(kind, number, payload.len())[..], payload].concat()
    }

    #[test]
    fn frames_are_reassembled_from_pieces_of_any_size() {
        let bytes = [
            wire(FrameKind::Post, 7, b"seven"),
            wire(FrameKind::End, 8, b""),
            wire(FrameKind::Data, u32::MAX, &[9; 40_000]),
        ]
        .concat();
        for size in [1, 2, 5, 13, 1000, bytes.len()] {
            let mut decoder = FrameDecoder::new(1 << 20);
            let mut frames = Vec::new();
            for piece in bytes.chunks(size) {
                decoder.space().put_slice(piece);
                while let Some(frame) = decoder.decode().unwrap() {
                    frames.push((frame.kind, frame.number, frame.payload.len()));
                }
            }
            let wanted = [
                (FrameKind::Post, 7, 5),
                (FrameKind::End, 8, 0),
                (FrameKind::Data, u32::MAX, 40_000),
            ];
            assert_eq!(frames, wanted, "{size}");
        }
    }

    #[test]
    fn a_frame_that_is_too_large_is_refused_before_it_is_read() {
        let mut decoder = FrameDecoder::new(10);
        decoder.space().put_slice(&prefix(FrameKind::Post, 1, 11));
        assert_eq!(decoder.decode(), Err(InvalidFrame));
        assert!(decoder.space().capacity() < 1 << 20, "nothing is reserved for it");
    }

    #[test]
    fn a_payload_that_is_skipped_takes_no_memory_and_the_next_frame_is_read() {
        let bytes =
            [wire(FrameKind::Post, 7, &[9; 1 << 20]), wire(FrameKind::Post, 8, b"eight")].concat();
        let mut decoder = FrameDecoder::new(1 << 20);
        let mut frames = Vec::new();
        for piece in bytes.chunks(5_000) {
            decoder.space().put_slice(piece);
            if frames.is_empty() && decoder.next_payload() == Ok(Some(1 << 20)) {
                decoder.skip_payload().unwrap();
            }
            while let Some(frame) = decoder.decode().unwrap() {
                frames.push((frame.number, frame.payload.len()));
            }
            assert!(decoder.space().capacity() < 1 << 17);
        }
        assert_eq!(frames, [(7, 0), (8, 5)]);
    }

    #[test]
    fn a_head_that_is_too_long_is_refused() {
        let head =
            |length| MessageHead { status: 0, headers: vec![("a".into(), "b".repeat(length))] };
        let longest = head(MAX_HEAD - 3);
        let payload = longest.to_bytes().unwrap();
        assert_eq!(MessageHead::split(payload.into()).unwrap().0, longest);
        assert_eq!(head(MAX_HEAD - 2).to_bytes(), Err(HeadTooLong));
    }

    #[test]
    fn the_codes_on_the_wire_never_change() {
        let codes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(FrameKind::of);
        assert_eq!(codes[0], FrameKind::Hello);
        assert_eq!(codes[11], FrameKind::GoAway);
        assert!(codes.iter().zip(1..).all(|(kind, code)| kind.code() == code));
        assert_eq!(FrameKind::of(200), FrameKind::Unknown);
    }

    proptest! {
        #[test]
        fn a_head_survives_and_leaves_the_body(
            status: u16,
            headers in prop::collection::vec(("[a-z-]{1,20}", "[ -~]{0,40}"), 0..4),
            body: Vec<u8>,
        ) {
            let head = MessageHead { status, headers };
            let payload = [head.to_bytes().unwrap(), body.clone()].concat();
            let (read, rest) = MessageHead::split(payload.into()).unwrap();
            prop_assert_eq!(read, head);
            prop_assert_eq!(&rest[..], &body[..]);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let mut decoder = FrameDecoder::new(100);
            decoder.space().put_slice(&bytes);
            while let Ok(Some(frame)) = decoder.decode() {
                let _ = MessageHead::split(frame.payload);
            }
        }
    }
}
