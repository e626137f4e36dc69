import Timeline

/// How far the warden is from its end.
struct WardenPhase {
    /// How long a warden that a daemon launched stays without run and daemon.
    static let idleTime = Duration.seconds(10)

    /// TERM came: it ends as soon as no run is left.
    var isEnding = false
    /// It starts nothing any more, because another warden is in charge.
    var isRetired = false
    /// The process it is tied to has ended: it ends now.
    var isCut = false
    /// Since when there is neither run nor daemon, since boot.
    private var idleSince: Duration?

    /// Notes whether there is neither run nor daemon.
    mutating func note(isIdle: Bool, at now: Duration) {
        idleSince = isIdle ? idleSince ?? now : nil
    }

    /// When it has been idle for long enough, since boot; nil: it is not idle.
    var idleDeadline: Duration? { idleSince.map { $0 + Self.idleTime } }
}
