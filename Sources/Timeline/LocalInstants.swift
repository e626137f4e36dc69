/// The moments at which clocks of a zone show one local time.
public enum LocalInstants: Hashable, Sendable {
    /// They show it once.
    case unique(Moment)

    /// They never show it: at `transition` the clock was moved forward by `size`, over it.
    case gap(transition: Moment, size: Duration)

    /// They show it twice: the clock was moved back in between.
    case overlap(first: Moment, second: Moment)

    /// The earliest of them; for a missing local time the first moment after the gap.
    public var first: Moment {
        switch self {
        case .unique(let moment), .gap(let moment, _), .overlap(let moment, _): moment
        }
    }
}
