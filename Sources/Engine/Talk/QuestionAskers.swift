import Synchronization

/// Who waits for the answers to questions, in this life of the daemon.
///
/// In memory alone: whoever waits asks again after the daemon's end, under the same id.
package final class QuestionAskers: Sendable {
    /// Somebody who waits for the answer to a question, as long as this object lives.
    package final class Claim: Sendable {
        private let askers: QuestionAskers
        private let id: String

        fileprivate init(_ id: String, _ askers: QuestionAskers) {
            (self.id, self.askers) = (id, askers)
            askers.claims.withLock { $0[id, default: 0] += 1 }
        }

        deinit {
            askers.claims.withLock { claims in
                claims[id, default: 1] -= 1
                if claims[id] == 0 { claims[id] = nil }
            }
        }
    }

    private let claims = Mutex<[String: Int]>([:])

    /// Nobody waits yet.
    package init() {}

    /// Notes that somebody waits for the answer to the question `id`, until the claim is let go.
    ///
    /// Made before it is asked, so that it never looks abandoned.
    package func claim(_ id: String) -> Claim { Claim(id, self) }

    /// Whether anybody waits for the answer.
    func waits(for id: String) -> Bool { claims.withLock { $0[id] != nil } }
}
