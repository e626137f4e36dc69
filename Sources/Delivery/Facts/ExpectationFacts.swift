import Timeline
package import Tracking

// What facts of expectations hold.

extension Fact {
    /// That something did not report in time, or does again.
    package struct Expectation: FactContent {
        /// What is stored beside the columns.
        package struct Payload: Hashable, Codable, Sendable {
            /// When it reported last, in ISO 8601; absent: never.
            package var lastPing: String?
            /// When it was due, in ISO 8601; absent where a report itself is the news.
            package var dueAt: String?
            /// How long it was late, in whole seconds; of a recovery.
            package var outageSeconds: Int64?
            /// The last line that came with a report.
            package var message: String?

            /// What is known of its reports.
            package init(
                lastPing: String? = nil, dueAt: String? = nil, outageSeconds: Int64? = nil,
                message: String? = nil
            ) {
                self.lastPing = lastPing
                self.dueAt = dueAt
                self.outageSeconds = outageSeconds
                self.message = message
            }
        }

        /// The expectation's name.
        package var name: String
        /// Why it is late; nil: it is not.
        package var reason: LateReason?
        /// The rest; nil where the row can't be read.
        package var payload: Payload?

        /// What happened to it.
        package init(_ name: String, reason: LateReason?, _ payload: Payload?) {
            (self.name, self.reason, self.payload) = (name, reason, payload)
        }

        /// The content of its row.
        package init(_ columns: FactColumns, _ payload: Payload?) {
            self.init(
                columns.subject ?? "", reason: columns.reason.flatMap(LateReason.init), payload)
        }

        /// Its name and the reason.
        package var columns: FactColumns { FactColumns(reason: reason?.rawValue, subject: name) }

        /// It as webhooks show it.
        package var object: JSON {
            .object([
                "name": .string(name), "state": .string(reason == nil ? "up" : "late"),
                "lastPing": payload?.lastPing.map(JSON.string), "dueAt": payload?.dueAt.map(JSON.string),
                "outageSeconds": payload?.outageSeconds.map { .int(Int($0)) },
                "message": payload?.message.map(JSON.string),
            ])
        }

        /// What a person reads of it.
        package var notice: String {
            let said = payload?.message.map { ": \($0)" } ?? "."
            switch reason {
            case .overdue:
                let due = payload?.dueAt.map { " It was due at \($0) and" } ?? " It"
                let last = payload?.lastPing.map { "last reported at \($0)" } ?? "has never reported"
                return "\(name) did not report in time.\(due) \(last)."
            case .unfinished: return "\(name) started and did not finish in time\(said)"
            case .failed: return "\(name) reported a failure\(said)"
            case nil:
                let outage = payload?.outageSeconds.map { " after \(Duration.seconds($0).text)" } ?? ""
                return "\(name) reports again\(outage)."
            }
        }
    }
}

/// Why an expectation is not met.
package enum LateReason: String, Hashable, Codable, Sendable, CaseIterable {
    /// No report came in time.
    case overdue
    /// It started and did not end within its grace.
    case unfinished
    /// It reported a failure.
    case failed

    /// The reason as the fragment of a sentence.
    package var words: String {
        switch self {
        case .overdue: "it did not report in time"
        case .unfinished: "it started and did not finish"
        case .failed: "it reported a failure"
        }
    }
}
