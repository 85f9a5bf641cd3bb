//! A producer behind TLS whose certificate nobody has signed but itself: what cannot be trusted is named, and nothing hangs.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::http::{ask, is_refused};
use super::record::Recorder;

/// Where it listens. The key is there for these tests alone; the certificate is good until 2126.
fn distrusted() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let certificate = CertificateDer::from(&include_bytes!("tls/self-signed.der")[..]);
    let key = PrivatePkcs8KeyDer::from(&include_bytes!("tls/key.der")[..]);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider);
    let config = config
        .with_safe_default_protocol_versions()
        .expect("versions");
    let config = config.with_no_client_auth();
    let config = config.with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key));
    let config = Arc::new(config.expect("a certificate"));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            let mut stream = StreamOwned::new(connection, stream.expect("a stream"));
            // Nobody who has seen the certificate says anything.
            let _alert = stream.read(&mut [0]);
        }
    });
    format!("https://localhost:{port}")
}

const NAMED: &str = "the certificate of the producer is not accepted: ";

#[test]
fn record_ends_with_the_fault_of_the_certificate() {
    let mut recorder = Recorder::to(&distrusted());
    let (status, mut response) = ask(&recorder.address, "GET /events", "", "");
    let mut told = String::new();
    response.read_to_string(&mut told).expect("an answer");
    assert_eq!(status, 502);
    assert!(told.contains(NAMED), "{told}");
    assert_eq!(recorder.process.0.wait().expect("it ends").code(), Some(2));
    let mut said = String::new();
    recorder.stderr.read_to_string(&mut said).expect("text");
    // A line is as long as the terminal.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("error"), "{said}");
    assert!(said.contains(NAMED), "{said}");
}

#[test]
fn diff_over_http_is_refused_with_the_fault_of_the_certificate() {
    let url = distrusted();
    is_refused("diff", &["aaep", "--http", &url], NAMED);
}

/// What is wrong with a convention is told with its place, before anything is asked.
#[test]
fn a_convention_that_says_nothing_sensible_is_refused_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("own.toml");
    let shown = file.display().to_string();
    let with = |text: &str, why: &str| {
        fs::write(&file, text).expect("a file");
        let arguments = [
            "aaep",
            "--http",
            "http://127.0.0.1:1",
            "--convention",
            &shown,
        ];
        is_refused("diff", &arguments, why);
    };
    with(
        "events.path = \"/e\"\nreply = 1\n",
        "own.toml:2:1: unknown field `reply`",
    );
    with("events.path = \"e\"\n", "own.toml:1:15: expected a path");
    let nameless = [
        "aaep",
        "--http",
        "http://127.0.0.1:1",
        "--convention",
        "own",
    ];
    is_refused(
        "diff",
        &nameless,
        "expected specification, examples, suite, or a file",
    );
}
