import Ledger
package import Performing
import Prompting
import Timeline

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
    /// Of a run that asks its bot `talk` is what it is asked, or what was said before.
    func order(
        _ run: RunRecord, _ spec: JobSpec, secrets: [String: String], talk: RunTalk = RunTalk()
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
                earlier: talk.earlier, text: talk.reply?.text ?? TaskPrompt.text(of: text),
                timeout: spec.timeout, output: places.output(of: run))
            order.session = talk.reply?.session
            order.isReadLive = spec.thread != nil
            order.program = processOrder(run, spec, .command([]))
            return .prompt(order)
        case .url(let request):
            return .url(URLOrder(run, request, secrets: secrets, timeout: spec.timeout, places))
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

extension AttemptOrders {
    /// The order of the program that checks a run: as its job's own programs, with what was printed as its input.
    func check(
        _ run: RunRecord, _ spec: JobSpec, _ command: [String], within limit: Duration,
        secrets: [String: String], input: [UInt8]
    ) -> ProcessOrder {
        var spec = spec
        // Those of a request are headers.
        if spec.request == nil { spec.environment.merge(secrets) { $1 } }
        var order = ProcessOrder(run, spec, .command(command), places)
        order.key = order.key.check
        order.timeout = limit
        order.output = ProcessOrder.Output(
            path: places.checkOutput(of: run.id, job: run.job, attempt: run.attempt), headBytes: 1 << 16,
            tailBytes: 0)
        order.isOutputWatched = false
        (order.pty, order.stdin) = (nil, .text(input))
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
        guard let rules = spec.process else { return }
        user = rules.user
        umask = rules.umask.map(UInt32.init)
        nice = rules.nice
        switch rules.input {
        case .text(let text): stdin = .text(Array(text.utf8))
        case .file(let path): stdin = .file(path)
        case nil: break
        }
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
