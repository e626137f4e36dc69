import DBus
import Engine
import Glibc
import Host
import Ledger
import Logging
import ServiceLifecycle
import Synchronization
import Timeline

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

/// Follows logind's signals that the machine goes to sleep or has woken up, where there is a system bus.
///
/// Only a hint that comes early: without it the clock's own timer, and the difference between the clock that
/// counts sleep and the one that does not, show the same a moment later.
struct SleepWatch {
    private static let login = "org.freedesktop.login1"
    private static let deadline: Duration = .seconds(10)

    /// Where the bus may be.
    let address: String
    let slots: SlotKeeper
    let clock: any WallClock
    let logger: Logger

    init(environment: [String: String], slots: SlotKeeper, clock: any WallClock, logger: Logger) {
        address =
            environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? "unix:path=/run/dbus/system_bus_socket"
        self.slots = slots
        self.clock = clock
        self.logger = logger
    }

    /// Listens until cancelled; a lost bus is tried again soon, and then less and less often.
    ///
    /// A missing bus will hardly appear: it starts before any daemon, or the machine has none.
    func run() async throws {
        var pause: Duration = .seconds(60)
        while true {
            do throws(DBusError) {
                let bus = try await DBusConnection.connect(to: address, deadline: Self.deadline)
                try await bus.subscribe(
                    to: DBusMatch(
                        sender: Self.login, interface: Self.login + ".Manager", member: "PrepareForSleep"),
                    deadline: Self.deadline)
                logger.debug("logind reports when the machine sleeps")
                pause = .seconds(1)
                for await signal in bus.signals { try await apply(signal, from: bus) }
            } catch {
                logger.debug("logind is not available", metadata: ["reason": "\(error)"])
            }
            try await clock.sleep(until: clock.now + pause)
            pause = min(pause * 2, .seconds(600))
        }
    }

    private func apply(_ signal: DBusSignal, from bus: DBusConnection) async throws(DBusError) {
        guard signal.member == "PrepareForSleep", let isAboutToSleep = signal.arguments.first?.bool,
            // Any program may send this signal to us directly.
            try await bus.owner(of: Self.login, deadline: Self.deadline) == signal.sender
        else { return }
        logger.notice("the machine \(isAboutToSleep ? "falls asleep" : "woke up")")
        await slots.checkClocks()
    }
}

/// The machine's time zones, each read once until it is to be forgotten.
final class ZoneCache: Sendable {
    private let files = ZoneFiles()
    private let known = Mutex<[String: ZoneRules]>([:])
    private let forgotten = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// An element each time the zones were forgotten.
    var changes: AsyncStream<Void> { forgotten.stream }

    /// The release of the database.
    var release: String? { files.version }

    /// Reads every zone again from now on.
    func forget() {
        known.withLock { $0 = [:] }
        forgotten.continuation.yield()
    }

    /// The names of all zones.
    var names: [String] { files.names }

    /// The machine's own zone.
    var hostName: String { files.hostZoneName() }

    /// The rules of a zone; nil when there is none of that name.
    func rules(of name: String) -> ZoneRules? {
        if name == "UTC" { return .utc }
        if let rules = known.withLock({ $0[name] }) { return rules }
        guard let bytes = try? files.bytes(of: name), let rules = try? ZoneRules(name: name, tzif: bytes)
        else {
            return nil
        }
        known.withLock { $0[name] = rules }
        return rules
    }

    /// Looks up the rules of a zone.
    var lookup: ZoneLookup { { [self] in rules(of: $0) } }

    /// Watches the zone files until cancelled; where the kernel has no watch left, it tries again every half minute.
    func watch(clock: any WallClock, logger: Logger) async throws {
        var isLogged = false
        while true {
            do throws(HostError) {
                let watch = try FolderWatch(files.folder) { [self] in forget() }
                // It does not report what changed before it.
                forget()
                try? await gracefulShutdown()
                return withExtendedLifetime(watch) {}
            } catch {
                if !isLogged {
                    logger.warning(
                        "the zone data can't be watched; a reload reads it", metadata: ["reason": "\(error)"])
                }
                isLogged = true
                guard case .system(_, EMFILE, _) = error else { return try await gracefulShutdown() }
            }
            try await clock.sleep(until: clock.now + .seconds(30))
        }
    }
}

/// Follows the kernel's reports of addresses and routes.
///
/// Only a hint that comes early: where a sandbox or another system has no such reports, channels are tried at their times.
struct NetworkWatch {
    let keeper: NetworkKeeper
    let logger: Logger

    /// Watches until cancelled.
    func run() async throws {
        let notices = watch()
        defer { withExtendedLifetime(notices) {} }
        try await keeper.run()
    }

    private func watch() -> NetworkNotices? {
        do throws(HostError) {
            return try NetworkNotices { [keeper] changes in
                for change in changes { keeper.noticed(change.way, isThere: change.isThere) }
            }
        } catch {
            logger.debug("changes of the network are not reported", metadata: ["reason": "\(error)"])
            return nil
        }
    }
}
