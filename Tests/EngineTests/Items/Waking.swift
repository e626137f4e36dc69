import Grouping
import TestSupport
import Testing
import Timeline

@testable import Engine

@Suite struct `the items that are awake` {
    private static let start = at("10:00:00")

    private static func key(_ name: Int) -> ItemKey { .thread(bot: "ops", thread: "\(name)") }

    /// One that waits until so many seconds after the start; nil: it waits for nothing.
    private static func item(_ name: Int, until seconds: Int?) -> KeptItem {
        var item = KeptItem(key(name), bot: "ops")
        guard let seconds else { return item }
        let message = Message(id: "m", bot: "ops", thread: "\(name)", text: "x", at: start)
        _ = item.receive(message, at: start, policy: ThreadPolicy(wait: .seconds(seconds)))
        return item
    }

    private static func seconds(_ moment: Moment?) -> Int? {
        moment.map { Int(($0 - start).milliseconds / 1000) }
    }

    @Test func `are woken in the order of their moments, those of one moment all of them`() {
        var awake = AwakeItems()
        for (name, until) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
            awake.set(Self.item(name, until: until), for: Self.key(name))
        }
        #expect(awake.nextFlush == Self.start + .seconds(10))
        #expect(awake.due(at: Self.start + .seconds(9), limit: 9).isEmpty)
        let first = awake.due(at: Self.start + .seconds(10), limit: 9)
        #expect(Set(first) == [Self.key(2), Self.key(4)] && first.count == 2)
        #expect(awake.due(at: Self.start + .seconds(99), limit: 3).last == Self.key(3))
    }

    @Test func `that waits for another moment is woken then, and one that left is not`() {
        var awake = AwakeItems()
        for (name, until) in [(1, 10), (2, 20), (3, 30)] {
            awake.set(Self.item(name, until: until), for: Self.key(name))
        }
        awake.set(Self.item(1, until: 40), for: Self.key(1))
        awake.set(nil, for: Self.key(2))
        #expect(awake.nextFlush == Self.start + .seconds(30))
        #expect(awake.due(at: Self.start + .seconds(99), limit: 9) == [Self.key(3), Self.key(1)])
        // Back to an earlier moment, for which there is a stale place already.
        awake.set(Self.item(1, until: 10), for: Self.key(1))
        #expect(awake.due(at: Self.start + .seconds(10), limit: 9) == [Self.key(1)])
        #expect(awake[Self.key(2)] == nil)
    }

    @Test func `that shows a run at work is known, and woken by nothing`() {
        var awake = AwakeItems()
        awake.set(Self.item(1, until: nil), for: Self.key(1))
        #expect(awake[Self.key(1)] != nil && awake.nextFlush == nil)
        #expect(awake.due(at: Self.start + .seconds(99), limit: 9).isEmpty)
    }

    /// A dictionary that is sorted whenever somebody asks.
    @Test func `are those of a plain model, whatever happens`() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var awake = AwakeItems()
        var model: [Int: Int] = [:]
        for step in 0..<20_000 {
            let name = Int.random(in: 0..<200, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...5:
                let until = Int.random(in: 1..<500, using: &random)
                awake.set(Self.item(name, until: until), for: Self.key(name))
                model[name] = until
            case 6:
                awake.set(Self.item(name, until: nil), for: Self.key(name))
                model[name] = nil
            case 7:
                awake.set(nil, for: Self.key(name))
                model[name] = nil
            default:
                let now = Int.random(in: 0..<500, using: &random)
                let limit = Int.random(in: 1...20, using: &random)
                let due = awake.due(at: Self.start + .seconds(now), limit: limit)
                let expected = model.values.filter { $0 <= now }.sorted().prefix(limit)
                let moments = due.compactMap { Self.seconds(awake[$0]?.flushAt) }
                #expect(moments == Array(expected), "seed \(seed), step \(step)")
                #expect(Set(due).count == due.count, "seed \(seed), step \(step)")
            }
            #expect(Self.seconds(awake.nextFlush) == model.values.min(), "seed \(seed), step \(step)")
        }
    }
}
