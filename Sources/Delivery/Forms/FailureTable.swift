/// What answers that are no success mean: the first row that fits decides.
///
/// The one shape for all forms, whatever an answer is: a status, the name of an error, an exit code.
package struct FailureTable<Answer: Sendable>: Sendable {
    /// What to do after an answer.
    package enum Consequence: Hashable, Sendable {
        /// The receiver may take it another time.
        case retry
        /// It will never take this one.
        case giveUp
        /// Nobody was there to take it, and nothing was sent.
        case unreachable
    }

    /// What some answers mean.
    package struct Row: Sendable {
        /// The answers.
        package let fits: @Sendable (Answer) -> Bool
        /// What to do.
        package let consequence: Consequence
        /// Why.
        package let reason: DeliveryReason
        /// How long to wait at least before the next attempt, where the answer does not say.
        package let after: Duration?

        /// A row.
        package init(
            _ consequence: Consequence, _ reason: DeliveryReason, after: Duration? = nil,
            _ fits: @escaping @Sendable (Answer) -> Bool
        ) {
            self.fits = fits
            self.consequence = consequence
            self.reason = reason
            self.after = after
        }
    }

    /// The rows, in the order in which they are asked.
    package let rows: [Row]
    /// What an answer means that no row fits.
    package let otherwise: Row

    /// A table of these rows.
    package init(_ rows: [Row], otherwise consequence: Consequence, _ reason: DeliveryReason) {
        self.rows = rows
        otherwise = Row(consequence, reason) { _ in true }
    }

    /// The same, with rows of a form's own before all others.
    package func preceded(by rows: [Row]) -> FailureTable {
        FailureTable(rows + self.rows, otherwise: otherwise.consequence, otherwise.reason)
    }

    /// What `answer` means.
    ///
    /// `asked` is the wait that the answer asks for. `detail` is one line without secrets.
    package func judge(
        _ answer: Answer, asked: Duration? = nil, detail: String, status: Int? = nil
    ) -> DeliveryError {
        let row = rows.first { $0.fits(answer) } ?? otherwise
        switch row.consequence {
        case .retry: return .retry(row.reason, after: asked ?? row.after, detail: detail, status: status)
        case .giveUp: return .giveUp(row.reason, detail: detail, status: status)
        case .unreachable: return .unreachable(row.reason, detail: detail)
        }
    }
}

extension FailureTable.Row where Answer == Int {
    /// A row of the statuses of a range.
    package init(
        _ statuses: ClosedRange<Int>, _ consequence: FailureTable<Int>.Consequence, _ reason: DeliveryReason
    ) {
        self.init(consequence, reason) { statuses.contains($0) }
    }
}

extension FailureTable where Answer == Int {
    /// What the statuses of HTTP mean where a service has no rules of its own.
    ///
    /// - Source: RFC 9110, section 15; Standard Webhooks 1.0.0 (410 disables, redirects are failures).
    package static var http: FailureTable {
        FailureTable(
            [
                Row(300...399, .giveUp, .redirected),
                Row(408...408, .retry, .askedAgain),
                Row(410...410, .giveUp, .gone),
                Row(425...425, .retry, .askedAgain),
                Row(429...429, .retry, .throttled),
                Row(400...499, .giveUp, .rejected),
                Row(500...599, .retry, .serverError),
            ], otherwise: .retry, .badAnswer)
    }
}
