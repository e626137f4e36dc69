import Engine
import Host
import Ledger
import Logging
import Synchronization

/// Problems of the daemon's files that a person should look at.
struct FileProblems: Sendable {
    private let files: ConfigurationFiles
    private let activeConfiguration: ActiveConfiguration
    private let state: StatePlace

    init(files: ConfigurationFiles, activeConfiguration: ActiveConfiguration, state: StatePlace) {
        self.files = files
        self.activeConfiguration = activeConfiguration
        self.state = state
    }

    @Sendable func problems() -> [EngineProblem] {
        var problems = state.problems
        // After a refusal the files are always newer than the active configuration.
        if activeConfiguration.refusal == nil, files.edition != activeConfiguration.configuration.edition {
            problems.append(
                EngineProblem(
                    kind: "configNotLoaded",
                    message: "the configuration has changed on disk and is not loaded",
                    hint: "run: belfry reload", isWarning: true))
        }
        if let fault = activeConfiguration.doorFault {
            problems.append(
                EngineProblem(
                    kind: "notListening", message: "the API is not served over TCP: \(fault)",
                    hint: "correct `listen:` in the configuration, then run: belfry reload"))
        }
        return problems
    }
}

/// Whether the ledger that this daemon has open is still the one at its path.
///
/// A state folder that is moved, replaced or removed under a running daemon would go unnoticed: the
/// open file stays usable, and the next start finds another one or none.
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
    func check() -> Bool {
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
        guard !check() else { return [] }
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
            }, isFolder: { [.folder, .hidden].contains(PathContent(at: $0)) },
            isFile: { ![.folder, .nothing].contains(PathContent(at: $0)) },
            wardenStart: { ServiceUnit.own.map { "\($0.control) start belfry-warden" } })
    }

    /// Where programs are looked for on behalf of another user.
    private static let standardPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

    private static func programFault(_ word: String, of spec: JobSpec) -> String? {
        let own = spec.process?.user == nil ? Machine.environment["PATH"] : nil
        let whose =
            spec.environment["PATH"] != nil ? "the job's" : own == nil ? "the user's" : "the service's"
        return programFault(
            word, in: spec.directory, path: spec.environment["PATH"] ?? own ?? standardPath, whose: whose)
    }

    /// Why the program that `word` names, in a folder or one of `path`, can't be run; nil: it can.
    static func programFault(
        _ word: String, in folder: String? = nil, path: String? = nil, whose: String = "the service's"
    ) -> String? {
        if word.contains("/") {
            let folder = folder ?? Machine.environment["HOME"] ?? "/"
            switch PathContent(at: word.hasPrefix("/") ? word : folder + "/" + word) {
            case .nothing: return "there is no program \(word)"
            case .folder, .file: return "\(word) is not executable"
            case .program, .hidden: return nil
            }
        }
        let path = path ?? Machine.environment["PATH"] ?? standardPath
        let folders = path.split(separator: ":").filter { $0.hasPrefix("/") }
        let found = folders.map { PathContent(at: $0 + "/" + word) }
        if found.contains(.program) || found.contains(.hidden) { return nil }
        if found.contains(.file) || found.contains(.folder) {
            return "the program \"\(word)\" is not executable"
        }
        return "there is no program \"\(word)\" in \(whose) PATH"
    }
}
