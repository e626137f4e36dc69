import Ledger
import Tracking

@testable import Engine

/// A world in one line, so that the way to a fault can be read.
extension World: CustomStringConvertible {
    var description: String {
        let row = run.map { "\($0.state) \($0.attempt)/\($0.token)" } ?? "no row"
        return [
            row + (late.map { ", late: \(words(of: $0.fact))" } ?? ""),
            "daemon: " + (daemon.map { words(of: $0) } ?? "gone"),
            "commands: \(commands)", "messages: \(messages.map { words(of: $0) })",
            "warden: " + (warden.map { $0.starting.map { "starts \($0)" } ?? "up" } ?? "gone"),
            "records: " + records.sorted { $0.key < $1.key }.map { "\($0.key) \(words(of: $0.value))" }
                .joined(separator: ", "),
            "alive: \(alive.sorted()), left: \(left.sorted()), executed: \(executed.sorted { $0.key < $1.key })",
        ].joined(separator: " | ")
    }

    private func words(of daemon: Daemon) -> String {
        var words = [daemon.isConnected ? "connected" : "alone"]
        if let hand = daemon.hand {
            let flags = [hand.isOrdered ? "ordered" : nil, hand.isKnown ? "known" : nil, hand.isAsked ? "asked" : nil]
            words.append("holds \(hand.record.state) \(hand.record.attempt)/\(hand.record.token)")
            words += flags.compactMap { $0 }
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

    private func words(of message: WardenEvent.Brief) -> String {
        if case .ended(let record) = message { return "ended \(record.key.attempt) \(record.cause)" }
        return "\(message)"
    }

    private func words(of record: Record) -> String {
        if case .ended(let record) = record { return "ended \(record.cause)" }
        return "\(record)"
    }
}
