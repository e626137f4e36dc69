import Synchronization
package import Timeline
package import Tracking

/// A live state on the wire: the task progress of the phone's model, and what Belfry adds.
package struct WireLive: Hashable, Sendable, Codable {
    /// The run's id.
    package var taskId: String
    /// The name that identifies the bot.
    package var botId: String
    /// `JOB#N`.
    package var run: String
    /// From 1.
    package var attempt: Int
    /// The job's name for people.
    package var taskName: String
    /// The bot's name for people.
    package var botName: String
    /// The part done, 0...1; absent until known.
    package var progress: Double?
    /// How much is done, in ``unit``; absent where the job reports no amounts.
    package var done: Double?
    /// The whole of ``done``.
    package var total: Double?
    /// What is counted, such as `files` or `bytes`; absent: not known.
    package var unit: String?
    /// The recent pace, in ``unit`` per second; absent until known, and while the run is not working.
    package var rate: Double?
    /// The state in the model's three words.
    package var status: RunState.WireStatus
    /// Where the run is in its life.
    package var state: RunState
    /// What it waits for, when it is blocked.
    package var blockedKind: BlockedKind?
    /// The stretch of work it is in.
    package var phase: String?
    /// The last line for people.
    package var message: String?
    /// The parts of the work, as trees; absent where the job reported none.
    package var tasks: [WireTask]?
    /// Seconds until the expected finish; absent until known.
    package var timeRemaining: Int64?
    /// When the attempt was started.
    package var startedAt: Timestamp?
    /// The expected finish; absent until known.
    package var etaAt: Timestamp?
    /// The early end of the 80 % band.
    package var etaLow: Timestamp?
    /// The late end of the 80 % band.
    package var etaHigh: Timestamp?
    /// How long the job usually takes, the middle of its last 20 successes; absent for fewer than three.
    package var usualSeconds: Int64?
    /// When the job last reported something, or the state last changed.
    package var updatedAt: Timestamp
    /// From when on the progress is old.
    package var staleAt: Timestamp?
    /// Whether it is old now.
    package var stale: Bool
    /// Orders the states of one attempt.
    package var seq: Int64

    /// The wire form of `state` as it is to be seen at `now`.
    package init(_ live: LiveState, at now: Moment) {
        taskId = live.task.id
        botId = live.task.botID
        run = live.task.run
        attempt = live.attempt
        taskName = live.task.name
        botName = live.task.botName
        progress = live.progress
        (done, total, unit) = (live.amount?.done, live.amount?.total, live.amount?.unit)
        // Three digits are enough; with more, each of a thousand states would differ.
        rate = live.amount?.rate.map { rate in
            let scale = rate >= 100 ? 1.0 : 100.0
            return (rate * scale).rounded() / scale
        }
        status = live.state.wireStatus
        state = live.state
        blockedKind = live.blockedKind
        phase = live.phase
        message = live.message
        tasks = live.tasks.map { TaskTree.of($0).map(WireTask.init) }
        timeRemaining = live.secondsRemaining(at: now)
        startedAt = Timestamp(live.startedAt)
        etaAt = Timestamp(live.finish?.at)
        etaLow = Timestamp(live.finish?.low)
        etaHigh = Timestamp(live.finish?.high)
        usualSeconds = live.usual.map { ($0.milliseconds + 500) / 1000 }
        updatedAt = Timestamp(live.updatedAt)
        staleAt = Timestamp(live.staleAt)
        stale = live.isStale(at: now)
        seq = live.seq
    }

    /// This state with no less progress than `earlier` had in the same attempt and phase.
    ///
    /// A daemon that was killed finds a state of up to a second before; who was watching has seen more.
    package func keepingProgress(of earlier: WireLive?) -> WireLive {
        guard let earlier, earlier.taskId == taskId, earlier.attempt == attempt, earlier.phase == phase,
            let seen = earlier.progress, let progress, progress < seen
        else { return self }
        var kept = self
        kept.progress = seen
        return kept
    }
}

/// The live states and bots that bars and widgets read without asking the daemon: a file beside its socket, replaced at each
/// change.
///
/// It is valid while the daemon runs; a daemon that was killed leaves it behind, so a reader first connects to the
/// socket.
package struct WireSnapshot: Hashable, Sendable, Codable {
    /// The version of this form.
    package var v = 1
    /// The version of the content; rises.
    package var seq: UInt64
    /// When it was written.
    package var at: Timestamp
    /// The runs that have not ended, and those that ended within the last minute.
    package var tasks: [WireLive]
    /// The slot that comes next; absent: there is none.
    package var next: NextSlot?
    /// All bots, by name; absent where there are too many to keep: the daemon has to be asked.
    package var bots: [Bot]?

    /// A bot, as much as a bar shows of it.
    package struct Bot: Hashable, Sendable, Codable {
        /// Its name.
        package var name: String
        /// `online`, `working`, `blocked` or `offline`; absent: nothing is known.
        package var status: String?
        /// How many messages were not read.
        package var unread: Int
        /// The beginning of what was said last, in one line; absent: nothing was.
        package var lastMessage: String?

        /// A bot.
        package init(_ bot: WireBot) {
            (name, status, unread) = (bot.name, bot.status, bot.unread)
            lastMessage = bot.lastMessage.map { CleanText.line($0.text, limit: 200) }
        }
    }

    /// A slot that comes next.
    package struct NextSlot: Hashable, Sendable, Codable {
        /// The job's name.
        package var job: String
        /// When.
        package var at: Timestamp

        /// A slot of a job.
        package init(job: String, at: Timestamp) { (self.job, self.at) = (job, at) }
    }

    /// A snapshot.
    package init(seq: UInt64, at: Timestamp, tasks: [WireLive], next: NextSlot?, bots: [Bot]?) {
        (self.seq, self.at, self.tasks, self.next, self.bots) = (seq, at, tasks, next, bots)
    }

    /// Its path: `live.json` beside `belfry.sock`, and `NAME.live.json` beside a socket of another name.
    package static func path(beside socket: String) -> String {
        let end = socket.utf8.lastIndex(of: UInt8(ascii: "/")).map { socket.utf8.index(after: $0) }
        let name = socket[(end ?? socket.startIndex)...]
        let folder = socket[..<(end ?? socket.startIndex)]
        return folder + (name == "belfry.sock" ? "live.json" : "\(name).live.json")
    }
}

/// A part of a run's work, with the parts in it.
package struct WireTask: Hashable, Sendable, Codable {
    /// Its path, `build/linux`.
    package var id: String
    /// The last name of it.
    package var name: String
    /// Where it is; absent where only parts of it were reported.
    package var state: ChildTask.State?
    /// The part done, 0...1; absent until known.
    package var progress: Double?
    /// The last line for people.
    package var message: String?
    /// The parts in it; absent where there are none.
    package var tasks: [WireTask]?

    /// The wire form of a tree.
    package init(_ tree: TaskTree) {
        (id, name) = (tree.path, tree.name)
        (state, progress, message) = (tree.task?.state, tree.task?.progress, tree.task?.message)
        tasks = tree.parts.isEmpty ? nil : tree.parts.map(WireTask.init)
    }

    /// It and all in it, as far as they were reported.
    fileprivate var tasksInIt: [ChildTask] {
        let own = state.map { state in
            var task = ChildTask(path: id, state: state)
            (task.progress, task.message) = (progress, message)
            return task
        }
        return [own].compactMap(\.self) + (tasks ?? []).flatMap(\.tasksInIt)
    }
}

extension LiveState {
    /// The live state that `wire` describes, as a view at the other end needs it.
    package init(_ wire: WireLive) {
        let task = LiveTask(
            id: wire.taskId, botID: wire.botId, run: wire.run, name: wire.taskName, botName: wire.botName)
        self.init(
            task: task, attempt: wire.attempt, seq: wire.seq, state: wire.state,
            updatedAt: wire.updatedAt.moment)
        blockedKind = wire.blockedKind
        progress = wire.progress
        if let done = wire.done, let total = wire.total {
            amount = WorkAmount(done: done, total: total, unit: wire.unit, rate: wire.rate)
        }
        phase = wire.phase
        message = wire.message
        tasks = wire.tasks.map { $0.flatMap(\.tasksInIt) }
        startedAt = wire.startedAt?.moment
        finish = wire.etaAt.map {
            FinishTime(at: $0.moment, low: wire.etaLow?.moment, high: wire.etaHigh?.moment)
        }
        usual = wire.usualSeconds.map { .seconds($0) }
        staleAt = wire.staleAt?.moment
    }
}

/// The live states that were written last, each as the event that every reader of the stream gets.
///
/// Fifty watchers of a thousand runs get the same bytes: each state is written as JSON once, not once for each of them.
package final class LiveTexts: Sendable {
    private struct Entry {
        var order: LiveOrder
        var madeAt: Moment
        var bytes: [UInt8]
    }

    private let texts = Mutex<[String: Entry]>([:])
    /// So many are kept at most.
    private static let limit = 4096
    /// The seconds that are left, and whether it is old, are of the moment at which it was written.
    private static let fresh = Duration.milliseconds(500)

    /// Nothing was written yet.
    package init() {}

    /// The event of a state as it is to be seen at `now`.
    ///
    /// - Throws: ``APIError`` as ``WireCoding/encode(_:)`` does.
    package func event(of state: LiveState, at now: Moment) throws(APIError) -> [UInt8] {
        let order = state.order
        let known = texts.withLock { $0[state.task.id] }
        if let known, known.order == order, !state.state.isEnded, now >= known.madeAt,
            now - known.madeAt < Self.fresh
        {
            return known.bytes
        }
        let data = try WireCoding.text(WireLive(state, at: now))
        let bytes = ServerSentEvent(name: "live", data: data).bytes
        texts.withLock { texts in
            if state.state.isEnded {
                texts[state.task.id] = nil
                return
            }
            if texts.count >= Self.limit { texts.removeAll(keepingCapacity: true) }
            texts[state.task.id] = Entry(order: order, madeAt: now, bytes: bytes)
        }
        return bytes
    }
}
