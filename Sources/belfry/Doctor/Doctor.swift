import API
import Glibc
import Host

/// Looks at one daemon's house from the outside: its machine, its files and its programs.
///
/// Works where no daemon answers; what this user may not look at is passed over.
struct Doctor {
    /// The daemon's status; nil: none answers.
    let status: WireStatus?
    let owner: Paths.Owner
    let config: String
    let state: String
    let environment: [String: String]

    /// A doctor for the daemon that answered, else for the one that `paths` would have.
    init(
        status: WireStatus?, paths: Paths, config: String? = nil,
        environment: [String: String] = Machine.environment
    ) {
        self.status = status
        self.environment = environment
        self.config = config ?? status?.config ?? paths.config
        state = status?.state ?? paths.state
        owner = state == Paths(.system, environment: [:]).state ? .system : paths.owner
    }

    /// Everything found, what fails first.
    func findings() -> [WireProblem] {
        let reported = status?.problems ?? []
        let seen = stateFindings() + programFindings() + configurationFindings() + machineFindings()
        // The daemon's own words win over ours for the same thing.
        let found = reported + seen.filter { problem in !reported.contains { $0.kind == problem.kind } }
        return found.filter { !$0.isWarning } + found.filter(\.isWarning)
    }

    func problem(_ kind: String, _ message: String, _ hint: String? = nil) -> WireProblem {
        WireProblem(kind: kind, message: message, hint: hint)
    }

    func warning(_ kind: String, _ message: String, _ hint: String? = nil) -> WireProblem {
        WireProblem(kind: kind, message: message, hint: hint, severity: .warning)
    }
}

extension Doctor {
    /// What `belfryd --check` reports of the file.
    func configurationFindings() -> [WireProblem] {
        guard unsafe access(config, F_OK) == 0 else {
            return status == nil
                ? [
                    warning(
                        "noConfiguration",
                        "there is no configuration file at \(config); the defaults apply",
                        "copy config/belfry.yaml there and edit it")
                ] : []
        }
        // Another user's file, secrets and all: only the daemon itself can read it.
        guard unsafe access(config, R_OK) == 0 else { return [] }
        guard let run = ToolRun(Self.daemonProgram, ["--check", "--config", config]), let code = run.code
        else {
            return [problem("noProgram", "belfryd can't be started", "install belfryd beside belfry")]
        }
        var found = run.lines.filter { $0.hasPrefix("warning: ") }.map { line in
            warning(
                line.contains("is open to others") ? "secret" : "config", Self.without(["warning: "], line))
        }
        if code != 0, let sentence = newFault(in: run.lines) {
            found.insert(
                problem(
                    "badConfiguration", sentence, "see all of it with: belfry config check --config \(config)"
                ),
                at: 0)
        }
        return found
    }

    /// The first fault of the file that the daemon has not reported itself as a part that it left out.
    private func newFault(in lines: [String]) -> String? {
        // What a line begins with two spaces for is the text at fault.
        let faults = lines.filter { line in !["warning: ", "note: ", "  "].contains { line.hasPrefix($0) } }
        let reported = (status?.problems ?? []).filter { $0.kind == "configPartial" }.map(\.message)
        guard !faults.isEmpty else { return "it is refused" }
        return faults.first { fault in !reported.contains { Self.isSame($0, fault) } }
    }

    /// Whether a report such as `job "a" at FILE:3 is left out: WHY` is about a fault such as `FILE:3:5: WHY; HINT`.
    private static func isSame(_ report: String, _ fault: String) -> Bool {
        let mark = " is left out: "
        guard let range = report.firstRange(of: mark) else { return false }
        let place = report[..<range.lowerBound].split(separator: " ").last ?? ""
        return fault.hasPrefix("\(place):") || fault.contains(report[range.upperBound...])
    }
}

extension Doctor {
    /// The clock, the zones, the session and its manager.
    func machineFindings() -> [WireProblem] {
        var found: [WireProblem] = []
        if !Machine.isClockSynchronised {
            found.append(
                warning(
                    "clockNotSynchronised", "the kernel reports that the clock is not synchronised",
                    "turn on a time service: timedatectl set-ntp true (a container has its host's clock)"))
        }
        let release = ZoneFiles().version
        if release == nil {
            found.append(
                problem(
                    "noZoneData", "no version of the time zone data was found",
                    "install it: apt install tzdata"))
        } else if let followed = status?.tzdata, let release, followed != release {
            found.append(
                warning(
                    "zoneDataChanged",
                    "slots follow the time zone data of \(followed), the machine has \(release)",
                    "belfryd reloads it; if this persists, restart it: running jobs continue"))
        }
        return found + sessionFindings()
    }

    private func sessionFindings() -> [WireProblem] {
        guard owner == .user else { return [] }
        var found: [WireProblem] = []
        // A running daemon reports whether its desktop channel has a bus and a server.
        if status == nil, !buses.contains(where: { unsafe access($0, F_OK) == 0 }) {
            let places = buses.joined(separator: ", nor at ")
            found.append(
                warning(
                    "noSessionBus", "there is no session bus at \(places); nothing pops up on a desktop",
                    "log in at the desktop, or route to a webhook instead"))
        }
        if unsafe access("/run/systemd/system", F_OK) == 0, geteuid() != 0,
            let run = ToolRun("loginctl", ["show-user", "\(geteuid())", "--property=Linger", "--value"]),
            Self.isLingering(run.code, run.lines) == false
        {
            found.append(
                warning(
                    "notLingering", "your services end when you log out, and jobs do not run then",
                    "keep them running: loginctl enable-linger"))
        }
        return found
    }

    /// Sockets where a session bus may be; an address of another kind counts as there.
    private var buses: [String] {
        let prefix = "unix:path="
        if let named = environment["DBUS_SESSION_BUS_ADDRESS"], !named.isEmpty {
            return [
                named.hasPrefix(prefix) ? String(named.dropFirst(prefix.count).prefix { $0 != "," }) : "/"
            ]
        }
        var places: [String] = []
        for folder in [environment["XDG_RUNTIME_DIR"], "/run/user/\(geteuid())"].compactMap({ $0 })
        where !places.contains(folder + "/bus") { places.append(folder + "/bus") }
        return places
    }

    /// What `loginctl show-user --property=Linger --value` printed; nil when it did not know.
    ///
    /// A user who is not logged in and does not linger is unknown to it, and it fails.
    static func isLingering(_ code: Int32?, _ lines: [String]) -> Bool? {
        switch (code, lines.first) {
        case (0, "yes"): true
        case (0, "no"): false
        default: lines.contains { $0.contains("not logged in or lingering") } ? false : nil
        }
    }
}

extension Doctor {
    /// Below this much a commit may soon fail.
    private static let littleRoom: UInt64 = 200 << 20
    /// Below this much the ledger's reserve can't be made again.
    private static let noRoom: UInt64 = 4 << 20
    private static let muchOutput = 2 << 30

    /// The state folder, its disk, and the ledger in it.
    func stateFindings() -> [WireProblem] {
        // Not made yet, or not ours to look at.
        guard unsafe access(state, F_OK) == 0 else { return [] }
        return folderFindings() + diskFindings() + ledgerFindings()
    }

    private func folderFindings() -> [WireProblem] {
        var found: [WireProblem] = []
        if (try? FileSystemKind(of: state))?.isRemote == true {
            found.append(
                problem(
                    "remoteState",
                    "the state \(state) is on a network file system, where locks can't be trusted",
                    "name a folder on a disk of this machine: belfryd --state"))
        }
        if unsafe access(state, W_OK) != 0 {
            if errno == EROFS {
                found.append(
                    problem(
                        "readOnlyState", "the state \(state) is on a file system that is read-only",
                        "look at the kernel's log for why, then mount it for writing"))
            } else if status == nil, owner == .user {
                found.append(
                    problem(
                        "readOnlyState", "the state \(state) can't be written by this user",
                        "give it to the user who runs belfryd, mode 0700"))
            }
        }
        return found
    }

    private func diskFindings() -> [WireProblem] {
        var found: [WireProblem] = []
        var disk = statvfs()
        guard unsafe statvfs(state, &disk) == 0 else { return [] }
        let free = UInt64(disk.f_bavail) * UInt64(disk.f_frsize)
        if free < Self.noRoom {
            found.append(
                problem(
                    "diskFull", "the disk of \(state) is full",
                    "free some space; missed slots are then caught up"))
        } else if free < Self.littleRoom {
            found.append(
                warning(
                    "diskLow", "the disk of \(state) has only \(free >> 20) MiB left",
                    "free some space before no run can begin"))
        } else if disk.f_files > 0, disk.f_favail < 1000 {
            found.append(
                warning(
                    "diskLow", "the file system of \(state) has room for only \(disk.f_favail) more files",
                    "remove what is not needed"))
        }
        let output = Self.size(of: state + "/output", depth: 2)
        if output > Self.muchOutput {
            found.append(
                warning(
                    "muchOutput", "the output of runs takes up \(output >> 30) GiB in \(state)/output",
                    "let jobs print less; it is removed with its runs, after 90 days or 1,000 runs"))
        }
        return found
    }

    /// The bytes that files take up on the disk; nothing for what can't be read.
    private static func size(of folder: String, depth: Int) -> Int {
        var sum = 0
        for name in (try? Folder.names(in: folder)) ?? [] {
            var status = stat()
            let path = folder + "/" + name
            guard unsafe lstat(path, &status) == 0 else { continue }
            sum += Int(status.st_blocks) * 512
            if status.st_mode & 0o170000 == 0o040000, depth > 0 { sum += size(of: path, depth: depth - 1) }
        }
        return sum
    }

    // MARK: The ledger

    private func ledgerFindings() -> [WireProblem] {
        guard status == nil else { return [] }
        if let pid = try? StateLock.liveHolder(folder: state) {
            return [
                problem(
                    "silentDaemon", "process \(pid) holds the state \(state), and no daemon answers",
                    "look at its log, or end it: kill \(pid)")
            ]
        }
        let ledger = state + "/ledger.sqlite"
        guard unsafe access(ledger, R_OK | W_OK) == 0,
            let run = ToolRun(Self.daemonProgram, ["backup", "--check", ledger]), let code = run.code,
            code != 0
        else { return [] }
        let sentence = run.lines.first ?? "it can't be read"
        return [problem("ledger", Self.without(["belfryd backup: "], sentence))]
    }

    /// `belfryd` beside this program, else the one the shell would find.
    static var daemonProgram: String {
        guard let own = try? Machine.executablePath() else { return "belfryd" }
        let beside = SmallFile.parent(of: own) + "/belfryd"
        return unsafe access(beside, X_OK) == 0 ? beside : "belfryd"
    }

    static func without(_ prefixes: [String], _ text: String) -> String {
        for prefix in prefixes where text.hasPrefix(prefix) { return String(text.dropFirst(prefix.count)) }
        return text
    }
}
