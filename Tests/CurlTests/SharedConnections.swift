import Curl
import TestSupport
import Testing

/// HTTP/2: one connection that carries many requests at a time.
@Suite(.timeLimit(.minutes(5))) struct `a shared connection` {
    let curl: CurlMulti
    let pair: SelfSignedCertificate

    init() throws {
        curl = try CurlMulti(patience: .seconds(3600))
        pair = try SelfSignedCertificate(for: "localhost")
    }

    private func makeServer(_ options: String...) async throws -> HookServer {
        try await HookServer(["--tls", pair.certificate, pair.key] + options, script: "http2-server.py")
    }

    private func request(
        _ path: String, of server: HookServer, total: Duration = .seconds(120), body: [UInt8]? = [1, 2, 3]
    ) -> CurlRequest {
        CurlRequest(
            method: body == nil ? "GET" : "POST", url: server.url(path, scheme: "https", host: "localhost"),
            body: body, timeouts: CurlTimeouts(total: total), authorities: pair.certificate,
            addressGuard: .open)
    }

    /// Begins a request and returns when the server has it.
    private func begin(
        _ path: String, of server: HookServer
    ) async throws -> (Task<CurlResponse?, Never>, HookServer.Record) {
        let request = request(path, of: server)
        let task = Task { [curl] in try? await curl.perform(request) }
        return (task, try await server.record())
    }

    private func failure(_ path: String, of server: HookServer, total: Duration = .seconds(120)) async
        -> CurlError?
    {
        do throws(CurlError) {
            _ = try await curl.perform(request(path, of: server, total: total))
            return nil
        } catch {
            return error
        }
    }

    /// How requests to `paths` that begin together are answered, each with its own path as its body.
    private func answers(_ paths: [String], of server: HookServer) async throws -> [String] {
        try await withThrowingTaskGroup(of: CurlResponse.self) { group in
            for path in paths {
                let request = request(path, of: server, body: Array(path.utf8))
                group.addTask { [curl] in try await curl.perform(request) }
            }
            return try await group.reduce(into: []) {
                $0.append("\($1.version.map { "\($0)" } ?? "") \($1.status)")
            }
        }
    }

    @Test func `carries a hundred requests at once to a server of HTTP/2`() async throws {
        let server = try await makeServer()
        let (first, _) = try await begin("/first", of: server)
        #expect(await first.value?.version == .http2)
        let versions = try await answers((1...100).map { "/\($0)" }, of: server)
        #expect(versions == [String](repeating: "HTTP/2 204", count: 100))
        let records = try await server.records(100)
        #expect(records.allSatisfy { $0.path == $0.body })
        #expect(Set(records.map(\.path)).count == 100)
        #expect(Set(records.map(\.client)).count == 1)
    }

    @Test func `that never comes about keeps no request to another server waiting`() async throws {
        let (server, deaf) = (try await makeServer(), try await makeServer("--deaf"))
        let waiting = (1...4).map { number in
            var request = request("/\(number)", of: deaf)
            request.timeouts.connect = .seconds(120)
            return Task { [curl, request] in try? await curl.perform(request) }
        }
        let versions = try await answers((1...8).map { "/\($0)" }, of: server)
        #expect(versions == [String](repeating: "HTTP/2 204", count: 8))
        for task in waiting {
            task.cancel()
            #expect(await task.value == nil)
        }
    }

    @Test func `is one request's at a time where the server speaks HTTP/1.1 only, or without TLS`()
        async throws
    {
        let old = try await makeServer("--only-http1")
        let plain = try await HookServer()
        var requests = (1...20).map { request("/\($0)", of: old) }
        requests += (1...5).map { CurlRequest(url: plain.url("/\($0)"), addressGuard: .open) }
        let versions = try await withThrowingTaskGroup(of: CurlResponse.Version?.self) { group in
            for request in requests { group.addTask { [curl] in try await curl.perform(request).version } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(versions == [CurlResponse.Version?](repeating: .http1_1, count: 25))
        _ = try await old.records(20)
    }

    @Test func `goes on while one of its answers stalls, and after that was given up`() async throws {
        let server = try await makeServer()
        let (stalled, first) = try await begin("/hang", of: server)
        for number in 1...20 {
            #expect(try await curl.perform(request("/\(number)", of: server)).status == 204)
        }
        stalled.cancel()
        #expect(await stalled.value == nil)
        #expect(try await curl.perform(request("/after", of: server)).status == 204)
        #expect(Set(try await server.records(21).map(\.client)) == [first.client])
    }

    @Test func `goes on while one of its answers is too long`() async throws {
        let server = try await makeServer()
        let (slow, first) = try await begin("/slow-page", of: server)
        var endless = request("/big", of: server, body: nil)
        endless.bodyLimit = 100_000
        let cut = try await curl.perform(endless)
        #expect((cut.status, cut.body.count, cut.bodyWasCut) == (200, 100_000, true))
        #expect(try await curl.perform(request("/after", of: server)).status == 204)
        #expect(
            String(decoding: try #require(await slow.value).body, as: UTF8.self) == "first half, second half")
        #expect(try await server.records(2).map(\.client).first == first.client)
    }

    @Test func `carries no more requests than the server allows`() async throws {
        let server = try await makeServer("--streams", "2")
        let (one, first) = try await begin("/hang", of: server)
        let (two, second) = try await begin("/hang", of: server)
        #expect(try await curl.perform(request("/more", of: server)).status == 204)
        #expect(first.client == second.client)
        #expect(try await server.record().client != first.client)
        for task in [one, two] { task.cancel() }
    }

    @Test func `carries no answer that is read piece by piece`() async throws {
        let server = try await makeServer()
        let (stalled, first) = try await begin("/hang", of: server)
        let stream = try await curl.open(request("/pieces", of: server))
        #expect(stream.status == 204)
        #expect(try await server.record().client != first.client)
        stalled.cancel()
    }

    @Test func `that gave no answer in time gets no further request`() async throws {
        let server = try await makeServer()
        #expect(try await curl.perform(request("/first", of: server)).version == .http2)
        guard case .timedOut(.answering, _) = await failure("/freeze-once", of: server, total: .seconds(3))
        else {
            Issue.record("no time-out")
            return
        }
        #expect(try await curl.perform(request("/freeze-once", of: server)).version == .http2)
        let clients = try await server.records(3).map(\.client)
        #expect(clients[0] == clients[1] && clients[1] != clients[2])
    }

    @Test func `that is silent while answers are due gets no further request`() async throws {
        let server = try await makeServer()
        let hasty = try CurlMulti(patience: .zero)
        for path in ["/a", "/b"] {
            #expect(try await hasty.perform(request(path, of: server)).version == .http2)
        }
        let frozen = request("/freeze", of: server)
        let waiting = Task { try? await hasty.perform(frozen) }
        let before = try await server.records(3).map(\.client)
        #expect(try await hasty.perform(request("/after", of: server)).version == .http2)
        // One with nothing due is not silent.
        #expect(Set(before).count == 1)
        #expect(try await server.record().client != before[0])
        waiting.cancel()
        #expect(await waiting.value == nil)
    }

    @Test func `whose request the server refused unseen is asked again, as is another one`() async throws {
        let server = try await makeServer()
        #expect(try await curl.perform(request("/refuse-once", of: server)).status == 204)
        #expect(try await server.records(2).map(\.path) == ["/refuse-once", "/refuse-once"])
        #expect(try await curl.perform(request("/last-once", of: server)).status == 204)
        #expect(try await curl.perform(request("/next", of: server)).status == 204)
        let clients = try await server.records(2).map(\.client)
        #expect(clients[0] != clients[1])
        #expect(try await curl.perform(request("/away-once", of: server)).version == .http2)
        #expect(try await server.records(2).map(\.path) == ["/away-once", "/away-once"])
    }

    @Test(arguments: ["/reset", "/half", "/away"])
    func `that breaks is one that was cut, and HTTP/1.1 is tried then`(path: String) async throws {
        let server = try await makeServer()
        guard case .cut(let fault) = await failure(path, of: server) else {
            Issue.record("not cut")
            return
        }
        #expect([16, 92].contains(fault.code) && !fault.text.isEmpty)
        #expect(try await curl.perform(request(path, of: server)).version == .http1_1)
    }

    @Test func `whose server answers before it has the body gives that answer, at once or when asked again`()
        async throws
    {
        let server = try await makeServer()
        for attempt in 1...2 {
            let body = [UInt8](repeating: 0x61, count: 30_000)
            do throws(CurlError) {
                let answer = try await curl.perform(request("/early", of: server, body: body))
                #expect(answer.status == 429)
                #expect(answer.header("Retry-After") == "7")
                return
            } catch {
                guard case .cut = error, attempt == 1 else { throw error }
            }
        }
    }
}
