import API
import APIClient
import APIServer
import Glibc
import Host
import Ledger
import Logging
import Synchronization
import TestSupport
import Testing
import Tracking

/// Answers with what it was asked; enough to see both ends of the wire.
private struct Mirror: APIHandler {
    let router = EndpointRouter(Endpoints.all)
    /// Never yields, and ends with the task that waits for it.
    private let never = AsyncStream.makeStream(of: Never.self)

    func respond(to request: APIRequest) async -> APIResponse {
        switch request.row.name {
        case "status": .value(Samples.status)
        case "addJob": .whole(status: 201, contentType: "application/json", bytes: request.body)
        case "job": .failure(APIError(.noSuchJob, "no job \"\(request.path[0])\"", hint: "Look."))
        case "removeJob": .done
        case "runs": .value([WireRun(job: request.query["job"] ?? "none", state: .queued)])
        case "logs":
            .stream(contentType: "application/octet-stream") { writer in
                for part in 0..<1000 {
                    try await writer.write([UInt8](repeating: UInt8(part % 251), count: 1000))
                }
            }
        case "items":
            .stream(contentType: "text/plain") { writer in
                try await writer.write(Array("waiting".utf8))
                for await _ in never.stream {}
            }
        case "live":
            .stream(contentType: "application/json") { writer in
                try await writer.write(Array("[".utf8))
                throw CancellationError()
            }
        default: .failure(APIError(.notInThisVersion))
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `the control socket` {
    @Test func `carries values both ways`() async throws {
        try await whileServing(Mirror()) { client in
            try await blocking {
                let status = try client.ask(Endpoints.status())
                #expect(status == Samples.status)
                var draft = JobDraft()
                draft.name = "backup"
                draft.fields["command"] = ["/bin/true", "ü"].json
                let mirrored = try client.bytes(Endpoints.addJob(body: draft))
                #expect(try WireCoding.decode(JobDraft.self, from: mirrored) == draft)
                var query = RunsQuery()
                query.job = "a b&c"
                #expect(try client.ask(Endpoints.runs(query: query)).map(\.job) == ["a b&c"])
                #expect(try client.bytes(Endpoints.removeJob("a")).isEmpty)
            }
        }
    }

    @Test func `carries errors of the table`() async throws {
        let error = try await whileServing(Mirror()) { client in
            try await blocking {
                #expect(throws: APIError.self) { try client.ask(Endpoints.job("x/y")) }
            }
        }
        #expect(error == APIError(.noSuchJob, "no job \"x/y\"", hint: "Look."))
    }

    @Test func `carries a long answer in parts, whole`() async throws {
        let bytes = try await whileServing(Mirror()) { client in
            try await blocking { try client.bytes(Endpoints.logs(RunName(job: "a", ordinal: 1))) }
        }
        #expect(bytes == (0..<1000).flatMap { [UInt8](repeating: UInt8($0 % 251), count: 1000) })
    }

    @Test func `lets a reader see that an answer was cut`() async throws {
        let error = try await whileServing(Mirror()) { client in
            try await blocking { #expect(throws: APIError.self) { try client.bytes(Endpoints.live()) } }
        }
        #expect(error?.code == .connectionLost)
    }

    @Test func `answers a request by HEAD without a body, also with an error`() async throws {
        let text = try await whileServing(Mirror()) { client in
            try await blocking {
                let socket = try UnixSocket(path: client.socket)
                try socket.write(
                    Array(
                        """
                        HEAD /v1/jobs HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/jobs/b HTTP/1.1\r\nHost: a\r\n\
                        Connection: close\r\n\r\n
                        """.utf8))
                var (text, buffer) = ("", [UInt8](repeating: 0, count: 4096))
                while case .bytes(let count) = try socket.read(into: &buffer, timeout: .seconds(60)) {
                    text += String(decoding: buffer[..<count], as: UTF8.self)
                }
                return text
            }
        }
        let parts = text.split(separator: "HTTP/1.1 ")
        #expect(parts.map { $0.prefix(3) } == ["405", "404"])
        #expect(parts.map { $0.hasSuffix("\r\n\r\n") } == [true, false])
        #expect(parts.allSatisfy { $0.lowercased().contains("content-type: application/json") })
    }

    @Test func `refuses a body that is too large`() async throws {
        let error = try await whileServing(Mirror()) { client in
            try await blocking {
                #expect(throws: APIError.self) {
                    var draft = JobDraft()
                    draft.fields["shell"] = .string(String(repeating: " ", count: APIListener.bodyLimit))
                    return try client.bytes(Endpoints.addJob(body: draft))
                }
            }
        }
        #expect(error?.code == .tooLarge)
    }

    @Test func `is open to its user only, and removed afterwards`() async throws {
        let path = try await whileServing(Mirror()) { client in
            var status = stat()
            #expect(unsafe stat(client.socket, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            return client.socket
        }
        #expect(unsafe access(path, F_OK) != 0)
    }

    @Test func `stops although an answer would never end`() async throws {
        let stream = try await whileServing(Mirror()) { client in
            try await blocking {
                let stream = try client.open(Endpoints.items())
                #expect(try stream.next(timeout: .seconds(60)) == .bytes(Array("waiting".utf8)))
                return Held(stream)
            }
        }
        // The listener has stopped, and the reader finds that this was not the end of the answer.
        try await blocking {
            let error = #expect(throws: APIError.self) { try stream.value.next(timeout: .seconds(60)) }
            #expect(error?.code == .connectionLost)
        }
    }

    @Test func `is open to a group where it is given one`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("belfry.sock")
        let (ready, opened) = AsyncStream.makeStream(of: Int.self)
        let listener = APIListener(
            path: path, access: .group(getegid()), handler: Mirror(), logger: Logger(label: "api"),
            ready: { opened.yield(0) })
        try await whileServing([listener], ready: ready) { _ in
            var status = stat()
            #expect(unsafe stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o660 && status.st_gid == getegid())
        }
    }

    @Test func `shows why it can't listen`() async throws {
        let folder = try TemporaryFolder()
        let listener = APIListener(
            path: folder.file("missing/belfry.sock"), access: .owner, handler: Mirror(),
            logger: Logger(label: "api"))
        await #expect(throws: APIServerError.self) { try await listener.run() }
    }

    @Test func `replaces a socket that a dead daemon left`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("belfry.sock")
        for _ in 0..<2 {
            let (ready, opened) = AsyncStream.makeStream(of: Int.self)
            let listener = APIListener(
                path: path, access: .owner, handler: Mirror(), logger: Logger(label: "api"),
                ready: { opened.yield(0) })
            let kept = folder.file("kept.sock")
            try await whileServing([listener], ready: ready) { _ in
                #expect(unsafe link(path, kept) == 0)
                let client = DaemonClient(socket: path, timeout: .seconds(60))
                try await blocking { _ = try client.ask(Endpoints.status()) }
            }
            #expect(unsafe rename(kept, path) == 0)
        }
    }

    @Test func `shows what to do when no daemon answers`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("belfry.sock")
        let error = #expect(throws: APIError.self) {
            try DaemonClient.first(of: [path], timeout: .seconds(60))
        }
        #expect(error?.sentence == "no daemon answers on \(path). Start one with: belfryd")
        #expect(error?.code.row.exitCode == 3)
    }

    @Test func `has a sentence for a path that is too long`() {
        let path = "/" + String(repeating: "x", count: 200)
        let error = #expect(throws: APIError.self) { try UnixSocket(path: path) }
        #expect(error?.code == .noDaemon)
        #expect(error?.hint == "Choose a shorter one with --socket or BELFRY_SOCKET.")
    }

    @Test func `answers what is brief while another answer blocks its thread`() async throws {
        let brief = Endpoint("brief", .get, "/v1/brief", answers: [String].self, "Names its thread.")
        let slow = Endpoint("slow", .get, "/v1/slow", answers: [String].self, "Waits for a byte.")
        let gate = try Gate()
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        var table = HandlerTable([brief.row, slow.row])
        table.on(brief, isBrief: true) { _ in [try nameOfThread()] }
        table.on(slow) { _ in
            begin.yield()
            gate.pass()
            return [try nameOfThread()]
        }
        try await whileServing(table) { client in
            async let late = blocking { try client.ask(slow()) }
            for await _ in begun { break }
            let names = try await blocking { try client.ask(brief()) }
            gate.open()
            #expect(names[0].hasPrefix("NIO-ELT"))
            #expect(try await !late[0].hasPrefix("NIO-ELT"))
        }
    }

    @Test func `outlives clients that send anything at all`() async throws {
        try await whileServing(Mirror()) { client in
            try await blocking {
                var random = SeededGenerator(seed: 42)
                var buffer = [UInt8](repeating: 0, count: 4096)
                for round in 0..<300 {
                    let socket = try UnixSocket(path: client.socket)
                    var bytes = random.bytes(Int(random.next() % 400))
                    if round % 2 == 0 { bytes = Array("GET /v1/status HTTP/1.1\r\n".utf8) + bytes }
                    // A write may find the other end closed already: that is an answer, too.
                    try? socket.write(bytes)
                    if round % 3 == 0 { _ = try? socket.read(into: &buffer, timeout: .zero) }
                }
                // It may not have noticed yet that those have left, and then has too many of them.
                while true {
                    do {
                        let status = try client.ask(Endpoints.status())
                        return #expect(status == Samples.status)
                    } catch let error as APIError where error.code == .tooBusy {
                        continue
                    }
                }
            }
        }
    }
}

@Suite struct `a loopback port` {
    @Test func `hands over what was posted and answers with the given status`() async throws {
        let (ready, opened) = AsyncStream.makeStream(of: Int.self)
        let (requests, arrived) = AsyncStream.makeStream(of: HTTPListener.Received.self)
        let listener = HTTPListener(
            port: 0, logger: Logger(label: "listen"), ready: { opened.yield($0) },
            receive: {
                arrived.yield($0)
                return HTTPListener.Answer(204)
            })
        let answer = try await whileServing([listener], ready: ready) { port in
            try await blocking {
                try post(
                    "POST /hook?a=1 HTTP/1.1\r\nhost: x\r\nWebhook-Id: e1\r\ncontent-length: 2\r\n"
                        + "connection: close\r\n\r\nhi", port: port)
            }
        }
        #expect(answer.hasPrefix("HTTP/1.1 204 "))
        var iterator = requests.makeAsyncIterator()
        let received = await iterator.next()
        #expect(received?.method == "POST")
        #expect(received?.target == "/hook?a=1")
        #expect(received?["webhook-id"] == "e1")
        #expect(received?.body == Array("hi".utf8))
    }

    @Test func `shows which port it can't have`() async throws {
        let (ready, opened) = AsyncStream.makeStream(of: Int.self)
        let first = HTTPListener(
            port: 0, logger: Logger(label: "listen"), ready: { opened.yield($0) },
            receive: { _ in .init(200) })
        try await whileServing([first], ready: ready) { port in
            let second = HTTPListener(
                port: port, logger: Logger(label: "listen"), receive: { _ in .init(200) })
            await #expect(throws: APIServerError.self) { try await second.run() }
        }
    }
}

/// Sends `text` to a port of this machine and returns all that comes back.
private func post(_ text: String, port: Int) throws -> String {
    let descriptor = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let connected = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe connect(descriptor.raw, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
    #expect(connected == 0)
    try descriptor.writeAll(Array(text.utf8)[...])
    var buffer = [UInt8](repeating: 0, count: 4096)
    var answer: [UInt8] = []
    while case .bytes(let count) = try descriptor.read(into: &buffer) { answer += buffer[..<count] }
    return String(decoding: answer, as: UTF8.self)
}

/// The name of the thread that calls.
private func nameOfThread() throws -> String { try SmallFile.text("/proc/thread-self/comm") }

/// Blocks threads until it is opened.
private final class Gate: Sendable {
    private let ends: (read: Descriptor, write: Descriptor)

    init() throws {
        ends = try Descriptor.pipe(nonblockingRead: false)
    }

    /// Blocks the thread that calls.
    func pass() {
        var byte: UInt8 = 0
        _ = unsafe Glibc.read(ends.read.raw, &byte, 1)
    }

    func open() {
        var byte: UInt8 = 1
        _ = unsafe Glibc.write(ends.write.raw, &byte, 1)
    }
}
