import Cron
import Delivery
import Grouping
import Timeline
package import Tracking

extension JobFields {
    /// The names that a job has in a file, those of parts of maps left out.
    package var keys: [String] {
        var keys = ["schedule"]
        for row in rows {
            let head = String(row.key.prefix { $0 != "." })
            if keys.last != head { keys.append(head) }
        }
        return keys
    }

    /// The names in a map of a file.
    package func keys(of map: String) -> [String] {
        rows.filter { $0.key.hasPrefix(map + ".") }.map { String($0.key.dropFirst(map.count + 1)) }
    }

    /// Changes in `spec` what a draft holds.
    package func apply(_ given: JSON, to spec: inout JobSpec) throws(JobFault) {
        var draft = given
        for (map, member) in Self.shorthands {
            if let text = draft[map], text.text != nil { draft[map] = .members([.init(member, text)]) }
        }
        try checkNames(of: draft)
        var rowsGiven: [JobField] = []
        for row in rows {
            guard let value = row.draft.flatMap({ draft[path: $0] }) else { continue }
            do {
                row.set(&spec, try row.read(draft: value))
            } catch {
                throw error.of(row)
            }
            rowsGiven.append(row)
        }
        for row in rowsGiven { if let fault = row.check(spec) { throw fault.of(row) } }
        if draft[path: "concurrency"] != nil, draft[path: "concurrency.key"] == nil, spec.concurrency == nil {
            throw JobFault("no key", advice: "give it a key and a max").under("concurrency")
        }
    }

    /// Refuses members of a draft that no field has, and one that is no map although its parts are fields.
    private func checkNames(of draft: JSON) throws(JobFault) {
        guard case .members(let members) = draft else { return }
        let names = rows.compactMap(\.draft)
        for member in members where member.value != .null && !names.contains(member.name) {
            let parts = names.filter { $0.hasPrefix(member.name + ".") }
            if parts.isEmpty { throw unknown(member.name) }
            guard case .members(let inner) = member.value else { throw JobFault.wrongKind.under(member.name) }
            for part in inner where !parts.contains("\(member.name).\(part.name)") {
                throw unknown("\(member.name).\(part.name)")
            }
        }
    }

    /// The fault of a name that no field has in a draft, with the one that was perhaps meant.
    private func unknown(_ name: String) -> JobFault {
        let meant = rows.filter { $0.key == name || $0.key.hasPrefix(name + ".") }
        let drafts = meant.compactMap(\.draft)
        var fault = JobFault("no such field")
        if !meant.isEmpty, drafts.isEmpty {
            fault = JobFault(
                "only a job of the file has it", advice: "write it under jobs: in the configuration")
        } else if let near = NearestName.of(name, among: rows.compactMap(\.draft)), drafts.isEmpty {
            fault.advice = "did you mean \"\(near)\"?"
        } else if !drafts.isEmpty {
            fault.advice = "it is called " + drafts.map { "\"\($0)\"" }.joined(separator: " and ") + " here"
        }
        return fault.under(name)
    }

    /// The policies of a job, as the API shows them.
    package func policies(of spec: JobSpec) -> JSON {
        rows.reduce(into: JSON.members([])) { policies, row in
            if let name = row.policy, let value = row.get(spec) { policies[path: name] = value }
        }
    }

    /// The policies in one line.
    package func summary(_ policies: JSON) -> String {
        rows.compactMap { $0.policy == nil ? nil : $0.shown(policies) }.joined(separator: ", ")
    }
}

extension JobFault {
    /// Of a field of a draft, or of a part of it that the fault names.
    func of(_ field: JobField) -> JobFault {
        let name = field.draft ?? field.key
        return under(key.isEmpty ? name : "\(name).\(key)")
    }

    func under(_ key: String) -> JobFault {
        var fault = self
        fault.key = key
        return fault
    }
}
