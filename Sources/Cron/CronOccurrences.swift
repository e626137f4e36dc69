public import Timeline

/// The occurrences of an expression in a zone, one after the other, found as they are asked for.
public struct CronOccurrences: Sequence, Sendable {
    let expression: CronExpression
    let zone: ZoneRules
    let start: Moment
    let isForward: Bool

    /// Steps through the occurrences.
    public struct Iterator: IteratorProtocol {
        let sequence: CronOccurrences
        var current: Moment

        /// The following occurrence; `nil` when there is no more.
        public mutating func next() -> Moment? {
            let found =
                sequence.isForward
                ? sequence.expression.next(after: current, in: sequence.zone)
                : sequence.expression.previous(before: current, in: sequence.zone)
            if let found { current = found }
            return found
        }
    }

    /// Starts again at the sequence's own start.
    public func makeIterator() -> Iterator { Iterator(sequence: self, current: start) }
}

extension CronExpression {
    /// All occurrences strictly after `moment`, earliest first.
    public func occurrences(after moment: Moment, in zone: ZoneRules) -> CronOccurrences {
        CronOccurrences(expression: self, zone: zone, start: moment, isForward: true)
    }

    /// All occurrences strictly before `moment`, latest first.
    public func occurrences(before moment: Moment, in zone: ZoneRules) -> CronOccurrences {
        CronOccurrences(expression: self, zone: zone, start: moment, isForward: false)
    }

    /// The occurrences in `range`, earliest first; ``count(in:zone:)`` counts without listing them.
    public func occurrences(in range: Range<Moment>, zone: ZoneRules) -> some Sequence<Moment> {
        let start = Moment(microseconds: range.lowerBound.microseconds - 1)
        return occurrences(after: start, in: zone).prefix { $0 < range.upperBound }
    }
}
