package import Delivery
import Host
package import Performing
import Synchronization
package import Timeline
import Tracking

/// Sends what forms by a program render: runs the program for each notice.
///
/// One attempt a call and no memory between calls: retries, circuits and order are the pump's.
package struct ProgramSender: EdgeChannel {
    /// The name it has in the config file.
    package let name: String
    private let service: any ProgramForm
    private let desk: ProgramDesk

    /// A channel of this form, whose programs `desk` has run.
    package init(name: String, form: any ProgramForm, desk: ProgramDesk) {
        self.name = name
        service = form
        self.desk = desk
    }

    /// The form it sends for.
    package var form: any ChannelForm { service }

    /// The command itself: there is no secret in it.
    package var identity: String { service.command.joined(separator: "\u{0}") }

    /// Runs the program for `parcel` once, and waits for its end.
    package func deliver(_ parcel: Parcel, at now: Moment) async throws(DeliveryError) -> Receipt {
        try await attempt(parcel, at: now).result.get()
    }

    /// The same, with the end of what the program printed.
    package func attempt(_ parcel: Parcel, at now: Moment) async -> DeliveryReport {
        let answer = await desk.run(service.call(parcel), for: parcel)
        let said = DeliveryReport.kept(answer.output.text(most: 20) ?? "")
        if let failure = service.judge(answer) { return DeliveryReport(.failure(failure), answer: said) }
        return DeliveryReport(.success(Receipt(at: now, kind: .accepted, answer: said)))
    }
}

extension ProgramAnswer {
    /// What an exit record says of a program.
    init(_ record: ExitRecord) {
        let end: ProgramEnd =
            switch (record.cause, record.exitCode, record.signal) {
            case (.timeout, _, _): .timedOut
            case (.lost, _, _): .lost
            case (.exited, let code?, _): .exited(code)
            case (.exited, nil, let signal?): .signaled(signal)
            case (.exited, nil, nil): .lost
            // Nobody but a person at the warden's socket asks for that.
            case (.canceled, _, let signal): .signaled(signal ?? 15)
            }
        self.init(end, printed: record.outputTail)
    }
}

/// Has programs run over the connection that the runs have to their performer.
///
/// ``share(_:)`` puts it between the two. What is reported of its programs goes no further.
package final class ProgramDesk: Sendable {
    private struct State {
        var performer: (any Performer)?
        /// Whether the performer answers: between its first report and the loss of its connection.
        var isConnected = false
        var waiting: [RunKey: Call] = [:]
        /// How programs ended that nobody waits for: an earlier daemon ordered them.
        var ends: [ExitRecord] = []
    }

    private struct Call {
        var order: ProcessOrder
        /// Whether its caller reads what it printed, and releases it then.
        var isReadByCaller = false
        var finish: @Sendable (ProgramAnswer, ExitRecord?) -> Void
    }

    /// How many ends are kept for the attempts that will ask for them.
    private static let mostEnds = 64
    /// How much of what a program prints is kept, in bytes.
    private static let printedBytes = 1 << 14
    /// The same of one whose caller reads all of it.
    private static let wholeBytes = 1 << 20
    /// Where standard error of such a one goes, behind the path of its output.
    private static let errors = ".err"
    /// What distinguishes the keys of programs from those of runs, which are UUIDs.
    private static let mark = "notice."

    private let folder: String
    private let state = Mutex(State())

    /// A desk that keeps what programs print in `folder` while they run.
    package init(folder: String) {
        self.folder = folder
    }

    /// `performer`, which from now on runs programs for this desk, too.
    package func share(_ performer: any Performer) -> any Performer {
        state.withLock { $0.performer = performer }
        return SharedPerformer(base: performer, desk: self)
    }

    /// Runs what is called for the parcel, and waits for its end; the same attempt is never run twice.
    ///
    /// A task that is canceled waits no longer; the program goes on.
    package func run(_ call: ProgramCall, for parcel: Parcel) async -> ProgramAnswer {
        let key = RunKey(run: Self.mark + parcel.id, attempt: parcel.attempt)
        guard key.isValid else { return ProgramAnswer(.notStarted("the id of the entry names no file")) }
        var order = ProcessOrder(
            key: key, work: .command(call.command), environment: call.environment, timeout: call.timeout,
            grace: .seconds(2),
            output: .init(path: path(of: key), headBytes: Self.printedBytes, tailBytes: Self.printedBytes),
            isOutputWatched: false, stdin: .text(call.input))
        order.leftoverGrace = .seconds(2)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                begin(Call(order: order) { answer, _ in caller.resume(returning: answer) })
            }
        } onCancel: {
            finish(key, ProgramAnswer(.abandoned))
        }
    }

    /// Runs the program of an order under a `name` that is used once, and waits for its end.
    ///
    /// The desk decides where the order's output goes; a task that is canceled ends the program.
    package func run(_ order: ProcessOrder, named name: String) async -> ProgramRun {
        let key = RunKey(run: Self.mark + name, attempt: 1)
        guard key.isValid else { return .failed("its name names no file") }
        var order = order
        order.key = key
        order.output = .init(path: path(of: key), headBytes: Self.wholeBytes, tailBytes: 0)
        order.errorPath = path(of: key) + Self.errors
        order.isOutputWatched = false
        let (answer, record) = await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                begin(Call(order: order, isReadByCaller: true) { caller.resume(returning: ($0, $1)) })
            }
        } onCancel: {
            finish(key, ProgramAnswer(.abandoned))
        }
        defer { release(key) }
        if let record {
            let printed = (try? OutputLog(path: path(of: key)).read(from: 0, limit: Self.wholeBytes))?.bytes
            return .ended(record, printed: printed ?? [])
        }
        switch answer.end {
        case .missing(let reason), .notStarted(let reason): return .failed(reason)
        case .exited, .signaled, .timedOut, .lost, .abandoned:
            state.withLock(\.performer)?.cancel(key, reason: "abandoned")
            return .failed("the daemon is stopping")
        }
    }

    private func begin(_ call: Call) {
        let key = call.order.key
        if Task.isCancelled { return call.finish(ProgramAnswer(.abandoned), nil) }
        let (ended, performer) = state.withLock { state -> (ExitRecord?, (any Performer)?) in
            if let place = state.ends.firstIndex(where: { $0.key == key }) {
                return (state.ends.remove(at: place), state.performer)
            }
            state.waiting[key] = call
            // Ordered when it is there; an order without a connection is lost.
            return (nil, state.isConnected ? state.performer : nil)
        }
        guard let ended else {
            performer?.start(.process(call.order))
            // Canceled before it was waited for.
            if Task.isCancelled { finish(key, ProgramAnswer(.abandoned)) }
            return
        }
        if !call.isReadByCaller { release(key) }
        call.finish(ProgramAnswer(ended), ended)
    }

    private func finish(_ key: RunKey, _ answer: ProgramAnswer) {
        state.withLock { $0.waiting.removeValue(forKey: key) }?.finish(answer, nil)
    }

    private func path(of key: RunKey) -> String { "\(folder)/\(key)" }

    /// Nobody asks for this end any more.
    private func release(_ key: RunKey) {
        OutputLog(path: path(of: key)).remove()
        OutputLog(path: path(of: key) + Self.errors).remove()
        state.withLock(\.performer)?.acknowledge(key)
    }

    // MARK: Events

    /// Whether the event is of a program of this desk, which then has dealt with it.
    fileprivate func accept(_ event: PerformerEvent) -> Bool {
        switch event {
        case .caughtUp:
            orderAgain()
            return false
        case .disconnected:
            state.withLock { $0.isConnected = false }
            return false
        case .ended(let record):
            guard isOwn(record.key) else { return false }
            ended(record)
        case .refused(let key, let refusal, let text):
            guard isOwn(key) else { return false }
            let reason = MissingProgram.headline(of: text)
            let isMissing = refusal == .notFound || refusal == .notExecutable
            finish(key, ProgramAnswer(isMissing ? .missing(reason) : .notStarted(reason)))
        case .started(let key, _, _), .output(let key, _, _), .report(let key, _, _), .progress(let key, _),
            .notify(let key, _, _), .inputTaken(let key, _, _), .unknown(let key):
            return isOwn(key)
        }
        return true
    }

    private func isOwn(_ key: RunKey) -> Bool { key.run.hasPrefix(Self.mark) }

    /// The performer has reported all it knows: what is still waited for is ordered, whether or not it was before.
    private func orderAgain() {
        let (orders, performer) = state.withLock { state in
            state.isConnected = true
            return (state.waiting.values.map(\.order), state.performer)
        }
        for order in orders { performer?.start(.process(order)) }
    }

    private func ended(_ record: ExitRecord) {
        let (call, oldest) = state.withLock { state -> (Call?, ExitRecord?) in
            if let call = state.waiting.removeValue(forKey: record.key) { return (call, nil) }
            state.ends.removeAll { $0.key == record.key }
            state.ends.append(record)
            return (nil, state.ends.count > Self.mostEnds ? state.ends.removeFirst() : nil)
        }
        if let oldest { release(oldest.key) }
        guard let call else { return }
        if !call.isReadByCaller { release(record.key) }
        call.finish(ProgramAnswer(record), record)
    }
}

/// A performer that runs the programs of a desk, too; to everybody else it is as before.
private struct SharedPerformer: Performer {
    let base: any Performer
    let desk: ProgramDesk

    var survivesTheDaemon: Bool { base.survivesTheDaemon }
    func connect() async throws -> Int32? { try await base.connect() }
    func holds(_ key: RunKey) -> Bool { base.holds(key) }
    func start(_ order: AttemptOrder) { base.start(order) }
    func cancel(_ key: RunKey, reason: String) { base.cancel(key, reason: reason) }
    func ask(_ key: RunKey) { base.ask(key) }
    func pauses(_ key: RunKey) -> Bool { base.pauses(key) }
    func pause(_ key: RunKey) { base.pause(key) }
    func resume(_ key: RunKey) { base.resume(key) }
    func acknowledge(_ key: RunKey) { base.acknowledge(key) }
    func waitForEvents() async -> Bool { await base.waitForEvents() }
    func takeEvents() -> [PerformerEvent] { base.takeEvents().filter { !desk.accept($0) } }
}
