import Glibc
import Host
import Settings
import Timeline

/// The configuration file, the `jobs.d` folder beside it, and the secrets they name.
struct ConfigurationFiles: Sendable {
    let path: String

    /// Whether there is a file; without one the defaults are in force.
    var exists: Bool { unsafe access(path, F_OK) == 0 }

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

    /// Says whether the configuration is good.
    func check() throws {
        guard exists else {
            throw Failure(
                "belfryd: there is no configuration at \(path)",
                mend: "name one with --config, or copy config/belfry.yaml there", code: 2)
        }
        do {
            let configuration = try read()
            for warning in configuration.warnings { StandardError.write("warning: \(warning)\n") }
            print(
                "\(path): good; \(configuration.jobs.count) jobs, \(configuration.bots.count) bots, "
                    + "\(configuration.channels.count) channels")
        } catch let error as SettingsError {
            throw Failure(error.description, code: 2)
        }
    }

    private func text(of path: String) throws(Failure) -> SourceText {
        do throws(HostError) {
            let bytes = try SmallFile.read(path, limit: 4 << 20)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw HostError.malformed(path: path, problem: "is not UTF-8 text")
            }
            return SourceText(name: path, text: text)
        } catch {
            throw Failure("belfryd: \(error)", code: 2)
        }
    }

    /// `jobs.d/*.yaml`, by name.
    private func jobFiles() throws -> [String] {
        let folder = SmallFile.parent(of: path) + "/jobs.d"
        let names = (try? Folder.names(in: folder)) ?? []
        return names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }.sorted()
            .map { "\(folder)/\($0)" }
    }
}
