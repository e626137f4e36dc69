import API
import Delivery
import Engine
import Grouping
import Ledger
import ServiceLifecycle
import Timeline
import Tracking

extension DaemonHandler {
    func live() async -> [WireLive] {
        let now = control.clock.now
        return await control.board.states().map { WireLive($0, at: now) }
    }

    /// Events from where the reader left off, then as they come; with `live=1` live states in between.
    ///
    /// Live states have no id: they are never sent again, only how things are now.
    func events(_ query: EventsQuery, lastEventID: String?) async throws(APIError) -> StreamAnswer {
        var after = query.since
        if let text = lastEventID {
            guard let seq = Int64(text), seq >= 0 else {
                throw APIError(.badValue, "Last-Event-ID is not an event's number: \"\(text)\"")
            }
            after = seq
        }
        let newest = try await reading(await control.ledger.lastEvent())
        let start = after ?? newest
        return StreamAnswer { writer in
            try await send(after: start, live: query.live, to: &writer)
        }
    }

    /// A comment at least this often, so that each end notices when the other is closed.
    static let heartbeat = Duration.seconds(15)
    /// Live states are sent at most so often; what changed meanwhile is sent once.
    private static let liveGap = Duration.milliseconds(50)

    @concurrent
    private func send(after start: Int64, live: Bool, to writer: inout any BodyWriter) async throws {
        var seq = start
        var version: UInt64 = .max
        let wakes = Wakes(control, live: live, heartbeat: Self.heartbeat)
        try await writer.write(ServerSentEvent.heartbeat)
        // The runs that the reader takes for runs under way.
        var shown: Set<String> = []
        if live {
            version = await control.board.changes(after: .max).version
            try await write(await control.board.states(), &shown, to: &writer)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            wakes.start(in: &group)
            defer { group.cancelAll() }
            for await wake in wakes.stream {
                switch wake {
                case .stop, .left: return
                case .heartbeat: try await writer.write(ServerSentEvent.heartbeat)
                case .refresh: break
                }
                seq = try await writeEvents(after: seq, to: &writer)
                guard live else { continue }
                let changes = await control.board.changes(after: version)
                version = changes.version
                try await write(changes.states, &shown, to: &writer)
                if !changes.isWhole { try await writeForgotten(&shown, to: &writer) }
                if !changes.states.isEmpty {
                    try await control.clock.sleep(until: control.clock.now + Self.liveGap)
                }
            }
        }
    }

    @concurrent
    private func writeEvents(after start: Int64, to writer: inout any BodyWriter) async throws -> Int64 {
        var seq = start
        while true {
            let events = try await control.ledger.events(after: seq, limit: 500)
            guard let last = events.last else { return seq }
            var bytes: [UInt8] = []
            for event in events {
                var wire = WireEvent(event)
                if let run = wire.run { wire.name = try await control.ledger.run(id: run)?.name }
                let data = try WireCoding.text(wire)
                bytes +=
                    ServerSentEvent(id: "\(event.seq)", name: wire.type, data: data).bytes
            }
            try await writer.write(bytes)
            seq = last.seq
        }
    }

    /// Writes the last states of runs that ended while the reader was too slow to see it.
    @concurrent
    private func writeForgotten(_ shown: inout Set<String>, to writer: inout any BodyWriter) async throws {
        let alive = Set(await control.board.states().map(\.task.id))
        var ended: [LiveState] = []
        for run in shown.subtracting(alive) {
            guard let record = try await control.ledger.run(id: run), var state = record.live else {
                continue
            }
            state.state = record.state
            ended.append(state)
        }
        try await write(ended, &shown, to: &writer)
    }

    /// Writes live states, all in one piece.
    @concurrent
    private func write(
        _ states: [LiveState], _ shown: inout Set<String>, to writer: inout any BodyWriter
    ) async throws {
        guard !states.isEmpty else { return }
        let now = control.clock.now
        var bytes: [UInt8] = []
        for state in states {
            if state.state.isEnded { shown.remove(state.task.id) } else { shown.insert(state.task.id) }
            bytes += try liveTexts.event(of: state, at: now)
        }
        try await writer.write(bytes)
    }
}

/// Why a stream of events is refreshed.
enum Wake: Sendable {
    /// Something may be new.
    case refresh
    /// Nothing was sent for a while.
    case heartbeat
    /// The reader closed the connection.
    case left
    /// The daemon stops.
    case stop
}

/// What wakes one reader of the event stream: commits, the live board, time, and the daemon's end.
///
/// Conflated: a reader that is slow is woken once for all it missed.
struct Wakes: Sendable {
    let stream: AsyncStream<Wake>
    private let wake: AsyncStream<Wake>.Continuation
    private let commits: AsyncStream<Set<Station>>
    private let taps: AsyncStream<Void>?
    private let clock: any WallClock
    private let heartbeat: Duration

    /// Listens from now on; nothing wakes before ``start(in:)``.
    init(_ control: Control, live: Bool, heartbeat: Duration) {
        (stream, wake) = AsyncStream.makeStream(of: Wake.self, bufferingPolicy: .bufferingNewest(2))
        commits = control.ledger.commits()
        taps = live ? control.board.taps() : nil
        clock = control.clock
        self.heartbeat = heartbeat
    }

    /// Wakes until the group is cancelled; the first time at once.
    ///
    /// Also when the reader leaves, where `closed` is the end of its connection.
    func start(
        in group: inout ThrowingTaskGroup<Void, any Error>, untilEndOf closed: AsyncStream<Never>? = nil
    ) {
        wake.yield(.refresh)
        if let closed {
            group.addTask {
                for await _ in closed {}
                guard !Task.isCancelled else { return }
                wake.yield(.left)
                wake.finish()
            }
        }
        group.addTask {
            for await stations in commits where stations.contains(.events) { wake.yield(.refresh) }
            wake.finish()
        }
        group.addTask {
            guard let taps else { return }
            for await _ in taps { wake.yield(.refresh) }
        }
        group.addTask {
            while true {
                try await clock.sleep(until: clock.now + heartbeat)
                wake.yield(.heartbeat)
            }
        }
        group.addTask {
            try await gracefulShutdown()
            wake.yield(.stop)
            wake.finish()
        }
    }
}

extension WireEvent {
    /// The event as the API shows it.
    init(_ record: EventRecord) {
        let event = record.event
        let columns = event.fact.columns
        self.init(seq: record.seq, type: event.type.rawValue, at: Timestamp(event.at))
        reason = columns.reason
        job = columns.job
        run = columns.run
        bot = columns.bot
        subject = columns.subject
        channel = columns.channel
        data = event.fact.payload.flatMap { try? JSON(encoding: $0) }
    }
}

extension DaemonHandler {
    func silences(_ query: SilencesQuery) async throws(APIError) -> [WireSilence] {
        let now = control.clock.now
        return try await asking(await control.silences(all: query.all)).map { WireSilence($0, at: now) }
    }

    func addSilence(_ asked: SilenceRequest) async throws(APIError) -> WireSilence {
        if let note = asked.note { try Self.check(note, "a note", limit: 200) }
        if let by = asked.by { try Self.check(by, "by", limit: 40) }
        let from = asked.from?.moment
        guard (asked.until == nil) != (asked.forMs == nil) else {
            throw APIError(
                .badValue, "a silence needs an end: until or forMs", hint: "Add --for 2h or --until TIME.")
        }
        if let milliseconds = asked.forMs {
            guard milliseconds > 0, .milliseconds(milliseconds) <= Control.longestSilence else {
                throw APIError(.badValue, "a silence lasts longer than zero and up to 366d")
            }
        }
        let start = from ?? control.clock.now
        let until = asked.until?.moment ?? start + .milliseconds(asked.forMs ?? 0)
        var draft = SilenceDraft(matchers: asked.matchers, until: until, by: asked.by ?? "api")
        (draft.from, draft.note) = (from, asked.note)
        let silence = try await asking(await control.addSilence(draft))
        return WireSilence(silence, at: control.clock.now)
    }

    func digest() async throws(APIError) -> [WireHeldItem] {
        try await asking(await control.digest()).map { held in
            switch held.content {
            case .version(let version):
                return WireHeldItem(
                    channel: held.channel, item: WireItem(version, pinned: []), until: Timestamp(held.until))
            case .entry(let entry, let matter):
                var item = WireHeldItem(
                    channel: held.channel, item: WireItem(entry, matter), until: Timestamp(held.until))
                item.outbox = entry.id
                return item
            }
        }
    }

    func endSilence(_ id: String) async throws(APIError) -> WireSilence {
        WireSilence(try await asking(await control.endSilence(id)), at: control.clock.now)
    }
}

extension WireItem {
    /// What waits in the outbox; it has no version, and its text is how a digest lists it.
    fileprivate init(_ entry: OutboxRecord, _ held: HeldMatter) {
        let kind = entry.type.split(separator: ".").first == "run" ? "job" : "thread"
        self.init(
            key: entry.item ?? entry.cause, kind: kind, urgency: held.topic.urgency.rawValue, revision: 0)
        (job, bot, reason) = (held.topic.job, held.topic.bot, held.line)
    }
}

extension WireSilence {
    /// The silence as it is at that moment.
    fileprivate init(_ silence: Silence, at now: Moment) {
        let state = silence.until <= now ? "ended" : silence.from > now ? "pending" : "active"
        self.init(
            id: silence.id, matchers: silence.matchers.map(\.text), from: Timestamp(silence.from),
            until: Timestamp(silence.until), by: silence.by, state: state)
        note = silence.note
    }
}
