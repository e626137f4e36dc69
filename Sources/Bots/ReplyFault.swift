import Performing
import Prompting
import Tracking

extension AttemptFault {
    /// What a failure of a provider means for the attempt.
    init(_ failure: ReplyFailure, at place: ReplyFailure.Place) {
        let hint = failure.hint(at: place).map { "; \($0)" } ?? ""
        self.init(RunReason(failure), failure.sentence(at: place) + hint)
        if case .endedEarly = failure.kind { isOfReply = true }
        isOfProvider = true
        switch failure.retry {
        case .never: break
        case .soon: mayPass = true
        case .after(let wait): (mayPass, self.wait) = (true, wait)
        }
    }
}

extension RunReason {
    /// The reason of a run that ended with this failure.
    fileprivate init(_ failure: ReplyFailure) {
        self =
            switch failure.kind {
            case .auth: .auth
            case .model: .model
            case .address, .network, .refusedAddress: .botUnavailable
            case .badRequest: .badRequest
            case .promptTooLong: .promptTooLong
            case .budget: .budget
            case .rateLimited, .usageLimit: .rateLimited
            case .overloaded: .overloaded
            case .server: .providerFailed
            case .silent: .silent
            case .deadline: .timeout
            case .truncated: .truncated
            case .malformed: .malformed
            case .replyTooLong: .replyTooLong
            case .refused: .refused
            case .endedEarly: .truncated
            case .program(exit: nil): .signal
            case .program: .exitCode
            }
    }
}
