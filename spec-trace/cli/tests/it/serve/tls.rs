//! A producer behind TLS whose certificate nobody has signed but itself: what cannot be trusted is named, and nothing hangs.

use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::http::{ask, is_refused};
use super::record::{GET, Recorder, answering, asked};

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

/// A server that speaks no TLS.
#[test]
fn a_server_without_tls_is_told() {
    let plain = answering("SSH-2.0-OpenSSH_9.9\r\n".into());
    let mut recorder = Recorder::to(&format!("https://{plain}"));
    let passed = asked(&recorder.address, GET);
    assert!(passed.starts_with("HTTP/1.1 502"), "{passed}");
    let (_, said) = recorder.stop();
    assert!(said.contains("not passed on: /events:"), "{said}");
    is_refused(
        "diff",
        &["aaep", "--http", &format!("https://{plain}")],
        "GET /",
    );
}
