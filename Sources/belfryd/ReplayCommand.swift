import API
import ArgumentParser
import Delivery
import Engine
import Glibc
import Grouping
import Host
import Ledger
import LedgerSQLite
import Settings
import Timeline
import Tracking

/// Shows what changed rules would have made of what has happened; `belfry replay` becomes this.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Show which notices changed rules would have sent, held or left out.",
        discussion: """
            Evaluates each event in the ledger twice: with the active configuration and with the file \
            named by --config. Nothing is sent and nothing is written; a running daemon is not disturbed. \
            Each event is evaluated on its own: held notices are not followed up, and messages are not \
            grouped.

            Examples:
              belfryd replay --since 7d --config new.yaml
              belfryd replay --since 2026-11-20 --config new.yaml --json
            """)

    @OptionGroup var places: Places
    @OptionGroup var printing: Printing

    @Option(help: ArgumentHelp("Events since this time, or within a duration such as 7d.", valueName: "time"))
    var since = "7d"

    @Option(
        help: ArgumentHelp(
            "The configuration to compare with (default: the daemon's).", valueName: "file"))
    var against: String?

    @Option(help: ArgumentHelp("How many differences to list, the newest.", valueName: "n"))
    var limit = 50

    func validate() throws {
        guard places.config != nil else {
            throw ValidationError("name the changed configuration with --config")
        }
        guard limit >= 0 else { throw ValidationError("--limit is 0 or more") }
    }

    func run() async throws {
        umask(0o077)
        let paths = places.paths
        let path = LedgerChoice(state: paths.state).path
        guard unsafe access(path, F_OK) == 0 else {
            throw Failure(
                "belfryd replay: there is no ledger in \(paths.state)",
                hint: "name the daemon's state folder with --state, or the machine's daemon with --system")
        }
        let start = try moment(since)
        let folder = try TemporaryCopy()
        defer { folder.remove() }
        do {
            try LedgerFile(path: path).copy(to: folder.path)
            let ledger = try SQLiteLedger(path: folder.path)
            let old = against ?? Paths(places.system ? .system : .user).config
            var replay = Replay(
                of: ledger, since: start,
                before: try await rules(of: old, isNamed: against != nil, ledger, paths),
                after: try await rules(of: paths.config, isNamed: true, ledger, paths))
            let report = try await replay.run()
            await ledger.close()
            StandardOutput.print(
                printing.json
                    ? String(decoding: report.json(since: start).bytes, as: UTF8.self) : text(report, start))
        } catch let error as LedgerError {
            throw Failure("belfryd replay: \(error)")
        }
    }

    /// The moment that a time names, or a duration before now.
    private func moment(_ text: String) throws -> Moment {
        if let back = try? Duration(text: text) { return .now - back }
        let zones = ZoneCache()
        guard let zone = zones.rules(of: zones.hostName), let moment = try? Moment(iso8601: text, in: zone)
        else {
            throw ValidationError(
                "the value '\(text)' is invalid for '--since': write 7d, or 2026-03-29T03:00")
        }
        return moment
    }

    /// The rules of a file, with the channels and silences of the ledger.
    private func rules(
        of file: String, isNamed: Bool, _ ledger: SQLiteLedger, _ paths: Paths
    ) async throws -> ReplayRules {
        let files = ConfigurationFiles(path: Paths.absolute(file))
        if isNamed { try files.requireFile() }
        var configuration: Configuration
        do {
            configuration = try files.read { reader in
                reader.isOtherBot = { _ in true }
                reader.leavesOutBots = true
                reader.leavesOutChannel = { _, _ in true }
            }
        } catch let error as SettingsError {
            throw Failure("\(error)", code: 2)
        }
        let own = OwnChannels(try await ledger.channelEntries(), in: paths.state, zones: ZoneCache())
            .join(&configuration)
        var routing = configuration.routing
        for entry in own {
            routing = routing.adding(entry.name, when: Set(entry.when.compactMap(RouteWord.init(rawValue:))))
        }
        let channels = (configuration.channels + configuration.leftOut).map { setting in
            let (kind, audience) = (type(of: setting.form).kind, type(of: setting.form).audience)
            return DispatchRules.Channel(
                setting.name, isLevel: kind.isLevel, isNear: kind == DesktopForm.kind,
                audience: audience)
        }
        let bots = Dictionary(configuration.bots.map { ($0.name, BotProfile($0)) }) { first, _ in first }
        var dispatch = DispatchRules(routing: routing, channels: channels)
        dispatch.restraints = bots.mapValues(\.restraint)
        dispatch.inhibitions = configuration.inhibitions
        dispatch.silences = try await ledger.silences()
        let jobs = Dictionary(configuration.jobs.map { ($0.spec.name, $0.spec) }) { first, _ in first }
        return ReplayRules(dispatch: dispatch, bots: bots, jobs: jobs)
    }

    // MARK: Text

    private func text(_ report: ReplayReport, _ start: Moment) -> String {
        let zones = ZoneCache()
        let zone = zones.rules(of: zones.hostName) ?? .utc
        func time(_ moment: Moment) -> String {
            String(moment.iso8601(in: zone).prefix(16)).replacing("T", with: " ")
        }
        let channels = report.channels
        var lines = [
            "\(Plural.of(report.events, "event")) since \(time(start)): "
                + "\(Plural.of(report.differences.count, "difference"))"
        ]
        for channel in channels {
            let counts = ReplayOutcome.Action.allCases.compactMap { action -> String? in
                let (old, new) = (
                    report.count(action, before: true, channel), report.count(action, before: false, channel)
                )
                guard old > 0 || new > 0 else { return nil }
                return "\(action.rawValue) \(old)" + (old == new ? "" : " -> \(new)")
            }
            lines.append("\(channel): " + counts.joined(separator: ", "))
        }
        let shown = report.differences.suffix(limit)
        if !shown.isEmpty { lines.append("") }
        for row in shown {
            lines.append(
                "\(time(row.at))  \(CleanText.line(row.about, limit: 60)) (\(row.type))  \(row.channel): "
                    + "\(Self.words(row.before, time)) -> \(Self.words(row.after, time))")
        }
        if shown.count < report.differences.count {
            lines.append("and \(report.differences.count - shown.count) older; --limit lists more")
        }
        return lines.joined(separator: "\n")
    }

    private static func words(_ outcome: ReplayOutcome?, _ time: (Moment) -> String) -> String {
        guard let outcome else { return "not concerned" }
        let reason = outcome.reason.map { reason in
            DispatchReason(rawValue: reason)?.words ?? RingReason(rawValue: reason)?.words ?? reason
        }
        let until = outcome.until.map { " until \(time($0))" } ?? ""
        let why = [reason, outcome.rule].compactMap(\.self).joined(separator: ", ")
        return outcome.action.rawValue + until + (why.isEmpty ? "" : " (\(why))")
    }
}

extension ReplayReport {
    /// The channels of both configurations that were concerned.
    fileprivate var channels: [String] { Set(before.keys).union(after.keys).sorted() }

    fileprivate func count(_ action: ReplayOutcome.Action, before isBefore: Bool, _ channel: String) -> Int {
        (isBefore ? before : after)[channel]?[action] ?? 0
    }

    /// As `--json` prints it.
    fileprivate func json(since: Moment) -> JSON {
        func counts(_ channel: String, before isBefore: Bool) -> JSON {
            .members(
                ReplayOutcome.Action.allCases.map {
                    .init($0.rawValue, .int(count($0, before: isBefore, channel)))
                })
        }
        func outcome(_ outcome: ReplayOutcome?) -> JSON? {
            outcome.map { outcome in
                .object([
                    "action": .string(outcome.action.rawValue), "stage": .string(outcome.stage.rawValue),
                    "reason": outcome.reason.map(JSON.string),
                    "until": outcome.until.map { .string($0.iso8601) }, "rule": outcome.rule.map(JSON.string),
                ])
            }
        }
        return .object([
            "since": .string(since.iso8601), "events": .int(events),
            "channels": .array(
                channels.map { name in
                    .object([
                        "name": .string(name), "before": counts(name, before: true),
                        "after": counts(name, before: false),
                    ])
                }),
            "differences": .array(
                differences.map { row in
                    .object([
                        "event": .int(Int(row.event)), "at": .string(row.at.iso8601),
                        "type": .string(row.type),
                        "about": .string(row.about), "channel": .string(row.channel),
                        "before": outcome(row.before), "after": outcome(row.after),
                    ])
                }),
        ])
    }
}

/// A folder of our own for a copy of the ledger, beside which nobody else can put anything.
private struct TemporaryCopy {
    private let folder: String
    var path: String { folder + "/ledger.sqlite" }

    init() throws {
        let base = Machine.environment["TMPDIR"] ?? "/var/tmp"
        var template = Array("\(base)/belfry-replay-XXXXXX".utf8CString)
        let made: String? = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, let path = unsafe mkdtemp(start) else { return nil }
            return unsafe String(cString: path)
        }
        guard let made else { throw HostError.last("mkdtemp", base) }
        folder = made
    }

    func remove() {
        for ending in ["", "-wal", "-shm"] { unsafe unlink(path + ending) }
        unsafe rmdir(folder)
    }
}
