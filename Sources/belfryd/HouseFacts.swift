import Engine
import Glibc
import Host
import Ledger
import Logging
import Synchronization

/// What the daemon knows of its files that may need a look.
struct HouseFacts: Sendable {
    private let files: ConfigurationFiles
    private let switchboard: Switchboard
    private let state: StatePlace

    init(files: ConfigurationFiles, switchboard: Switchboard, state: StatePlace) {
        self.files = files
        self.switchboard = switchboard
        self.state = state
    }

    @Sendable func problems() -> [EngineProblem] {
        var problems = state.problems
        // After a refusal the files are newer than the active configuration, of course.
        if switchboard.refusal == nil, files.edition != switchboard.configuration.edition {
            problems.append(
                EngineProblem(
                    kind: "configNotLoaded",
                    message: "the configuration was changed since it was read; the daemon does not know yet",
                    hint: "read it with: belfry reload", isWarning: true))
        }
        return problems
    }
}

/// Whether the ledger that this daemon has open is still the one at its path.
///
/// Whoever moves, replaces or removes the state folder under a running daemon notices nothing otherwise: the
/// open file goes on, and the next start finds another one or none.
final class StatePlace: Sendable {
    private let path: String
    private let opened: FileIdentity?
    private let logger: Logger
    private let isReported = Mutex(false)

    /// Notes which file is at `path` now, after the ledger was opened there.
    init(ledger path: String, logger: Logger) {
        self.path = path
        self.logger = logger
        opened = try? FileIdentity(at: path)
    }

    /// Looks at the path; logs it, once, when another file or none is there.
    @discardableResult
    func look() -> Bool {
        let isInPlace = (try? FileIdentity(at: path)) == opened
        let isNews = isReported.withLock { isReported in
            defer { isReported = !isInPlace }
            return !isInPlace && !isReported
        }
        if isNews {
            logger.error(
                "the ledger is no longer at its path: the state folder was moved, replaced or removed",
                metadata: ["ledger": "\(path)"])
        }
        return isInPlace
    }

    /// The problem that status shows for it.
    var problems: [EngineProblem] {
        guard !look() else { return [] }
        return [
            EngineProblem(
                kind: "stateMoved",
                message: "the ledger that this daemon writes is no longer at \(path): the state folder was "
                    + "moved, replaced or removed, and the next start will not find what is recorded now",
                hint: "move it back before belfryd is stopped; if it was deleted, stop belfryd and use a "
                    + "backup: belfryd restore FILE")
        ]
    }
}

extension MachineLook {
    /// What this process can see: it only reports what is so for every user.
    static var ofThisMachine: MachineLook {
        MachineLook(
            programFault: { spec in
                guard case .command(let words) = spec.action, let word = words.first else { return nil }
                return programFault(word, of: spec)
            },
            isUser: { name in
                do throws(HostError) { return try Account.find(name) != nil } catch { return true }
            }, isFolder: { kind(of: $0).map { $0 == 0o040000 } ?? true },
            isFile: { kind(of: $0).map { $0 != 0o040000 && $0 != 0 } ?? true })
    }

    /// Where programs are looked for on behalf of another user.
    private static let standardPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

    private static func programFault(_ word: String, of spec: JobSpec) -> String? {
        if word.contains("/") {
            let folder = spec.directory ?? Machine.environment["HOME"] ?? "/"
            switch look(at: word.hasPrefix("/") ? word : folder + "/" + word) {
            case .missing: return "there is no program \(word)"
            case .notExecutable: return "\(word) is not executable"
            case .good: return nil
            }
        }
        let own = spec.process?.user == nil ? Machine.environment["PATH"] : nil
        let path = spec.environment["PATH"] ?? own ?? standardPath
        let found = path.split(separator: ":").filter { $0.hasPrefix("/") }.map { look(at: $0 + "/" + word) }
        if found.contains(.good) { return nil }
        return found.contains(.notExecutable)
            ? "the program \"\(word)\" is not executable" : "there is no program \"\(word)\" in \(path)"
    }

    private enum Sight { case good, missing, notExecutable }

    /// The type bits of what is at `path`; 0: nothing, nil: it cannot be seen.
    private static func kind(of path: String) -> UInt32? {
        var status = stat()
        if unsafe stat(path, &status) == 0 { return status.st_mode & 0o170000 }
        return errno == ENOENT || errno == ENOTDIR ? 0 : nil
    }

    /// What cannot be seen counts as good: another user may see it.
    private static func look(at path: String) -> Sight {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            return errno == ENOENT || errno == ENOTDIR ? .missing : .good
        }
        let isFile = status.st_mode & 0o170000 == 0o100000
        return isFile && status.st_mode & 0o111 != 0 ? .good : .notExecutable
    }
}
