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
        let jobEnvironment = JobEnvironment.make(from: environment, for: order, notifySocket: notifyPath)
        let folder = order.folder ?? jobEnvironment["HOME"] ?? "/"
        try checkFolder(folder)
        let (path, arguments) = try program(order.work, jobEnvironment, folder)
        let output = try refusing(.badOutput) { () throws(HostError) in try OutputFile(order.output) }
        return try refusing(.other) { () throws(HostError) in
            let ends = try Descriptor.pipe(nonblockingRead: true)
            let progress = try Descriptor.pipe(nonblockingRead: true)
            unsafe unlink(notifyPath)
            let notifySocket = try LocalSocket.bindDatagram(notifyPath)
            let child = ChildProgram(
                path: path, arguments: arguments, environment: jobEnvironment, folder: folder,
                descriptors: [nothing, ends.write, ends.write, progress.write])
            let own = umask(order.umask ?? 0o022)
            defer { umask(own) }
            let pid: Int32
            do throws(HostError) {
                pid = try child.start()
            } catch {
                unsafe unlink(notifyPath)
                throw error
            }
            return Started(
                pid: pid, startTime: ProcessTable.entry(pid)?.startTime ?? 0,
                pipes: RunPipes(
                    outputPipe: ends.read, output: output, isOutputWatched: order.isOutputWatched,
                    progressPipe: progress.read, notifySocket: notifySocket, notifyPath: notifyPath))
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

    private func program(
        _ work: StartOrder.Work, _ environment: [String: String], _ folder: String
    ) throws(StartRefused) -> (path: String, arguments: [String]) {
        switch work {
        case .shell(let text): return ("/bin/sh", ["sh", "-c", text])
        case .command(let words):
            let word = words.first ?? ""
            let path = try ProgramSearch.find(word, path: environment["PATH"] ?? "", folder: folder)
            return (path, words)
        }
    }

    private func refusing<Value>(
        _ otherwise: Refusal, _ body: () throws(HostError) -> Value
    ) throws(StartRefused) -> Value {
        do throws(HostError) {
            return try body()
        } catch {
            switch (error, error.code) {
            case (.system(call: "posix_spawn", _, let path), ENOENT):
                throw StartRefused(.notFound, "\(path ?? ""): its interpreter is missing")
            case (.system(call: "posix_spawn", _, _), E2BIG):
                throw StartRefused(.tooLong, "arguments and environment are too long for the kernel")
            case (.system(call: "posix_spawn", _, _), EACCES), (.system(call: "posix_spawn", _, _), ENOEXEC),
                (.system(call: "posix_spawn", _, _), EPERM), (.system(call: "posix_spawn", _, _), ELIBBAD):
                throw StartRefused(.notExecutable, "\(error)")
            default: throw StartRefused(error, otherwise: otherwise)
            }
        }
    }
}
