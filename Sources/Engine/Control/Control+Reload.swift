package import API
import Cron
package import Delivery
import Ledger
import Logging
import Timeline

/// What a reload changed, by name: its jobs, and ``others``.
package struct JobDifference: Hashable, Sendable {
    package var added: [String] = []
    package var changed: [String] = []
    package var removed: [String] = []
    /// What is different besides jobs.
    package var others = ConfigurationDifference()
    /// What a person may want to know though nothing is wrong.
    package var warnings: [String] = []

    package init() {}

    package var isEmpty: Bool {
        added.isEmpty && changed.isEmpty && removed.isEmpty && others == ConfigurationDifference()
    }
}

/// What is different between two configurations, their jobs aside.
package struct ConfigurationDifference: Hashable, Sendable {
    package typealias Names = Fact.Reload.Difference.Names

    package var bots = Names(added: [], changed: [], removed: [])
    package var channels = Names(added: [], changed: [], removed: [])
    /// Keys of the file.
    package var parts: [String] = []

    /// None.
    package init() {}

    /// What happened to `old`; a channel is different once it was made again.
    package init(from old: EngineConfiguration, to new: EngineConfiguration) {
        func names(_ old: Set<String>, _ new: Set<String>, changed: (String) -> Bool) -> Names {
            Names(
                added: new.subtracting(old), changed: old.intersection(new).filter(changed),
                removed: old.subtracting(new))
        }
        bots = names(Set(old.bots.keys), Set(new.bots.keys)) { name in
            guard let before = old.bots[name], let after = new.bots[name] else { return false }
            return !after.isSame(as: before)
        }
        channels = names(Set(old.channels.map(\.name)), Set(new.channels.map(\.name))) {
            old.versions[$0] != new.versions[$0]
        }
        let changes = [
            ("routes", old.routing != new.routing), ("inhibit", old.inhibitions != new.inhibitions),
            ("listen", old.listen != new.listen), ("zone", old.zone != new.zone),
        ]
        parts = changes.filter(\.1).map(\.0)
    }
}

/// Why a reload was refused: what is wrong with the file, as a person should read it.
package struct ReloadRefusal: Error, Sendable, CustomStringConvertible {
    package var description: String
    /// All that is wrong, where it is known one by one.
    package var faults: [WireFault]

    package init(description: String, faults: [WireFault] = []) {
        self.description = description
        self.faults = faults
    }
}

extension Control {
    /// Reads the configuration again and activates all of it, or refuses all of it.
    ///
    /// What was left out before stays so while its fault is the same, and a bot whose key can't be read is left out, too.
    ///
    /// One that is asked for during the start waits until the jobs of the files are loaded.
    /// - Throws: ``ReloadRefusal`` with what is wrong, or an ``EngineError``; the running configuration is untouched.
    package func reload() async throws -> JobDifference {
        await loading.wait()
        do {
            let difference = try await activeConfiguration.turnstile.pass { try await replaceConfiguration() }
            activeConfiguration.refusal = nil
            return difference
        } catch {
            activeConfiguration.refusal = "\(error)"
            throw error
        }
    }

    private func replaceConfiguration() async throws -> JobDifference {
        let described = try await files.read()
        if let bot = try await botConflicts(with: described).first {
            throw ReloadRefusal(
                description:
                    "\(bot.place ?? ""): bot \"\(bot.name)\": `belfry bot add` made one of that name; "
                    + "remove it (belfry bot rm \(bot.name)), or rename this one")
        }
        var configuration = try await withLedgerBots(described)
        configuration.silences = activeConfiguration.configuration.silences
        // An editor may have it out of the way for a moment; to go back to the defaults takes a restart.
        if configuration.path == nil, let path = activeConfiguration.configuration.path {
            throw ReloadRefusal(
                description: "\(path) no longer exists; the previous configuration stays active")
        }
        var (edits, difference, conflicts) = try await compare(with: configuration)
        let before = activeConfiguration.configuration.leftOut
        func isNews(_ part: LeftOut) -> Bool { !before.contains(where: part.isSame) }
        let refused = conflicts.filter(isNews)
        guard refused.isEmpty else {
            throw ReloadRefusal(
                description: refused.map { conflict in
                    "\(conflict.place): job \"\(conflict.job?.name ?? "")\": \(conflict.reason); \(Self.wayOut(conflict))"
                }.joined(separator: "\n"))
        }
        configuration.leftOut += conflicts
        difference.others = ConfigurationDifference(
            from: activeConfiguration.configuration, to: configuration)
        let now = clock.now
        let events = configuration.leftOut.filter(isNews).map { $0.event(at: now) }
        _ = try await slots.change(
            edits, events: [NewEvent(.configReloaded(Fact.Reload(difference.jobs)), at: now)] + events)
        activeConfiguration.replace(with: configuration)
        difference.warnings = configuration.leftOut.map(\.sentence) + (await warnings())
        logger.notice(
            "configuration reloaded",
            metadata: [
                "added": "\(difference.added.count)", "changed": "\(difference.changed.count)",
                "removed": "\(difference.removed.count)",
                "others": "\(difference.others.words)",
            ])
        return difference
    }

    /// Loads the jobs of the configuration the daemon started with, without those whose names are taken.
    ///
    /// What is left out is recorded with its event, so that people are notified.
    package func takeUpJobs() async throws -> JobDifference {
        for bot in try await botConflicts(with: activeConfiguration.configuration) {
            logger.error(
                "a bot made by belfry bot add is left out: the configuration has one of that name",
                metadata: ["bot": "\(bot.name)", "config.place": "\(bot.place ?? "")"])
        }
        let complete = try await withLedgerBots(activeConfiguration.configuration)
        activeConfiguration.replace(with: complete)
        var (edits, difference, conflicts) = try await compare(with: complete)
        let leftOut = activeConfiguration.change { configuration in
            configuration.leftOut += conflicts
            return configuration.leftOut
        }
        for part in leftOut {
            logger.error(
                "a part of the configuration can't be used; the rest runs",
                metadata: ["reason": "\(part.sentence)"])
        }
        try await slots.takeUp(edits)
        if !leftOut.isEmpty { try await commit(leftOut.map { .append($0.event(at: clock.now)) }) }
        await runs.begin()
        loading.finish()
        difference.warnings = await warnings()
        return difference
    }

    /// What a person should know of the active jobs; logged as well, as nobody may read the answer.
    private func warnings() async -> [String] {
        guard let crowd = await slots.largestCrowd() else { return [] }
        logger.warning(
            "many jobs run in one second",
            metadata: ["jobs": "\(crowd.count)", "slot.at": "\(crowd.moment.iso8601)"])
        return [crowd.warning]
    }

    private func compare(
        with configuration: EngineConfiguration
    ) async throws -> ([JobEdit], JobDifference, conflicts: [LeftOut]) {
        var edits: [JobEdit] = []
        var conflicts: [LeftOut] = []
        var difference = JobDifference()
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
                conflicts.append(
                    LeftOut(
                        .job(spec), place: place,
                        reason: "a job of that name was made by `\(record.origin.command)`"))
                continue
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
        return (edits, difference, conflicts)
    }

    private static func wayOut(_ conflict: LeftOut) -> String {
        "remove that one first (belfry job rm \(conflict.job?.name ?? "")), or give this one another name"
    }
}

extension ConfigurationDifference {
    /// The names of all that is different.
    fileprivate var words: String {
        let bots = (bots.added + bots.changed + bots.removed).map { "bot \($0)" }
        let channels = (channels.added + channels.changed + channels.removed).map { "channel \($0)" }
        return (bots + channels + parts).joined(separator: ", ")
    }
}

extension JobDifference {
    fileprivate var jobs: Fact.Reload.Difference {
        var all = Fact.Reload.Difference(added: added, changed: changed, removed: removed)
        if !others.bots.isEmpty { all.bots = others.bots }
        if !others.channels.isEmpty { all.channels = others.channels }
        if !others.parts.isEmpty { all.parts = others.parts }
        return all
    }
}

extension JobOrigin {
    /// The command that makes jobs of this origin.
    fileprivate var command: String {
        switch self {
        case .cli: "belfry job add"
        case .imported: "belfry import"
        case .file: "belfry reload"
        }
    }
}
