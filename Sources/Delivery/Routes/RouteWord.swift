package import Grouping

/// The words of a route's `when`.
package enum RouteWord: String, Hashable, Codable, Sendable, CaseIterable {
    /// `run.started`.
    case started
    /// `run.progress`.
    case progress
    /// `run.blocked`.
    case blocked
    /// `run.completed`.
    case completed
    /// `run.failed`; a timeout is one, with the reason `timeout`.
    case failed
    /// `run.recovered`.
    case recovered
    /// `run.canceled`.
    case canceled
    /// `run.missed`.
    case missed
    /// `run.skipped`.
    case skipped
    /// `run.lost`.
    case lost
    /// `run.late`.
    case late
    /// `run.slow`.
    case slow
    /// `run.stuck`.
    case stuck
    /// `run.flapping`.
    case flapping
    /// `message.group`.
    case message
    /// Every `question.` type.
    case question
    /// Every `channel.` type.
    case channel
    /// Every `config.` type, and `job.leftOut`.
    case config
    /// Every `ledger.` type.
    case ledger
    /// Every `clock.` type.
    case clock
    /// `test`.
    case test

    /// The word for an event's type, as `run.failed`; `nil` for a type no route can name.
    package init?(eventType: String) {
        let parts = eventType.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts.first, parts.count) {
        case ("run", 2): self.init(run: String(parts[1]))
        case ("message", 2) where parts[1] == "group": self = .message
        case ("question", 2): self = .question
        case ("channel", 2): self = .channel
        case ("config", 2): self = .config
        case ("job", 2) where parts[1] == "leftOut": self = .config
        case ("ledger", 2): self = .ledger
        case ("clock", 2): self = .clock
        case ("test", 1): self = .test
        default: return nil
        }
    }

    /// What it asks to hear of jobs; `nil` for a word about something else, or not shown by an item yet.
    package var news: JobNews? { JobNews(rawValue: rawValue) }

    private init?(run type: String) {
        guard let word = RouteWord(rawValue: type) else { return nil }
        switch word {
        case .message, .question, .channel, .config, .ledger, .clock, .test: return nil
        case .started, .progress, .blocked, .completed, .failed, .recovered, .canceled, .missed, .skipped,
            .lost, .late, .slow, .stuck, .flapping:
            self = word
        }
    }
}
