//! What somebody came in with who stays longer than a request takes. Meanwhile it may expire, and who it was given to may be disabled.

use std::sync::Arc;

use gate::Gate;
use zeroize::Zeroizing;

use super::bearer;
use crate::Api;
use crate::call::Call;
use crate::reply::Refused;

pub(crate) struct Badge {
    gate: Arc<Gate>,
    token: Zeroizing<String>,
}

impl Badge {
    /// The badge of somebody who was let in.
    pub fn of(api: &Api, call: &Call) -> Result<Badge, Refused> {
        let token = bearer(call.headers()).ok_or_else(Refused::internal)?;
        Ok(Badge { gate: api.gate.clone(), token: Zeroizing::new(token.to_owned()) })
    }

    /// Whether it would still let them in.
    pub fn is_good(&self) -> bool {
        self.gate.authenticate(&self.token).is_ok()
    }
}
