package import Grouping

/// A channel that edits in place: it is given what one item should look like now, and nights without it
/// replay nothing.
package protocol LevelChannel: Channel {
    /// Serves the connection until the task is cancelled. Comes back by itself when the server does.
    func run() async throws

    /// Shows `notice`, in the place of `remote` when that still stands.
    ///
    /// A `remote` of an earlier generation is ignored and a new thing is shown.
    /// - Returns: what the server calls it now.
    /// - Throws: `.unreachable` when no server is there (wait for ``SurfaceSignal/available(generation:)``),
    ///   `.retry` when it was there and refused for now, `.giveUp` when it never will take this notice.
    ///   After `.unreachable(.timeout)` the notice may still be shown: ``SurfaceSignal/answered(_:revision:_:)``
    ///   says so before the channel is available again.
    func show(_ notice: Notice, replacing remote: RemoteID?) async throws(DeliveryError) -> RemoteID

    /// Looks for its server now, if it would only do so after a pause.
    func retryNow() async

    /// Takes back what was shown; does nothing when it no longer exists.
    func close(_ remote: RemoteID) async

    /// What the channel reports, in order, for one reader, from ``run()`` on.
    var signals: AsyncStream<SurfaceSignal> { get }
}

/// What a level channel reports on its own account.
package enum SurfaceSignal: Hashable, Sendable {
    /// A server is there; ids of any other generation are void. Sent again when the server changes.
    case available(generation: String)
    /// No server, although one was there or ought to be, with a sentence saying why. Becomes `.available` when one
    /// appears.
    case unavailable(String)
    /// There is no desktop, and none was seen so far, with a sentence saying why. Becomes `.available` when one appears.
    case absent(String)
    /// Something we showed was closed; its id is void from here on. `revision` is what it showed then, where the
    /// channel knows: a newer one may be on its way there.
    case closed(RemoteID, CloseReason, revision: Int?)
    /// The answer to `show` that came after `show` gave up waiting: what shows that revision now, or why nothing
    /// does.
    case answered(ItemKey, revision: Int, Result<RemoteID, DeliveryError>)
    /// A person pressed a button; `key` is that of the ``NoticeAction``.
    case action(RemoteID, key: String)
}

/// Why something is no longer shown.
///
/// - Source: Desktop Notifications Specification 1.3, `NotificationClosed`.
package enum CloseReason: String, Hashable, Codable, Sendable, CaseIterable {
    /// Its time was over, or the server made room: gone from the screen, still unread.
    case expired
    /// A person closed it: read.
    case dismissed
    /// We asked for it.
    case closedByUs
    /// The server does not say: treated as still unread.
    case undefined
}
