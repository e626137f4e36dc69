import Timeline

/// In which tick of the kernel's a process started, mostly known without asking for it.
///
/// A process that was started between two looks at the clock within one tick started in that tick. Whether the
/// kernel of this machine counts by that very clock is seen at the first such start; where it does not, it is
/// asked every time.
/// - Source: proc(5), field 22 of `/proc/pid/stat`; the clock is `CLOCK_BOOTTIME`.
struct StartTicks {
    private enum Trust {
        /// Becomes the one or the other at the first start within one tick.
        case open
        case proven, refuted
    }

    private let perSecond: Int
    private var trust = Trust.open

    init(perSecond: Int) {
        self.perSecond = perSecond
    }

    /// The tick of a start between the times `before` and `after`, since boot; `ask` asks the kernel.
    mutating func tick(from before: Duration, to after: Duration, ask: () -> UInt64?) -> UInt64 {
        let known = tick(before)
        guard known == tick(after), trust != .refuted else { return ask() ?? 0 }
        if trust == .proven { return known }
        guard let asked = ask() else { return 0 }
        trust = asked == known ? .proven : .refuted
        return asked
    }

    private func tick(_ time: Duration) -> UInt64 {
        let (seconds, rest) = Int(time.microseconds).quotientAndRemainder(dividingBy: 1_000_000)
        return UInt64(seconds * perSecond + rest * perSecond / 1_000_000)
    }
}
