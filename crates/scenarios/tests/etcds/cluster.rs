//! Three etcds on this computer: reached by clients over TLS, which knows them by certificates, and in plain text by a writer.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use etcd::{EtcdCluster, Tls, Transport};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use tempfile::TempDir;
use zeroize::Zeroizing;

pub const NAMES: [&str; 3] = ["rack1control01", "rack2control01", "rack3control01"];

/// How long a program may take to listen.
const START_TIMEOUT: Duration = Duration::from_secs(30);

type Issuer = CertifiedIssuer<'static, KeyPair>;

/// One etcd, running or not.
struct Server {
    name: &'static str,
    client: u16,
    plain: u16,
    peer: u16,
    child: Option<Child>,
}

pub struct Etcds {
    program: PathBuf,
    folder: TempDir,
    servers: Vec<Server>,
    pub cluster: EtcdCluster,
}

impl Drop for Etcds {
    fn drop(&mut self) {
        self.servers.iter_mut().for_each(Server::kill);
    }
}

impl Server {
    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn peer_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.peer)
    }
}

impl Etcds {
    /// Three that have found each other.
    pub async fn start() -> Etcds {
        let program = tokio::task::spawn_blocking(|| scenarios::peer("etcd")).await.unwrap();
        let folder = TempDir::new().unwrap();
        let cluster_tls = write_certificates(folder.path());
        // All are held until all are known, so that no two are the same.
        let held: Vec<TcpListener> = (0..9).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<u16> = held.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
        drop(held);
        let server =
            |(name, ports): (&&'static str, &[u16])| Server { name, client: ports[0], plain: ports[1], peer: ports[2], child: None };
        let servers: Vec<Server> = NAMES.iter().zip(ports.chunks(3)).map(server).collect();
        let endpoints = servers.iter().map(|server| format!("https://127.0.0.1:{}", server.client).parse().unwrap());
        let cluster = EtcdCluster::new(Transport::tls(&cluster_tls).unwrap(), endpoints);
        let mut etcds = Etcds { program, folder, servers, cluster };
        let members = etcds.initial_cluster();
        for index in 0..NAMES.len() {
            etcds.spawn(index, "new", &members);
        }
        for index in 0..NAMES.len() {
            etcds.await_port(index).await;
        }
        etcds
    }

    /// Where the writer reaches them.
    pub fn plain(&self) -> Vec<u16> {
        self.servers.iter().map(|server| server.plain).collect()
    }

    pub fn plain_of(&self, name: &str) -> u16 {
        self.servers[self.index(name)].plain
    }

    pub fn peer_url(&self, name: &str) -> String {
        self.servers[self.index(name)].peer_url()
    }

    fn index(&self, name: &str) -> usize {
        self.servers.iter().position(|server| server.name == name).unwrap()
    }

    fn data(&self, index: usize) -> PathBuf {
        self.folder.path().join(self.servers[index].name)
    }

    /// Ends one at once, without a word.
    pub fn kill(&mut self, name: &str) {
        let index = self.index(name);
        self.servers[index].kill();
    }

    /// Ends one and takes away what it wrote.
    pub fn wipe(&mut self, name: &str) {
        self.kill(name);
        fs::remove_dir_all(self.data(self.index(name))).unwrap();
    }

    /// Starts one as a member of the cluster that there is: with nothing, or with what it wrote before it was killed.
    pub async fn join(&mut self, name: &str, members: &str) {
        let index = self.index(name);
        self.spawn(index, "existing", members);
        self.await_port(index).await;
    }

    /// All three, as etcd wants to be told of them.
    pub fn initial_cluster(&self) -> String {
        let members: Vec<String> = self.servers.iter().map(|server| format!("{}={}", server.name, server.peer_url())).collect();
        members.join(",")
    }

    fn spawn(&mut self, index: usize, state: &str, members: &str) {
        let (data, folder) = (self.data(index), self.folder.path().to_owned());
        let server = &mut self.servers[index];
        let clients = format!("https://127.0.0.1:{},http://127.0.0.1:{}", server.client, server.plain);
        let log = fs::File::create(folder.join(format!("{}.log", server.name))).unwrap();
        let pem = |file: &str| folder.join(file).into_os_string();
        let child = Command::new(&self.program)
            .args(["--name", server.name, "--initial-cluster", members, "--initial-cluster-state", state])
            .args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients])
            .args(["--listen-peer-urls", &server.peer_url(), "--initial-advertise-peer-urls", &server.peer_url()])
            .args(["--heartbeat-interval", "50", "--election-timeout", "500", "--log-level", "warn"])
            .args(["--client-cert-auth", "--data-dir"])
            .arg(data)
            .args([
                "--trusted-ca-file".into(),
                pem("ca.pem"),
                "--cert-file".into(),
                pem("server.pem"),
                "--key-file".into(),
                pem("server-key.pem"),
            ])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("etcd starts");
        server.child = Some(child);
    }

    async fn await_port(&mut self, index: usize) {
        let log = self.folder.path().join(format!("{}.log", self.servers[index].name));
        let server = &mut self.servers[index];
        let port = server.plain;
        let listening = async {
            while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                if let Some(status) = server.child.as_mut().unwrap().try_wait().unwrap() {
                    panic!("{} ended with {status}: {}", server.name, fs::read_to_string(&log).unwrap());
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(START_TIMEOUT, listening).await.expect("etcd listens");
    }
}

/// A CA, the members' certificate and ours. The gateway calls its own member as a client, and so needs a certificate for both sides.
fn write_certificates(folder: &Path) -> Tls {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, "etcd-ca");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let both = [ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let (server, server_key) = signed("127.0.0.1", &both, &issuer);
    let (ours, our_key) = signed("rackwright", &both[1..], &issuer);
    fs::write(folder.join("ca.pem"), issuer.pem()).unwrap();
    fs::write(folder.join("server.pem"), server).unwrap();
    fs::write(folder.join("server-key.pem"), server_key).unwrap();
    Tls::new(issuer.pem().as_bytes(), ours.as_bytes(), Zeroizing::new(our_key.into_bytes())).unwrap()
}

fn signed(host: &str, usages: &[ExtendedKeyUsagePurpose], issuer: &Issuer) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([host.to_owned()]).unwrap();
    params.extended_key_usages = usages.to_vec();
    (params.signed_by(&key, issuer).unwrap().pem(), key.serialize_pem())
}
