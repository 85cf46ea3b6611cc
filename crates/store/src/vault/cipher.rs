//! The authenticated cipher that both layers use: XChaCha20-Poly1305 with a random nonce, which stands before the ciphertext.

use chacha20poly1305::aead::{Aead, Generate, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use super::VaultError;
use super::key::Key;

const NONCE_BYTES: usize = 24;

/// Forgets its key when it is dropped.
pub(super) struct Cipher(XChaCha20Poly1305);

impl Cipher {
    pub fn new(key: &Key) -> Cipher {
        Cipher(XChaCha20Poly1305::new(key.bytes().into()))
    }

    /// `bound` is not stored; whoever unseals must know it.
    pub fn seal(&self, bound: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, VaultError> {
        let nonce = XNonce::try_generate().map_err(|_| VaultError::Randomness)?;
        let payload = Payload { msg: plaintext, aad: bound };
        let ciphertext = self.0.encrypt(&nonce, payload).map_err(|_| VaultError::TooLarge)?;
        Ok([nonce.as_slice(), &ciphertext].concat())
    }

    /// Nothing if it was sealed with another key or bound to something else, or was altered.
    pub fn unseal(&self, bound: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, ciphertext) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg: ciphertext, aad: bound };
        self.0.decrypt(&XNonce::from(*nonce), payload).map(Zeroizing::new).ok()
    }
}
