import Delivery
import Ledger
import Timeline
import Tracking

/// What rules remember from one matter to the next: how often bots interrupted, and which jobs fail that explain others.
///
/// Kept in the ledger as small named values, each written by the turn that changes it.
struct Standing: Hashable, Sendable {
    private static let interruptionsName = "interruptions"
    private static let failingName = "failingCauses"
    private static let heldName = "heldUntil"

    private(set) var interruptions = Interruptions()
    /// The jobs that fail now and are named by an inhibition, by name.
    private(set) var failing: [String: Topic] = [:]
    /// When what is held in the outbox of a channel is judged again, by the channel's name.
    private(set) var heldUntil: [String: Moment] = [:]
    /// Nothing is held for longer: a moment further away was left behind by a clock that was set.
    private static let longestHold = Duration.seconds(8 * 86_400)

    init() {}

    /// What the ledger holds; what can't be read begins anew.
    init(_ ledger: any Ledger) async throws(LedgerError) {
        if let text = try await ledger.fact(named: Self.interruptionsName) {
            interruptions = (try? JSON.decode(from: text.utf8)) ?? interruptions
        }
        if let text = try await ledger.fact(named: Self.failingName) {
            failing = (try? JSON.decode(from: text.utf8)) ?? failing
        }
        if let text = try await ledger.fact(named: Self.heldName) {
            heldUntil = (try? JSON.decode(from: text.utf8)) ?? heldUntil
        }
    }

    /// When the first that is held is judged again; nil: nothing is held.
    var nextRelease: Moment? { heldUntil.values.min() }

    /// Whether something is to be judged again now.
    func isReleaseDue(at now: Moment) -> Bool {
        heldUntil.values.contains { Self.isOver($0, at: now) }
    }

    /// Whether a hold until `moment` is over, or was left behind by a clock that was set.
    static func isOver(_ moment: Moment?, at now: Moment) -> Bool {
        guard let moment else { return true }
        return moment <= now || moment > now + longestHold
    }

    /// Something is held in the outbox of a channel.
    mutating func hold(on channel: String, until moment: Moment) {
        heldUntil[channel] = min(heldUntil[channel] ?? moment, moment)
    }

    /// All that is held now was looked at.
    mutating func forgetHolds() { heldUntil = [:] }

    /// A bot rang on a channel.
    mutating func ring(on channel: String, _ bot: String, at now: Moment, by rules: DispatchRules) {
        guard let budget = rules.restraint(of: bot).budget else { return }
        interruptions.note(on: channel, bot, at: now, budget: budget)
    }

    /// A run of a job ended.
    mutating func note(_ topic: Topic, isFailing: Bool, by rules: DispatchRules) {
        guard let job = topic.job else { return }
        let isCause = isFailing && rules.inhibitions.contains { $0.isCause(topic) }
        failing[job] = isCause ? topic : nil
    }

    /// What of it differs from `before`, to be stored.
    func changes(since before: Standing) throws -> [Change] {
        var changes: [Change] = []
        if interruptions != before.interruptions {
            let text = String(decoding: try JSON.encode(interruptions), as: UTF8.self)
            changes.append(.setFact(name: Self.interruptionsName, value: text))
        }
        if failing != before.failing {
            let text = String(decoding: try JSON.encode(failing), as: UTF8.self)
            changes.append(.setFact(name: Self.failingName, value: text))
        }
        if heldUntil != before.heldUntil {
            let text = String(decoding: try JSON.encode(heldUntil), as: UTF8.self)
            changes.append(.setFact(name: Self.heldName, value: text))
        }
        return changes
    }
}
