// A table: every path of the API, with its method.

/// What can be asked of the daemon; the query and the body are not part of it.
package enum Route: Hashable, Sendable {
    case healthz, readyz
    case status
    case config, reload
    case jobs, addJob
    case job(String), editJob(String), removeJob(String)
    case pauseJob(String), resumeJob(String), runJob(String)
    /// The next slots of a job; query `n`.
    case nextSlots(String)
    /// The runs and spans of a job, newest first; query `limit`.
    case history(String)
    /// Query `job`, `state` (repeatable by commas), `since`, `limit`.
    case runs
    case run(job: String, ordinal: Int)
    /// The raw output; query `offset`, `follow=1`.
    case logs(job: String, ordinal: Int)
    case cancelRun(job: String, ordinal: Int), retryRun(job: String, ordinal: Int)
    case exec
    /// Takes in the runs that `belfry exec` did without a daemon.
    case spool
    /// Server-sent events; query `since`, header `Last-Event-ID`, `live=1` for live states in between.
    case events
    /// The live states now, one array.
    case live
    /// Query `bot`, `search`, `limit`.
    case messages
    case items
    case notify
    case read(String)
    /// Query `state`, `limit`.
    case outbox
    case outboxEntry(String), retryEntry(String), discardEntry(String)
    /// Query `id`, `not=1` for what was kept back only, `limit`.
    case why
    case channels, testChannel(String)
    /// Query `from`: a channel that is not in the configuration, whose entries move to this one.
    case retryChannel(String)
    case bots, bot(String)
}

extension Route {
    /// The HTTP method and the path's segments, decoded.
    private var form: (method: String, segments: [String]) {
        switch self {
        case .healthz: ("GET", ["healthz"])
        case .readyz: ("GET", ["readyz"])
        case .status: ("GET", ["v1", "status"])
        case .config: ("GET", ["v1", "config"])
        case .reload: ("POST", ["v1", "reload"])
        case .jobs: ("GET", ["v1", "jobs"])
        case .addJob: ("POST", ["v1", "jobs"])
        case .job(let name): ("GET", ["v1", "jobs", name])
        case .editJob(let name): ("PATCH", ["v1", "jobs", name])
        case .removeJob(let name): ("DELETE", ["v1", "jobs", name])
        case .pauseJob(let name): ("POST", ["v1", "jobs", name, "pause"])
        case .resumeJob(let name): ("POST", ["v1", "jobs", name, "resume"])
        case .runJob(let name): ("POST", ["v1", "jobs", name, "run"])
        case .nextSlots(let name): ("GET", ["v1", "jobs", name, "next"])
        case .history(let name): ("GET", ["v1", "jobs", name, "history"])
        case .runs: ("GET", ["v1", "runs"])
        case .run(let job, let n): ("GET", ["v1", "runs", job, String(n)])
        case .logs(let job, let n): ("GET", ["v1", "runs", job, String(n), "logs"])
        case .cancelRun(let job, let n): ("POST", ["v1", "runs", job, String(n), "cancel"])
        case .retryRun(let job, let n): ("POST", ["v1", "runs", job, String(n), "retry"])
        case .exec: ("POST", ["v1", "exec"])
        case .spool: ("POST", ["v1", "spool"])
        case .events: ("GET", ["v1", "events"])
        case .live: ("GET", ["v1", "live"])
        case .messages: ("GET", ["v1", "messages"])
        case .items: ("GET", ["v1", "items"])
        case .notify: ("POST", ["v1", "notify"])
        case .read(let id): ("POST", ["v1", "read", id])
        case .outbox: ("GET", ["v1", "outbox"])
        case .outboxEntry(let id): ("GET", ["v1", "outbox", id])
        case .retryEntry(let id): ("POST", ["v1", "outbox", id, "retry"])
        case .discardEntry(let id): ("POST", ["v1", "outbox", id, "discard"])
        case .why: ("GET", ["v1", "why"])
        case .channels: ("GET", ["v1", "channels"])
        case .testChannel(let name): ("POST", ["v1", "channels", name, "test"])
        case .retryChannel(let name): ("POST", ["v1", "channels", name, "retry"])
        case .bots: ("GET", ["v1", "bots"])
        case .bot(let name): ("GET", ["v1", "bots", name])
        }
    }

    /// `GET`, `POST`, `PATCH` or `DELETE`.
    package var method: String { form.method }

    /// The path, its variable parts escaped.
    package var path: String {
        form.segments.map { "/" + PercentCoding.encode($0) }.joined()
    }

    /// Every route that `segments` could be, one a method.
    private static func candidates(_ segments: [String]) -> [Route] {
        switch (segments.first, segments.count) {
        case ("healthz", 1): return [.healthz]
        case ("readyz", 1): return [.readyz]
        case ("v1", 2): return collections[segments[1]] ?? []
        case ("v1", 3...5): return members(of: segments[1], Array(segments.dropFirst(2)))
        default: return []
        }
    }

    private static let collections: [String: [Route]] = [
        "status": [.status], "config": [.config], "reload": [.reload], "jobs": [.jobs, .addJob],
        "runs": [.runs], "exec": [.exec], "spool": [.spool], "events": [.events], "live": [.live],
        "messages": [.messages],
        "items": [.items], "notify": [.notify], "outbox": [.outbox], "channels": [.channels],
        "bots": [.bots], "why": [.why],
    ]

    private static func members(of collection: String, _ rest: [String]) -> [Route] {
        let name = rest[0]
        let word = rest.count > 1 ? rest[1] : nil
        switch (collection, rest.count) {
        case ("jobs", 1): return [.job(name), .editJob(name), .removeJob(name)]
        case ("jobs", 2):
            let all: [Route] = [
                .pauseJob(name), .resumeJob(name), .runJob(name), .nextSlots(name), .history(name),
            ]
            return all.filter { $0.form.segments.last == word }
        case ("runs", 2...3):
            guard let word, let ordinal = Int(word), ordinal > 0, String(ordinal) == word else { return [] }
            if rest.count == 2 { return [.run(job: name, ordinal: ordinal)] }
            let all: [Route] = [
                .logs(job: name, ordinal: ordinal), .cancelRun(job: name, ordinal: ordinal),
                .retryRun(job: name, ordinal: ordinal),
            ]
            return all.filter { $0.form.segments.last == rest[2] }
        case ("read", 1): return [.read(name)]
        case ("outbox", 1): return [.outboxEntry(name)]
        case ("outbox", 2):
            return [.retryEntry(name), .discardEntry(name)].filter { $0.form.segments.last == word }
        case ("channels", 2):
            return [.testChannel(name), .retryChannel(name)].filter { $0.form.segments.last == word }
        case ("bots", 1): return [.bot(name)]
        default: return []
        }
    }

    /// The route of a request's method and path (without the query).
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/noSuchPath``, or ``ErrorCode/badMethod`` when the path exists.
    package init(method: String, path: some StringProtocol) throws(APIError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let segments = parts.dropFirst().compactMap { $0.isEmpty ? nil : PercentCoding.decode($0) }
        guard parts.first == "", segments.count == parts.count - 1 else {
            throw APIError(.noSuchPath)
        }
        let candidates = Self.candidates(segments)
        guard !candidates.isEmpty else { throw APIError(.noSuchPath) }
        guard let route = candidates.first(where: { $0.method == method }) else {
            throw APIError(
                .badMethod,
                hint: "It takes \(candidates.map(\.method).joined(separator: ", ")).")
        }
        self = route
    }
}
