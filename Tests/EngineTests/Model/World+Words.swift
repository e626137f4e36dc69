import Ledger
import Performing
import Tracking
import WardenProtocol

@testable import Engine

/// A world in one line, so that the way to a fault can be read.
extension World: CustomStringConvertible {
    var description: String {
        var row = run.map { "\($0.state) \($0.attempt)/\($0.token)" } ?? "no row"
        if let late { row += ", late: \(words(of: late.fact))" }
        let warden = warden.map { $0.starting.map { "starts \($0)" } ?? "up" } ?? "gone"
        let kept = records.sorted { $0.key < $1.key }.map { "\($0.key) \(words(of: $0.value))" }
        let executed = executed.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return [
            row,
            "daemon: \(daemon.map { words(of: $0) } ?? "gone")",
            "commands: \(commands)",
            "messages: \(messages.map { words(of: $0) })",
            "warden: \(warden), records: \(kept)",
            "alive: \(alive.sorted()), left: \(left.sorted()), executed: \(executed)",
        ].joined(separator: " | ")
    }

    private func words(of daemon: Daemon) -> String {
        var words = [daemon.isConnected ? "connected" : "alone"]
        if let hand = daemon.hand {
            words.append("holds \(hand.record.state) \(hand.record.attempt)/\(hand.record.token)")
            if hand.isOrdered { words.append("ordered") }
            if hand.isKnown { words.append("known") }
            if hand.isAsked { words.append("asked") }
        }
        if let decision = daemon.decision { words.append("commits \(self.words(of: decision.fact))") }
        if !daemon.effects.isEmpty { words.append("owes \(daemon.effects.count)") }
        if !daemon.strays.isEmpty { words.append("strays \(daemon.strays.keys.sorted())") }
        return words.joined(separator: " ")
    }

    private func words(of fact: Fact) -> String {
        if case .ended(let record) = fact { return "ended \(record.key.attempt) \(record.cause)" }
        return "\(fact)"
    }

    private func words(of message: PerformerEvent.Brief) -> String {
        if case .ended(let record) = message { return "ended \(record.key.attempt) \(record.cause)" }
        return "\(message)"
    }

    private func words(of record: Record) -> String {
        if case .ended(let record) = record { return "ended \(record.cause)" }
        return "\(record)"
    }
}
