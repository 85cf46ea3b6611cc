//! How the driver gets a user name and a password: from its caller, at the moment of use.

use std::fmt;

use model::Fault;
use zeroize::Zeroizing;

/// Resolves the login of one BMC.
///
/// It is asked at each login rather than held, so that a password lives in this crate no longer than the request
/// that carries it, and a rotated password is picked up without telling anybody.
#[async_trait::async_trait]
pub trait Credentials: Send + Sync + 'static {
    async fn login(&self) -> Result<Login, Fault>;
}

/// A user name and a password. The password is wiped when dropped and never printed.
#[derive(Clone)]
pub struct Login {
    pub user: String,
    pub password: Zeroizing<String>,
}

impl Login {
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Login { user: user.into(), password: Zeroizing::new(password.into()) }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_does_not_print_its_password() {
        let printed = format!("{:?}", Login::new("root", "calvin"));
        assert_eq!(printed, "Login { user: \"root\", .. }");
    }
}
