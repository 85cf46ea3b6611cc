//! Streams that end before their time, because who sends them has gone or has forgotten them.

use std::io;

use axum::body::Body;
use bytes::Bytes;
use futures::{StreamExt, stream};
use world::World;

use super::reset;
use crate::site::Site;

/// How a stream is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// As if all had been said.
    Silently,
    /// The connection breaks.
    Hard,
}

/// The same body, until the world says that it is cut.
pub(super) fn until_cut(body: Body, site: Site, is_cut: impl Fn(&World) -> Option<Cut> + Send + Sync + 'static) -> Body {
    let changes = site.inner.fault_revision.subscribe();
    let state = Some((body.into_data_stream(), changes));
    let is_cut = std::sync::Arc::new(is_cut);
    Body::from_stream(stream::unfold(state, move |state| {
        let (site, is_cut) = (site.clone(), is_cut.clone());
        async move {
            let (mut chunks, mut changes) = state?;
            loop {
                changes.mark_unchanged();
                match site.look(|world| is_cut(world)) {
                    Some(Cut::Silently) => return None,
                    Some(Cut::Hard) => return Some((Err(reset()), None)),
                    None => {}
                }
                tokio::select! {
                    biased;
                    _ = changes.changed() => {}
                    chunk = chunks.next() => {
                        let chunk: Result<Bytes, io::Error> = chunk?.map_err(io::Error::other);
                        return Some((chunk, Some((chunks, changes))));
                    }
                }
            }
        }
    }))
}
