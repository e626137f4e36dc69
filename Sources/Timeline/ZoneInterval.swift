/// A stretch of time in which a zone's offset does not change.
public struct ZoneInterval: Hashable, Sendable {
    /// The first second, since the epoch; `Int64.min` when there is no change before.
    public var startSeconds: Int64

    /// The second of the next change; `Int64.max` when there is none.
    public var endSeconds: Int64

    /// Seconds east of UTC.
    public var offsetSeconds: Int32

    @inlinable
    init(startSeconds: Int64, endSeconds: Int64, offsetSeconds: Int32) {
        self.startSeconds = startSeconds
        self.endSeconds = endSeconds
        self.offsetSeconds = offsetSeconds
    }

    /// Whether the second `seconds` after the epoch lies in it.
    @inlinable
    public func contains(seconds: Int64) -> Bool {
        seconds >= startSeconds && seconds < endSeconds
    }
}
