//! What all tunnels of an engine share: certificates for clients, and whom servers must be vouched for by.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// The one protocol that is spoken in a tunnel.
pub(super) const HTTP: &[u8] = b"http/1.1";

pub struct Terms {
    leaves: Mutex<HashMap<String, Arc<ServerConfig>>>,
    upstream: Arc<ClientConfig>,
}

impl Terms {
    /// `bundle` are the authorities that servers' certificates must chain to, as PEM. One that cannot be read
    /// vouches for nobody.
    pub fn new(bundle: &[u8]) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(bundle).flatten() {
            roots.add(certificate).ok();
        }
        let mut upstream = ClientConfig::builder_with_provider(ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        upstream.alpn_protocols = vec![HTTP.to_vec()];
        upstream.enable_early_data = false;
        // A session that is resumed shows no certificate: one that has changed since would pass unseen.
        upstream.resumption = Resumption::disabled();
        Ok(Self {
            leaves: Mutex::default(),
            upstream: Arc::new(upstream),
        })
    }

    /// Show clients that ask for `name` this certificate: its chain in DER, leaf first, and its key in PKCS #8.
    pub fn add_leaf(&self, name: &str, chain: Vec<Vec<u8>>, key: Vec<u8>) -> Result<(), String> {
        let chain = chain.into_iter().map(CertificateDer::from).collect();
        let mut config = ServerConfig::builder_with_provider(ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_no_client_auth()
            .with_single_cert(chain, PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key)))
            .map_err(|error| error.to_string())?;
        config.alpn_protocols = vec![HTTP.to_vec()];
        config.send_tls13_tickets = 1;
        config.max_early_data_size = 0;
        self.leaves
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name.to_owned(), Arc::new(config));
        Ok(())
    }

    /// Forget a certificate.
    pub fn drop_leaf(&self, name: &str) {
        self.leaves
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
    }

    pub(super) fn leaf(&self, name: &str) -> Option<Arc<ServerConfig>> {
        self.leaves
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned()
    }

    pub(super) fn upstream(&self) -> Arc<ClientConfig> {
        self.upstream.clone()
    }
}
