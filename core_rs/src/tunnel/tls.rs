//! One end of a TLS connection.

use std::io::{Read, Write};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{
    AlertDescription, ClientConfig, ClientConnection, Connection, Error, ProtocolVersion,
    ServerConfig, ServerConnection,
};

pub struct Tls {
    end: Connection,
    is_server: bool,
    open: bool,
    spoke: bool,
}

/// What came of the bytes of the other end.
#[derive(Default)]
pub struct Said {
    /// The handshake has just been done.
    pub opened: bool,
    pub closed: bool,
    pub failed: Option<String>,
}

impl Tls {
    pub fn server(config: Arc<ServerConfig>) -> Result<Self, String> {
        let end = ServerConnection::new(config).map_err(|error| error.to_string())?;
        Ok(Self::new(end.into(), true))
    }

    pub fn client(config: Arc<ClientConfig>, name: &str) -> Result<Self, String> {
        let name = ServerName::try_from(name.to_owned()).map_err(|error| error.to_string())?;
        let end = ClientConnection::new(config, name).map_err(|error| error.to_string())?;
        Ok(Self::new(end.into(), false))
    }

    fn new(mut end: Connection, is_server: bool) -> Self {
        end.set_buffer_limit(None);
        Self {
            end,
            is_server,
            open: false,
            spoke: false,
        }
    }

    /// Bytes came; what is plain in them is appended to `plain`.
    pub fn receive(&mut self, mut data: &[u8], plain: &mut Vec<u8>) -> Said {
        let mut said = Said::default();
        while !data.is_empty() {
            let state = match self.end.read_tls(&mut data) {
                Ok(0) => break, // it has ended its TLS: what follows is not looked at
                Ok(_) => self.end.process_new_packets(),
                Err(error) => {
                    said.failed = Some(error.to_string());
                    return said;
                }
            };
            match state {
                Ok(state) => {
                    let (at, size) = (plain.len(), state.plaintext_bytes_to_read());
                    plain.resize(at + size, 0);
                    let got = self.end.reader().read(&mut plain[at..]).unwrap_or(0);
                    plain.truncate(at + got);
                    said.closed = state.peer_has_closed();
                }
                Err(error) => {
                    self.spoke = true; // the alert goes out
                    said.failed = Some(named(&error));
                    return said;
                }
            }
        }
        if !self.open && !self.end.is_handshaking() {
            self.open = true;
            said.opened = true;
        }
        said
    }

    /// Send plain bytes.
    pub fn send(&mut self, data: &[u8], out: &mut Vec<u8>) {
        self.spoke = true;
        self.end.writer().write_all(data).ok(); // the buffer has no limit
        self.drain(out);
    }

    /// Say that nothing more will be sent.
    pub fn close(&mut self, out: &mut Vec<u8>) {
        self.spoke = true;
        self.end.send_close_notify();
        self.drain(out);
    }

    /// What TLS has to say, unless that can wait: session tickets go out with the first answer (RFC 8446
    /// §4.6.1 allows any time). A client that reads in one thread and writes in another loses what it writes
    /// while a ticket is read, where its TLS library does not lock (Python before 3.13).
    pub fn drain(&mut self, out: &mut Vec<u8>) {
        let only_tickets = self.is_server
            && !self.spoke
            && !self.end.is_handshaking()
            && self.end.protocol_version() == Some(ProtocolVersion::TLSv1_3);
        if only_tickets {
            return;
        }
        while self.end.wants_write() {
            if self.end.write_tls(out).is_err() {
                return; // a vector takes everything
            }
        }
    }
}

/// What went wrong, the alerts of a client that does not take a certificate as OpenSSL names them.
fn named(error: &Error) -> String {
    let Error::AlertReceived(alert) = error else {
        return error.to_string();
    };
    match alert {
        AlertDescription::UnknownCA => "unknown ca".to_owned(),
        AlertDescription::BadCertificate => "bad certificate".to_owned(),
        AlertDescription::CertificateUnknown => "certificate unknown".to_owned(),
        AlertDescription::UnsupportedCertificate => "unsupported certificate".to_owned(),
        AlertDescription::CertificateExpired => "certificate expired".to_owned(),
        AlertDescription::CertificateRevoked => "certificate revoked".to_owned(),
        _ => error.to_string(),
    }
}
