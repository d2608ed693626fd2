//! What a client says first (RFC 8446 §4.1.2), before anybody answers it.

use rustls::server::Acceptor;
use rustls::{CipherSuite, SignatureScheme};

use super::terms::HTTP;

/// A ClientHello.
#[derive(Debug, PartialEq, Eq)]
pub struct Hello {
    /// The server that is asked for, in lower case.
    pub name: Option<String>,
    pub alpn: Vec<Vec<u8>>,
    /// Can a tunnel serve this client? It takes HTTP/1.1, and a suite and a signature that a tunnel has.
    pub fits: bool,
}

/// Read a ClientHello from the bytes in front; None while it is not whole.
pub fn hello(mut data: &[u8]) -> Result<Option<Hello>, String> {
    let mut acceptor = Acceptor::default();
    while !data.is_empty() {
        acceptor
            .read_tls(&mut data)
            .map_err(|error| error.to_string())?;
        match acceptor.accept() {
            Ok(None) => {}
            Ok(Some(accepted)) => {
                let said = accepted.client_hello();
                let alpn: Vec<Vec<u8>> = said
                    .alpn()
                    .map(|offers| offers.map(<[u8]>::to_vec).collect())
                    .unwrap_or_default();
                let http = alpn.is_empty() || alpn.iter().any(|offer| offer == HTTP);
                let signs = said
                    .signature_schemes()
                    .contains(&SignatureScheme::ECDSA_NISTP256_SHA256);
                let suite = said
                    .cipher_suites()
                    .iter()
                    .any(|suite| SUITES.contains(suite));
                return Ok(Some(Hello {
                    name: said.server_name().map(str::to_ascii_lowercase),
                    alpn,
                    fits: http && signs && suite,
                }));
            }
            Err((error, _)) => return Err(error.to_string()),
        }
    }
    Ok(None)
}

/// What a tunnel speaks with a certificate on a P-256 key.
const SUITES: [CipherSuite; 6] = [
    CipherSuite::TLS13_AES_128_GCM_SHA256,
    CipherSuite::TLS13_AES_256_GCM_SHA384,
    CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
];
