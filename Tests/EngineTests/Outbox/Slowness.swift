import Delivery
import Engine
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

/// Issue 10, numbers 4, 11 and 21.
@Suite(.timeLimit(.minutes(5))) struct `a person and a slow notification server` {
    static let main = ItemKey.thread(bot: "ops", thread: "main")
    static let routes = [Route(when: [.message, .failed, .recovered], to: ["desk"])]
    /// Of a desktop whose server is to be found slow: short for the test, and long for a busy machine.
    static let patience = Duration.seconds(30)

    private func tower(
        at address: String, in folder: TemporaryFolder? = nil,
        keepers: Set<Tower.Keeper> = [.items, .surfaces], deadline: Duration = .seconds(60),
        _ body: (Tower) async throws -> Void
    ) async throws {
        let desk = makeDesk(at: address, deadline: deadline, clock: ManualClock(now: at("10:00:00")))
        try await Tower.run(
            in: try folder ?? TemporaryFolder(), keepers: keepers, channels: [desk], routes: Self.routes, body
        )
    }

    /// The same with a bus and a notification server of its own.
    private func tower(
        deadline: Duration = .seconds(60), _ body: (Tower, NotificationServer) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await tower(at: bus.address, deadline: deadline) { tower in try await body(tower, server) }
    }

    /// Says something, and waits until it is on the screen.
    private func showFirst(
        _ tower: Tower, _ server: NotificationServer
    ) async throws -> ServerCall {
        try await tower.say("one", urgency: .critical)
        let first = try #require(try await server.next())
        try await tower.until { try await surface(tower)?.shown == 1 }
        return first
    }

    private func surface(_ tower: Tower) async throws -> SurfaceRecord? {
        try await tower.ledger.surface(channel: "desk", item: "\(Self.main)")
    }

    @Test func `a dismissal of the earlier version does not hide the one that waits`() async throws {
        try await tower { tower, server in
            let first = try await showFirst(tower, server)
            // The answer to somebody else's notice takes its time; meanwhile the second is wanted.
            try await server.hold()
            try await tower.say("slow", thread: "other", urgency: .critical)
            #expect(try await server.next()?.body == "slow")
            tower.clock.advance(by: .seconds(1))
            try await tower.say("two", urgency: .critical)
            try await tower.until { try await surface(tower)?.wanted == 2 }
            try server.close(first.id, reason: 2)
            try server.release()
            let second = try #require(try await server.next())
            #expect(second.body.contains("two"))
            try await tower.until { try await surface(tower)?.shown == 2 }
            #expect(try await surface(tower)?.dismissed == false)
            #expect(try await tower.ledger.unread()["ops"] == 3)
        }
    }

    @Test func `a dismissal that crosses the next version does not count for that one`() async throws {
        try await tower { tower, server in
            let first = try await showFirst(tower, server)
            try await server.hold()
            tower.clock.advance(by: .seconds(1))
            try await tower.say("two", urgency: .critical)
            #expect(try await server.next()?.replacesID == first.id)
            try server.close(first.id, reason: 2)
            try server.release()
            try await tower.until { try await surface(tower)?.shown == 2 }
            tower.clock.advance(by: .seconds(1))
            try await tower.say("three", urgency: .critical)
            #expect(try await server.next()?.body.contains("one") == true)
            #expect(try await tower.ledger.unread()["ops"] == 3)
        }
    }

    @Test func `what was wanted when the daemon stopped is shown by the next, dismissed or not`() async throws
    {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let folder = try TemporaryFolder()
        try await tower(at: bus.address, in: folder) { tower in
            try await tower.say("one", urgency: .critical)
            _ = try await server.next()
            try await tower.until { try await surface(tower)?.shown == 1 }
        }
        // What the next daemon did before it was stopped: the second was wanted, then the first was put away.
        try await tower(at: bus.address, in: folder, keepers: [.items]) { tower in
            tower.clock.advance(by: .seconds(1))
            try await tower.say("two", urgency: .critical)
            try await tower.settled()
            try await tower.ledger.commit([
                .dismissSurface(channel: "desk", item: "\(Self.main)", true)
            ])
        }
        try await tower(at: bus.address, in: folder) { tower in
            #expect(try await server.next()?.body.contains("two") == true)
            try await tower.until { try await surface(tower)?.shown == 2 }
        }
    }

    @Test func `one call waits for its late answer, which counts, and the others come after it`() async throws
    {
        try await tower(deadline: Self.patience) { tower, server in
            try await tower.channel("desk", is: .working)
            try await server.hold()
            try await tower.say("one", urgency: .critical)
            let first = try #require(try await server.next())
            #expect(first.body == "one")
            try await tower.channel("desk", is: .away)
            try await tower.say("two", thread: "other", urgency: .critical)
            try await tower.settled()
            tower.clock.advance(by: .seconds(600))
            try server.release()
            // Nothing came in between: no copy of the first, and not the second either.
            #expect(try await server.next()?.body == "two")
            try await tower.until { try await tower.ledger.surfaces(channel: "desk", all: false).isEmpty }
            #expect(try await surface(tower)?.remote?.id == String(first.id))
            tower.clock.advance(by: .seconds(1))
            try await tower.say("three", urgency: .critical)
            #expect(try await server.next()?.replacesID == first.id)
        }
    }

    @Test func `a server that replaces one that hangs gets each notice once`() async throws {
        let bus = try await PrivateBus.start()
        let hung = try await NotificationServer.start(at: bus.address)
        try await tower(at: bus.address, deadline: Self.patience) { tower in
            try await tower.channel("desk", is: .working)
            try await hung.hold()
            try await tower.say("one", urgency: .critical)
            #expect(try await hung.next()?.body == "one")
            try await tower.channel("desk", is: .away)
            try await tower.say("two", thread: "other", urgency: .critical)
            try await tower.settled()
            await hung.process.end()
            let server = try await NotificationServer.start(at: bus.address, "--first-id", "70")
            let shown = [try #require(try await server.next()), try #require(try await server.next())]
            #expect(shown.map(\.id) == [70, 71] && Set(shown.map(\.body)) == ["one", "two"])
            try await tower.until { try await tower.ledger.surfaces(channel: "desk", all: false).isEmpty }
        }
    }

    @Test func `a late refusal is a refusal`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await server.refuse("org.example.Never")
        try await tower(at: bus.address, deadline: Self.patience) { tower in
            try await tower.channel("desk", is: .working)
            try await server.hold()
            try await tower.say("one", urgency: .critical)
            #expect(try await server.next()?.body == "one")
            try await tower.channel("desk", is: .away)
            try server.release()
            try await tower.until { try await tower.ledger.refusedSurfaces(channel: "desk").count == 1 }
            #expect(try await surface(tower)?.shown == 0)
        }
    }

    @Test func `a button is recorded as pressed, and is no dismissal`() async throws {
        try await tower { tower, server in
            let first = try await showFirst(tower, server)
            try server.press("stop", of: first.id)
            // Servers close what had a button pressed.
            try server.close(first.id, reason: 2)
            try await tower.until { try await surface(tower)?.remote == nil }
            #expect(try await surface(tower)?.dismissed == false)
            #expect(try await tower.ledger.unread() == ["ops": 1])
            let event = try #require(
                try await tower.ledger.events(after: 0, limit: .max).first { $0.event.type == .itemActed })
            #expect(event.event.fact == .itemActed(Fact.Action("\(Self.main)", on: "desk", key: "stop")))
            let kinds = try await tower.ledger.receipts(of: "desk/\(Self.main)").map(\.receipt.kind)
            #expect(kinds == [.accepted, .acted])
            tower.clock.advance(by: .seconds(1))
            try await tower.say("two", urgency: .critical)
            #expect(try await server.next()?.body.contains("one") == true)
        }
    }

    @Test func `a click on the notice opens it, which reads it`() async throws {
        try await tower { tower, server in
            let first = try await showFirst(tower, server)
            try server.press("default", of: first.id)
            try await tower.until { try await tower.ledger.unread().isEmpty }
        }
    }

    @Test func `a dismissal counts also while the server owes an answer`() async throws {
        try await tower(deadline: Self.patience) { tower, server in
            let first = try await showFirst(tower, server)
            try await server.hold()
            try await tower.say("slow", thread: "other", urgency: .critical)
            #expect(try await server.next()?.body == "slow")
            try await tower.channel("desk", is: .away)
            try server.close(first.id, reason: 2)
            try await tower.until { try await surface(tower)?.dismissed == true }
            #expect(try await surface(tower)?.remote == nil)
            try server.release()
            try await tower.until { try await tower.ledger.unread() == ["ops": 1] }
        }
    }

    @Test func `progress that was put away while a newer tick was on its way stays away`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let desk = makeDesk(at: bus.address, clock: ManualClock(now: at("10:00:00")))
        let routes = [Route(when: [.progress, .failed, .message], to: ["desk"])]
        try await Tower.run(keepers: [.items, .surfaces], channels: [desk], routes: routes) { tower in
            let run = try await tower.begin("job")
            let task = LiveTask(id: run.id, botID: "ops", run: run.name, name: "job", botName: "ops")
            await tower.board.enter(task, attempt: 1, state: .running, saved: nil, at: tower.clock.now)
            func tick(_ part: Double) async throws {
                _ = await tower.board.receive(
                    ProgressReport(fraction: part), of: run.id, at: tower.clock.now)
                tower.clock.advance(by: .seconds(5))
            }
            func job() async throws -> SurfaceRecord? {
                try await tower.ledger.surface(channel: "desk", item: "\(ItemKey.job("job"))")
            }
            // The first report is the start, which no route names.
            try await tick(0.1)
            try await tower.until { try await tower.shown(.job("job"))?.revision == 1 }
            try await tick(0.2)
            let first = try #require(try await server.next())
            try await tower.until { try await job()?.shown == 2 }
            try await server.hold()
            try await tower.say("slow", thread: "other", urgency: .critical)
            #expect(try await server.next()?.body == "slow")
            try await tick(0.3)
            try await tower.until { try await job()?.wanted == 3 }
            try server.close(first.id, reason: 2)
            try server.release()
            try await tower.until { try await job().map { $0.wanted > 3 && $0.shown == $0.wanted } ?? false }
            #expect(try await job()?.remote == nil)
            // What rings is shown all the same, and is the first that is shown again.
            tower.clock.advance(by: .seconds(5))
            try await tower.end(run, .failed, exitCode: 1)
            #expect(try await server.next()?.replacesID == 0)
        }
    }
}
