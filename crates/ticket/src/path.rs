//! Where the install face serves what a machine is started from. Whoever asks a BMC to fetch it and whoever serves it mean the
//! same path, so it is made in one place.

use model::Attempt;
use zeroize::Zeroizing;

use crate::key::{InstallKey, Purpose};

/// Under which the install face serves everything.
pub const PREFIX: &str = "/install/v1";

/// What stands for the secret part of a URL where the URL is shown.
const REDACTED: &str = "***";

/// The image for virtual media. It has a secret in it.
pub fn media_path(key: &InstallKey, attempt: &Attempt) -> Zeroizing<String> {
    secret_path(key, attempt, "media", "agent.iso")
}

/// What UEFI fetches over HTTP. It has a secret in it.
pub fn http_path(key: &InstallKey, attempt: &Attempt) -> Zeroizing<String> {
    secret_path(key, attempt, "http", "boot.efi")
}

fn secret_path(key: &InstallKey, attempt: &Attempt, way: &str, file: &str) -> Zeroizing<String> {
    let Attempt { cluster, operation, round, .. } = attempt;
    let secret = key.token(Purpose::Media, attempt);
    Zeroizing::new(format!("{PREFIX}/{way}/{}/{operation}/{round}/{}/{file}", cluster.key(), *secret))
}

/// What PXE fetches, by the MAC that it boots with.
pub fn pxe_path(boot_mac: &str) -> String {
    format!("{PREFIX}/pxe/{}", boot_mac.to_ascii_lowercase())
}

/// Where the agent of an attempt exchanges its token. What follows on it is beside it.
pub fn exchange_path(attempt: &Attempt) -> String {
    let Attempt { cluster, operation, round, .. } = attempt;
    format!("{PREFIX}/attempts/{}/{operation}/{round}/exchange", cluster.key())
}

/// Where the agent of an attempt fetches the image that it writes.
pub fn image_path(attempt: &Attempt) -> String {
    let Attempt { cluster, operation, round, .. } = attempt;
    format!("{PREFIX}/attempts/{}/{operation}/{round}/image", cluster.key())
}

/// A URL of ours without its secret; any other as it is. What a BMC says is in its virtual drive is shown like this.
pub fn without_secret(url: &str) -> String {
    let secret_at = |parts: &[&str]| {
        let install = parts.windows(2).position(|pair| pair == ["install", "v1"])?;
        let way = parts.get(install + 2)?;
        matches!(*way, "media" | "http").then_some(install + 6)
    };
    let mut parts: Vec<&str> = url.split('/').collect();
    if let Some(secret) = secret_at(&parts).and_then(|at| parts.get_mut(at)) {
        *secret = REDACTED;
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::tests::{attempt, key};

    #[test]
    fn a_path_has_the_secret_of_its_attempt_which_is_left_out_where_it_is_shown() {
        for (path, shown) in [
            (media_path(&key(), &attempt()), "http://10.0.0.1:8/install/v1/media/site1/8f3c/1/***/agent.iso"),
            (http_path(&key(), &attempt()), "http://10.0.0.1:8/install/v1/http/site1/8f3c/1/***/boot.efi"),
        ] {
            let secret = path.split('/').nth_back(1).unwrap();
            assert!(key().verify(Purpose::Media, &attempt(), secret));
            let url = format!("http://10.0.0.1:8{}", *path);
            assert_eq!(without_secret(&url), shown);
        }
    }

    #[test]
    fn what_has_no_secret_of_ours_is_shown_as_it_is() {
        for url in ["", "http://images/debian.iso", "http://x/install/v1/pxe/aa:bb", "http://x/install/v1/media/site1"] {
            assert_eq!(without_secret(url), url);
        }
        assert_eq!(pxe_path("AA:BB:cc:00:11:22"), "/install/v1/pxe/aa:bb:cc:00:11:22");
        assert_eq!(exchange_path(&attempt()), "/install/v1/attempts/site1/8f3c/1/exchange");
        assert_eq!(image_path(&attempt()), "/install/v1/attempts/site1/8f3c/1/image");
    }
}
