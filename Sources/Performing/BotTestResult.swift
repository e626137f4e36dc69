package import Tracking

/// What a test of a bot found, step by step, up to the first that failed.
package struct BotTestResult: Hashable, Sendable {
    /// What is tried, in this order.
    package enum Step: String, Hashable, Sendable, CaseIterable {
        /// It has a provider, and its key can be read.
        case configuration
        /// The provider's host has an address.
        case resolve
        /// The provider accepts a connection.
        case connect
        /// The provider can be trusted.
        case tls
        /// The provider accepts the key.
        case key
        /// The provider lists its models.
        case models
        /// The bot's model is one of them.
        case model
        /// The bot replies.
        case reply
    }

    /// How a step ended.
    package enum Outcome: String, Hashable, Sendable, CaseIterable {
        /// As it should.
        case ok
        /// Not as it should; nothing was tried after it.
        case failed
        /// Nothing was to be tried, or nobody can know.
        case skipped
    }

    /// What a step showed.
    package struct Finding: Hashable, Sendable {
        package var step: Step
        package var outcome: Outcome
        /// What exactly answered or failed, without a secret.
        package var detail: String
        /// What to do about it.
        package var hint: String?
    }

    /// What was found, in the order of the steps.
    package private(set) var findings: [Finding] = []
    /// Why the provider did not do what was asked of it, as an attempt would have failed; nil: it did, or was not asked.
    package var fault: AttemptFault?
    /// Whether the provider answered.
    package var hasAnswered = false
    /// What the reply used, as far as it was reported; nil: nothing.
    package var usage: BotUsage?
    /// How long the first word of a reply took; nil: none came.
    package var firstWord: Duration?
    /// How long the reply took; nil: there was none.
    package var whole: Duration?

    package init() {}

    /// Adds what a step showed.
    package mutating func note(_ step: Step, _ outcome: Outcome, _ detail: String, hint: String? = nil) {
        findings.append(Finding(step: step, outcome: outcome, detail: detail, hint: hint))
    }

    /// Whether no step failed.
    package var isGood: Bool { !findings.contains { $0.outcome == .failed } }
}

/// How a program ended that was run to see what it does.
package enum ProgramRun: Hashable, Sendable {
    /// So, after it had printed this.
    case ended(ExitRecord, printed: [UInt8])
    /// It was not run to its end, and why.
    case failed(String)
}
