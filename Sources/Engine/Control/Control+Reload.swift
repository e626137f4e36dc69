import Cron
import Ledger
import Logging
import Timeline

/// What a reload changed, by name.
package struct ReloadDifference: Hashable, Sendable {
    package var added: [String] = []
    package var changed: [String] = []
    package var removed: [String] = []
    /// What a person may want to know though nothing is wrong.
    package var warnings: [String] = []

    package init() {}

    package var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }
}

/// Why a reload was refused: what is wrong with the file, as a person should read it.
package struct ReloadRefusal: Error, Sendable, CustomStringConvertible {
    /// One thing that is wrong, with its place; lines and columns count from 1.
    package struct Fault: Hashable, Sendable {
        package var file: String
        package var line: Int
        package var column: Int
        package var message: String
        package var mend: String?

        package init(file: String, line: Int, column: Int, message: String, mend: String?) {
            self.file = file
            self.line = line
            self.column = column
            self.message = message
            self.mend = mend
        }
    }

    package var description: String
    /// All that is wrong, where it is known one by one.
    package var faults: [Fault]

    package init(description: String, faults: [Fault] = []) {
        self.description = description
        self.faults = faults
    }
}

extension Control {
    /// Reads the configuration anew and puts all of it in force, or refuses all of it.
    ///
    /// - Throws: ``ReloadRefusal`` with what is wrong, or an ``EngineError``; the running configuration is untouched.
    package func reload() async throws -> ReloadDifference {
        do {
            let difference = try await replaceConfiguration()
            switchboard.refusal = nil
            return difference
        } catch {
            switchboard.refusal = "\(error)"
            throw error
        }
    }

    private func replaceConfiguration() async throws -> ReloadDifference {
        let configuration = try await readConfiguration()
        // An editor may have it out of the way for a moment; to go back to the defaults takes a restart.
        if configuration.path == nil, let path = switchboard.configuration.path {
            throw ReloadRefusal(description: "\(path) is gone; what it said before stays in force")
        }
        var (edits, difference) = try await compare(with: configuration)
        _ = try await slots.change(
            edits, events: [NewEvent(.configReloaded, at: clock.now, detail: difference.detail)])
        switchboard.replace(with: configuration)
        difference.warnings = await warnings()
        logger.notice(
            "configuration reloaded",
            metadata: [
                "added": "\(difference.added.count)", "changed": "\(difference.changed.count)",
                "removed": "\(difference.removed.count)",
            ])
        return difference
    }

    /// Puts the jobs of the configuration the daemon started with in force.
    package func takeUpJobs() async throws -> ReloadDifference {
        var (edits, difference) = try await compare(with: switchboard.configuration)
        try await slots.takeUp(edits)
        await runs.begin()
        difference.warnings = await warnings()
        return difference
    }

    /// What the jobs in force make a person think of; logged as well, as nobody may read the answer.
    private func warnings() async -> [String] {
        guard let crowd = await slots.largestCrowd() else { return [] }
        logger.warning(
            "many jobs run in one second",
            metadata: ["jobs": "\(crowd.count)", "slot.at": "\(crowd.moment.iso8601)"])
        return [crowd.warning]
    }

    private func compare(
        with configuration: EngineConfiguration
    ) async throws -> ([JobEdit], ReloadDifference) {
        var edits: [JobEdit] = []
        var difference = ReloadDifference()
        let names = Set(configuration.jobs.map(\.spec.name))
        let stored = try await ledger.jobs(named: names)
        let current = Dictionary(uniqueKeysWithValues: stored.map { ($0.name, $0) })
        for (spec, place) in configuration.jobs {
            guard let record = current[spec.name] else {
                difference.added.append(spec.name)
                edits.append(.put(spec, origin: .file, place: place))
                continue
            }
            if record.origin != .file {
                throw ReloadRefusal(
                    description: """
                        \(place): job "\(spec.name)" was made by `belfry job add` already; \
                        remove that one first (belfry job rm \(spec.name)), or give this one another name
                        """)
            }
            let isSame = record.spec.isWritten(as: spec)
            if !isSame { difference.changed.append(spec.name) }
            if !isSame || record.place != place {
                edits.append(.put(spec, origin: .file, place: place))
            }
        }
        for name in await slots.namesOfFiles().sorted() where !names.contains(name) {
            difference.removed.append(name)
            edits.append(.remove(name))
        }
        return (edits, difference)
    }
}

extension ReloadDifference {
    fileprivate var detail: String {
        func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ",") }
        return """
            {"added":[\(list(added))],"changed":[\(list(changed))],"removed":[\(list(removed))]}
            """
    }
}
