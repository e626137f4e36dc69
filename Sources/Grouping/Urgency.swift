/// How much a notice may disturb, from `low` to `critical`.
public enum Urgency: String, Hashable, Codable, Sendable, CaseIterable, Comparable {
    /// Listed, never rings.
    case low
    /// Rings once; the default.
    case normal
    /// Sent without waiting, and stays on the screen until a person closes it.
    case critical

    /// Less disturbing urgencies are smaller.
    public static func < (left: Urgency, right: Urgency) -> Bool { left.level < right.level }

    /// 0, 1 or 2: the byte of the desktop's `urgency` hint.
    public var level: UInt8 {
        switch self {
        case .low: 0
        case .normal: 1
        case .critical: 2
        }
    }
}
