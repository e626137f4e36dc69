import API
import APIClient
import ArgumentParser
import Glibc
import Host
import TerminalView
import Timeline
import Tracking

/// The view of all runs on a terminal: the daemon's events and the keys, each as it arrives.
final class WatchSession {
    private let client: DaemonClient
    private let traits: TerminalTraits
    /// How the terminal itself notifies; nil: it does not.
    private let notices: TerminalNotices?
    private let zone = Zones.local
    private let feed: EventFeed
    private let keys: LiveKeys
    private let signals: TerminalSignals
    private var reader = KeyReader()
    private var model: WatchModel
    private var painter = ScreenPainter()
    private var reports: TerminalReports
    /// What no longer has a place in the view, and is printed when it is left.
    private var permanent: [FrameLine] = []
    private static let permanentKept = 1000
    private var reconnection = Reconnection()
    private let clock = ContinuousClock()
    private var lastDrawn: ContinuousClock.Instant?
    /// When the jobs were read last; nil: they have to be.
    private var jobsRead: ContinuousClock.Instant?
    /// A list of jobs is read again after so long, and not sooner than after ``leastJobsAge``.
    private static let jobsAge = Duration.seconds(30)
    private static let leastJobsAge = Duration.seconds(1)
    /// So many runs that wait are shown at most.
    private static let waitingShown = 100
    private var jobsAreOld = true
    /// When the days were read last, and of which jobs.
    private var daysRead: (at: ContinuousClock.Instant, names: Set<String>)?
    private static let daysAge = Duration.seconds(300)
    private static let leastDaysAge = Duration.seconds(30)
    /// Of so many jobs, those that run next, so many slots are shown in the days.
    private static let daysJobs = 20
    private static let daysSlots = 600
    /// The last part of an output that a log shows.
    private static let logLimit = 512 * 1024
    /// The output that is shown, and when it was read last.
    private var tail: LogTail?
    private var logRead = ContinuousClock.now
    private static let logAge = Duration.milliseconds(900)

    /// Opens the feed and takes the terminal.
    init(_ client: DaemonClient, _ traits: TerminalTraits, _ notices: TerminalNotices? = nil) throws {
        self.client = client
        self.notices = notices
        self.traits = traits
        model = WatchModel(traits, zone: zone)
        reports = TerminalReports(traits)
        signals = TerminalSignals(ownsTerminal: true)
        var query = EventsQuery()
        query.live = true
        feed = try EventFeed(of: client, query: query)
        keys = LiveKeys(isReading: true, hasScreen: true, clearing: TerminalReports.clear(traits))
    }

    /// Serves until the person leaves; ends the process with 128+n on a signal.
    func run() throws {
        defer { close() }
        try readAll()
        while true {
            if signals.takeStop() { stop() }
            if signals.takeContinuation() {
                keys.enter()
                painter.forget()
                lastDrawn = nil
            }
            if signals.takeResize() {
                painter.forget()
                lastDrawn = nil
            }
            if let signal = signals.next() {
                close()
                throw ExitCode(128 + signal)
            }
            for key in readKeys() {
                guard let wish = model.receive(key) else { continue }
                if wish == .quit { return }
                try fulfil(wish)
            }
            try take(feed.next(timeout: drawn(), or: keys.descriptor))
            try readJobs()
            try followLog()
        }
    }

    // MARK: What is shown

    /// Draws when the last frame is old enough, and returns how long to wait for the next one.
    private func drawn() -> Duration {
        if let age = lastDrawn.map({ clock.now - $0 }), age < traits.frame, !reader.hasOpenSequence {
            return traits.frame - age
        }
        let owner = tcgetpgrp(STDOUT_FILENO)
        if owner < 0 || owner == getpgrp() {
            let now = Moment.now
            let size = TerminalSize(of: STDOUT_FILENO)
            var bytes = painter.paint(model.frame(at: now, size: size), size: size)
            bytes += reports.update(model.active.filter { $0.seq > 0 }, at: now)
            StandardOutput.write(bytes)
        }
        lastDrawn = clock.now
        if reader.hasOpenSequence { return .milliseconds(50) }
        // Durations count by the second while something runs; what comes next is shown in minutes.
        return model.active.isEmpty ? .seconds(10) : .seconds(1)
    }

    private func close() {
        StandardOutput.write(TerminalReports.clear(traits))
        keys.leave()
        let columns = TerminalSize(of: STDOUT_FILENO).columns
        permanent += model.takeEnds().flatMap { $0.lines(in: zone, traits, columns: columns) }
        StandardOutput.write(permanent.flatMap { $0.bytes + [0x0D, 0x0A] })
        permanent = []
    }

    /// Stops until the shell continues us, with the terminal as it was before.
    private func stop() {
        StandardOutput.write(TerminalReports.clear(traits))
        keys.leave()
        kill(getpid(), SIGSTOP)
    }

    // MARK: What arrives

    private func readAll() throws(APIError) {
        for wire in try client.ask(Endpoints.live()) { try show(wire) }
        try readQuestions()
        try readJobs()
    }

    private func readQuestions() throws(APIError) {
        model.questions = try client.ask(Endpoints.questions()).reversed().map {
            WatchQuestion(
                id: $0.id, bot: $0.bot, text: $0.text, choices: $0.choices, takesText: $0.reply == true,
                deadline: $0.deadline?.moment)
        }
    }

    /// Reads the jobs where something may have changed about them.
    private func readJobs() throws(APIError) {
        let age = jobsRead.map { clock.now - $0 } ?? .seconds(1_000_000)
        guard age > Self.leastJobsAge, jobsAreOld || age > Self.jobsAge else { return }
        do throws(APIError) {
            model.jobs = try client.ask(Endpoints.jobs()).map {
                WatchJob(name: $0.name, nextAt: $0.nextAt?.moment, isPaused: $0.paused.isPaused)
            }
            (jobsRead, jobsAreOld) = (clock.now, false)
            try readWaiting()
            try readDays()
        } catch {
            // A daemon that starts again is asked again.
            guard error.code.row.exitCode == 3 || error.code == .timedOut else { throw error }
            jobsRead = clock.now
        }
    }

    /// Reads which runs wait for their turn, and for what: of them the daemon has no live state.
    private func readWaiting() throws(APIError) {
        var query = RunsQuery()
        query.states = [.scheduled, .queued]
        query.limit = Self.waitingShown
        let waiting = try client.ask(Endpoints.runs(query: query)).compactMap { run in
            LiveState(waiting: run).map { ($0, RunText.detail(run)) }
        }
        model.update(waiting: waiting.map(\.0))
        for (live, words) in waiting where model.isWaiting(live.task.id) { model.waits[live.task.id] = words }
    }

    /// Reads what ended since yesterday and what comes until tomorrow, where jobs are others than before, or it is old.
    private func readDays() throws(APIError) {
        let coming = model.jobs.filter { $0.nextAt != nil && !$0.isPaused }
            .sorted { ($0.nextAt ?? .distantFuture, $0.name) < ($1.nextAt ?? .distantFuture, $1.name) }
            .prefix(Self.daysJobs)
        let names = Set(coming.map(\.name))
        // Of many jobs those that run next are others after each slot.
        let least = coming.count < Self.daysJobs ? .zero : Self.leastDaysAge
        if let daysRead {
            let age = clock.now - daysRead.at
            if age < least || daysRead.names == names && age < Self.daysAge { return }
        }
        daysRead = (clock.now, names)
        let span = DayStrip.span(at: .now, in: zone)
        var query = RunsQuery()
        query.states = RunState.allCases.filter(\.isEnded)
        (query.since, query.limit) = (span.lowerBound, 1000)
        let ends = try client.ask(Endpoints.runs(query: query)).compactMap { run in
            run.endedAt.map { DayStrip.End(at: $0.moment, state: run.state) }
        }
        var slots: [Moment] = []
        for job in coming where job.nextAt.map({ $0 < span.upperBound }) == true {
            var query = NextSlotsQuery()
            query.count = Self.daysSlots
            do throws(APIError) {
                guard case .times(let times) = try client.ask(Endpoints.nextSlots(job.name, query: query))
                else { continue }
                slots += times.map(\.moment).filter { $0 < span.upperBound }
            } catch  where error.code == .noSuchJob {
                // It was removed since it was listed.
                continue
            }
        }
        model.strip = DayStrip(ends: ends, slots: slots)
    }

    private func take(_ arrival: EventFeed.Arrival) throws {
        switch arrival {
        case .nothing: reconnection.succeeded()
        case .broken: try reconnection.wait()
        case .event(let event):
            reconnection.succeeded()
            if event.name == "live" {
                try show(WireCoding.decode(WireLive.self, from: event.data.utf8))
            } else {
                jobsAreOld = true
                notices?.notify(of: try WireCoding.decode(WireEvent.self, from: event.data.utf8))
                if event.name?.hasPrefix("question.") == true { try readQuestions() }
            }
        }
    }

    private func show(_ wire: WireLive) throws(APIError) {
        let live = LiveState(wire)
        let isWaiting = wire.state.isBeforeStart || wire.state == .blocked
        let needsRun = wire.state.isEnded || isWaiting
        let run: WireRun? = needsRun ? RunName(wire.run).flatMap { try? client.ask(Endpoints.run($0)) } : nil
        let detail = run.flatMap(RunText.detail)
        guard wire.state.isEnded else {
            model.waits[wire.taskId] = isWaiting ? detail : nil
            return model.update(live)
        }
        let evidence =
            run.map { run in [RunText.sentence(run)].compactMap(\.self) + RunText.lastLines(run) } ?? []
        let columns = TerminalSize(of: STDOUT_FILENO).columns
        for end in model.end(WatchEnd(live, detail: detail, evidence: evidence)) {
            permanent = (permanent + end.lines(in: zone, traits, columns: columns)).suffix(Self.permanentKept)
        }
    }

    // MARK: Keys

    /// The keys pressed since the last look; Escape alone is one when nothing followed it for a while.
    private func readKeys() -> [Key] {
        let bytes = keys.readBytes()
        if bytes.isEmpty, let age = lastDrawn.map({ clock.now - $0 }), age >= .milliseconds(50) {
            return reader.takeEscape() ? [.escape] : []
        }
        let pressed = reader.receive(bytes)
        // What a key changes is drawn at once.
        if !pressed.isEmpty { lastDrawn = nil }
        return pressed
    }

    /// Does what a key asked for; what the daemon has against it is shown in the view.
    private func fulfil(_ wish: WatchModel.Wish) throws {
        do throws(APIError) {
            model.note = try done(wish) ?? model.note
        } catch {
            model.note = error.message
        }
        lastDrawn = nil
    }

    private func done(_ wish: WatchModel.Wish) throws(APIError) -> String? {
        switch wish {
        case .quit: return nil
        case .redraw:
            painter.forget()
            return nil
        case .cancel(let run):
            guard let target = RunTarget(run) else { throw APIError(.noSuchRun) }
            _ = try client.ask(Endpoints.cancelRun(target))
            return "\(run) is being canceled"
        case .retry(let run):
            guard let target = RunTarget(run) else { throw APIError(.noSuchRun) }
            let next = try client.ask(Endpoints.retryRun(target))
            return "\(run) is repeated as \(next.name ?? next.job)"
        case .start(let job):
            let run = try client.ask(Endpoints.runJob(job, body: RunRequest()))
            return "\(run.name ?? job) was started"
        case .pause(let job):
            _ = try client.ask(Endpoints.pauseJob(job, body: PauseRequest(note: nil)))
            return paused(job, "is paused; p resumes it")
        case .resume(let job):
            _ = try client.ask(Endpoints.resumeJob(job))
            return paused(job, "is resumed")
        case .pauseRun(let run):
            guard let target = RunTarget(run) else { throw APIError(.noSuchRun) }
            // Whoever presses the key again before the event arrives means the other thing.
            if let live = try client.ask(Endpoints.pauseRun(target)).live { try show(live) }
            return "\(run) is paused; p resumes it"
        case .resumeRun(let run):
            guard let target = RunTarget(run) else { throw APIError(.noSuchRun) }
            if let live = try client.ask(Endpoints.resumeRun(target)).live { try show(live) }
            return "\(run) is resumed"
        case .showLog(let run):
            model.show(try log(of: run))
            return nil
        case .answer(let id, let text):
            var request = AnswerRequest(answer: text)
            request.by = "cli"
            _ = try client.ask(Endpoints.answerQuestion(id, body: request))
            try readQuestions()
            return "Answered: \(text)"
        }
    }

    private func paused(_ job: String, _ words: String) -> String {
        (jobsRead, jobsAreOld) = (nil, true)
        return "\(job) \(words)"
    }

    // MARK: The log

    /// The last part of a run's output, in lines.
    private func log(of run: String) throws(APIError) -> WatchLog {
        tail = LogTail(run)
        var lines = try readTail()
        // A run that has ended may have left a line without its end.
        if let target = RunTarget(run), try client.ask(Endpoints.run(target)).state.isEnded {
            lines += tail?.takeRest() ?? []
        }
        if tail?.isCut == true, !lines.isEmpty {
            lines[0] = "(the beginning is not shown; see: belfry run logs \(run))"
        }
        return WatchLog(run: run, lines: lines)
    }

    /// Adds to the log that is shown what the run has printed since.
    private func followLog() throws(APIError) {
        guard let run = model.shownLog, run == tail?.run, clock.now - logRead > Self.logAge else { return }
        do throws(APIError) {
            model.append(toLog: try readTail())
        } catch {
            // A daemon that starts again is asked again.
            guard error.code.row.exitCode == 3 || error.code == .timedOut else { throw error }
        }
    }

    /// The whole lines that the run printed since the last look.
    private func readTail() throws(APIError) -> [String] {
        logRead = clock.now
        guard var tail, let target = RunTarget(tail.run) else { throw APIError(.noSuchRun) }
        defer { self.tail = tail }
        var query = LogsQuery()
        query.offset = tail.offset
        let stream = try client.open(Endpoints.logs(target, query: query))
        while case .bytes(let bytes) = try stream.next(timeout: .seconds(5)) {
            tail.take(bytes, limit: Self.logLimit)
        }
        return tail.takeLines()
    }
}

/// How far the output of a run was read.
private struct LogTail {
    let run: String
    private(set) var offset = 0
    /// Whether something at the beginning was left out.
    private(set) var isCut = false
    /// What was read, and not made lines of yet.
    private var rest: [UInt8] = []

    init(_ run: String) { self.run = run }

    /// Takes the next bytes; of more than twice the limit only the last ones are kept.
    mutating func take(_ bytes: [UInt8], limit: Int) {
        offset += bytes.count
        rest += bytes
        guard rest.count > limit * 2 else { return }
        rest.removeFirst(rest.count - limit)
        isCut = true
    }

    /// The line that no line feed ended; none where there is none.
    mutating func takeRest() -> [String] {
        defer { rest = [] }
        return rest.isEmpty ? [] : PlainText.lines(String(decoding: rest, as: UTF8.self))
    }

    /// The lines that are complete.
    mutating func takeLines() -> [String] {
        guard let end = rest.lastIndex(of: 0x0A) else { return [] }
        let lines = PlainText.lines(String(decoding: rest[..<end], as: UTF8.self))
        rest.removeFirst(end + 1)
        return lines
    }
}
