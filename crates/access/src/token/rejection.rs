//! Why a token is not taken.

/// The client reads it: nothing in it helps to forge one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("the token is longer than any of ours")]
    Oversized,
    #[error("this is no token: three parts in base64url with points between are meant")]
    Malformed,
    #[error("the token is not signed")]
    Unsigned,
    #[error("the token is signed with an algorithm that is not taken here")]
    OtherAlgorithm,
    #[error("the token demands an extension that is not known here")]
    UnknownExtension,
    #[error("the token is signed with a key that is not known, or no more; log in again")]
    UnknownKey,
    #[error("the token's signature is not its key's")]
    Forged,
    #[error("the token lacks a claim, or has one of another kind")]
    Claims,
    #[error("the token is of another issuer")]
    WrongIssuer,
    #[error("the token is meant for somebody else")]
    WrongAudience,
    #[error("the token is of another principal")]
    WrongSubject,
    #[error("the token has expired; log in again")]
    Expired,
    #[error("the token is not good yet; the clocks may differ")]
    NotYetValid,
    #[error("the token is good for longer than is taken here")]
    LivesTooLong,
    #[error("the assertion was shown from another address before; sign another")]
    Replayed,
    #[error("the service principal is disabled")]
    Disabled,
    #[error("the secret or certificate that was logged in with was taken away; log in with another")]
    CredentialRemoved,
    #[error("the certificate is not valid at this time; register another")]
    CertificateExpired,
}
