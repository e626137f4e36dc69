import API
import APIClient
import Engine
import Host
import Synchronization
import TestSupport
import Testing
import Timeline

@testable import APIServer

@Suite struct `an event stream` {
    static let events = [
        ServerSentEvent(id: "7", name: "run.failed", data: #"{"seq":7}"#),
        ServerSentEvent(name: "live", data: "one\ntwo\n"),
        ServerSentEvent(data: ""),
        ServerSentEvent(id: "9", data: " leads with a blank"),
    ]

    @Test(arguments: [1, 2, 3, 7, 1000])
    func `is read however its bytes are cut`(size: Int) throws {
        let bytes = Self.events.flatMap(\.bytes) + ServerSentEvent.heartbeat
        var parser = ServerSentEventParser()
        var read: [ServerSentEvent] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            read += try parser.receive(bytes[start..<min(start + size, bytes.count)])
        }
        #expect(read == Self.events)
        #expect(parser.lastEventID == "9")
    }

    @Test func `ends lines with any of the three line ends`() throws {
        var parser = ServerSentEventParser()
        let read = try parser.receive("data: a\r\ndata: b\rdata:c\n\r\n\n".utf8)
        #expect(read == [ServerSentEvent(data: "a\nb\nc")])
    }

    @Test func `skips comments, fields it does not know, and events without data`() throws {
        var parser = ServerSentEventParser()
        let read = try parser.receive(": hi\nretry: 5\nfuture: x\nid: 4\n\nevent: x\n\n".utf8)
        #expect(read.isEmpty)
        #expect(parser.lastEventID == "4")
    }

    @Test func `can't be split by what an event holds`() throws {
        let event = ServerSentEvent(id: "1\n\ndata: x", name: "a\rb", data: "x\r\n\ny")
        var parser = ServerSentEventParser()
        let read = try parser.receive(event.bytes)
        #expect(read == [ServerSentEvent(id: "1data: x", name: "ab", data: "x\n\ny")])
    }

    @Test func `refuses an event without an end`() throws {
        var parser = ServerSentEventParser()
        let part = [UInt8](repeating: UInt8(ascii: "x"), count: 1024 * 1024)
        #expect(throws: APIError.self) {
            for _ in 0..<5 { _ = try parser.receive(part) }
        }
    }

    @Test func `survives random bytes`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var parser = ServerSentEventParser()
            for _ in 0..<10 {
                for event in try parser.receive(random.bytes(100)) {
                    #expect(event.data.utf8.count <= 4000)
                }
            }
        }
    }
}

/// Sends events 1 to 5, two a connection, from where the reader left off; then heartbeats and the end.
private final class Teller: APIHandler {
    let router = EndpointRouter(Endpoints.all)
    let resumes = Mutex<[String?]>([])

    func respond(to request: APIRequest) async -> APIResponse {
        guard request.row.name == "events" else { return .failure(APIError(.noSuchPath)) }
        resumes.withLock { $0.append(request.lastEventID) }
        let after = Int(request.lastEventID ?? request.query["since"] ?? "") ?? 0
        return .stream(contentType: "text/event-stream") { writer in
            try await writer.write(ServerSentEvent.heartbeat)
            try await writer.write(ServerSentEvent(name: "live", data: "now").bytes)
            for seq in (after + 1)..<(after + 3) where seq <= 5 {
                try await writer.write(ServerSentEvent(id: String(seq), name: "test", data: "\(seq)").bytes)
            }
        }
    }
}

@Suite struct `a feed of events` {
    @Test func `continues after a break where it was left`() async throws {
        let teller = Teller()
        let seen = try await whileServing(teller) { client in
            try await blocking {
                var query = EventsQuery()
                query.since = 0
                let feed = try EventFeed(of: client, query: query)
                var seen: [String] = []
                var breaks = 0
                while seen.count < 5 {
                    switch try feed.next(timeout: .seconds(60)) {
                    case .event(let event) where event.id != nil: seen.append(event.data)
                    case .event, .nothing: break
                    case .broken: breaks += 1
                    }
                }
                #expect(breaks == 2)
                return seen
            }
        }
        #expect(seen == ["1", "2", "3", "4", "5"])
        #expect(teller.resumes.withLock { $0 } == [nil, "2", "4"])
    }

    @Test func `reports that the daemon has stopped, and finds the next one`() async throws {
        let folder = try TemporaryFolder()
        let missing = DaemonClient(socket: folder.file("none.sock"))
        #expect(throws: APIError.self) { try EventFeed(of: missing, query: EventsQuery()) }
        let feed = try await whileServing(Teller()) { client in
            try await blocking {
                let feed = try EventFeed(of: client, query: EventsQuery())
                var last = ""
                while last != "2" {
                    if case .event(let event) = try feed.next(timeout: .seconds(60)) { last = event.data }
                }
                return Held(feed)
            }
        }
        // The daemon has stopped; its socket no longer exists, and the feed keeps looking without an error.
        try await blocking {
            var arrivals: [EventFeed.Arrival] = []
            for _ in 0..<3 { arrivals.append(try feed.value.next(timeout: .seconds(60))) }
            #expect(arrivals.allSatisfy { $0 == .broken })
        }
        #expect(feed.value.position == "2")
    }
}

@Suite(.timeLimit(.minutes(5))) struct `whoever waits for more output` {
    @Test func `looks again after the pause, also when the clock was set back`() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock(now: Moment(seconds: 1_800_000_000))
        let notices = WriteNotices()
        async let occasion = wait(for: OutputLog(path: folder.file("job/log")), notices, clock)
        let until = await clock.nextSleeper()
        let pause = until - clock.now
        clock.set(to: clock.now - .seconds(3600))
        #expect(await clock.nextSleeper() == clock.now + pause)
        clock.advance(by: pause)
        #expect(try await occasion == .unknown)
    }

    private func wait(
        for log: OutputLog, _ notices: WriteNotices, _ clock: ManualClock
    ) async throws -> OutputGrowth.Occasion {
        try await OutputGrowth(of: log, notices, clock: clock).wait()
    }
}
