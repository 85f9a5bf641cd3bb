//! Connections: so many at a time, and each has to keep moving.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// How many connections there may be; more are closed at once.
pub const CONNECTIONS: u32 = 1_024;
/// How long connections have to end when the server stops.
const FAREWELL: Duration = Duration::from_secs(5);

/// The listener, for a runtime that has begun.
pub(crate) fn waiting(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// Takes connections until `stop` is ready, says so by `stopper`, and waits a little for those that there are.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    patience: Duration,
    stop: impl Future<Output = ()>,
    stopper: watch::Sender<bool>,
) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS as usize));
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
    let _some_took_too_long = timeout(FAREWELL, connections.acquire_many(CONNECTIONS)).await;
}

/// Ready once the server stops.
pub(crate) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // Where nobody is left to say so, it has stopped too.
    let _said = stopping.wait_for(|it| *it).await;
}
