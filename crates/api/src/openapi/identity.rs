//! What clients ask before they have a token.

use http::Method;

use super::described::Content::{Document, Nothing};
use super::described::{Described, get};

const IDENTITY: &str = "Identity";

pub(super) fn all() -> Vec<Described> {
    let discovery = |id: &str, path: &str| get(IDENTITY, id, path, "Where a token can be had, as OpenID Connect tells it.", Document);
    let token = |id: &str, path: &str| {
        Described::new(Method::POST, IDENTITY, id, path, "A token for a client id and its secret, or an assertion, sent as a form.")
            .answered(200, "The token, and for how many seconds it is good.", Document)
            .answered(400, "The form is not understood, or asks for what is not granted.", Document)
            .answered(401, "The client is not who it says.", Document)
            .answered(429, "Too many attempts.", Document)
    };
    let device = |id: &str, path: &str| {
        Described::new(Method::POST, IDENTITY, id, path, "Begins the login of a device that has no browser.")
            .answered(200, "The codes of the device and of the person.", Document)
            .refused(&[429])
    };
    vec![
        get(IDENTITY, "metadataEndpoints", "/metadata/endpoints", "Where everything is, for Azure's clients.", Document),
        discovery("openIdConfiguration", "/adfs/.well-known/openid-configuration"),
        discovery("openIdConfigurationOfTenant", "/adfs/{tenantId}/.well-known/openid-configuration"),
        discovery("openIdConfigurationOfTenantV2", "/adfs/{tenantId}/v2.0/.well-known/openid-configuration"),
        get(IDENTITY, "signingKeys", "/adfs/discovery/keys", "The public keys of tokens.", Document),
        token("token", "/adfs/oauth2/token"),
        token("tokenV2", "/adfs/oauth2/v2.0/token"),
        device("deviceCode", "/adfs/oauth2/devicecode"),
        device("deviceCodeV2", "/adfs/oauth2/v2.0/devicecode"),
        Described::new(
            Method::POST,
            IDENTITY,
            "approveDevice",
            "/rackwright/v1/deviceLogins/{userCode}/approve",
            "Says that a device is the caller's own.",
        )
        .answered(200, "The device is logged in as the caller.", Document)
        .refused(&[404]),
        get(IDENTITY, "listIssuers", "/rackwright/v1/issuers", "The issuers that are trusted to know people.", Document),
        Described::new(Method::PUT, IDENTITY, "putIssuer", "/rackwright/v1/issuers/{issuerName}", "Trusts an issuer to know people.")
            .answered(200, "It is trusted.", Document)
            .refused(&[400, 503]),
        Described::new(Method::DELETE, IDENTITY, "deleteIssuer", "/rackwright/v1/issuers/{issuerName}", "Trusts an issuer no more.")
            .answered(204, "It is gone.", Nothing)
            .refused(&[404, 503]),
    ]
}
