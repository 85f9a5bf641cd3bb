//! Connections: so many at a time, and each has to keep moving.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// How many connections there may be by default; more are closed at once.
pub const CONNECTIONS: u32 = 1_024;
/// How long connections have to end when the server stops.
const FAREWELL: Duration = Duration::from_secs(5);

/// A listener at that address. As many connections may wait to be taken as there may be: with fewer, those that come at once are
/// sent away, and come again a second later.
///
/// # Errors
///
/// Where it cannot listen there.
pub fn bind(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_io().build()?;
    let _within = runtime.enter();
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // As the standard library has it: what a process before has left does not hold it up.
    socket.set_reuseaddr(cfg!(unix))?;
    socket.bind(address)?;
    socket.listen(CONNECTIONS)?.into_std()
}

/// The listener, for a runtime that has begun.
pub(crate) fn waiting(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// Takes connections until `stop` is ready, says so by `stopper`, and waits a little for those that there are.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    (patience, most): (Duration, u32),
    stop: impl Future<Output = ()>,
    stopper: watch::Sender<bool>,
) {
    let connections = Arc::new(Semaphore::new(most as usize));
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            // There is no file left for it, most likely: some connection has to end first.
            sleep(Duration::from_millis(20)).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else {
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let mut stopping = stopper.subscribe();
        tokio::spawn(async move {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new());
            builder.header_read_timeout(patience).max_buf_size(16_384);
            let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
            // A connection that breaks off is its client's affair.
            tokio::select! {
                _ = connection.as_mut() => {}
                () = stopped(&mut stopping) => {
                    connection.as_mut().graceful_shutdown();
                    let _broken_off = connection.await;
                }
            }
            drop(permit);
        });
    }
    drop(listener);
    stopper.send_replace(true);
    let _some_took_too_long = timeout(FAREWELL, connections.acquire_many(most)).await;
}

/// Ready once the server stops.
pub(crate) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // Where nobody is left to say so, it has stopped too.
    let _said = stopping.wait_for(|it| *it).await;
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn many_can_come_at_once_before_one_is_taken() {
        let listener = bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
        let address = listener.local_addr().expect("an address");
        // Whoever is sent away by a listener that nobody takes from comes again for nothing.
        let patience = Duration::from_mins(1);
        let connected = (0..400).map(|_| TcpStream::connect_timeout(&address, patience));
        let connected: Result<Vec<_>, _> = connected.collect();
        assert_eq!(connected.expect("no one is sent away").len(), 400);
    }
}
