import Cron
import Grouping
import Ledger
package import Performing
import Prompting
package import Timeline
import Tracking

/// Makes the order of each attempt: from what its run executes, what a wrapped command lent, and how long it has waited
/// for processes that earlier attempts left running.
struct AttemptOrders {
    let places: RunPlaces
    let clock: any WallClock
    /// What wrapped commands brought along, by the cause of their runs.
    ///
    /// It holds somebody's whole environment, secrets and all: it stays in memory and never meets the ledger.
    private var loans: [String: ExecLoan] = [:]
    /// Since when, since boot, runs wait for what their earlier attempts left running; by id.
    ///
    /// Of a run that waited before this daemon started the rows show it.
    private var leftoversSeen: [String: Duration] = [:]

    init(places: RunPlaces, clock: any WallClock) {
        self.places = places
        self.clock = clock
    }

    /// Keeps what the run that `cause` is about to make brings along, until that run has ended.
    mutating func lend(_ loan: ExecLoan, to cause: String) { loans[cause] = loan }

    /// Forgets what a run that was never made brought along.
    mutating func takeBack(from cause: String) { loans[cause] = nil }

    /// Whether the run wraps a command whose environment only an earlier daemon had.
    func lacksLoan(_ run: RunRecord) -> Bool { run.kind == .exec && loans[run.cause] == nil }

    /// The run has waited since this moment for what an earlier attempt left running.
    mutating func recallLeftovers(of run: String, since moment: Moment) {
        leftoversSeen[run] = clock.sinceBoot - max(.zero, clock.now - moment)
    }

    /// How long the run has waited, since it was first seen that it must, for what an earlier attempt left running.
    mutating func waitedForLeftovers(of run: String) -> Duration {
        let since = leftoversSeen[run] ?? clock.sinceBoot
        leftoversSeen[run] = since
        return clock.sinceBoot - since
    }

    /// The run's attempt has started.
    mutating func started(_ run: String) { leftoversSeen[run] = nil }

    /// The run has ended.
    mutating func ended(_ run: RunRecord) {
        loans[run.cause] = nil
        leftoversSeen[run.id] = nil
    }

    /// The order of the run's attempt, whose environment has these values beside those of the spec.
    ///
    /// Of a run that asks its bot `talk` is what it is asked, or what was said before. `input` is what the hook brought
    /// that started the run: a program reads it, a bot is shown it, and a request without a body of its own sends it.
    func order(
        _ run: RunRecord, _ spec: JobSpec, secrets: [String: String], talk: RunTalk = RunTalk(),
        input: [UInt8]? = nil
    ) -> AttemptOrder {
        var spec = spec
        spec.environment.merge(secrets) { $1 }
        let work: ProcessOrder.Work
        switch spec.action {
        case .command(let words): work = .command(words)
        case .shell(let text): work = .shell(text)
        case .prompt(let text):
            var order = PromptOrder(
                key: RunKey(run: run.id, attempt: run.attempt), bot: run.bot,
                earlier: talk.earlier,
                text: talk.reply?.text
                    ?? TaskPrompt.text(
                        of: HookInput.prompt(text, with: input), isSubtask: run.kind == .delegated),
                timeout: spec.timeout, output: places.output(of: run))
            order.session = talk.reply?.session
            (order.summary, order.older) = (talk.summary, talk.older)
            order.isReadLive = spec.thread != nil
            order.program = processOrder(run, spec, .command([]))
            if let parked = run.live?.parked, !parked.waits {
                // Only its programs put calls off.
                order.session = Continuation(provider: ProgramDialect.claude.rawValue, id: parked.session)
                order.goesOn = true
            }
            return .prompt(order)
        case .url(let request):
            var order = URLOrder(run, request, secrets: secrets, timeout: spec.timeout, places)
            if let input, !input.isEmpty, request.body == nil, !["GET", "HEAD"].contains(request.method) {
                (order.body, order.method) = (input, request.method ?? "POST")
            }
            return .url(order)
        }
        guard let loan = loans[run.cause] else { return .process(processOrder(run, spec, work)) }
        spec.environment = loan.environment
        return .process(loan.applied(to: ProcessOrder(run, spec, work, places)))
    }

    /// The order of a process that nobody lent anything, and that ends what earlier attempts left where it should.
    private func processOrder(_ run: RunRecord, _ spec: JobSpec, _ work: ProcessOrder.Work) -> ProcessOrder {
        var order = ProcessOrder(run, spec, work, places)
        let waited = leftoversSeen[run.id].map { clock.sinceBoot - $0 } ?? .zero
        if run.attempt > 1, spec.endsLeftovers(afterWaiting: waited) { order.leftoverGrace = spec.grace }
        return order
    }
}

/// What a wrapped command brings along that is kept in memory alone, until its run has ended.
package struct ExecLoan: Hashable, Sendable {
    /// Its whole environment, secrets and all.
    package var environment: [String: String]
    /// The file mode mask; nil: the warden's.
    package var umask: UInt32?
    /// The token under which somebody offered streams to the warden.
    package var attachment: String?
    /// The size of the terminal it is given; nil: it gets none.
    package var terminal: PtySize?

    package init(
        environment: [String: String], umask: UInt32? = nil, attachment: String? = nil,
        terminal: PtySize? = nil
    ) {
        self.environment = environment
        self.umask = umask
        self.attachment = attachment
        self.terminal = terminal
    }

    /// The order with all of that.
    func applied(to order: ProcessOrder) -> ProcessOrder {
        var order = order
        order.umask = umask ?? order.umask
        order.attachment = attachment
        order.pty = terminal
        if terminal != nil { order.stdin = .pty }
        return order
    }
}

extension URLOrder {
    /// What a performer must know to send a run's request.
    init(
        _ run: RunRecord, _ request: URLAction, secrets: [String: String], timeout: Duration?,
        _ places: RunPlaces
    ) {
        self.init(
            key: RunKey(run: run.id, attempt: run.attempt), url: request.url,
            method: request.effectiveMethod, headers: request.headers.merging(secrets) { $1 },
            body: request.body.map { Array($0.utf8) }, expected: request.expectedStatuses,
            allow: request.allow ?? [], timeout: timeout, output: places.output(of: run))
    }
}

extension ProcessOrder {
    /// The terminal of a job that nobody watches.
    private static let terminal = PtySize(rows: 24, columns: 80)

    /// What a performer must know to start a run.
    init(_ run: RunRecord, _ spec: JobSpec, _ work: Work, _ places: RunPlaces) {
        self.init(
            key: RunKey(run: run.id, attempt: run.attempt), work: work,
            environment: RunEnvironment(run: run, spec: spec, socket: places.socket).values,
            folder: spec.directory, timeout: spec.timeout, grace: spec.grace,
            output: places.output(of: run))
        let delivery = RunPlaces.delivery(of: run)
        if let delivery { stdin = .file(places.hookInput(delivery)) }
        guard let rules = spec.process else { return }
        user = rules.user
        umask = rules.umask.map(UInt32.init)
        nice = rules.nice
        switch rules.input {
        case .text(let text): stdin = .text(Array(text.utf8))
        case .file(let path): stdin = .file(path)
        case nil: break
        }
        // What a hook brought comes before what the job reads otherwise.
        if let delivery { stdin = .file(places.hookInput(delivery)) }
        if rules.hasTerminal == true { pty = Self.terminal }
        for (limit, most) in rules.limits ?? [:] { limits[ResourceLimit(limit)] = most }
    }
}

extension ResourceLimit {
    /// The limit of a process for a job's limit.
    fileprivate init(_ limit: JobLimit) {
        self =
            switch limit {
            case .memory: .memoryBytes
            case .cpu: .cpuSeconds
            case .files: .descriptors
            case .processes: .processes
            case .fileSize: .fileBytes
            case .stack: .stackBytes
            case .core: .coreBytes
            }
    }
}

/// What Belfry passes to a job through its environment.
///
/// The warden adds `NOTIFY_SOCKET` and `PROGRESS_FD`.
struct RunEnvironment {
    let run: RunRecord
    let spec: JobSpec
    /// The control socket's path.
    let socket: String

    /// The names and values: the job's own, and Belfry's, which they can't hide.
    var values: [String: String] {
        var values = spec.environment
        values["BELFRY_RUN"] = run.name
        values["BELFRY_RUN_ID"] = run.id
        values["BELFRY_JOB"] = run.job
        values["BELFRY_SLOT"] = run.slot?.iso8601
        values["BELFRY_ATTEMPT"] = String(run.attempt)
        values["BELFRY_SOCKET"] = socket
        return values
    }
}

/// Where runs find things, and where they leave them.
package struct RunPlaces: Hashable, Sendable {
    /// The folder of the runs' output.
    package var outputFolder: String
    /// The control socket, passed to each job.
    package var socket: String
    /// This boot of the machine.
    package var boot: String

    package init(outputFolder: String, socket: String, boot: String) {
        self.outputFolder = outputFolder
        self.socket = socket
        self.boot = boot
    }

    /// Where an attempt's output begins: a folder each job, so that no listing is longer than one job's.
    ///
    /// A job's name is one of a file, too, and a run's id is a UUID, so the path is safe.
    package func output(of run: String, job: String, attempt: Int) -> String {
        "\(outputFolder)/\(job)/\(run).\(attempt).log"
    }

    /// Where the bodies of hooks are kept; no job has such a name.
    package var hookFolder: String { outputFolder + "/.hooks" }

    /// Where the body of a hook's delivery is kept.
    package func hookInput(_ delivery: String) -> String { "\(hookFolder)/\(delivery).input" }

    /// The delivery of the hook that a run was started by; nil: it was not started by one.
    static func delivery(of run: RunRecord) -> String? {
        run.cause.hasPrefix(RunCause.hookLead) ? String(run.cause.dropFirst(RunCause.hookLead.count)) : nil
    }

    /// Where the output of the program begins that checks an attempt.
    package func checkOutput(of run: String, job: String, attempt: Int) -> String {
        "\(outputFolder)/\(job)/\(run).\(attempt).ensure.log"
    }

    /// Where the output of the script begins that decides whether an attempt asks its bot.
    package func wakeOutput(of run: String, job: String, attempt: Int) -> String {
        "\(outputFolder)/\(job)/\(run).\(attempt).wake.log"
    }

    /// What ends the path of that script's standard error.
    package static let wakeErrors = ".err"

    /// The output of the attempt that the run is at.
    func output(of run: RunRecord) -> ProcessOrder.Output {
        ProcessOrder.Output(path: output(of: run.id, job: run.job, attempt: run.attempt))
    }
}

/// Reads what the file at a path holds, without the white space around it; its error is a sentence without the content.
package typealias SecretReader = @Sendable (_ path: String) throws -> String

/// How the keeper of runs reads files.
package struct RunFiles: Sendable {
    let readSecret: SecretReader
    /// When the file at a path was changed or put there last.
    let changeTime: @Sendable (_ path: String) throws -> Moment
    let readOutput: @Sendable (_ path: String, _ most: Int) throws -> [UInt8]

    /// `readOutput` returns the beginning of what an attempt printed, at most so many bytes.
    package init(
        readSecret: @escaping SecretReader,
        changeTime: @escaping @Sendable (_ path: String) throws -> Moment,
        readOutput: @escaping @Sendable (_ path: String, _ most: Int) throws -> [UInt8]
    ) {
        self.readSecret = readSecret
        self.changeTime = changeTime
        self.readOutput = readOutput
    }
}

/// The part of a run's environment that comes from files: kept in memory alone, until the run has ended.
struct RunSecrets {
    /// A file that can't be read.
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    /// How long before a run's start its files must have been left alone for their content to be what it was given.
    static let leastAge = Duration.seconds(60)

    /// The values by the names of their variables.
    let values: [String: String]
    /// The same, to be hidden in what the run prints and reports.
    let hidden: HiddenTexts

    /// What these files hold, by the names of the variables.
    init(_ files: [String: String], read: SecretReader) throws(Unreadable) {
        var values: [String: String] = [:]
        for (name, path) in files.sorted(by: { $0.key < $1.key }) {
            do {
                values[name] = try read(path)
            } catch {
                throw Unreadable(description: "\(name) can't be read from \(path): \(error)")
            }
        }
        self.values = values
        hidden = HiddenTexts(values.values)
    }
}

/// What runs execute and when their jobs are due next, read from the ledger; a spec is read once while it is in use.
///
/// A revision never changes, so that a spec that is kept is never out of date. Used by its keeper alone.
final class RunSpecs {
    /// How many are kept: enough for the jobs that run often.
    private static let size = 2048

    private struct Key: Hashable {
        var job: String
        var revision: Int
    }

    private let ledger: any Ledger
    private let clock: any WallClock
    private let zones: ZoneLookup
    /// What is read from the disk for runs.
    let files: RunFiles
    private var kept: [Key: JobSpec] = [:]

    init(
        ledger: any Ledger, clock: any WallClock, zones: @escaping ZoneLookup,
        files: RunFiles
    ) {
        self.files = files
        self.ledger = ledger
        self.clock = clock
        self.zones = zones
    }

    /// What the run executes; nil when no such revision was ever stored.
    func spec(of run: RunRecord) async throws(LedgerError) -> JobSpec? {
        let key = Key(job: run.job, revision: run.revision)
        if let spec = run.spec ?? kept[key] { return spec }
        let spec = try await ledger.spec(of: run.job, revision: run.revision)
        if let spec {
            if kept.count >= Self.size { kept = [:] }
            kept[key] = spec
        }
        return spec
    }

    /// What the files of the spec hold now; none without a spec.
    func secrets(of spec: JobSpec?) throws(RunSecrets.Unreadable) -> RunSecrets {
        try RunSecrets(spec?.filesToRead ?? [:], read: files.readSecret)
    }

    /// What a run that began at `start` was given from the files of its spec; nil: they may have changed since.
    func secrets(of spec: JobSpec?, givenAt start: Moment?) -> RunSecrets? {
        guard let spec else { return nil }
        for path in spec.filesToRead.values {
            // They are read shortly before the attempt begins.
            guard let start, let changed = try? files.changeTime(path),
                changed < start - RunSecrets.leastAge
            else { return nil }
        }
        return try? secrets(of: spec)
    }

    /// What is known of the run's job, its secrets left aside.
    func outlook(of run: RunRecord) async throws(LedgerError) -> Outlook {
        guard let spec = try await spec(of: run) else { return Outlook() }
        var outlook = Outlook(spec: spec)
        if spec.thread != nil || run.kind == .delegated {
            outlook.chance = RetryChance(spec: spec, nextSlot: nil)
        }
        guard ![.exec, .reply, .delegated].contains(run.kind), let job = try await ledger.job(named: run.job)
        else {
            return outlook
        }
        // The slots of a paused job do not run: none of them is a reason to give up.
        if job.pause == nil,
            let (schedule, rules) = try? job.spec.schedule.read(seed: job.name, zones: zones),
            let next = schedule.nextSlot(after: clock.now, in: rules)
        {
            outlook.next = NextTry(at: next, offsetSeconds: rules.first.offsetSeconds(at: next))
        }
        if spec.attempts > 1 || spec.retriesAsReply {
            outlook.chance = RetryChance(spec: spec, nextSlot: outlook.next?.at)
        }
        return outlook
    }
}
