import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite struct `the runs that wait` {
    private func run(
        _ id: String, of job: String? = nil, bot: String = "belfry", isForced: Bool = false,
        _ change: (inout JobSpec) -> Void = { $0.overlap = .allow }
    ) -> Waiting {
        let spec = JobSpec.manual(job ?? id).with(change)
        var run = RunRecord(
            id: id, job: spec.name, bot: bot, kind: .manual, cause: "key:\(id)", queuedAt: at("10:00:00"),
            revision: 1)
        run.isForced = isForced
        return Waiting(run, spec)
    }

    /// The order in which the runs of a lineup come, each done before the next one's turn.
    private func turns(_ lineup: Lineup) -> [String] {
        var (lineup, order) = (lineup, [String]())
        while let next = lineup.next(through: Gates()) { order.append(next.id) }
        return order
    }

    private func lineup(_ runs: [Waiting]) -> Lineup {
        runs.reduce(into: Lineup()) { $0.join($1) }
    }

    @Test func `of one job come as they were queued`() {
        let runs = (1...3).map { run("r\($0)", of: "job") }
        #expect(turns(lineup(runs)) == ["r1", "r2", "r3"])
    }

    @Test func `of a bot with many jobs hold up no other bot, and a job with many runs no other job`() {
        let runs =
            (1...4).map { run("big\($0)", of: "big", bot: "ops") }
            + [run("small", bot: "ops"), run("one", bot: "web"), run("two", of: "one", bot: "web")]
        #expect(turns(lineup(runs)) == ["big1", "one", "small", "two", "big2", "big3", "big4"])
    }

    @Test func `come by priority before anything else`() {
        func priority(_ number: Int) -> (inout JobSpec) -> Void {
            { spec in
                spec.overlap = .allow
                spec.priority = number
            }
        }
        let runs = [
            run("low", bot: "a", priority(-5)), run("usual", bot: "a"), run("high", bot: "a", priority(7)),
            run("high2", bot: "b", priority(7)), run("low2", bot: "b", priority(-5)),
        ]
        #expect(turns(lineup(runs)) == ["high", "high2", "usual", "low", "low2"])
    }

    @Test func `of a job that must not overlap itself wait for each other, unless forced`() {
        let skip: (inout JobSpec) -> Void = { $0.overlap = .queueAll }
        var lineup = lineup([
            run("r1", of: "job", skip), run("r2", of: "job", skip), run("other", of: "other", skip),
            run("now", of: "job", isForced: true, skip),
        ])
        var gates = Gates()
        func next() -> String? {
            guard let next = lineup.next(through: gates) else { return nil }
            for place in next.places { gates.enter(place, next.id) }
            return next.id
        }
        #expect([next(), next(), next(), next()] == ["r1", "other", "now", nil])
        // The forced one is one of the job, too: the second waits for both.
        gates.leave(.job("job"), "r1")
        lineup.opened(.job("job"))
        #expect(next() == nil)
        gates.leave(.job("job"), "now")
        lineup.opened(.job("job"))
        #expect(next() == "r2")
    }

    @Test func `of one key are never more than it allows, and go in turn`() {
        let key: (inout JobSpec) -> Void = { $0.concurrency = ConcurrencyKey(key: "disk", max: 2) }
        let runs = (1...3).flatMap { job in (1...2).map { run("j\(job)-\($0)", of: "j\(job)", key) } }
        var lineup = lineup(runs)
        var gates = Gates()
        var order: [String] = []
        var inside: [Waiting] = []
        repeat {
            while let next = lineup.next(through: gates) {
                for place in next.places { gates.enter(place, next.id) }
                order.append(next.id)
                inside.append(next)
            }
            #expect(inside.count <= 2 && Set(inside.map(\.job)).count == inside.count)
            let done = inside.removeFirst()
            for place in done.places {
                gates.leave(place, done.id)
                lineup.opened(place)
            }
        } while !inside.isEmpty || lineup.count > 0
        #expect(order == ["j1-1", "j2-1", "j3-1", "j1-2", "j2-2", "j3-2"])
    }

    @Test func `step aside without holding up who comes behind`() {
        let key: (inout JobSpec) -> Void = { $0.concurrency = ConcurrencyKey(key: "disk") }
        var gates = Gates()
        gates.enter(.key("disk"), "somebody")
        var lineup = lineup([run("r1", key), run("r2", key), run("free")])
        #expect(lineup.next(through: gates)?.id == "free")
        #expect(lineup.next(through: gates) == nil && lineup.count == 2)
        // Who comes first again, because it was started before, is looked at at once.
        gates.leave(.key("disk"), "somebody")
        lineup.join(run("again", of: "r2", key), first: true)
        #expect(lineup.next(through: gates)?.id == "r1")
        #expect(lineup.next(through: gates)?.id == "again")
        #expect(lineup.next(through: gates)?.id == "r2")
    }

    @Test func `and leave are passed over`() {
        var lineup = lineup((1...3).map { run("r\($0)", of: "job") })
        #expect(lineup.leave("r2")?.id == "r2" && lineup.leave("r2") == nil && lineup["r2"] == nil)
        lineup.join(run("r4", of: "job"))
        #expect(turns(lineup) == ["r1", "r3", "r4"])
    }

    @Test(arguments: 0..<200)
    func `are all served, whatever comes and goes`(seed: Int) {
        var numbers = SeededGenerator(seed: UInt64(seed))
        var (lineup, gates) = (Lineup(), Gates())
        var (waiting, inside, served): (Set<String>, [Waiting], Set<String>) = ([], [], [])
        var gone: Set<String> = []
        func leave(_ run: Waiting) {
            for place in run.places {
                gates.leave(place, run.id)
                lineup.opened(place)
            }
        }
        for step in 0..<300 {
            switch numbers.below(4) {
            case 0, 1:
                let joined = run(
                    "r\(step)", of: "j\(numbers.below(5))", bot: "b\(numbers.below(3))",
                    isForced: numbers.below(6) == 0
                ) { spec in
                    spec.overlap = numbers.below(2) == 0 ? .allow : .queueAll
                    spec.priority = numbers.below(3)
                    if numbers.below(2) == 0 {
                        spec.concurrency = ConcurrencyKey(
                            key: "k\(numbers.below(2))", max: 1 + numbers.below(2))
                    }
                }
                lineup.join(joined, first: numbers.below(5) == 0)
                waiting.insert(joined.id)
            case 2:
                if inside.count < 4, let next = lineup.next(through: gates) {
                    #expect(next.gates.allSatisfy { gates.isOpen($0, for: next.id) })
                    for place in next.places { gates.enter(place, next.id) }
                    #expect(waiting.contains(next.id) && served.insert(next.id).inserted)
                    inside.append(next)
                } else if !inside.isEmpty {
                    leave(inside.remove(at: numbers.below(inside.count)))
                }
            default:
                let some = waiting.subtracting(served).sorted()
                guard !some.isEmpty, numbers.below(3) == 0 else { continue }
                let id = some[numbers.below(some.count)]
                #expect((lineup.leave(id) != nil) == !gone.contains(id))
                gone.insert(id)
            }
        }
        while true {
            if let next = lineup.next(through: gates) {
                for place in next.places { gates.enter(place, next.id) }
                #expect(served.insert(next.id).inserted)
                inside.append(next)
            } else if let first = inside.first {
                inside.removeFirst()
                leave(first)
            } else {
                break
            }
        }
        #expect(served == waiting.subtracting(gone) && lineup.count == 0, "seed \(seed)")
    }
}
