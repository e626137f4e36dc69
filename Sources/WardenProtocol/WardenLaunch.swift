import Glibc
package import Host
import Timeline

/// How to start a warden where none answers.
package struct WardenLaunch: Hashable, Sendable {
    /// The path of `belfry-warden`.
    package var executable: String
    /// The state folder, where the warden saves exit records while no daemon listens; nil for nowhere.
    package var state: String?

    /// How long it has until it listens; one that needs longer is killed.
    package var startTimeout: Duration = .seconds(10)

    /// The process with which the warden ends, and every run with it; nil for none: runs outlive anybody.
    package var tiedTo: Int32?

    /// The variable that ties a warden to the process of this id, also one that a daemon launches.
    package static let tieVariable = "BELFRY_TIED_TO"

    /// The variable that names the build a warden was launched as; see ``WardenHello/build``.
    package static let buildVariable = "BELFRY_WARDEN_BUILD"

    /// Describes the launch; starts nothing.
    package init(executable: String, state: String? = nil, tiedTo: Int32? = nil) {
        self.executable = executable
        self.state = state
        self.tiedTo = tiedTo
    }

    /// Starts the warden in its own session, without any descriptor of ours, and waits until it listens.
    ///
    /// Blocks for ``startTimeout`` at most; call it on a thread that may. The warden ends by itself once it has had neither
    /// run nor daemon for 10 s.
    /// - Returns: its process id, to be collected by this process when it ends.
    package func start(directory: String) throws(WardenError) -> Int32 {
        do throws(HostError) {
            let words = try Self.scratch(beside: directory)
            let (pid, ready) = try spawn(directory, errors: words)
            var answer = try wait(for: ready)
            if answer.isEmpty { return pid }
            // One that printed its reason has ended; one that is silent must not keep us waiting, nor stand in the
            // way of the next.
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
            if answer == Self.silence, let last = Self.lastWords(in: words) { answer = last }
            throw .malformed(path: executable, problem: answer)
        } catch {
            throw .noWarden(text: "\(error)")
        }
    }

    /// The reason shown for one that ended without printing any.
    private static let silence = "ended at once"

    /// A file without a name for the warden's standard error: a pipe would break once we end.
    private static func scratch(beside directory: String) throws(HostError) -> Descriptor {
        let folder = SmallFile.parent(of: directory)
        // O_TMPFILE, whose macro Swift does not see; fcntl.h defines it so for all machines Swift runs on.
        let unnamed = Int32(0o20000000) | O_DIRECTORY
        do {
            return try Descriptor.open(folder, O_RDWR | unnamed, mode: 0o600)
        } catch {
            return try Descriptor.open("/dev/null", O_RDWR)
        }
    }

    /// The first line that was written; nil: none was.
    private static func lastWords(in words: Descriptor) -> String? {
        var buffer = [UInt8](repeating: 0, count: 1024)
        guard lseek(words.raw, 0, SEEK_SET) == 0, case .bytes(let count)? = try? words.read(into: &buffer)
        else { return nil }
        return String(decoding: buffer[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }

    private func spawn(
        _ directory: String, errors: Descriptor
    ) throws(HostError) -> (pid: Int32, ready: Descriptor) {
        let ready = try Descriptor.pipe(nonblockingRead: true)
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        var arguments = [executable, "--directory", directory, "--until-idle", "--ready-fd", "3"]
        if let state { arguments += ["--state", state] }
        var environment = Machine.environment
        environment[Self.buildVariable] = Machine.build(of: executable)
        if let tiedTo { environment[Self.tieVariable] = String(tiedTo) }
        let program = ChildProgram(
            path: executable, arguments: arguments, environment: environment, folder: "/",
            descriptors: [nothing, nothing, errors, ready.write])
        return (try program.start(), ready.read)
    }

    /// The warden writes one line: empty when it listens, else the sentence it ends with.
    private func wait(for ready: Descriptor) throws(HostError) -> String {
        let deadline = Duration.sinceBoot + startTimeout
        var line: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 512)
        while !line.contains(0x0A) {
            let left = deadline - .sinceBoot
            guard left > .zero else { return "did not listen within \(startTimeout.milliseconds / 1000) s" }
            var waiting = pollfd(fd: ready.raw, events: Int16(POLLIN), revents: 0)
            unsafe poll(&waiting, 1, Int32(left.milliseconds) + 1)
            switch try ready.read(into: &buffer) {
            case .bytes(let count): line += buffer[..<count]
            case .wouldBlock: continue
            case .end: return line.isEmpty ? Self.silence : String(decoding: line, as: UTF8.self)
            }
        }
        return String(decoding: line.prefix { $0 != 0x0A }, as: UTF8.self)
    }
}

/// Where the warden's program is: beside the one that runs, else in `libexec/belfry` of the same prefix.
package enum InstalledWarden {
    /// It is in neither place.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    /// The path of another program that is installed with this one, beside it.
    package static func program(beside name: String) throws(HostError) -> String {
        SmallFile.parent(of: try Machine.executablePath()) + "/" + name
    }

    /// Its path.
    ///
    /// - Throws: ``Missing``, which names the places; `HostError` when it can't be known what runs.
    package static func path() throws -> String {
        let folder = SmallFile.parent(of: try Machine.executablePath())
        let places = [
            folder + "/belfry-warden", SmallFile.parent(of: folder) + "/libexec/belfry/belfry-warden",
        ]
        for place in places where unsafe access(place, X_OK) == 0 { return place }
        throw Missing(description: "belfry-warden is neither at \(places[0]) nor at \(places[1])")
    }
}

/// What goes wrong between daemon and warden.
package enum WardenError: Error, Hashable {
    /// A frame that is longer than the limit of 4 MiB, or empty.
    case badFrameLength(Int)
    /// A frame ended inside a field, or a field had a form that does not exist.
    case brokenField
    /// A message without a field it cannot do without.
    case missingField(kind: UInt8, number: Int)
    /// A key that cannot name a file, or a text that is not UTF-8.
    case badValue(kind: UInt8, number: Int)
    /// The other side sent something before hello, or hello twice.
    case outOfOrder
    /// No warden answered, and none was to be launched or the launched one gave up for the reason `text`.
    case noWarden(text: String)
    /// The other side closed the connection.
    case hungUp
    /// The other side did not answer in time; see ``ClientConnection/answerTimeout``.
    case silent
    /// The machine refused.
    case host(HostError)
}

extension WardenError: CustomStringConvertible {
    /// One sentence for a person, without a full stop.
    package var description: String {
        switch self {
        case .badFrameLength(let length): "a frame of \(length) bytes"
        case .brokenField: "a frame that breaks off inside a field"
        case .missingField(let kind, let number): "a message of kind \(kind) without its field \(number)"
        case .badValue(let kind, let number): "a message of kind \(kind) with an unusable field \(number)"
        case .outOfOrder: "a message out of order"
        case .noWarden(let text): "no warden: \(text)"
        case .hungUp: "the warden closed the connection"
        case .silent: "the warden did not answer for \(ClientConnection.answerTimeout.milliseconds / 1000) s"
        case .host(let error): "\(error)"
        }
    }
}
