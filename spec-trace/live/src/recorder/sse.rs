//! Server-sent events, taken apart as their readers take them apart.
//!
//! The one thing to know: an event counts once the empty line behind it has come, so that what breaks off before it is none.

/// The longest event that is kept, in bytes of its data.
pub const LONGEST_EVENT: usize = 16 * 1024 * 1024;

/// Reads a stream in pieces, cut anywhere.
#[derive(Debug, Default)]
pub struct Events {
    /// The line that has not ended, or the beginning of what is left out.
    line: Vec<u8>,
    /// How many bytes of it have come.
    length: usize,
    /// The `data` lines of the event that has not ended, joined by line breaks.
    data: Option<Vec<u8>>,
    /// Its `event` line.
    name: Vec<u8>,
    /// The last `id` line.
    id: Vec<u8>,
    is_too_long: bool,
    /// The last byte was a carriage return: a line feed belongs to it.
    is_after_return: bool,
    is_begun: bool,
}

/// An event that has ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// It has data.
    Told(Told),
    /// Its data is longer than [`LONGEST_EVENT`].
    TooLong,
}

/// An event with data.
#[derive(Debug, PartialEq, Eq)]
pub struct Told {
    /// Its data.
    pub data: Vec<u8>,
    /// What it is called in the stream; empty where it has no name there.
    pub name: Vec<u8>,
    /// What a reader that comes back says to go on behind it; empty where no id has come yet.
    pub id: Vec<u8>,
}

impl Events {
    /// Reads on. `take` is given each event that has data.
    pub fn read(&mut self, mut bytes: &[u8], mut take: impl FnMut(Event)) {
        while !bytes.is_empty() {
            if self.is_after_return {
                self.is_after_return = false;
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.length += piece.len();
            self.is_too_long |= self.length > LONGEST_EVENT;
            if !self.is_too_long {
                self.line.extend_from_slice(piece);
            }
            bytes = rest;
            if let Some((&end, rest)) = rest.split_first() {
                self.is_after_return = end == b'\r';
                bytes = rest;
                self.end_line(&mut take);
            }
        }
    }

    /// Whether the event that has not ended is longer than [`LONGEST_EVENT`].
    pub const fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    fn end_line(&mut self, take: &mut impl FnMut(Event)) {
        let length = std::mem::take(&mut self.length);
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.is_begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if length == 0 {
            let (data, name) = (self.data.take(), std::mem::take(&mut self.name));
            if std::mem::take(&mut self.is_too_long) {
                take(Event::TooLong);
            } else if let Some(data) = data {
                let id = self.id.clone();
                take(Event::Told(Told { data, name, id }));
            }
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {}
            b"event" => return self.name = value.to_vec(),
            b"id" => return self.id = value.to_vec(),
            _ => return,
        }
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) if data.len() + value.len() >= LONGEST_EVENT => self.is_too_long = true,
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Events, LONGEST_EVENT, Told};

    /// What a stream says, cut into pieces of so many bytes.
    fn read(stream: &[u8], piece: usize) -> Vec<Event> {
        let mut events = Events::default();
        let mut read = Vec::new();
        for bytes in stream.chunks(piece) {
            events.read(bytes, |event| read.push(event));
        }
        read
    }

    fn data(text: &str) -> Event {
        told(text, "", "")
    }

    fn told(data: &str, name: &str, id: &str) -> Event {
        let [data, name, id] = [data, name, id].map(|text| text.as_bytes().to_vec());
        Event::Told(Told { data, name, id })
    }

    #[test]
    fn events_are_the_same_wherever_the_stream_is_cut() {
        let stream = "\u{feff}data: {\"a\":1}\r\n\r\n: sign of life\n\nid: 7\nevent: x\ndata:b\ndata:  c\n\n\
             data\rdata:\r\rdatum: d\n\nretry: 1\n\ndata: cut off\n";
        let expected = [
            data("{\"a\":1}"),
            told("b\n c", "x", "7"),
            told("\n", "", "7"),
        ];
        for piece in 1..=stream.len() {
            assert_eq!(
                read(stream.as_bytes(), piece),
                expected,
                "in pieces of {piece}"
            );
        }
    }

    #[test]
    fn an_endless_line_is_told_and_the_next_event_is_read() {
        let mut stream = b"data: ".to_vec();
        stream.resize(LONGEST_EVENT + 7, b'a');
        stream.extend(b"\n\ndata: b\n\n");
        for piece in [1 << 16, stream.len()] {
            assert_eq!(read(&stream, piece), [Event::TooLong, data("b")]);
        }
        let line = [b"data: ".as_slice(), &vec![b'a'; LONGEST_EVENT / 2], b"\n"].concat();
        let stream = [&line, &line, &line, b"\ndata: b\n\n".as_slice()].concat();
        assert_eq!(read(&stream, 1 << 16), [Event::TooLong, data("b")]);
    }
}
