import API
import Cron
import Delivery
import Glibc
import Host
import Ledger
import Settings
import Timeline

/// The configuration file, the `jobs.d` folder beside it, and the secrets they name.
struct ConfigurationFiles: Sendable {
    let path: String

    /// Whether there is a file; without one the defaults are in force.
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

    /// Reads everything anew.
    ///
    /// - Throws: `SettingsError` with every fault, or a `Failure` when a file can't be opened.
    func read() throws -> Configuration {
        let zones = Zones()
        guard exists else { return .standard(zone: zones.hostName) }
        let reader = ConfigurationReader(
            hostZone: zones.hostName, zone: { zones.rules(of: $0) }, readSecret: Secrets.read)
        return try reader.read(try text(of: path), jobs: try jobFiles().map { try text(of: $0) })
    }

    /// Refuses a file that was named and is not there.
    func requireFile() throws(Failure) {
        guard !exists else { return }
        throw Failure(
            "belfryd: there is no configuration at \(path)",
            mend: "name another with --config, or copy config/belfry.yaml there", code: 2)
    }

    /// Says whether the configuration is good.
    func check(asJSON: Bool) throws {
        do {
            try requireFile()
            let configuration = try read()
            let good = WireConfigCheck(
                file: path, jobs: configuration.jobs.count, bots: configuration.bots.count,
                channels: configuration.channels.count,
                warnings: configuration.warnings.map { WireFault($0) })
            if asJSON { return StandardOutput.print(try WireCoding.text(good)) }
            for warning in configuration.warnings { StandardError.write("warning: \(warning)\n") }
            for warning in Self.openSecrets(configuration) { StandardError.write("warning: \(warning)\n") }
            if let crowd = crowd(of: configuration) { StandardError.write("warning: \(crowd.warning)\n") }
            StandardOutput.print(
                "\(path): good; \(good.jobs) jobs, \(good.bots) bots, \(good.channels) channels")
        } catch let error as SettingsError {
            throw refusal(error, asJSON: asJSON)
        } catch var failure as Failure {
            let sentence = failure.message.trimmingPrefix("belfryd: ")
            let hint = failure.mend.map { $0.prefix(1).uppercased() + $0.dropFirst() + "." }
            if asJSON {
                failure.json = try WireCoding.text(APIError(.badConfig, String(sentence), hint: hint))
            }
            throw failure
        }
    }

    private func refusal(_ error: SettingsError, asJSON: Bool) -> Failure {
        var failure = Failure(error.description, code: 2)
        guard asJSON else { return failure }
        var wire = APIError(.badConfig, "\(path) has \(error.problems.count) faults")
        if error.problems.count == 1, let only = error.problems.first {
            wire = APIError(
                .badConfig, "\(only.file):\(only.line):\(only.column): \(only.message)", hint: only.mend)
        }
        wire.faults = error.problems.map { WireFault($0) }
        failure.json = try? WireCoding.text(wire)
        return failure
    }

    /// Files with secrets that others than their owner and group may read, or others than the owner may write.
    private static func openSecrets(_ configuration: Configuration) -> [String] {
        var warnings: [String] = []
        for channel in configuration.channels {
            guard case .webhook(let form) = channel.form else { continue }
            for secret in form.secrets {
                guard case .file(let path) = secret else { continue }
                var status = stat()
                guard unsafe stat(path, &status) == 0, status.st_mode & 0o027 != 0 else { continue }
                let mode = String(status.st_mode & 0o777, radix: 8)
                warnings.append(
                    "\(channel.place): the secret of channel \"\(channel.name)\" is open to others: \(path) has "
                        + "mode \(mode); close it: chmod 600 \(path)")
            }
        }
        return warnings
    }

    /// The largest crowd of jobs in one second; nil when it is not worth a word.
    private func crowd(of configuration: Configuration) -> SlotCrowd? {
        let zones = Zones()
        let jobs = configuration.jobs.filter { $0.spec.spread == nil }
        let schedules = jobs.compactMap { job -> (schedule: Schedule, zone: ZoneRules, jobs: Int)? in
            guard
                let schedule = try? job.spec.schedule.schedule(
                    seed: job.spec.name, since: .now, zones: zones.rules(of:)),
                let rules = zones.rules(of: schedule.zoneName ?? job.spec.schedule.zone)
            else { return nil }
            return (schedule, rules, 1)
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
                "belfryd: \(path) is a folder, not a file", mend: "name the file in it with --config", code: 2
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
            hint: problem.mend)
    }
}
