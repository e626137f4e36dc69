import Delivery
import Grouping
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

/// Lets an item live through anything that may happen to it.
private struct Life {
    var random: SeededGenerator
    var now = at("10:00:00")

    /// Two channels that hear different things, and two that show work after a while and its end in silence.
    private static let policies = [
        ChannelInterests(
            Routing(routes: [
                Route(when: [.failed, .message, .progress], to: ["desk"]),
                Route(when: [.failed, .completed], to: ["phone"]),
            ]), levels: ["desk", "phone"]),
        ChannelInterests(.standard(to: ["desk", "phone"]), levels: ["desk", "phone"]).following(.completed),
    ]

    private lazy var policies = Self.policies[random.below(Self.policies.count)]

    init(seed: Int) { random = SeededGenerator(seed: UInt64(seed)) }

    private mutating func maybe<Value>(_ make: (inout Life) -> Value) -> Value? {
        random.below(2) == 0 ? nil : make(&self)
    }

    private mutating func text() -> String {
        var text = ""
        for _ in 0..<random.below(12) {
            let top: UInt32 = [0x80, 0x100, 0x10FFFF][random.below(3)]
            if let scalar = Unicode.Scalar(UInt32.random(in: 0...top, using: &random)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private mutating func one<Value>(of values: [Value]) -> Value { values[random.below(values.count)] }

    private mutating func message() -> Message {
        let appearance = Appearance(
            icon: maybe { $0.text() }, soundName: maybe { $0.text() }, category: maybe { $0.text() },
            expireAfter: maybe { .milliseconds(Int.random(in: 0...Int(Int32.max), using: &$0.random)) },
            links: maybe { numbers in
                (0..<numbers.random.below(3)).map { _ in PageLink(label: numbers.text(), url: numbers.text())
                }
            })
        return Message(
            id: text(), bot: "ops", thread: text(), author: random.below(4) == 0 ? .user : .bot, text: text(),
            at: now, urgency: one(of: Urgency.allCases), title: maybe { $0.text() },
            appearance: random.below(2) == 0 ? Appearance() : appearance, replaceKey: maybe { $0.text() },
            run: maybe { $0.text() })
    }

    private mutating func fact() -> JobFact {
        var fact = JobFact(
            run: maybe { $0.random.below(20) }, state: one(of: RunState.allCases),
            reason: maybe { $0.one(of: RunReason.allCases) }, exitCode: maybe { $0.random.below(256) },
            signal: maybe { $0.random.below(32) }, progress: maybe { Double($0.random.below(1000)) / 999 },
            phase: maybe { $0.text() }, text: maybe { $0.text() }, slots: random.below(3), at: now)
        fact.outlook = maybe { $0.text() }
        fact.lasted = maybe { .microseconds($0.random.below(1 << 40)) }
        fact.took = maybe { .seconds($0.random.below(1 << 30)) }
        fact.limit = maybe { _ in .seconds(60) }
        fact.next = maybe { NextTry(at: $0.now, offsetSeconds: 3600 - $0.random.below(7200)) }
        fact.urgency = maybe { $0.one(of: Urgency.allCases) }
        return fact
    }

    private mutating func step(_ item: inout KeptItem) -> [KeptItem.Decision] {
        now = now + .milliseconds(random.below(3000))
        switch random.below(6) {
        case 0: return item.seen(revision: maybe { $0.random.below(5) }, on: nil, at: now)
        case 1: return item.wake(at: now, policy: ThreadPolicy())
        case 2: return item.wake(at: now, policies: policies)
        default:
            if case .thread = item.key {
                return item.receive(message(), at: now, policy: ThreadPolicy(wait: .seconds(random.below(2))))
            }
            let sent = random.below(2) == 0 ? ["hook"] : []
            return item.receive(fact(), at: now, policies: policies, sentTo: sent)
        }
    }

    /// One step, with what a turn does then.
    mutating func live(_ item: inout KeptItem) {
        item.event = maybe { Int64($0.random.below(1 << 40)) } ?? item.event
        item.only = maybe { [$0.text(), "desk"] }
        item.labels = random.below(2) == 0 ? [:] : [text(): text(), "team": "db"]
        item.alertAfter = maybe { $0.random.below(5) }
        item.isListed = random.below(2) == 0
        item.acknowledgement = maybe { Acknowledgement(by: $0.text(), at: $0.now, until: $0.now) }
        if random.below(4) == 0 { item.wait([text(): now], at: now) }
        for decision in step(&item) {
            switch decision.action {
            case .flush(let snapshot):
                item.keep(snapshot, on: decision.channel)
                let channel = decision.channel ?? one(of: ["desk", "phone"])
                _ = item.nextJudged(on: decision.channel)
                if random.below(2) == 0 {
                    item.hold(snapshot, until: now, by: one(of: DispatchReason.allCases), on: channel)
                } else {
                    _ = item.show(snapshot, on: channel)
                }
            case .resolve: item.keep(nil, on: decision.channel)
            case .wakeAt: continue
            }
        }
    }
}

/// Which parts of values were set, so that none is forgotten.
private struct Parts {
    private var all: Set<String> = []
    private var set: Set<String> = []

    var neverSet: [String] { all.subtracting(set).sorted() }

    mutating func look(at value: Any) {
        let mirror = Mirror(reflecting: value)
        for (label, part) in mirror.children {
            let name = "\(type(of: value)).\(label ?? "")"
            if mirror.displayStyle == .struct { all.insert(name) }
            let inner = Mirror(reflecting: part)
            if inner.displayStyle == .optional, inner.children.isEmpty { continue }
            set.insert(name)
            look(at: part)
        }
    }
}

@Suite struct `the row of an item` {
    @Test func `has the bytes that its Codable conformance writes`() throws {
        var parts = Parts()
        for seed in 1...60 {
            for key in [ItemKey.thread(bot: "ops", thread: "deploys"), .job("backup")] {
                var life = Life(seed: seed)
                var item = KeptItem(key, bot: "ops")
                for step in 0..<15 {
                    life.live(&item)
                    let state = try state(of: item)
                    let coded = try JSON.encode(item.content)
                    try #require(state == coded, "seed \(seed)")
                    parts.look(at: item.content)
                    guard step % 5 == 0 else { continue }
                    let record = ItemRecord(
                        key: key, revision: 1, state: state, flushAt: item.flushAt, updatedAt: life.now)
                    let reread = KeptItem(record, bot: "ops")
                    #expect(reread.decider == item.decider && reread.views == item.views, "seed \(seed)")
                    #expect(reread.content.shown == item.shown && reread.held == item.held, "seed \(seed)")
                    #expect(
                        reread.waiting == item.waiting && reread.informed == item.informed, "seed \(seed)")
                    parts.look(at: item.content)
                }
            }
        }
        // One that was added is also to be written.
        #expect(parts.neverSet == [])
    }

    @Test func `of a storm or of a question is written by Codable`() throws {
        for key in [ItemKey.storm(3), .question("q1")] {
            let item = KeptItem(key, bot: "ops")
            #expect(try state(of: item) == JSON.encode(item.content))
        }
    }

    private func state(of item: KeptItem) throws -> [UInt8] {
        guard case .putItem(let record, _) = try item.change(at: at("10:00:00")) else { return [] }
        return record.state
    }
}
