//! A private certificate authority, and a TLS server with a certificate from it.

use std::net::SocketAddr;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// A certificate authority that no system trusts.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A TLS server in front of a plain HTTP upstream. Dropping it closes it.
pub struct Front {
    pub address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl Authority {
    #[expect(clippy::new_without_default, reason = "each one is another")]
    pub fn new() -> Self {
        let mut params = CertificateParams::new([]).expect("there is no name to get wrong");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "The authority of a scenario");
        let key = KeyPair::generate().expect("a key can be made");
        Self(CertifiedIssuer::self_signed(params, key).expect("it signs itself"))
    }

    /// The certificate file that makes a client trust it.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A TLS server in front of an upstream, with a certificate for `name` and for this machine.
    pub async fn front(&self, name: &str, upstream: &str) -> Front {
        let target = upstream.trim_start_matches("http://").split('/').next();
        let target: SocketAddr = target.and_then(|it| it.parse().ok()).expect("an address");
        let acceptor = TlsAcceptor::from(Arc::new(self.server(name)));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                connections.spawn(relay(acceptor.clone(), client, target));
                while connections.try_join_next().is_some() {}
            }
        });
        Front { address, _tasks: tasks }
    }

    fn server(&self, name: &str) -> ServerConfig {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let names = vec![name.to_owned(), "127.0.0.1".to_owned()];
        let params = CertificateParams::new(names).expect("these are names");
        let key = KeyPair::generate().expect("a key can be made");
        let certificate = params.signed_by(&key, &self.0).expect("the authority signs");
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate and its key")
    }
}

async fn relay(acceptor: TlsAcceptor, client: TcpStream, target: SocketAddr) {
    // A client that does not trust the certificate disconnects.
    let Ok(mut client) = acceptor.accept(client).await else { return };
    if let Ok(mut upstream) = TcpStream::connect(target).await {
        let _ = copy_bidirectional(&mut client, &mut upstream).await;
    }
}
