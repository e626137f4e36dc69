import Grouping

// Storms.

extension StormReport {
    /// `12 jobs failed on host db1`, `9 of 12 jobs still fail`, `12 jobs recovered`; in the singular for one job.
    var title: String {
        let shared = labelName.flatMap { name in labelValue.map { " on \(name) \($0)" } } ?? ""
        let all = total == 1 ? "1 job" : "\(total) jobs"
        if failing == 0 { return "\(all) recovered\(shared)" }
        if failing < total {
            return "\(failing) of \(total) jobs still \(failing == 1 ? "fails" : "fail")\(shared)"
        }
        let lost = total == 1 ? "was lost" : "were lost"
        return "\(all) \(isLost ? lost : "failed")\(shared)"
    }

    /// The text of the failure, and the names of the jobs.
    var lines: [String] {
        let shown = jobs.prefix(Self.names)
        let rest = max(failing, jobs.count) - shown.count
        let names = shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        return [failing == 0 ? nil : text, names].compactMap(\.self).filter { !$0.isEmpty }
    }

    private static let names = 8
}
