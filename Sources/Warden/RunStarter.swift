import CLinux
import Glibc
import Host
import Performing
import Tracking
import WardenProtocol

/// Turns an order into a process with its pipes.
struct RunStarter {
    /// A process that runs.
    struct Started {
        var pid: Int32
        var startTime: UInt64
        var pipes: RunPipes
    }

    /// How much sooner than the warden the kernel should choose a job when memory runs out.
    private static let oomScore = 200

    let environment: ChildEnvironment.Shared
    private let oomScore: Int?
    private let notifyFolder: String
    /// The state folder, where most output belongs; nil: there is none.
    private let state: String?
    private let nothing: Descriptor
    private var lastSocket = 0
    private var ticks = StartTicks(perSecond: Machine.ticksPerSecond)

    /// `keeping` are the ids of wardens that still finish their runs.
    init(
        directory: String, state: String?, environment: [String: String], keeping others: Set<String>
    ) throws(HostError) {
        self.state = state
        self.environment = ChildEnvironment.Shared(JobEnvironment.scrubbed(environment))
        notifyFolder = directory + "/n"
        nothing = try Descriptor.open("/dev/null", O_RDWR)
        let own = (try? SmallFile.text("/proc/self/oom_score_adj")).flatMap { Int($0) }
        oomScore = own.map { min(1000, $0 + Self.oomScore) }
        try PrivateFolder.make(notifyFolder)
        // Jobs of other users must get through to their sockets; what else is here has its own mode.
        if geteuid() == 0 { for path in [directory, notifyFolder] { unsafe chmod(path, 0o711) } }
        // Sockets of a warden that was killed: nobody reads them any more.
        for name in try Folder.names(in: notifyFolder)
        where !others.contains(String(name.prefix { $0 != "." })) {
            unsafe unlink(notifyFolder + "/" + name)
        }
    }

    /// Starts the order's process, the leader of its own session, in `group` where there is one, on the streams
    /// that were offered for it.
    mutating func start(
        _ order: ProcessOrder, _ attachment: OfferedStreams? = nil, in group: Descriptor? = nil
    ) throws(StartRefused) -> Started {
        try check(order)
        let account = try account(order)
        lastSocket += 1
        let notifyPath = "\(notifyFolder)/\(getpid()).\(String(lastSocket, radix: 36))"
        var child = try makeChild(order, account, notifyPath, in: group)
        var pipes: RunPipes
        do throws(HostError) {
            pipes = try makePipes(order, attachment, notifyPath, account, for: &child)
        } catch {
            throw StartRefused(error, otherwise: .badOutput)
        }
        do throws(StartRefused) {
            try addInput(order, to: &pipes, for: &child)
            let before = Duration.sinceBoot
            let pid = try begin(child)
            let tick = ticks.tick(from: before, to: .sinceBoot) { ProcessTable.entry(pid)?.startTime }
            return Started(pid: pid, startTime: tick, pipes: pipes)
        } catch {
            unsafe unlink(notifyPath)
            OutputLog(path: order.output.path).remove()
            if let path = order.errorPath { OutputLog(path: path).remove() }
            throw error
        }
    }

    /// The program without its descriptors.
    private func makeChild(
        _ order: ProcessOrder, _ account: Account?, _ notifyPath: String, in group: Descriptor?
    ) throws(StartRefused) -> ChildProgram {
        var base = account.map { ChildEnvironment.Shared(variables(of: $0)) } ?? environment
        if let names = order.inherited {
            base = ChildEnvironment.Shared(JobEnvironment.chosen(base.values, by: names))
        }
        var child = ChildProgram(
            path: "/bin/sh", arguments: [],
            environment: JobEnvironment.make(from: base, for: order, notifySocket: notifyPath),
            descriptors: [])
        child.folder = order.folder ?? child.environment["HOME"] ?? "/"
        child.mask = order.umask ?? 0o022
        child.priority = order.nice
        for (limit, most) in order.limits { child.limits[limit.number] = UInt64(most) }
        child.oomScore = oomScore
        child.controlGroup = group
        switch order.work {
        case .shell(let text): child.arguments = ["sh", "-c", text]
        case .command(let words):
            child.arguments = words
            child.path = try ProgramSearch.find(words.first ?? "", path: child.environment["PATH"] ?? "")
        }
        if let account { try change(&child, to: account) }
        return child
    }

    private func begin(_ child: ChildProgram) throws(StartRefused) -> Int32 {
        do throws(HostError) {
            return try child.start()
        } catch {
            var refused = try explain(error, child)
            // Out of processes or memory is out of them without a group, too.
            if case .system("clone", let code, _) = error, child.controlGroup != nil {
                refused.isOfControlGroup = code != EAGAIN && code != ENOMEM
            }
            throw refused
        }
    }

    /// Everything the run writes to; its ends become the child's descriptors.
    private func makePipes(
        _ order: ProcessOrder, _ attachment: OfferedStreams?, _ notifyPath: String, _ account: Account?,
        for child: inout ChildProgram
    ) throws(HostError) -> RunPipes {
        let output = try OutputFile(
            path: order.output.path, headBytes: order.output.headBytes, tailBytes: order.output.tailBytes,
            state: state)
        let progress = try Descriptor.pipe(nonblockingRead: true)
        let notify = try LocalSocket.bindDatagram(notifyPath, namingSenders: true)
        var pipes = RunPipes(
            output: output, isOutputWatched: order.isOutputWatched, progressPipe: progress.read,
            notifySocket: notify, notifyPath: notifyPath, notifyReader: NotifyReader(run: order.key.run))
        if let size = order.pty {
            let (terminal, slave) = try PseudoTerminal.open(rows: size.rows, columns: size.columns)
            pipes.terminal = terminal
            pipes.slave = slave
            pipes.outputPipe = terminal.master
            child.descriptors = [nothing, slave, slave, progress.write]
            child.terminal = 1
        } else {
            let ends = try Descriptor.pipe(nonblockingRead: true)
            pipes.outputPipe = ends.read
            child.descriptors = [nothing, ends.write, ends.write, progress.write]
            if let attachment { try attach(attachment, to: &pipes, for: &child) }
            if let path = order.errorPath { try separateErrors(path, order, in: &pipes, for: &child) }
        }
        pipes.outputSink = attachment?.output
        if let account {
            unsafe chown(notifyPath, account.userID, account.groupID)
            if let slave = pipes.slave { fchown(slave.raw, account.userID, UInt32.max) }
        }
        return pipes
    }

    /// Standard input is what was offered, and errors have a pipe of their own.
    private func attach(
        _ attachment: OfferedStreams, to pipes: inout RunPipes, for child: inout ChildProgram
    ) throws(HostError) {
        let errors = try Descriptor.pipe(nonblockingRead: true)
        child.descriptors[0] = attachment.input ?? nothing
        child.descriptors[2] = errors.write
        pipes.errorPipe = errors.read
        pipes.errorSink = attachment.errors
        pipes.outputPipe?.enlargePipe()
    }

    /// Errors have a log of their own, and a pipe of their own to it.
    private func separateErrors(
        _ path: String, _ order: ProcessOrder, in pipes: inout RunPipes, for child: inout ChildProgram
    ) throws(HostError) {
        pipes.errorOutput = try OutputFile(
            path: path, headBytes: order.output.headBytes, tailBytes: order.output.tailBytes, state: state)
        guard pipes.errorPipe == nil else { return }
        let errors = try Descriptor.pipe(nonblockingRead: true)
        child.descriptors[2] = errors.write
        pipes.errorPipe = errors.read
    }

    /// What the run reads from.
    private func addInput(
        _ order: ProcessOrder, to pipes: inout RunPipes, for child: inout ChildProgram
    ) throws(StartRefused) {
        do throws(HostError) {
            switch order.stdin {
            case .none: return
            case .pty:
                guard let terminal = pipes.terminal, let slave = pipes.slave else { return }
                child.descriptors[0] = slave
                pipes.input = RunInput(terminal.master, terminal: terminal)
            case .pipe, .text:
                let ends = try Descriptor.pipe(nonblockingRead: false)
                try ends.write.setNonblocking()
                child.descriptors[0] = ends.read
                pipes.input = RunInput(ends.write)
                if case .text(let bytes) = order.stdin {
                    pipes.input = RunInput(ends.write, holding: bytes)
                }
            case .file(let path):
                // A fifo would keep the warden waiting for its writer; the job may wait.
                let file = try Descriptor.open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
                try file.setBlocking()
                child.descriptors[0] = file
            }
        } catch {
            throw StartRefused(error, otherwise: .badInput)
        }
    }

    /// What the kernel meant.
    ///
    /// Its code is the same for a missing folder, program and interpreter, so each is
    /// looked at now, after the fact, and good orders pay nothing for it.
    private func explain(_ error: HostError, _ child: ChildProgram) throws(StartRefused) -> StartRefused {
        if case .system(let call, let code, _) = error {
            switch call {
            case "setpriority":
                let text = "a priority of \(child.priority ?? 0): \(errorText(code))"
                return StartRefused(.notPermitted, text)
            case "setrlimit":
                return StartRefused(.notPermitted, "a limit above the warden's own: \(errorText(code))")
            default: break
            }
        }
        switch error.code {
        case E2BIG: return StartRefused(.tooLong, "arguments and environment are too long for the kernel")
        case ENOENT, EACCES, ENOTDIR, EPERM, ENOEXEC, ELIBBAD, ELOOP, ENAMETOOLONG:
            let folder = child.folder ?? "/"
            try checkFolder(folder)
            let file = child.path.hasPrefix("/") ? child.path : folder + "/" + child.path
            try ProgramSearch.check(file, named: child.path)
            let isMissing = error.code == ENOENT
            return isMissing
                ? StartRefused(.notFound, "\(child.path): its interpreter is missing")
                : StartRefused(.notExecutable, "\(child.path): \(errorText(error.code ?? 0))")
        default: return StartRefused(error)
        }
    }

    private func check(_ order: ProcessOrder) throws(StartRefused) {
        guard order.output.path.hasPrefix("/") else {
            throw StartRefused(.badOutput, "\(order.output.path) is not an absolute path")
        }
        if let path = order.errorPath, !path.hasPrefix("/") {
            throw StartRefused(.badOutput, "\(path) is not an absolute path")
        }
        try check(order.output.path, order.errorPath, order.folder, order.user)
        if case .file(let path) = order.stdin {
            guard path.hasPrefix("/") else {
                throw StartRefused(.badInput, "\(path) is not an absolute path")
            }
            try check(path)
        }
        switch order.work {
        case .command(let words):
            guard words.first?.isEmpty == false else { throw StartRefused(.badOrder, "no command") }
            for word in words { try check(word) }
        case .shell(let text): try check(text)
        }
        for (name, value) in order.environment {
            guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")) else {
                throw StartRefused(.badOrder, "\"\(name)\" cannot name a variable")
            }
            try check(name, value)
        }
    }

    /// C ends a text at its first NUL.
    private func check(_ texts: String?...) throws(StartRefused) {
        for case let text? in texts where text.utf8.contains(0) {
            throw StartRefused(.badOrder, "a text with a NUL in it")
        }
    }

    private func checkFolder(_ folder: String) throws(StartRefused) {
        var status = stat()
        guard unsafe stat(folder, &status) == 0 else {
            throw StartRefused(.badFolder, "\(folder): \(errorText(errno))")
        }
        guard status.st_mode & 0o170000 == 0o040000 else {
            throw StartRefused(.badFolder, "\(folder) is not a folder")
        }
        guard unsafe access(folder, X_OK) == 0 else {
            throw StartRefused(.badFolder, "\(folder): \(errorText(errno))")
        }
    }
}

extension RunStarter {
    /// The account the order's run is to have; nil for the warden's own.
    func account(_ order: ProcessOrder) throws(StartRefused) -> Account? {
        guard let user = order.user else { return nil }
        let found: Account?
        do throws(HostError) {
            found = try Account.find(user)
        } catch {
            throw StartRefused(.exhausted, "user \"\(user)\" cannot be looked up: \(error)")
        }
        guard let found else { throw StartRefused(.noSuchUser, "this machine has no user \"\(user)\"") }
        if found.userID == geteuid() { return nil }
        guard geteuid() == 0 else {
            throw StartRefused(
                .notPermitted,
                "only a warden of root starts a job as user \"\(user)\", and this one is of user \(geteuid())"
            )
        }
        return found
    }

    /// What a job of another user begins with, and the order's own variables win: what a login of `account` would
    /// have set, and the machine's language and zone.
    ///
    /// All else is the warden's user's own: where its session is, where its programs are, its tokens.
    func variables(of account: Account) -> [String: String] {
        let common = environment.values.filter {
            ["LANG", "LANGUAGE", "TZ"].contains($0.key) || $0.key.hasPrefix("LC_")
        }
        return common.merging(
            ["HOME": account.home, "USER": account.name, "LOGNAME": account.name, "SHELL": account.shell]
        ) { $1 }
    }

    /// Makes `child` change its user by `setpriv`, as its last step before the program itself.
    ///
    /// Between clone and exec the C library may not change users: it would change the warden's threads.
    func change(_ child: inout ChildProgram, to account: Account) throws(StartRefused) {
        let file = child.path.hasPrefix("/") ? child.path : (child.folder ?? "/") + "/" + child.path
        try ProgramSearch.check(file, named: child.path)
        child.arguments =
            [
                "setpriv", "--reuid=\(account.userID)", "--regid=\(account.groupID)", "--init-groups",
                "--inh-caps=-all", "--", file,
            ] + child.arguments.dropFirst()
        child.path = try ProgramSearch.find("setpriv", path: "/usr/bin:/bin:/usr/sbin:/sbin")
    }
}

/// An order that cannot be carried out.
///
/// Nothing was started.
struct StartRefused: Error {
    var refusal: Refusal
    /// A sentence for a person, without a full stop.
    var text: String
    /// Whether it is the control group that the kernel would not start it in.
    var isOfControlGroup = false

    init(_ refusal: Refusal, _ text: String) {
        self.refusal = refusal
        self.text = text
    }

    /// What a failed system call of the start means.
    init(_ error: HostError, otherwise: Refusal = .other) {
        switch error.code {
        case EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT: self.init(.exhausted, "\(error)")
        default: self.init(otherwise, "\(error)")
        }
    }

    /// The message about it, for the daemon and an attached terminal.
    func message(about key: RunKey) -> WardenMessage { .refused(key, refusal, text: text) }
}

/// What a job finds in its environment.
enum JobEnvironment {
    /// Variables that a service manager sets for the warden itself, or that name what it opened.
    private static let managers: Set<String> = [
        "CACHE_DIRECTORY", "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY", "FDSTORE", "INVOCATION_ID",
        "JOURNAL_STREAM", "LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID", "LISTEN_PIDFDID", "LOGS_DIRECTORY",
        "MAINPID",
        "MANAGERPID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE", "NOTIFY_SOCKET", "RUNTIME_DIRECTORY",
        "STATE_DIRECTORY", "SYSTEMD_EXEC_PID", "WATCHDOG_PID", "WATCHDOG_USEC",
    ]

    /// The warden's own environment without what is meant for it alone.
    static func scrubbed(_ own: [String: String]) -> [String: String] {
        own.filter { !managers.contains($0.key) && !$0.key.hasPrefix("BELFRY_") }
    }

    /// The variables whose names are among `names`, or begin as one that ends with `*`.
    static func chosen(_ variables: [String: String], by names: [String]) -> [String: String] {
        let starts = names.filter { $0.hasSuffix("*") }.map { $0.dropLast() }
        return variables.filter { entry in
            names.contains(entry.key) || starts.contains { entry.key.hasPrefix($0) }
        }
    }

    /// The job's environment: the scrubbed one, the order's on top, and how it reports; of an order with a
    /// terminal attached the order's alone.
    ///
    /// The run's id is always in it: by it a process that left its session is recognised.
    static func make(
        from scrubbed: ChildEnvironment.Shared, for order: ProcessOrder, notifySocket: String
    ) -> ChildEnvironment {
        var environment = ChildEnvironment(
            order.environment, sharing: order.attachment == nil ? scrubbed : nil)
        if environment["PATH"] == nil {
            environment.own["PATH"] = scrubbed.values["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        }
        if environment.own["BELFRY_ATTEMPT"] == nil {
            environment.own["BELFRY_ATTEMPT"] = String(order.key.attempt)
        }
        environment.own["BELFRY_RUN_ID"] = order.key.run
        environment.own["NOTIFY_SOCKET"] = notifySocket
        environment.own["PROGRESS_FD"] = "3"
        return environment
    }
}

/// Finds the file a command's first word names, as the shell would.
enum ProgramSearch {
    /// The path of the program.
    ///
    /// A word with a slash is that file, not looked at yet; another one is looked for in `path`, where an
    /// empty or relative part is passed over: what runs must not depend on where.
    static func find(_ word: String, path: String) throws(StartRefused) -> String {
        if word.contains("/") { return word }
        var closed: StartRefused?
        for part in path.split(separator: ":") where part.hasPrefix("/") {
            let file = part + "/" + word
            do throws(StartRefused) {
                try check(String(file), named: word)
                return String(file)
            } catch {
                if error.refusal == .notExecutable { closed = closed ?? error }
            }
        }
        throw closed ?? StartRefused(.notFound, MissingProgram(word, in: path).sentence)
    }

    /// Makes sure that `file` can be run, as far as can be seen from outside.
    static func check(_ file: String, named word: String) throws(StartRefused) {
        var status = stat()
        guard unsafe stat(file, &status) == 0 else {
            throw errno == ENOENT
                ? StartRefused(.notFound, "\(word) does not exist")
                : StartRefused(errno == EACCES ? .notExecutable : .notFound, "\(word): \(errorText(errno))")
        }
        guard status.st_mode & 0o170000 == 0o100000 else {
            throw StartRefused(.notExecutable, "\(word) is not a file")
        }
        guard unsafe access(file, X_OK) == 0 else {
            throw StartRefused(.notExecutable, "\(word) may not be executed")
        }
    }
}
