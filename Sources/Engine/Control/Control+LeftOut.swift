import Delivery
import Ledger
import Logging
import Timeline

extension Control {
    /// How often what was left out at the start is tried again.
    package static let leftOutInterval: Duration = .seconds(60)

    /// Tries what was left out again, each minute while something is; returns when nothing is left out any more.
    package func followLeftOut() async throws {
        await loading.wait()
        while !switchboard.configuration.leftOut.isEmpty {
            try await clock.sleep(until: clock.now + Self.leftOutInterval)
            for part in switchboard.configuration.leftOut { await tryAgain(part) }
        }
    }

    private func tryAgain(_ leftOut: LeftOut) async {
        do throws(EngineError) {
            switch leftOut.part {
            case .job(let spec):
                let isDone = try await switchboard.turnstile.pass { () async throws(EngineError) in
                    try await putBack(spec, leftOut)
                }
                guard isDone else { return }
            case .channel(let name, _):
                guard let (channel, version) = await reopenChannel(name) else { return }
                // A reload may have been faster.
                let isDone = switchboard.change { configuration in
                    guard let index = configuration.leftOut.firstIndex(of: leftOut) else { return false }
                    configuration.leftOut.remove(at: index)
                    configuration.channels.append(channel)
                    configuration.versions[name] = version
                    return true
                }
                guard isDone else { return }
                try await commit([.append(leftOut.returned(at: clock.now))])
            }
            logger.notice(
                "what was left out at the start can be used now",
                metadata: ["config.place": "\(leftOut.place)"])
        } catch {
            logger.warning(
                "what was left out can't be used yet",
                metadata: ["config.place": "\(leftOut.place)", "reason": "\(error)"])
        }
    }

    /// Adds the job, unless it can't be added yet, or a reload has decided otherwise meanwhile.
    private func putBack(_ spec: JobSpec, _ leftOut: LeftOut) async throws(EngineError) -> Bool {
        guard switchboard.configuration.leftOut.contains(leftOut), await !slots.isJob(spec.name) else {
            return false
        }
        _ = try await slots.change(
            [.add(spec, origin: .file, place: leftOut.place)], events: [leftOut.returned(at: clock.now)])
        switchboard.change { $0.leftOut.removeAll { $0 == leftOut } }
        return true
    }

    /// What status says of what was left out.
    func problems(of leftOut: [LeftOut]) -> [EngineProblem] {
        leftOut.map { EngineProblem(kind: "configPartial", message: $0.sentence, hint: $0.hint) }
    }
}
