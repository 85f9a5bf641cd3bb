//! Streams that come compressed: gzip and zstd, told by their first bytes and not by a name, so that it works in a pipe.
//!
//! Both formats allow several members in a row (`cat a.gz b.gz`, or a log that is rotated by appending); they read as one
//! stream.
//!
//! What is here of zstd is what [`ruzstd::decoding::StreamingDecoder`] leaves to its caller: it reads one frame, fails at one
//! that is to be skipped, compares no checksum, and keeps back what was good before the damage. The bindings of the library in
//! C do all of this; nothing else was tried.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// What one read of decompressed bytes asks for.
const CHUNK: usize = 64 << 10;

/// How many bytes tell the formats apart.
const MAGIC: usize = 4;

/// The stream that `input` holds, decompressed if its first bytes say that it is compressed.
///
/// Reading the stream fails where the compressed data is damaged or ends too early; whatever was good before that comes
/// out first.
///
/// # Errors
///
/// When the first bytes cannot be read.
pub fn decompressed<'a>(
    mut input: impl BufRead + Send + 'a,
) -> io::Result<Box<dyn BufRead + Send + 'a>> {
    let mut start = Vec::with_capacity(MAGIC);
    input.by_ref().take(MAGIC as u64).read_to_end(&mut start)?;
    let format = Format::of(&start);
    let whole = Cursor::new(start).chain(input);
    Ok(match format {
        Format::Plain => Box::new(whole),
        Format::Gzip => Box::new(BufReader::with_capacity(CHUNK, MultiGzDecoder::new(whole))),
        Format::Zstd => Box::new(BufReader::with_capacity(CHUNK, Frames::new(whole))),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Plain,
    Gzip,
    Zstd,
}

impl Format {
    fn of(start: &[u8]) -> Self {
        match start {
            [0x1F, 0x8B, ..] => Self::Gzip,
            // A frame, or one that decoders skip: some tools put theirs first.
            [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18] => Self::Zstd,
            _ => Self::Plain,
        }
    }
}

/// Zstd frames, one after another.
struct Frames<R> {
    input: R,
    decoder: FrameDecoder,
    within: bool,
    /// To be told when what was good before it is read.
    damage: Option<io::Error>,
}

impl<R: BufRead> Frames<R> {
    fn new(input: R) -> Self {
        Self {
            input,
            decoder: FrameDecoder::new(),
            within: false,
            damage: None,
        }
    }

    /// Goes to the next frame that holds something; false at the end of the input.
    fn enter(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Ok(()) => {
                    self.within = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => self.skip(u64::from(length))?,
                Err(error) => return Err(damaged(&error.to_string())),
            }
        }
        Ok(false)
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.input.by_ref().take(length), &mut io::sink())?;
        if skipped < length {
            return Err(damaged("it ends within a frame"));
        }
        Ok(())
    }

    /// The decoder keeps what it may have to copy from until the frame is over, so one that breaks off is given an end: an
    /// empty last block, and a checksum that nobody looks at.
    fn break_off(&mut self, error: &FrameDecoderError) -> io::Result<()> {
        const END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];
        let damage = damaged(&error.to_string());
        let ended = self
            .decoder
            .decode_blocks(&END[..], BlockDecodingStrategy::UptoBlocks(1));
        match ended {
            Ok(_) => {
                self.damage = Some(damage);
                Ok(())
            }
            Err(_) => Err(damage),
        }
    }

    fn leave(&mut self) -> io::Result<()> {
        self.within = false;
        let written = self.decoder.get_checksum_from_data();
        if written.is_some() && written != self.decoder.get_calculated_checksum() {
            return Err(damaged("the checksum of a frame is another"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.within && !self.enter()? {
                return Ok(0);
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if let Some(damage) = self.damage.take() {
                return Err(damage);
            }
            if self.decoder.is_finished() {
                self.leave()?;
                continue;
            }
            let one = BlockDecodingStrategy::UptoBlocks(1);
            if let Err(error) = self.decoder.decode_blocks(&mut self.input, one) {
                self.break_off(&error)?;
            }
        }
    }
}

fn damaged(how: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the zstd data is damaged: {how}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    /// What comes out, and whether it ended well.
    fn read(bytes: &[u8]) -> (Vec<u8>, io::Result<usize>) {
        let mut out = Vec::new();
        let ended = decompressed(bytes).and_then(|mut stream| stream.read_to_end(&mut out));
        (out, ended)
    }

    fn lines(count: usize) -> Vec<u8> {
        (0..count)
            .flat_map(|line| {
                format!("{{\"line\":{line},\"noise\":{}}}\n", line * 7919 % 1009).into_bytes()
            })
            .collect()
    }

    #[test]
    fn a_stream_reads_the_same_plain_and_compressed_in_one_member_or_several() {
        let (one, two) = (lines(5000), lines(3));
        let both = [one.clone(), two.clone()].concat();
        for compress in [|text: &[u8]| text.to_vec(), gzip, zstd] {
            let (out, ended) = read(&compress(&one));
            assert!(ended.is_ok() && out == one);
            let (out, ended) = read(&[compress(&one), compress(&two)].concat());
            assert!(ended.is_ok() && out == both);
        }
    }

    #[test]
    fn fewer_bytes_than_tell_the_formats_apart_are_a_plain_stream() {
        for text in [&b""[..], b"{", b"\x28\xB5\x2F"] {
            let (out, ended) = read(text);
            assert!(ended.is_ok() && out == text);
        }
    }

    #[test]
    fn frames_that_decoders_skip_are_skipped_wherever_they_stand() {
        let skipped = b"\x50\x2A\x4D\x18\x03\x00\x00\x00abc";
        let text = lines(3);
        let (out, ended) = read(&[&skipped[..], &zstd(&text), skipped].concat());
        assert!(ended.is_ok() && out == text);
        let (out, ended) = read(&[&zstd(&text), &skipped[..10]].concat());
        assert!(ended.is_err() && out == text);
    }

    #[test]
    fn what_comes_before_the_damage_is_read_and_the_damage_is_an_error() {
        let text = lines(50_000);
        for whole in [gzip(&text), zstd(&text)] {
            let (out, ended) = read(&whole[..whole.len() / 2]);
            assert!(ended.is_err());
            assert!(!out.is_empty() && text.starts_with(&out), "{}", out.len());
            let (out, ended) = read(&whole[..whole.len() - 1]);
            assert!(ended.is_err() && text.starts_with(&out));
            let mut corrupt = whole.clone();
            let last = corrupt.len() - 2;
            corrupt[last] ^= 1;
            assert!(read(&corrupt).1.is_err(), "the checksum tells");
        }
    }
}
