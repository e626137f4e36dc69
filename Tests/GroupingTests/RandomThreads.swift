import Grouping
import TestSupport
import Testing
import Timeline

/// What a thread's item must show, kept in the plainest way there is.
private struct Model {
    struct Line { var message: Message; var isShown = false }

    var unread: [Line] = []
    var rang: (at: Moment, urgency: Urgency)?
    var flushedAt: Moment?
    var isVisible = false

    mutating func receive(_ message: Message) {
        guard message.author == .bot else { return read() }
        if let key = message.replaceKey { unread.removeAll { $0.message.replaceKey == key } }
        unread.append(Line(message: message))
    }

    mutating func read() {
        unread = []
        rang = nil
    }

    mutating func dismiss() {
        unread.removeAll(where: \.isShown)
        rang = nil
    }
}

/// Plays one random life of a thread and compares each version with the model.
private struct Life {
    var random: SeededGenerator
    let policy = ThreadPolicy(ringAgainAfter: .seconds(20))
    var item = ThreadItem(bot: "ops", thread: "main")
    var model = Model()
    var now = Moment(seconds: 1_700_000_000)
    var faults: [String] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func play(steps: Int) {
        for step in 0..<steps {
            let gap = Bool.random(using: &random) ? 0...300 : 0...9000
            advance(to: now + .milliseconds(Int.random(in: gap, using: &random)))
            switch Int.random(in: 0..<20, using: &random) {
            case 0: check(item.read(at: now)) { $0.read() }
            case 1:
                let revision = item.revision
                check(item.dismissed(revision: revision, at: now)) { if $0.isVisible { $0.dismiss() } }
            default:
                let message = makeMessage(step)
                check(item.receive(message, at: now, policy: policy)) { $0.receive(message) }
            }
        }
        advance(to: now + .seconds(10))
        if item.flushAt != nil { faults.append("still waits at the end") }
        if !model.unread.allSatisfy(\.isShown) { faults.append("a message was never shown") }
    }

    private mutating func makeMessage(_ step: Int) -> Message {
        let urgency = Urgency.allCases.randomElement(using: &random) ?? .normal
        let isKeyed = Int.random(in: 0..<5, using: &random) == 0
        return Message(
            id: "\(step)", bot: "ops", thread: "main",
            author: Int.random(in: 0..<25, using: &random) == 0 ? .user : .bot, text: "text \(step)", at: now,
            urgency: urgency, replaceKey: isKeyed ? ["a", "b"].randomElement(using: &random) : nil)
    }

    /// Wakes the item at each moment it asks for, up to `moment`.
    private mutating func advance(to moment: Moment) {
        while let due = item.flushAt, due <= moment {
            if due < now { faults.append("asks for a moment that has passed") }
            now = max(now, due)
            check(item.wake(at: now, policy: policy)) { _ in }
        }
        now = moment
    }

    private mutating func check(_ actions: [ItemAction], _ change: (inout Model) -> Void) {
        change(&model)
        for action in actions {
            switch action {
            case .flush(let version): check(version)
            case .resolve: model.isVisible = false
            case .wakeAt(let moment):
                let longest = max(policy.wait, policy.interval)
                if moment > now + longest { faults.append("waits too long") }
            }
        }
    }

    private mutating func check(_ version: ItemSnapshot) {
        guard case .messages(let count, let last) = version.content else {
            return faults.append("no messages")
        }
        if count != model.unread.count { faults.append("count \(count), not \(model.unread.count)") }
        let ids = model.unread.suffix(3).map(\.message.id)
        if last.map(\.id) != ids { faults.append("shows \(last.map(\.id)), not \(ids)") }
        let urgency = model.unread.map(\.message.urgency).max()
        if urgency.map({ $0 > version.urgency }) ?? true { faults.append("urgency too low") }
        if let before = model.flushedAt, now - before < policy.interval { faults.append("two in a second") }
        if version.reason.rings {
            if let rang = model.rang, now - rang.at < policy.ringAgainAfter, version.urgency <= rang.urgency {
                faults.append("rang without a reason")
            }
            model.rang = (now, version.urgency)
        } else if model.rang == nil, version.urgency > .low {
            faults.append("did not ring for the first")
        }
        model.flushedAt = now
        model.isVisible = true
        for index in model.unread.indices { model.unread[index].isShown = true }
    }
}

@Suite struct `any stream of messages` {
    @Test(arguments: 1...300)
    func `ends in versions that count right, keep the pace and leave nothing out`(_ seed: Int) {
        var life = Life(seed: UInt64(seed))
        life.play(steps: 120)
        #expect(life.faults.isEmpty, "seed \(seed)")
    }
}
