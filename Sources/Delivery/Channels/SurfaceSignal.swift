/// What a level channel reports on its own account.
package enum SurfaceSignal: Hashable, Sendable {
    /// A server is there; ids of any other generation are void. Sent again when the server changes.
    case available(generation: String)
    /// No server, with a sentence saying why. Becomes `.available` when one appears.
    case unavailable(String)
    /// Something we showed is gone; its id is void from here on.
    case closed(RemoteID, CloseReason)
    /// A person pressed a button; `key` is that of the ``NoticeAction``.
    case action(RemoteID, key: String)
}
