"""Who asks: logins and tokens."""

from azure.core.exceptions import ClientAuthenticationError
from azure.identity import ClientSecretCredential

from checks import Token


def run(checks):
    def refused(credential):
        try:
            checks.make_client(credential=credential).racks.get(checks.group, "rack1")
        except ClientAuthenticationError as problem:
            return " ".join(str(problem).split())
        raise AssertionError("it was let in")

    def wrong_secret():
        credential = ClientSecretCredential(
            "adfs", checks.credential._client_id, "wrong", authority=checks.base, connection_verify=checks.ca
        )
        said = refused(credential)
        assert "its secret or its assertion is not right" in said, said
        return said[:110]

    def own_scope():
        """The SDK asks for a token for Azure unless it is told the address."""
        scope = [f"{checks.base}/.default"]
        assert checks.make_client(credential_scopes=scope).racks.get(checks.group, "rack1").name == "rack1"

    checks.refused(
        "a token that is none", ClientAuthenticationError, 401, "InvalidAuthenticationToken",
        lambda: checks.make_client(credential=Token("nonsense")).racks.get(checks.group, "rack1"),
    )
    checks.check("a secret that is wrong", wrong_secret)
    checks.check("a token for our own address", own_scope)
