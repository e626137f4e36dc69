package import Delivery
import Ledger
package import Timeline
import Yams

/// Reads the configuration files, all of them and to the end, so that every fault is told at once.
package struct ConfigurationReader {
    /// The zone where the files name none.
    package var hostZone: String
    /// Finds a zone by name.
    package var zone: (String) -> ZoneRules?
    /// Reads a secret; throws a sentence that says why it can't be read, without the secret.
    package var readSecret: (SecretSource) throws -> String

    package init(
        hostZone: String, zone: @escaping (String) -> ZoneRules?,
        readSecret: @escaping (SecretSource) throws -> String
    ) {
        self.hostZone = hostZone
        self.zone = zone
        self.readSecret = readSecret
    }

    /// Reads the main file and the files beside it that hold only `jobs:`.
    ///
    /// - Throws: every fault of every file.
    package func read(_ main: SourceText, jobs others: [SourceText] = []) throws(SettingsError)
        -> Configuration
    {
        let faults = Field.Faults()
        var parts = Parts()
        if let root = root(of: main, faults) {
            readMain(root, into: &parts)
        }
        for other in others {
            guard let root = root(of: other, faults) else { continue }
            if let jobs = root.record(keys: ["jobs"])?["jobs"] { parts.jobFields += jobs.entries() ?? [] }
        }
        let configuration = assemble(&parts, faults)
        guard faults.problems.isEmpty else { throw SettingsError(problems: faults.problems) }
        return configuration
    }

    /// What was found, before one part is held against the others.
    struct Parts {
        var zone: String?
        var bots: [Configuration.Bot] = []
        var jobFields: [(key: Field, value: Field)] = []
        var channels: [ChannelSetting] = []
        var routes: [(field: Field, route: Route)] = []
        var routesField: Field?
    }

    private func readMain(_ root: Field, into parts: inout Parts) {
        guard
            let fields = root.record(
                keys: ["zone", "bots", "jobs", "channels", "routes"],
                later: ["listen", "silences", "calendars", "retention", "limits"])
        else { return }
        if let field = fields["zone"] { parts.zone = zoneName(field) }
        for (key, value) in fields["bots"]?.entries() ?? [] {
            if let bot = readBot(key, value) { parts.bots.append(bot) }
        }
        parts.jobFields = fields["jobs"]?.entries() ?? []
        for (key, value) in fields["channels"]?.entries() ?? [] {
            if let channel = readChannel(key, value) { parts.channels.append(channel) }
        }
        parts.routesField = fields["routes"]
        for field in fields["routes"]?.list() ?? [] {
            if let route = readRoute(field) { parts.routes.append((field, route)) }
        }
    }

    private func assemble(_ parts: inout Parts, _ faults: Field.Faults) -> Configuration {
        let zone = parts.zone ?? hostZone
        var jobs: [Configuration.Job] = []
        var seen: [String: String] = [:]
        let bots = Set(parts.bots.map(\.name) + ["belfry"])
        for (key, value) in parts.jobFields {
            guard let job = readJob(key, value, zone: zone, bots: bots) else { continue }
            if let first = seen[job.spec.name] {
                key.fault(
                    "there is a job \"\(job.spec.name)\" already, at \(first)", mend: "give one another name")
                continue
            }
            seen[job.spec.name] = job.place
            jobs.append(job)
        }
        let routing = checkRoutes(parts, hasJobs: !jobs.isEmpty, faults)
        return Configuration(
            zone: zone, bots: parts.bots, jobs: jobs, channels: parts.channels, routing: routing,
            warnings: faults.warnings)
    }

    /// The name of a zone that exists.
    func zoneName(_ field: Field) -> String? {
        guard let name = field.word() else { return nil }
        guard zone(name) != nil else {
            field.fault(
                "there is no time zone \"\(name)\"", mend: "write a name such as Europe/Berlin or UTC")
            return nil
        }
        return name
    }

    // MARK: YAML

    private func root(of source: SourceText, _ faults: Field.Faults) -> Field? {
        do {
            let parser = try Parser(yaml: source.text)
            guard let node = try parser.nextRoot() else {
                return Field(node: Node.mapping(.init([])), path: "", source: source, faults: faults)
            }
            if let second = try parser.nextRoot() {
                faults.problems.append(
                    source.problem(
                        line: second.mark?.line ?? 1, column: 1, "a file holds one document",
                        mend: "remove the line \"---\" and what follows"))
            }
            if node.scalar?.string.isEmpty == true {
                return Field(node: Node.mapping(.init([])), path: "", source: source, faults: faults)
            }
            return Field(node: node, path: "", source: source, faults: faults)
        } catch let error as YamlError {
            faults.problems.append(problem(for: error, in: source))
        } catch {
            faults.problems.append(source.problem(line: 1, column: 1, "can't be read as YAML: \(error)"))
        }
        return nil
    }

    private func problem(for error: YamlError, in source: SourceText) -> Problem {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return source.problem(line: mark.line, column: mark.column, problem)
        case .duplicatedKeysInMapping(let names, let context):
            return source.problem(
                line: context.mark.line, column: context.mark.column,
                "these keys stand twice in one map: \(names.joined(separator: ", "))",
                mend: "remove one of each")
        default:
            return source.problem(line: 1, column: 1, "can't be read as YAML: \(error)")
        }
    }
}
