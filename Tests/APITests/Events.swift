import API
import APIClient
import Delivery
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite struct `events over the socket` {
    /// The numbers of the events from a position on, up to the one numbered `last`.
    private static func read(_ client: DaemonClient, since: Int64, through last: Int64) throws -> [WireEvent]
    {
        var query = EventsQuery()
        query.since = since
        let feed = try EventFeed(of: client, query: query)
        var events: [WireEvent] = []
        while events.last?.seq != last {
            guard case .event(let event) = try feed.next(timeout: .seconds(60)) else { continue }
            let value = try WireCoding.decode(WireEvent.self, from: event.data.utf8)
            #expect(event.id == "\(value.seq)" && event.name == value.type)
            events.append(value)
        }
        return events
    }

    @Test func `are all there, from any position, and continue as they happen`() async throws {
        try await House.whileStanding { house in
            for text in ["one", "two", "three"] {
                #expect(try await house.belfry("notify", text, "--bot", "ops").status == 0)
            }
            let last = try await house.ledger.lastEvent()
            try await blocking {
                let all = try Self.read(house.client, since: 0, through: last)
                #expect(all.map(\.seq) == all.map(\.seq).sorted() && Set(all.map(\.seq)).count == all.count)
                #expect(all.filter { $0.type == "message.posted" }.count == 3)
                let rest = try Self.read(house.client, since: 1, through: last)
                #expect(rest.map(\.seq) == all.map(\.seq).filter { $0 > 1 })
                // A feed without a position gets new events, and no earlier ones.
                let feed = try EventFeed(of: house.client, query: EventsQuery())
                _ = try feed.next(timeout: .seconds(60))
                let message = try house.client.ask(Endpoints.notify(body: NotifyRequest(text: "four")))
                var subject: String?
                while subject == nil {
                    guard case .event(let event) = try feed.next(timeout: .seconds(60)) else { continue }
                    let value = try WireCoding.decode(WireEvent.self, from: event.data.utf8)
                    #expect(value.seq > last)
                    if value.type == "message.posted" { subject = value.subject }
                }
                #expect(subject == message.id)
            }
        }
    }

    @Test func `hold what their type defines in their data`() async throws {
        try await House.whileStanding { house in
            let run = Fact.Run(job: "backup", id: "r1", bot: "ops")
            let end = Fact.End(run, reason: .exitCode, message: "no such host")
            let span = Fact.Slots.Span(first: Moment(seconds: 60), last: Moment(seconds: 120), count: 2)
            let slots = Fact.Slots(job: "backup", bot: "ops", reason: .paused, span)
            let facts: [Fact] = [.runStarted(run), .runFailed(end), .slotsSkipped(slots)]
            let since = try await house.ledger.lastEvent()
            let last = try await house.ledger.commit(
                facts.map { .append(NewEvent($0, at: Moment(seconds: 200))) }
            ).lastEvent
            try await blocking {
                let events = try Self.read(house.client, since: since, through: last)
                    .filter { $0.job == "backup" }
                #expect(events.map(\.type) == ["run.started", "run.failed", "run.skipped"])
                #expect(events.map(\.run) == ["r1", "r1", nil])
                #expect(
                    events.map(\.data) == [
                        nil, .object(["message": .string("no such host")]),
                        .object([
                            "slot": .string("1970-01-01T00:01:00Z"),
                            "lastSlot": .string("1970-01-01T00:02:00Z"), "count": .int(2),
                        ]),
                    ])
            }
        }
    }

    @Test func `let live states through, which rise and end`() async throws {
        try await House.whileStanding { house in
            // It goes on once it was seen: which of many steps are seen depends on the load, they are conflated.
            let go = house.folder.file("go")
            _ = try await house.belfry(
                "job", "add", "steps", "--shell",
                "echo '{\"progress\":0.1}' >&$PROGRESS_FD; until [ -e \(go) ]; do sleep 0.05; done; "
                    + "echo '{\"progress\":0.9}' >&$PROGRESS_FD")
            let script = """
                "$1" run steps --follow --json | while read -r line; do
                    printf '%s\\n' "$line"; case $line in *'"progress":0.1'*) : >"$2" ;; esac
                done
                """
            let program = try BuiltProgram.path("belfry")
            let followed = try await house.run("/bin/sh", ["-c", script, "sh", program, go])
            #expect(followed.status == 0, "\(followed.errors)")
            let states = try followed.output.split(separator: "\n").map {
                try WireCoding.decode(WireLive.self, from: $0.utf8)
            }
            let progress = states.compactMap(\.progress)
            #expect(progress == progress.sorted())
            #expect(Set(progress).count > 1)
            #expect(states.last?.state == .completed)
        }
    }

    @Test func `refuse a position that is none`() async throws {
        try await House.whileStanding { house in
            try await blocking {
                let error = #expect(throws: APIError.self) {
                    try house.client.open(Endpoints.events(), fields: [("last-event-id", "x")])
                }
                #expect(error?.code == .badValue)
            }
        }
    }
}
