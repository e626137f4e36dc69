import Logging

/// The tasks that serve channels: one a channel, kept over a reload that leaves its channel as it is.
struct ChannelTasks {
    private var tasks: [String: (version: Int, task: Task<Void, any Error>)] = [:]
    let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Serves exactly these channels from now on; a channel of another version is served from the start.
    ///
    /// Returns once those that are not served any more have let go.
    mutating func serve(
        _ wanted: [(name: String, version: Int, work: @Sendable () async throws -> Void)]
    ) async {
        let kept = Dictionary(wanted.map { ($0.name, $0.version) }) { first, _ in first }
        let gone = tasks.filter { kept[$0.key] != $0.value.version }
        for (_, task) in gone.values { task.cancel() }
        for (name, entry) in gone {
            _ = await entry.task.result
            tasks[name] = nil
        }
        for (name, version, work) in wanted where tasks[name] == nil {
            let logger = logger
            let task = Task {
                do {
                    try await work()
                } catch is CancellationError {
                    throw CancellationError()
                } catch {
                    logger.error(
                        "a channel is no longer served",
                        metadata: ["channel": "\(name)", "reason": "\(error)"])
                }
            }
            tasks[name] = (version, task)
        }
    }

    /// Ends all of them, and returns when they have let go.
    mutating func end() async { await serve([]) }
}
