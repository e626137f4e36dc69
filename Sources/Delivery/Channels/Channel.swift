package import Timeline

/// A way to a person or a program.
package protocol Channel: Sendable {
    /// The name it has in the config file.
    var name: String { get }
    /// Its form.
    var kind: ChannelKind { get }
}

/// A channel that edits in place: it is given what one item should look like now, and nights without it
/// replay nothing.
package protocol LevelChannel: Channel {
    /// Serves the connection until the task is cancelled. Comes back by itself when the server does.
    func run() async throws

    /// Shows `notice`, in the place of `remote` when that still stands.
    ///
    /// A `remote` of a generation that is gone is ignored and a new thing is shown.
    /// - Returns: what the server calls it now.
    /// - Throws: `.unreachable` when no server is there (wait for ``SurfaceSignal/available(generation:)``),
    ///   `.retry` when it was there and refused for now, `.giveUp` when it never will take this notice.
    ///   After `.unreachable(.timeout)` the notice may still be shown: ``SurfaceSignal/answered(_:revision:_:)``
    ///   says so before the channel is available again.
    func show(_ notice: Notice, replacing remote: RemoteID?) async throws(DeliveryError) -> RemoteID

    /// Looks for its server now, if it would only do so after a pause.
    func look() async

    /// Takes back what was shown; does nothing when it is gone already.
    func close(_ remote: RemoteID) async

    /// What the channel reports, in order, for one reader, from ``run()`` on.
    var signals: AsyncStream<SurfaceSignal> { get }
}

/// A channel that sends each thing once.
package protocol EdgeChannel: Channel {
    /// Stands for its address, its secrets and whom it may reach, and gives none of them away.
    ///
    /// What is known of a channel's troubles counts only for the same identity.
    var identity: String { get }

    /// Sends `parcel` one time, without a retry of its own.
    ///
    /// `now` goes into the signature and is another one on each attempt.
    /// - Returns: that it was accepted, with the status.
    /// - Throws: what became of it otherwise; see ``DeliveryError``.
    func deliver(_ parcel: Parcel, at now: Moment) async throws(DeliveryError) -> Receipt
}
