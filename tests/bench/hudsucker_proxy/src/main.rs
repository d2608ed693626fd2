//! hudsucker as a proxy that passes on: hudsucker-proxy CA_PEM CA_KEY. One thread, as the others have one for
//! their traffic. Prints {"port": N} and ends with its standard input.

use std::io::{BufReader, Read};
use std::{env, error::Error, fs, process, thread};

use hudsucker::certificate_authority::RcgenAuthority;
use hudsucker::rcgen::{Issuer, KeyPair};
use hudsucker::rustls::crypto::aws_lc_rs;
use hudsucker::rustls::{ClientConfig, RootCertStore};
use hudsucker::{HttpHandler, Proxy, WebSocketHandler};

#[derive(Clone)]
struct PassOn;

impl HttpHandler for PassOn {}
impl WebSocketHandler for PassOn {}

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = env::args().skip(1).collect();
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(serve(&fs::read_to_string(&files[0])?, &fs::read_to_string(&files[1])?))
}

async fn serve(certificate: &str, key: &str) -> Result<(), Box<dyn Error>> {
    let issuer = Issuer::from_ca_cert_pem(certificate, KeyPair::from_pem(key)?)?;
    let authority = RcgenAuthority::new(issuer, 1000, aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    for one in rustls_pemfile::certs(&mut BufReader::new(certificate.as_bytes())) {
        roots.add(one?)?;
    }
    let trusting = ClientConfig::builder_with_provider(aws_lc_rs::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(trusting)
        .https_or_http()
        .enable_http1()
        .build();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{{\"port\": {}}}", listener.local_addr()?.port());
    thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        process::exit(0)
    });
    Proxy::builder()
        .with_listener(listener)
        .with_ca(authority)
        .with_http_connector(connector)
        .with_http_handler(PassOn)
        .with_websocket_handler(PassOn)
        .build()?
        .start()
        .await?;
    Ok(())
}
