// hyper's HTTP/1.1 server, plain and with TLS: CERTIFICATE. Prints its two ports, then a line for each request.
use std::{convert::Infallible, env, error::Error, sync::Arc};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let line = format!("{} {}", request.method(), request.uri());
    println!("{}", serde_json::to_string(&line).unwrap());
    let _ = request.into_body().collect().await; // what is malformed in it ends the connection
    Ok(Response::new(Full::from("ok")))
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(stream: S) {
    // An error is an attack that was seen: it ends this connection, and the server goes on.
    let _ = http1::Builder::new().half_close(true).serve_connection(TokioIo::new(stream), service_fn(answer)).await;
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("found no certificate")?;
    let chain = CertificateDer::pem_file_iter(&path)?.collect::<Result<Vec<_>, _>>()?;
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(&path)?)?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let plain = TcpListener::bind("127.0.0.1:0").await?;
    let secure = TcpListener::bind("127.0.0.1:0").await?;
    println!("[{}, {}]", plain.local_addr()?.port(), secure.local_addr()?.port());
    loop {
        tokio::select! {
            found = plain.accept() => {
                tokio::spawn(serve(found?.0));
            }
            found = secure.accept() => {
                let (stream, acceptor) = (found?.0, acceptor.clone());
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        serve(stream).await;
                    }
                });
            }
        }
    }
}
