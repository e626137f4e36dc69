import Cron
import Delivery
import Grouping
package import Ledger

extension ConfigurationReader {
    private static let laterJobKeys = [
        "afterJob", "blackout", "success",
    ]

    /// A job, or nil after every fault in it was reported.
    func readJob(_ key: Field, _ value: Field, zone: String, bots: Set<String>) -> Configuration.Job? {
        guard let name = key.text() else { return nil }
        let (owner, before) = (key.naming(value), value.faults.problems.count)
        checkName(name, key)
        if let text = value.scalar, !text.isEmpty {
            value.fault(
                "a job is a map, found text",
                hint: "write \(name): { schedule: \"0 3 * * *\", shell: \(CommonMistakes.plain(text)) }")
            return nil
        }
        let keys = fields.keys
        let others = CommonMistakes.job
        guard var found = value.record(keys: keys, later: Self.laterJobKeys, instead: others) else {
            return nil
        }
        // A misspelt key was reported as unknown; it is not reported as missing, too.
        let named = { value.misspells($0, among: keys + Self.laterJobKeys, instead: others) }
        let actions = JobFields.actions.compactMap { found[$0] }
        if actions.isEmpty, !named(JobFields.actions) {
            owner.fault(
                "this job does nothing",
                hint:
                    "give it a command: [program, argument], a shell: text, a prompt: for its bot, or a url:")
        }
        for other in actions.dropFirst() {
            other.fault("a job has one of command, shell, prompt and url, not two")
        }
        let isReported = found["schedule"] == nil && named(["schedule"])
        let schedule = isReported ? nil : readSchedule(found["schedule"], of: owner, seed: name, zone: zone)
        // Reading goes on without either, for the faults of the rest.
        var spec = JobSpec(
            name: name, action: .command([]),
            schedule: schedule ?? ScheduleSpec(kind: .manual, text: "", zone: zone))
        if let field = found.removeValue(forKey: "bot"), let bot = readBot(field, bots) { spec.bot = bot }
        read(parts(of: found), into: &spec)
        guard schedule != nil, value.faults.problems.count == before else { return nil }
        for doubt in doubts(spec) { (found[doubt.key] ?? owner).warn(doubt.message, hint: doubt.hint) }
        return Configuration.Job(spec: spec, place: key.place)
    }

    private func checkName(_ name: String, _ key: Field) {
        if JobName.reservedSince.contains(name) {
            key.warn(
                "belfry run \(name) does not start the job \"\(name)\": a subcommand has this name",
                hint: "rename it, or start it with: belfry job run \(name)")
        }
        guard let fault = JobName.fault(in: name) else { return }
        key.fault(
            "\"\(name)\" is not a valid job name: \(fault)",
            hint: JobName.near(name).map { "write \($0):" })
    }

    private func readBot(_ field: Field, _ bots: Set<String>) -> String? {
        guard let bot = field.word() else { return nil }
        if !bots.contains(bot), !isOtherBot(bot) {
            let near = NearestName.of(bot, among: bots)
            field.fault(
                "there is no bot \"\(bot)\"",
                hint: near.map { "did you mean \"\($0)\"?" } ?? "describe it under bots:")
        }
        return bot
    }

    /// The fields by their keys, those in maps included.
    private func parts(of found: [String: Field]) -> [String: Field] {
        var parts = found
        for (name, example) in JobFields.maps {
            guard let map = found[name] else { continue }
            let hint = "write \(name): \(example)"
            let shorthand = JobFields.shorthands[name]
            if let shorthand, !map.isMap, !map.isEmpty {
                parts["\(name).\(shorthand)"] = map
                continue
            }
            guard map.isMap || map.isEmpty else {
                let outcomes = NotifyWish.outcomes.map(\.rawValue)
                map.fault(
                    "a map is expected",
                    hint: name == "notify" ? CommonMistakes.notify(map, outcomes: outcomes) : hint)
                continue
            }
            guard let members = map.record(keys: fields.keys(of: name)) else { continue }
            for (key, member) in members { parts["\(name).\(key)"] = member }
            if let needed = name == "concurrency" ? "key" : shorthand, members[needed] == nil {
                map.fault("no \(needed)", hint: hint)
            }
        }
        return parts
    }

    private func read(_ parts: [String: Field], into spec: inout JobSpec) {
        var given: [(JobField, Field)] = []
        if let text = parts["url.url"]?.scalar, let faults = parts["url.url"]?.faults {
            hideSecrets(ofAddress: text, faults)
        }
        for row in fields.rows {
            guard let field = parts[row.key], let value = field.value(of: row) else { continue }
            row.set(&spec, value)
            given.append((row, field))
        }
        for (row, field) in given { if let fault = row.check(spec) { field.fault(fault) } }
    }
}

extension ConfigurationReader {
    /// Reads a text that describes one job as a file does: a map `jobs:` with it alone.
    ///
    /// Its bot may be any: who edits one job does not describe bots.
    /// - Throws: every fault of the text.
    package func readJob(_ source: SourceText) throws(SettingsError) -> JobSpec {
        let faults = Faults()
        let job = Document(source: source, faults: faults).root().flatMap { readOnlyJob($0) }
        guard faults.problems.isEmpty, let job else {
            throw SettingsError(problems: faults.cleaned(faults.problems))
        }
        return job
    }

    private func readOnlyJob(_ root: Field) -> JobSpec? {
        guard let jobs = root.record(keys: ["jobs"]) else { return nil }
        let field = jobs["jobs"] ?? root
        guard let entries = jobs["jobs"] == nil ? [] : field.entries() else { return nil }
        guard entries.count == 1, let (key, value) = entries.first else {
            field.fault(
                "one job is expected, found \(entries.count)", hint: "write jobs: and below it the job")
            return nil
        }
        let bots = Set([value.text(of: "bot")].compactMap(\.self))
        return readJob(key, value, zone: hostZone, bots: bots)?.spec
    }
}
