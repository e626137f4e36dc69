package import Grouping

/// What a level channel reports on its own account.
package enum SurfaceSignal: Hashable, Sendable {
    /// A server is there; ids of any other generation are void. Sent again when the server changes.
    case available(generation: String)
    /// No server, with a sentence saying why. Becomes `.available` when one appears.
    case unavailable(String)
    /// Something we showed was closed; its id is void from here on. `revision` is what it showed then, where the
    /// channel knows: a newer one may be on its way there.
    case closed(RemoteID, CloseReason, revision: Int?)
    /// The answer to `show` that came after `show` gave up waiting: what shows that revision now, or why nothing
    /// does.
    case answered(ItemKey, revision: Int, Result<RemoteID, DeliveryError>)
    /// A person pressed a button; `key` is that of the ``NoticeAction``.
    case action(RemoteID, key: String)
}
