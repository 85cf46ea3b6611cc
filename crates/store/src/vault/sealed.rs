//! How a secret lies in the store: a byte that tells the format, and what belongs to it.

use model::SecretRef;
use zeroize::Zeroizing;

use super::VaultError;
use super::cipher::Cipher;
use super::wrapped::DataKeyId;

/// Encrypted with the master key itself, as the first versions did. It is read, and never written.
const DIRECT: u8 = 1;

/// Encrypted with a data key, whose id follows.
const ENVELOPED: u8 = 2;

pub(super) enum Sealed<'a> {
    Direct(&'a [u8]),
    Enveloped { id: DataKeyId, sealed: &'a [u8] },
}

impl<'a> Sealed<'a> {
    /// Nothing if it is of no format that we know.
    pub fn parse(stored: &'a [u8]) -> Option<Sealed<'a>> {
        match stored.split_first()? {
            (&DIRECT, sealed) => Some(Sealed::Direct(sealed)),
            (&ENVELOPED, rest) => {
                let (id, sealed) = rest.split_first_chunk()?;
                Some(Sealed::Enveloped { id: DataKeyId::from_bytes(*id), sealed })
            }
            _ => None,
        }
    }
}

/// The name is bound, so that one secret cannot be put in the place of another.
pub(super) fn seal(id: DataKeyId, cipher: &Cipher, name: &SecretRef, plaintext: &[u8]) -> Result<Vec<u8>, VaultError> {
    let sealed = cipher.seal(&bound_to(id, name), plaintext)?;
    Ok([[ENVELOPED].as_slice(), &id.to_bytes(), &sealed].concat())
}

pub(super) fn unseal(id: DataKeyId, cipher: &Cipher, name: &SecretRef, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    cipher.unseal(&bound_to(id, name), sealed)
}

pub(super) fn unseal_direct(cipher: &Cipher, name: &SecretRef, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    cipher.unseal(name.as_str().as_bytes(), sealed)
}

/// The format and the data key's id are bound too: neither can be exchanged without notice.
fn bound_to(id: DataKeyId, name: &SecretRef) -> Vec<u8> {
    [[ENVELOPED].as_slice(), &id.to_bytes(), name.as_str().as_bytes()].concat()
}

#[cfg(test)]
pub(super) fn seal_direct(cipher: &Cipher, name: &SecretRef, plaintext: &[u8]) -> Vec<u8> {
    [[DIRECT].as_slice(), &cipher.seal(name.as_str().as_bytes(), plaintext).unwrap()].concat()
}
