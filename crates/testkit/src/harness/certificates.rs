//! Certificates of an authority of the tests' own, in the files that a gate is given.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its functions do")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// An authority with an intermediate certificate, as on the web.
pub struct Authority {
    root: rcgen::Certificate,
    between: rcgen::Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM; the chain has the one in between too.
#[derive(Clone)]
pub struct Issued {
    pub chain: String,
    pub key: String,
}

impl Authority {
    pub fn new() -> Self {
        let (root_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let (root, between) = (authority("the tests' root"), authority("the tests' authority"));
        let root_issuer = Issuer::new(root.clone(), &root_key);
        Self {
            root: root.self_signed(&root_key).unwrap(),
            between: between.signed_by(&key, &root_issuer).unwrap(),
            issuer: Issuer::new(between, key),
        }
    }

    /// For these hosts, good for years.
    pub fn issue(&self, hosts: &[&str]) -> Issued {
        self.issue_until(hosts, 2090)
    }

    /// Good until the first day of this year.
    pub fn issue_until(&self, hosts: &[&str], year: i32) -> Issued {
        self.issue_with(hosts, &KeyPair::generate().unwrap(), (2020, year))
    }

    /// With a key of the caller's, from and until the first days of these years.
    pub fn issue_with(&self, hosts: &[&str], key: &KeyPair, (from, until): (i32, i32)) -> Issued {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "a shop");
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(until, 1, 1));
        let leaf = params.signed_by(key, &self.issuer).unwrap();
        Issued {
            chain: leaf.pem() + &self.between.pem(),
            key: key.serialize_pem(),
        }
    }

    /// The root, for programs.
    pub fn pem(&self) -> String {
        self.root.pem()
    }

    /// A client that trusts this authority, and speaks `http/1.1`.
    pub fn client(&self) -> ClientConfig {
        let builder = ClientConfig::builder().with_root_certificates(self.roots());
        let mut config = builder.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config
    }

    /// A client whose first flight is some hundred bytes long: without the large keys against quantum computers.
    pub fn short_client(&self) -> Arc<ClientConfig> {
        let provider = CryptoProvider {
            kx_groups: vec![aws_lc_rs::kx_group::X25519],
            ..aws_lc_rs::default_provider()
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(provider));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        Arc::new(builder.with_root_certificates(self.roots()).with_no_client_auth())
    }

    pub fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.der().clone()).unwrap();
        roots
    }

    pub fn shared_client(&self) -> Arc<ClientConfig> {
        Arc::new(self.client())
    }
}

impl Issued {
    /// Writes both files, `{name}.pem` and `{name}.key`; gives their paths.
    pub fn write(&self, folder: &Path, name: &str) -> (PathBuf, PathBuf) {
        let files = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
        std::fs::write(&files.0, &self.chain).unwrap();
        write_key(&files.1, &self.key);
        files
    }

    /// A server that shows it.
    pub fn server(&self) -> ServerConfig {
        let chain = CertificateDer::pem_slice_iter(self.chain.as_bytes());
        let chain = chain.collect::<Result<_, _>>().unwrap();
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap();
        let builder = ServerConfig::builder().with_no_client_auth();
        builder.with_single_cert(chain, key).unwrap()
    }

    /// The certificate alone, without the one that issued it.
    pub fn leaf(&self) -> &str {
        self.chain
            .split_inclusive("-----END CERTIFICATE-----\n")
            .next()
            .unwrap()
    }
}

/// Writes a key that its owner alone may read.
pub fn write_key(path: &Path, key: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, key).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}
