/// What a job asks its bot, as its bot is shown it.
///
/// - Source: nanoclaw 1.2.46 and later, agent-runner; see agents.md 1.7.
package enum TaskPrompt {
    /// Stands before each prompt of a job: a bot should know that nobody waits to answer its questions.
    static let line =
        "[SCHEDULED TASK - The following message was sent automatically and is not coming directly from the user or group.]"

    /// The prompt behind that line and a blank one.
    package static func text(of prompt: String) -> String { "\(line)\n\n\(prompt)" }
}
