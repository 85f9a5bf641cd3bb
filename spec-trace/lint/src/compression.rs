//! Streams that come compressed with gzip, told by their first bytes and not by a name, so that it works in a pipe.
//!
//! Several members in a row (`cat a.gz b.gz`, or a log that is rotated by appending) read as one stream. A stream that is
//! compressed with zstd is refused.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

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
/// When the first bytes cannot be read, or are those of zstd.
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
        Format::Zstd => return Err(io::Error::new(io::ErrorKind::Unsupported, ZSTD)),
    })
}

/// What is said of a stream that is compressed with zstd.
const ZSTD: &str =
    "the input is compressed with zstd; decompress it: `zstd -dc FILE | countersign lint -`";

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

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
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
        for compress in [|text: &[u8]| text.to_vec(), gzip] {
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
    fn what_comes_before_the_damage_is_read_and_the_damage_is_an_error() {
        let text = lines(50_000);
        let whole = gzip(&text);
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
