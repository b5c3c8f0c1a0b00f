//! A health check: one request on a connection of its own.

use http::Request;
use http::response::Parts;
use http::uri::Scheme;
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http2::Builder;
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::message;
use crate::upstream::servers::UpstreamStream;

/// The head of the answer.
pub(crate) async fn ask(
    stream: UpstreamStream,
    scheme: Scheme,
    mut request: Request<Empty<Bytes>>,
) -> Result<Parts, String> {
    message::outgoing(&mut request, scheme).ok_or("the check's Host is none")?;
    let handshake = Builder::new(TokioExecutor::new())
        .max_header_list_size(HEAD_BYTES)
        .initial_connection_window_size(WINDOW)
        .initial_stream_window_size(WINDOW)
        .handshake(TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.map_err(|error| error.to_string())?;
    let answer = sender.send_request(request);
    let driving = async {
        let _ = connection.await;
        // From here on the connection only serves streams that are under way.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        answer = answer => match answer {
            Ok(answer) => Ok(answer.into_parts().0),
            Err(error) => Err(format!("the check was not answered: {error}")),
        },
        () = driving => Err(String::new()),
    }
}

const HEAD_BYTES: u32 = 16 * 1024;
/// A body is left unread.
const WINDOW: u32 = 64 * 1024;
