import Curl
import Delivery
import Engine
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `what a person sees of a command that belfry exec ran` {
    let curl: CurlMulti
    let channels: [any Channel]

    init() throws {
        curl = try CurlMulti()
        channels = try makeDeskAndHook(curl)
    }

    /// Takes in runs that ended, one after the other; what is sent and shown.
    private func sent(
        _ ends: [(state: RunState, wish: NotifyWish?)], when: Set<RouteWord>
    ) async throws -> (hook: [String], desk: [RingReason?]) {
        var result: (hook: [String], desk: [RingReason?]) = ([], [])
        let routes = [Route(when: when, to: ["desk", "hook"])]
        try await Tower.run(channels: channels, routes: routes) { tower in
            for (number, end) in ends.enumerated() {
                tower.clock.advance(by: .seconds(600))
                let id = freshID()
                var run = RunRecord(
                    id: id, job: "make", bot: "belfry", kind: .exec, cause: RunCause.exec(id),
                    state: end.state,
                    queuedAt: tower.clock.now, revision: 0)
                run.endedAt = tower.clock.now
                run.spec = .manual("make")
                run.spec?.notify = end.wish
                #expect(try await tower.control.takeIn(run))
                #expect(try await tower.control.takeIn(run) == false, "once")
                try await tower.settled()
                let surface = try await tower.ledger.surfaces(channel: "desk", all: true).first
                let shown = try await tower.shown(.job("make"))
                result.desk.append(surface == nil ? nil : shown?.reason)
                #expect(try await tower.ledger.run(job: "make", ordinal: number + 1)?.id == id)
            }
            result.hook = try await tower.entries(of: "hook").map(\.type)
        }
        return result
    }

    @Test func `is nothing when nothing was asked`() async throws {
        let sent = try await sent([(.failed, .never), (.lost, .never)], when: [.failed, .lost, .completed])
        #expect(sent.hook.isEmpty && sent.desk == [nil, nil])
    }

    @Test func `is every end when all was asked, also where no route asks for it`() async throws {
        let sent = try await sent([(.completed, .always), (.canceled, .always)], when: [.failed])
        #expect(sent.hook == ["run.completed", "run.canceled"])
        #expect(sent.desk.first == .finished && sent.desk.last != .some(nil))
    }

    @Test func `is failures and recoveries alone when those were asked`() async throws {
        let sent = try await sent(
            [(.completed, .failure), (.failed, .failure), (.completed, .failure), (.completed, .failure)],
            when: [.failed, .completed, .recovered])
        #expect(sent.hook == ["run.failed", "run.recovered"])
        #expect(sent.desk.prefix(2) == [nil, .failed] && sent.desk[2] == .recovered)
    }

    @Test func `is what the routes name by default`() async throws {
        let sent = try await sent([(.completed, nil), (.failed, nil)], when: [.failed])
        #expect(sent.hook == ["run.failed"] && sent.desk == [nil, .failed])
    }

    @Test func `is decided by the routes again after one that was always to be sent`() async throws {
        let sent = try await sent([(.completed, .always), (.completed, nil)], when: [.failed])
        #expect(sent.hook == ["run.completed"])
    }
}
