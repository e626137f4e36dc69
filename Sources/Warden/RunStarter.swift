import CLinux
import Glibc
import Host
import Timeline
import WardenProtocol

/// Turns an order into a process with its pipes.
struct RunStarter {
    /// A process that runs.
    struct Started {
        var pid: Int32
        var startTime: UInt64
        var pipes: RunPipes
    }

    private let environment: [String: String]
    private let notifyFolder: String
    private let nothing: Descriptor
    private var lastSocket = 0

    init(directory: String, environment: [String: String]) throws(HostError) {
        self.environment = JobEnvironment.scrubbed(environment)
        notifyFolder = directory + "/n"
        nothing = try Descriptor.open("/dev/null", O_RDWR)
        try PrivateFolder.make(notifyFolder)
        // Sockets of a warden that was killed: nobody reads them any more.
        for name in try Folder.names(in: notifyFolder) { unsafe unlink(notifyFolder + "/" + name) }
    }

    /// Starts the order's process, the leader of its own session.
    mutating func start(_ order: StartOrder) throws(StartRefused) -> Started {
        try check(order)
        lastSocket += 1
        let notifyPath = "\(notifyFolder)/\(String(lastSocket, radix: 36))"
        var child = ChildProgram(
            path: "/bin/sh", arguments: [],
            environment: JobEnvironment.make(from: environment, for: order, notifySocket: notifyPath),
            descriptors: [])
        child.folder = order.folder ?? child.environment["HOME"] ?? "/"
        switch order.work {
        case .shell(let text): child.arguments = ["sh", "-c", text]
        case .command(let words):
            child.arguments = words
            child.path = try ProgramSearch.find(words.first ?? "", path: child.environment["PATH"] ?? "")
        }
        var pipes: RunPipes
        do throws(HostError) {
            pipes = try makePipes(order, notifyPath, for: &child)
        } catch {
            throw StartRefused(error, otherwise: .badOutput)
        }
        do throws(HostError) {
            let own = umask(order.umask ?? 0o022)
            defer { umask(own) }
            let pid = try child.start()
            return Started(pid: pid, startTime: ProcessTable.entry(pid)?.startTime ?? 0, pipes: pipes)
        } catch {
            unsafe unlink(notifyPath)
            OutputLog(path: order.output.path).remove()
            throw try explain(error, child)
        }
    }

    /// Everything the run writes to; its ends become the child's descriptors.
    private func makePipes(
        _ order: StartOrder, _ notifyPath: String, for child: inout ChildProgram
    ) throws(HostError) -> RunPipes {
        let output = try OutputFile(order.output)
        let ends = try Descriptor.pipe(nonblockingRead: true)
        let progress = try Descriptor.pipe(nonblockingRead: true)
        child.descriptors = [nothing, ends.write, ends.write, progress.write]
        return RunPipes(
            outputPipe: ends.read, output: output, isOutputWatched: order.isOutputWatched,
            progressPipe: progress.read, notifySocket: try LocalSocket.bindDatagram(notifyPath),
            notifyPath: notifyPath)
    }

    /// What the kernel meant.
    ///
    /// It says the same of a missing folder, program and interpreter, so each is
    /// looked at now, after the fact, and good orders pay nothing for it.
    private func explain(_ error: HostError, _ child: ChildProgram) throws(StartRefused) -> StartRefused {
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

    private func check(_ order: StartOrder) throws(StartRefused) {
        guard order.output.path.hasPrefix("/") else {
            throw StartRefused(.badOutput, "\(order.output.path) is not an absolute path")
        }
        var texts = [order.output.path, order.folder ?? ""]
        switch order.work {
        case .command(let words):
            guard words.first?.isEmpty == false else { throw StartRefused(.badOrder, "no command") }
            texts += words
        case .shell(let text): texts.append(text)
        }
        for (name, value) in order.environment {
            guard !name.isEmpty, !name.contains("=") else {
                throw StartRefused(.badOrder, "\"\(name)\" cannot name a variable")
            }
            texts += [name, value]
        }
        guard !texts.contains(where: { $0.utf8.contains(0) }) else {
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
