import Logging

/// The tasks that serve channels: one a channel, kept over a reload that leaves its channel as it is.
struct ChannelCrew {
    private var tasks: [String: (version: Int, task: Task<Void, any Error>)] = [:]
    let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Serves exactly these channels from now on; a channel of another version is served anew.
    mutating func serve(
        _ wanted: [(name: String, version: Int, work: @Sendable () async throws -> Void)]
    ) async {
        for (name, (version, task)) in tasks
        where !wanted.contains(where: { $0.name == name && $0.version == version }) {
            task.cancel()
            _ = await task.result
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

    /// Ends all of them.
    func end() {
        for (_, task) in tasks.values { task.cancel() }
    }
}
