import API
import APIClient
import APIServer
import Cron
import Delivery
import Engine
import Glibc
import Host
import Ledger
import Settings

/// The configuration file, the `jobs.d` folder beside it, and the secrets they name.
struct ConfigurationFiles: Sendable {
    let path: String

    /// Whether there is a file; without one the defaults apply.
    var exists: Bool { unsafe access(path, F_OK) == 0 }

    /// Which edition of the files is there now: another one as soon as one of them is written, added or removed.
    var edition: String {
        ([path] + ((try? jobFiles()) ?? [])).map { file in
            var status = stat()
            guard unsafe stat(file, &status) == 0 else { return "\(file):none" }
            return
                "\(file):\(status.st_ino):\(status.st_size):\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
        }.joined(separator: "\n")
    }

    /// Reads all files.
    ///
    /// Every fault refuses them unless `adjust` changes the reader before it reads.
    /// - Throws: `SettingsError` with every fault, or a `Failure` when a file can't be opened.
    func read(_ adjust: (inout ConfigurationReader) -> Void = { _ in }) throws -> Configuration {
        let zones = ZoneCache()
        guard exists else { return .standard(zone: zones.hostName) }
        var reader = ConfigurationReader(
            hostZone: zones.hostName, zone: { zones.rules(of: $0) }, readSecret: Secrets.read)
        reader.phraseZones = PhraseZones(names: { zones.names }, rules: { zones.rules(of: $0) })
        reader.programFault = { MachineLook.programFault($0) }
        reader.tools = ToolTable.standard.names
        adjust(&reader)
        return try reader.read(try text(of: path), jobs: try jobFiles().map { try text(of: $0) })
    }

    /// Refuses a file that was named and is not there.
    func requireFile() throws(Failure) {
        guard !exists else { return }
        throw Failure(
            "belfryd: there is no configuration at \(path)",
            hint: "name another with --config, or copy config/belfry.yaml there", code: 2)
    }

    /// Checks the configuration, also beside the jobs of the daemon on `socket`.
    func check(asJSON: Bool, socket: String) throws {
        do {
            try requireFile()
            let running = RunningJobs(socket: socket)
            do {
                let configuration = try read { reader in
                    reader.takenNames = running.names
                    reader.isOtherBot = running.bots.contains
                    reader.refusesTaken = running.reads(path)
                    let zones = ZoneCache()
                    reader.doubts = { spec in
                        spec.doubts(at: .now, on: .ofThisMachine) { zones.rules(of: $0) }
                            .map { ($0.key, $0.message, $0.hint) }
                    }
                }
                try report(configuration, asJSON: asJSON, running.note)
            } catch let error as SettingsError {
                throw refusal(error, asJSON: asJSON, running.note)
            }
        } catch var failure as Failure {
            guard failure.json == nil else { throw failure }
            let sentence = failure.message.trimmingPrefix("belfryd: ")
            let hint = failure.hint.map { $0.prefix(1).uppercased() + $0.dropFirst() + "." }
            if asJSON {
                failure.json = try WireCoding.text(APIError(.badConfig, String(sentence), hint: hint))
            }
            throw failure
        }
    }

    /// Prints what a good configuration holds, and what is worth a look in it.
    private func report(_ configuration: Configuration, asJSON: Bool, _ unchecked: String?) throws {
        var good = WireConfigCheck(
            file: path, jobs: configuration.jobs.count, bots: configuration.bots.count,
            channels: configuration.channels.count,
            warnings: configuration.warnings.map { WireFault($0) })
        let crowd = crowd(of: configuration)
        let open = Self.openSecrets(configuration)
        let notes = Self.notes(configuration.notes, unchecked)
        if asJSON {
            good.notes = notes.isEmpty ? nil : notes
            good.warnings += open
            if let crowd {
                good.warnings.append(
                    WireFault(file: path, line: 1, column: 1, message: crowd.warning, hint: nil))
            }
            return StandardOutput.print(try WireCoding.text(good))
        }
        let warnings =
            configuration.warnings.map { "\($0)" }
            + open.map { "\($0.file):\($0.line): \($0.message); \($0.hint ?? "")" }
            + [crowd?.warning].compactMap { $0 }
        StandardError.write(Self.text(warnings, notes))
        let counts = [(good.jobs, "job"), (good.bots, "bot"), (good.channels, "channel")]
        StandardOutput.print("\(path): good; " + counts.map { Plural.of($0, $1) }.joined(separator: ", "))
    }

    /// A line for each.
    private static func text(_ warnings: [String], _ notes: [String]) -> String {
        (warnings.map { "warning: \($0)\n" } + notes.map { "note: \($0)\n" }).joined()
    }

    /// Each with its place; `unchecked`, what could not be checked, comes last.
    private static func notes(_ notes: [Problem], _ unchecked: String?) -> [String] {
        notes.map { "\($0.file):\($0.line): \($0.message)" } + [unchecked].compactMap { $0 }
    }

    private func refusal(_ error: SettingsError, asJSON: Bool, _ unchecked: String?) -> Failure {
        let notes = Self.notes(error.notes, unchecked)
        let others = Self.text(error.warnings.map { "\($0)" }, notes)
        var failure = Failure(error.description + "\n" + others, code: 2)
        guard asJSON else { return failure }
        var wire = APIError(.badConfig, "\(path) has \(Plural.of(error.problems.count, "fault"))")
        if error.problems.count == 1, let only = error.problems.first {
            wire = APIError(
                .badConfig, "\(only.file):\(only.line):\(only.column): \(only.message)", hint: only.hint)
        }
        wire.faults = error.problems.map { WireFault($0) }
        wire.warnings = error.warnings.map { WireFault($0) }
        wire.notes = notes
        failure.json = try? WireCoding.text(wire)
        return failure
    }

    /// Files with secrets that others than their owner and group may read, or others than the owner may write.
    private static func openSecrets(_ configuration: Configuration) -> [WireFault] {
        var warnings: [WireFault] = []
        for channel in configuration.channels {
            for secret in channel.sources.sorted(by: { $0.key < $1.key }).flatMap(\.value) {
                guard case .file(let path) = secret else { continue }
                var status = stat()
                guard unsafe stat(path, &status) == 0, status.st_mode & 0o027 != 0 else { continue }
                let mode = String(status.st_mode & 0o777, radix: 8)
                warnings.append(
                    WireFault(
                        place: channel.place,
                        message: "the secret of channel \"\(channel.name)\" is open to others: \(path) has "
                            + "mode \(mode)",
                        hint: "restrict it: chmod 600 \(path)"))
            }
        }
        for bot in configuration.bots {
            for case .file(let path) in bot.keySources {
                var status = stat()
                guard unsafe stat(path, &status) == 0, status.st_mode & 0o027 != 0 else { continue }
                warnings.append(
                    WireFault(
                        place: bot.place,
                        message: "the key of bot \"\(bot.name)\" is open to others: \(path) has mode "
                            + String(status.st_mode & 0o777, radix: 8),
                        hint: "restrict it: chmod 600 \(path)"))
            }
        }
        return warnings
    }

    /// The largest crowd of jobs in one second; nil when it is not worth a warning.
    private func crowd(of configuration: Configuration) -> SlotCrowd? {
        let zones = ZoneCache()
        let jobs = configuration.jobs.filter { $0.spec.spread == nil }
        let schedules = jobs.compactMap { job -> (schedule: Schedule, zones: ScheduleZones, jobs: Int)? in
            let read = try? job.spec.schedule.read(
                seed: job.spec.name, since: .now, zones: { zones.rules(of: $0) })
            return read.map { ($0, $1, 1) }
        }
        return SlotCrowd.largest(of: schedules, after: .now)
    }

    private func text(of path: String) throws(Failure) -> SourceText {
        do throws(HostError) {
            let bytes = try SmallFile.read(path, limit: 4 << 20)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw HostError.malformed(path: path, problem: "is not UTF-8 text")
            }
            return SourceText(name: path, text: text)
        } catch  where error.code == EISDIR {
            throw Failure(
                "belfryd: \(path) is a folder, not a file", hint: "name the file in it with --config", code: 2
            )
        } catch {
            throw Failure("belfryd: \(error)", code: 2)
        }
    }

    /// `jobs.d/*.yaml`, by name.
    private func jobFiles() throws -> [String] {
        let folder = SmallFile.parent(of: path) + "/jobs.d"
        let names: [String]
        do {
            names = try Folder.names(in: folder)
        } catch  where error.code == ENOENT {
            return []
        } catch {
            throw Failure("belfryd: \(error)", code: 2)
        }
        return names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }.sorted()
            .map { "\(folder)/\($0)" }
    }
}

extension WireFault {
    /// The problem as programs read it.
    fileprivate init(_ problem: Problem) {
        self.init(
            file: problem.file, line: problem.line, column: problem.column, message: problem.message,
            hint: problem.hint)
    }

    /// The fault of the line that `place` names, a `FILE:LINE`.
    fileprivate init(place: String, message: String, hint: String) {
        let colon = place.lastIndex(of: ":") ?? place.endIndex
        self.init(
            file: String(place[..<colon]), line: Int(place[colon...].dropFirst()) ?? 1, column: 1,
            message: message, hint: hint)
    }
}

/// What a running daemon has from elsewhere than its files: the names of jobs, which these may not use, and of bots, which
/// they may.
struct RunningJobs {
    /// Jobs made by `belfry job add` or an import.
    private(set) var names: Set<String> = []
    /// Bots made by `belfry bot add`.
    private(set) var bots: Set<String> = []
    /// The configuration file of the daemon that answered.
    private(set) var config: String?
    /// What could not be checked, as a sentence; nil: all of it was.
    private(set) var note: String?

    /// Asks the daemon on `socket`; blocks for a few seconds at most.
    init(socket: String) {
        let client = DaemonClient(socket: socket, timeout: .seconds(5))
        let what = "conflicts with jobs made by `belfry job add` were not checked"
        do throws(APIError) {
            let status = try client.ask(Endpoints.status())
            let jobs = try client.ask(Endpoints.jobs())
            bots = Set(try client.ask(Endpoints.bots()).filter { $0.origin == "cli" }.map(\.name))
            config = status.config
            names = Set(jobs.filter { $0.origin != "file" }.map(\.name))
        } catch {
            note =
                error.code == .noDaemon
                ? "no daemon answers on \(socket): \(what)"
                : "the daemon refused to answer (\(error.message)): \(what)"
        }
    }

    /// Whether the daemon that answered reads the file at `path`.
    func reads(_ path: String) -> Bool {
        guard let config else { return false }
        var (own, other) = (stat(), stat())
        guard unsafe stat(path, &own) == 0, unsafe stat(config, &other) == 0 else { return config == path }
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }
}

/// Reads secrets from the places that the configuration names.
enum Secrets {
    /// The secret, without the white space around it.
    ///
    /// - Throws: a sentence that never holds the secret.
    static func read(_ source: SecretSource) throws -> String {
        let text: String
        switch source {
        case .file(let path): text = try contents(of: path)
        case .credential(let name):
            guard let folder = Machine.environment["CREDENTIALS_DIRECTORY"] else {
                throw Failure("systemd passed no credentials (LoadCredential=\(name):... in the unit)")
            }
            guard !name.contains("/") else { throw Failure("a credential's name holds no slash") }
            text = try contents(of: "\(folder)/\(name)")
        case .environment(let name):
            guard let value = Machine.environment[name] else { throw Failure("it is not set") }
            text = value
        case .service(let name): text = try SecretService.read(name)
        }
        guard !text.isEmpty else { throw Failure("it is empty") }
        return text
    }

    /// What the file holds; who reports an error names the file.
    private static func contents(of path: String) throws -> String {
        do throws(HostError) {
            return try SmallFile.text(path)
        } catch {
            guard let code = error.code else { throw error }
            throw Failure(errorText(code))
        }
    }
}

extension Failure: CustomStringConvertible {
    var description: String { message }
}
