import API
import APIClient
import APIServer
import Dispatch
import Host
import TestSupport
import Testing

/// Answers status at once, and items by a stream that never ends.
private struct Door: APIHandler {
    let router = EndpointRouter(Endpoints.all)
    /// Never yields, and ends with the task that waits for it.
    private let never = AsyncStream.makeStream(of: Never.self)

    func respond(to request: APIRequest) async -> APIResponse {
        switch request.row.name {
        case "status": .value(Samples.status)
        case "items":
            .stream(contentType: "text/plain") { writer in
                try await writer.write(Array("open".utf8))
                for await _ in never.stream {}
            }
        default: .failure(APIError(.notInThisVersion))
        }
    }
}

/// Answers items late by a stream, and signals when one ended that nobody reads.
private struct LateDoor: APIHandler {
    let router = EndpointRouter(Endpoints.all)
    let left: AsyncStream<Never>
    let begun = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)

    func respond(to request: APIRequest) async -> APIResponse {
        begun.signal()
        for await _ in left {}
        return .stream(contentType: "text/plain") { [ended] writer in
            for await _ in writer.closed {}
            ended.signal()
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a control socket that many connect to` {
    @Test func `closes what sends no whole head, and then serves others`() async throws {
        var waits = ConnectionPatience()
        waits.head = .milliseconds(300)
        try await whileServing(Door(), waits: waits) { client in
            try await blocking {
                // More than the limit, half of them in the middle of a head.
                let idle = try (0..<300).map { number in
                    let socket = try UnixSocket(path: client.socket)
                    if number % 2 == 0 { try? socket.write(Array("GET /v1/status HTTP/1.1\r\nhost:".utf8)) }
                    return socket
                }
                for socket in idle { _ = try isRefused(socket) }
                // A busy machine may need more than those 300 ms even for a whole head.
                while (try? client.ask(Endpoints.status())) != Samples.status {}
            }
        }
    }

    @Test func `refuses at once what is beyond its limit, with a sentence`() async throws {
        var limits = ConnectionLimits()
        limits.requests = 4
        var waits = ConnectionPatience()
        waits.head = .seconds(120)
        try await whileServing(Door(), limits: limits, waits: waits) { client in
            try await blocking {
                var idle = try (0..<4).map { _ in try UnixSocket(path: client.socket) }
                let error = #expect(throws: APIError.self) { try client.ask(Endpoints.status()) }
                #expect(error?.code == .tooBusy)
                #expect(
                    error?.sentence == """
                        the daemon has too many connections. Try again in a moment, or end programs that hold \
                        connections to it.
                        """)
                idle.removeAll()
                while (try? client.ask(Endpoints.status())) == nil {}
            }
        }
    }

    @Test func `serves 1,000 streams, and requests beside them`() async throws {
        try DescriptorLimit.raise(to: 4096)
        var limits = ConnectionLimits()
        limits.requests = 8
        try await whileServing(Door(), limits: limits) { client in
            try await blocking {
                let streams = try (0..<1000).map { _ in
                    let stream = try client.open(Endpoints.items())
                    #expect(try stream.next(timeout: .seconds(30)) == .bytes(Array("open".utf8)))
                    return stream
                }
                let status = try client.ask(Endpoints.status())
                #expect(status == Samples.status)
                withExtendedLifetime(streams) {}
            }
        }
    }

    @Test func `refuses streams beyond their limit, and answers requests`() async throws {
        var limits = ConnectionLimits()
        limits.streams = 2
        try await whileServing(Door(), limits: limits) { client in
            try await blocking {
                let streams = try (0..<2).map { _ in try client.open(Endpoints.items()) }
                let error = #expect(throws: APIError.self) { try client.open(Endpoints.items()) }
                #expect(error?.code == .tooBusy)
                let status = try client.ask(Endpoints.status())
                #expect(status == Samples.status)
                withExtendedLifetime(streams) {}
            }
        }
    }

    @Test func `ends a stream whose reader left before its first byte, or finds no place`() async throws {
        var limits = ConnectionLimits()
        limits.streams = 1
        let (leaves, left) = AsyncStream.makeStream(of: Never.self)
        let door = LateDoor(left: leaves)
        try await whileServing(door, limits: limits) { client in
            try await blocking {
                let leaving = try UnixSocket(path: client.socket)
                try leaving.write(Array("GET /v1/items HTTP/1.1\r\nhost: x\r\n\r\n".utf8))
                door.begun.wait()
            }
            // It has left while its answer was made.
            left.finish()
            try await blocking {
                door.ended.wait()
                // Who stays has the only place: the next one finds none.
                let staying = try client.open(Endpoints.items())
                #expect(throws: APIError.self) { try client.open(Endpoints.items()) }
                door.ended.wait()
                withExtendedLifetime(staying) {}
            }
        }
    }

    @Test func `serves a stream in the place of one whose client has left`() async throws {
        var limits = ConnectionLimits()
        limits.streams = 1
        try await whileServing(Door(), limits: limits) { client in
            try await blocking {
                _ = try client.open(Endpoints.items())
                while (try? client.open(Endpoints.items())) == nil {}
            }
        }
    }

    @Test func `closes a request whose body does not arrive`() async throws {
        var waits = ConnectionPatience()
        waits.body = .milliseconds(100)
        try await whileServing(Door(), waits: waits) { client in
            try await blocking {
                let socket = try UnixSocket(path: client.socket)
                try socket.write(
                    Array("POST /v1/jobs HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{".utf8))
                #expect(try !isRefused(socket))
            }
        }
    }

    /// Reads to the end of the connection; whether a refusal came before it.
    private func isRefused(_ socket: UnixSocket) throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var text = ""
        while true {
            // The daemon may close with our bytes unread, which is an error here, and an end as well.
            guard let arrival = try? socket.read(into: &buffer, timeout: .seconds(60)) else { break }
            guard case .bytes(let count) = arrival else {
                #expect(arrival == .ended)
                break
            }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        return text.hasPrefix("HTTP/1.1 503 ") && text.contains("E1504")
    }

    @Test func `keeps its limits within the descriptors that there are`() {
        for descriptors in [32, 64, 416, 928, 4000] {
            let limits = ConnectionLimits(within: descriptors)
            #expect(limits.requests + limits.streams + limits.refusals <= descriptors, "\(descriptors)")
            #expect(limits.requests >= 16)
        }
        #expect(ConnectionLimits(within: 4000) == ConnectionLimits())
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a client of a daemon that is silent` {
    @Test func `gives up with the reason, whether it can connect or not`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("belfry.sock")
        let listener = try SilentListener.listen(at: path, backlog: 0)
        try await blocking {
            let client = DaemonClient(socket: path, timeout: .milliseconds(200))
            // The first one is queued; behind it nobody can connect.
            let queued = try UnixSocket(path: path)
            for _ in 1...2 {
                let error = #expect(throws: APIError.self) { try client.ask(Endpoints.status()) }
                #expect(error?.code == .noAnswer && error?.code.row.exitCode == 3)
                #expect(error?.message.hasPrefix("the daemon on \(path) did not answer") == true)
            }
            withExtendedLifetime(queued) {}
        }
        withExtendedLifetime(listener) {}
    }

    @Test func `waits for the answer of one that shows signs of life`() async throws {
        try await whileServing(Slow()) { client in
            try await blocking {
                // It is asked for when half of this has passed; the answer has the other half, on a busy machine too.
                let client = DaemonClient(
                    socket: client.socket, timeout: .seconds(60), longest: .seconds(240))
                let status = try client.ask(Endpoints.status())
                #expect(status == Samples.status)
            }
        }
    }
}

/// Answers status only once somebody has asked whether it is alive.
private struct Slow: APIHandler {
    let router = EndpointRouter(Endpoints.all)
    private let asked = AsyncStream.makeStream(of: Never.self)

    func respond(to request: APIRequest) async -> APIResponse {
        if request.row.name == "health" {
            asked.continuation.finish()
        } else {
            for await _ in asked.stream {}
        }
        return .value(Samples.status)
    }
}
