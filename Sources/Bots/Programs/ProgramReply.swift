import Host
import Performing
import Prompting
import Synchronization
import Timeline
import Tracking

/// The reply of one attempt that a program performs, read while it prints.
///
/// What it prints is read from its log, never from the copies that come with events: of those some are left out. So a
/// daemon that takes the attempt over reads the same reply, from the beginning.
final class ProgramReply: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        /// How the program ended.
        var exit: ExitRecord?
        /// The same with what happened to the reply.
        var record: ExitRecord?
    }

    let note: ReplyNote
    private let state = Mutex(State())
    private let (wakes, waker) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(_ note: ReplyNote) {
        self.note = note
    }

    /// How it ended, once all of it was read.
    var record: ExitRecord? { state.withLock { $0.record } }

    /// Begins to read, unless it has begun; `report` is called with what happens, its end at last.
    ///
    /// Of what the program prints, its key is `hidden` wherever it is kept or shown.
    func begin(
        _ key: RunKey, clock: any WallClock, hiding hidden: HiddenTexts,
        _ report: @escaping @Sendable (PerformerEvent) -> Void
    ) {
        state.withLock { state in
            guard state.task == nil else { return }
            state.task = Task { [self] in
                var reading = ReplyReading(key, note, clock: clock, hiding: hidden, report)
                for await _ in wakes {
                    // Before the log is read: at the end all of it must have been.
                    let exit = self.state.withLock { $0.exit }
                    reading.readOn()
                    guard let exit else { continue }
                    let record = reading.end(exit)
                    self.state.withLock { $0.record = record }
                    return report(.ended(record))
                }
            }
        }
        waker.yield()
    }

    /// The program printed more.
    func printed() { waker.yield() }

    /// The program ended.
    func ended(_ exit: ExitRecord) {
        state.withLock { $0.exit = $0.exit ?? exit }
        waker.yield()
    }

    /// Nobody wants it any more.
    func stop() {
        waker.finish()
        state.withLock { $0.task }?.cancel()
    }
}

/// How far a program's output has been read as a reply; writes the reply's text to the output of its attempt.
struct ReplyReading {
    /// How many bytes of standard output are kept, and read, from the beginning.
    static let limit = 64 << 20

    private let key: RunKey
    private let note: ReplyNote
    private let clock: any WallClock
    private let hidden: HiddenTexts
    private let report: (PerformerEvent) -> Void
    private var decoder: ProgramDecoder
    private var file: OutputFile?
    /// The text on its way to the file.
    private var shown: HidingStream
    private var progress = ReplyProgress()
    private var failure: ReplyFailure?
    private var finish: Finish?
    /// The session that the program reported.
    private var continuation: Continuation?
    private var offset = 0
    private var reportedAt: Duration?

    init(
        _ key: RunKey, _ note: ReplyNote, clock: any WallClock, hiding hidden: HiddenTexts,
        _ report: @escaping (PerformerEvent) -> Void
    ) {
        self.key = key
        self.note = note
        self.clock = clock
        self.hidden = hidden
        shown = HidingStream(hidden)
        self.report = report
        decoder = ProgramDecoder(note.dialect)
        do throws(HostError) {
            let output = note.output
            file = try OutputFile(
                path: output.path, headBytes: output.headBytes, tailBytes: output.tailBytes)
        } catch {
            failure = ReplyFailure(.server, detail: "the reply can't be kept: \(error)")
        }
        report(.progress(key, ReplyProgress.waiting))
    }

    /// Reads what was printed since.
    mutating func readOn() {
        do throws(HostError) {
            while failure == nil {
                let slice = try note.printed.read(from: offset, limit: 1 << 18)
                guard !slice.bytes.isEmpty else { return }
                guard slice.offset == offset else {
                    return fail(
                        ReplyFailure(.replyTooLong(limit: Self.limit), hasOutput: !progress.text.isEmpty))
                }
                offset = slice.end
                var events: [ReplyEvent] = []
                decoder.receive(slice.bytes[...]) { events.append($0) }
                for event in events { apply(event) }
            }
        } catch {
            fail(ReplyFailure(.malformed, detail: "its output can't be read: \(error)"))
        }
    }

    /// The program ended so: the attempt's record, with the reply or with what failed.
    mutating func end(_ exit: ExitRecord) -> ExitRecord {
        var exit = exit
        (exit.outputTail, exit.errorTail) = (hiddenTail(exit.outputTail), hiddenTail(exit.errorTail))
        var events: [ReplyEvent] = []
        let code = exit.exitCode
        decoder.end(code.map(BotProgramEnd.code) ?? .signal) { events.append($0) }
        for event in events { apply(event) }
        // The last words may have come since the last one.
        if let progress = progress.report { report(.progress(key, progress)) }
        file?.append(shown.finish()[...])
        let text = hidden.hide(in: progress.text)
        // A program that replied and then failed did not do what it should.
        if failure == nil, code != 0 {
            failure = ReplyFailure(.program(exit: code), hasOutput: !progress.text.isEmpty)
        }
        var record = exit
        if exit.cause == .exited { judge(&record, by: exit, reply: text) }
        record.usage = progress.usage.map {
            BotUsage(note.dialect.usage(of: $0, after: note.session?.used), price: note.price)
        }
        if record.reply != nil, note.keepsSession, var continuation {
            continuation.used = note.dialect.total(of: progress.usage)
            record.session = .kept(continuation)
        }
        if record.reply == nil {
            if !text.isEmpty, record.parked == nil { record.partialReply = text }
            // Of a session that it lost nobody needs to know: the next attempt shows it what was said.
            if record.session != .lost { keepLastWords(of: exit) }
        }
        record.outputBytes = file?.count ?? 0
        record.outputTail =
            record.reply == nil
            ? lastWords(of: exit) : Array(text.utf8.suffix(ExitRecord.tailLimit))
        return record
    }

    /// Of a program that ended by itself: its reply, or what failed.
    private mutating func judge(_ record: inout ExitRecord, by exit: ExitRecord, reply text: String) {
        if failure == nil, case .deferred(let call)? = finish?.reason {
            if note.mayPark, let session = continuation?.id {
                record.parked = LiveState.Parked(session: session, call: call)
                return
            }
            failure = ReplyFailure(
                .malformed,
                detail:
                    "it put off a call until somebody is asked, which only the prompt of a job can wait for")
        }
        guard var failure else {
            record.reply = text
            record.replyTitle = finish?.title.map { hidden.hide(in: $0) }
            record.replyPriority = finish?.priority
            record.isReplyQuiet = finish?.isQuiet ?? false
            return
        }
        failure.explain(by: exit, of: note.dialect)
        var fault = AttemptFault(failure.counted(from: clock.now), at: note.place)
        fault.text = hidden.hide(in: fault.text)
        record.fault = fault
        guard hasLostSession(failure, exit) else { return }
        record.session = .lost
        // The next attempt begins another one.
        record.fault?.mayPass = true
    }

    private mutating func apply(_ event: ReplyEvent) {
        if case .text(let piece) = event { file?.append(shown.hide(Array(piece.utf8))[...]) }
        if case .failed(let reason) = event { fail(reason) }
        if case .started(let session?) = event { continuation = session }
        if case .finished(let end) = event { finish = end }
        let isNewPhase = progress.note(event)
        let now = clock.sinceBoot
        guard isNewPhase || reportedAt.map({ now - $0 >= ReplyProgress.interval }) ?? true else { return }
        reportedAt = now
        if let progress = progress.report { report(.progress(key, progress)) }
    }

    /// Whether it could not resume the session that it was given.
    private func hasLostSession(_ failure: ReplyFailure, _ exit: ExitRecord) -> Bool {
        guard note.session != nil, progress.text.isEmpty else { return false }
        let words =
            [failure.detail] + [exit.errorTail, exit.outputTail].map { String(decoding: $0, as: UTF8.self) }
        return words.contains(where: LostSession.isMeant)
    }

    private mutating func fail(_ reason: ReplyFailure) {
        if failure == nil { failure = reason }
    }

    /// The last bytes that the program printed, without what is hidden, or a rest of it at the cut.
    private func hiddenTail(_ bytes: [UInt8]) -> [UInt8] {
        guard !hidden.isEmpty, bytes.count >= ExitRecord.tailLimit else { return hidden.hide(in: bytes) }
        return hidden.hide(in: Array(hidden.dropCutBeginning(bytes)))
    }

    /// What explains best why there is no reply: the program's errors, else what it printed as far as a person can read
    /// that.
    private func lastWords(of exit: ExitRecord) -> [UInt8] {
        guard exit.errorTail.isEmpty else { return exit.errorTail }
        if note.dialect == .text { return exit.outputTail }
        if case .malformed? = failure?.kind { return exit.outputTail }
        return Array(hidden.hide(in: progress.text).utf8.suffix(ExitRecord.tailLimit))
    }

    /// Without a reply the attempt's output ends with them, unless a person reads it as the reply: of those the failure's
    /// sentence has what explains it.
    private mutating func keepLastWords(of exit: ExitRecord) {
        guard !note.isReadLive else { return }
        if case .malformed? = failure?.kind { append(exit.outputTail) }
        append(exit.errorTail)
    }

    private mutating func append(_ words: [UInt8]) {
        guard !words.isEmpty else { return }
        if let last = progress.text.utf8.last, last != 0x0A { file?.append([0x0A]) }
        file?.append(words[...])
    }
}

extension ReplyFailure {
    /// Adds what the program itself wrote about its failure, where nothing else says why.
    mutating func explain(by exit: ExitRecord, of dialect: ProgramDialect) {
        switch kind {
        case .program, .truncated:
            guard detail.isEmpty else { return }
            let output = dialect == .text ? LastLines(exit.outputTail) : LastLines([])
            detail = FailureLine.find(in: output, errors: LastLines(exit.errorTail)) ?? ""
        default: break
        }
    }
}
