package import Ledger

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
