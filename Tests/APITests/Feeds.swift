import API
import APIClient
import APIServer
import Synchronization
import TestSupport
import Testing

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
