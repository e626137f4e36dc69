import Curl
package import Delivery

/// What an answer or a failure means for a webhook: try again, or never.
package enum FailureTable {
    /// What to do after a status that is no success.
    package enum Verdict: Hashable, Sendable {
        /// The receiver may take it another time.
        case retry
        /// It will never take this one.
        case giveUp
    }

    /// The first row whose statuses contain the answer's decides; 2xx is success and not in here.
    ///
    /// - Source: RFC 9110, section 15; Standard Webhooks 1.0.0 (410 disables, redirects are failures).
    package static let rows: [(statuses: ClosedRange<Int>, verdict: Verdict, reason: DeliveryReason)] = [
        (300...399, .giveUp, .redirected),
        (408...408, .retry, .askedAgain),
        (410...410, .giveUp, .gone),
        (425...425, .retry, .askedAgain),
        (429...429, .retry, .throttled),
        (400...499, .giveUp, .rejected),
        (500...599, .retry, .serverError),
        (0...999, .retry, .badAnswer),
    ]

    /// The longest a receiver's `Retry-After` is believed.
    package static let longestRetryAfter = Duration.seconds(3600)

    /// What a `status` outside 2xx means.
    static func judge(status: Int, retryAfter: Duration?, shown: String) -> DeliveryError {
        let row = rows.first { $0.statuses.contains(status) }
        let detail = "\(shown) answered \(status)"
        switch row?.verdict {
        case .giveUp?: return .giveUp(row?.reason ?? .badAnswer, detail: detail, status: status)
        case .retry?, nil:
            let wait = retryAfter.map { min(max($0, .zero), longestRetryAfter) }
            return .retry(row?.reason ?? .badAnswer, after: wait, detail: detail, status: status)
        }
    }

    /// What it means that there is no answer.
    ///
    /// Where nothing can have been sent the way is unreachable; else the receiver may have had it, and will
    /// know the next attempt by its id.
    static func judge(_ error: CurlError, shown: String) -> DeliveryError {
        switch error {
        case .malformed(let flaw): .giveUp(.unsendable, detail: "\(shown): unsendable \(flaw.rawValue)")
        case .resolve(let fault): .unreachable(.dnsFailed, detail: "\(shown): \(fault)")
        case .connect(let fault): .unreachable(.connectFailed, detail: "\(shown): \(fault)")
        case .refused(let address):
            // A name may resolve to something else next time, as behind a hotel's portal: nothing is lost.
            .retry(.addressRefused, detail: "\(shown): \(address.ip) is not public; allow can name it")
        case .tls(let fault): .retry(.tlsFailed, detail: "\(shown): \(fault)")
        case .timedOut(.resolving, let fault): .unreachable(.dnsFailed, detail: "\(shown): \(fault)")
        case .timedOut(.connecting, let fault): .unreachable(.connectFailed, detail: "\(shown): \(fault)")
        case .timedOut(.answering, let fault): .retry(.timeout, detail: "\(shown): \(fault)")
        case .cut(let fault): .retry(.disconnected, detail: "\(shown): \(fault)")
        case .answer(let fault): .retry(.badAnswer, detail: "\(shown): \(fault)")
        case .library(let fault): .unreachable(.connectFailed, detail: "\(shown): \(fault)")
        case .canceled, .closed: .unreachable(.stopping, detail: "stopped before \(shown) answered")
        }
    }
}
