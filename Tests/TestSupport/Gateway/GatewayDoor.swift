import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization
import Tracking

/// One client of the emulated gateway.
final class GatewayDoor: Sendable {
    private struct Session {
        var nonce: String
        var isOpen = false
        var scopes: [String] = []
        var seq = 0
        /// What is to be sent once the call that is performed was noted; nil: none is performed.
        var held: [[UInt8]]?
    }

    private let gateway: GatewayEmulator
    private let channel: any Channel
    private let session: Mutex<Session>

    private init(_ channel: any Channel, of gateway: GatewayEmulator) {
        (self.channel, self.gateway) = (channel, gateway)
        session = Mutex(Session(nonce: UUID().uuidString.lowercased()))
    }

    /// Listens on a port of this machine, 0 for a free one.
    static func listen(
        on group: MultiThreadedEventLoopGroup, host: String, port: Int, for gateway: GatewayEmulator
    ) async throws -> any Channel {
        let reference = Reference(gateway)
        return try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                let upgrader = NIOWebSocketServerUpgrader(
                    maxFrameSize: 1 << 25,
                    shouldUpgrade: { channel, head in
                        var names: [String: String] = [:]
                        for header in head.headers { names[header.name.lowercased()] = header.value }
                        reference.gateway?.state.withLock { $0.heads.append(names) }
                        return channel.eventLoop.makeSucceededFuture(HTTPHeaders())
                    },
                    upgradePipelineHandler: { channel, _ in
                        channel.eventLoop.makeCompletedFuture {
                            guard let gateway = reference.gateway else { throw ChannelError.eof }
                            let door = GatewayDoor(channel, of: gateway)
                            try channel.pipeline.syncOperations.addHandler(FrameHandler(door))
                        }
                    })
                return channel.pipeline.configureHTTPServerPipeline(
                    withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
            }
            .bind(host: host, port: port).get()
    }

    /// Lets the emulator go while its server still listens.
    private final class Reference: Sendable {
        weak let gateway: GatewayEmulator?

        init(_ gateway: GatewayEmulator) { self.gateway = gateway }
    }

    /// Hands frames over.
    private final class FrameHandler: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame

        private let door: GatewayDoor

        init(_ door: GatewayDoor) { self.door = door }

        func handlerAdded(context: ChannelHandlerContext) { door.greet() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            let bytes = Array(frame.unmaskedData.readableBytesView)
            switch frame.opcode {
            case .text, .binary: door.receive(bytes)
            case .ping: door.pong(bytes)
            case .connectionClose:
                if bytes.count >= 2 { door.gateway.left.yield(Int(bytes[0]) << 8 | Int(bytes[1])) }
                context.close(promise: nil)
            default: break
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            door.left()
            context.fireChannelInactive()
        }
    }

    // MARK: Sending

    func send(_ bytes: [UInt8]) {
        let isHeld = session.withLock { session in
            session.held?.append(bytes)
            return session.held != nil
        }
        if !isHeld { write(bytes) }
    }

    private func write(_ bytes: [UInt8]) {
        inOrder {
            $0.writeAndFlush(
                WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: bytes)), promise: nil)
        }
    }

    /// Does it after all that was asked for before it: an answer to what has just been read would overtake what another
    /// thread sent earlier.
    private func inOrder(_ body: @escaping @Sendable (any Channel) -> Void) {
        channel.eventLoop.execute { [channel] in body(channel) }
    }

    /// An event; `seq` is the number in the count of all, else this client's own is used, which skips so many.
    func send(_ event: String, _ payload: JSON, seq: Int?, skipping skipped: Int) {
        let number: Int? = session.withLock { session in
            guard session.isOpen else { return nil }
            session.seq += 1 + skipped
            return seq ?? session.seq
        }
        guard let number else { return }
        send(
            JSON.object([
                "type": .string("event"), "event": .string(event), "payload": payload, "seq": .int(number),
            ]).bytes)
    }

    func close(_ code: Int, _ reason: String) {
        var data = ByteBuffer()
        data.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: code))
        data.writeString(reason)
        inOrder { [data] channel in
            channel.writeAndFlush(
                WebSocketFrame(fin: true, opcode: .connectionClose, data: data), promise: nil)
            // The other side ends the connection: closed with bytes of it unread, this frame might never be read.
            channel.close(mode: .output, promise: nil)
        }
    }

    func cut() { inOrder { $0.close(promise: nil) } }

    private func pong(_ bytes: [UInt8]) {
        guard gateway.state.withLock(\.manner.answersPings) else { return }
        inOrder {
            $0.writeAndFlush(
                WebSocketFrame(fin: true, opcode: .pong, data: ByteBuffer(bytes: bytes)), promise: nil)
        }
    }

    private func answer(_ id: String, _ payload: JSON) {
        send(
            JSON.object(["type": .string("res"), "id": .string(id), "ok": .bool(true), "payload": payload])
                .bytes)
    }

    private func refuse(_ id: String, _ error: JSON) {
        send(
            JSON.object(["type": .string("res"), "id": .string(id), "ok": .bool(false), "error": error]).bytes
        )
    }

    private func refuse(_ id: String, _ code: String, _ message: String, _ details: JSON? = nil) {
        refuse(id, .object(["code": .string(code), "message": .string(message), "details": details]))
    }

    // MARK: Frames

    fileprivate func greet() {
        guard gateway.state.withLock(\.manner.challenges) else { return }
        let time = gateway.state.withLock { state in
            state.challengeTimes.append(Int(state.clock))
            return state.clock
        }
        let payload = JSON.object(["nonce": .string(session.withLock(\.nonce)), "ts": .int(time)])
        send(
            JSON.object([
                "type": .string("event"), "event": .string("connect.challenge"), "payload": payload,
            ]).bytes)
    }

    fileprivate func left() {
        gateway.state.withLock { _ = $0.doors.removeValue(forKey: ObjectIdentifier(self)) }
    }

    fileprivate func receive(_ bytes: [UInt8]) {
        let version = gateway.state.withLock(\.manner.version)
        guard let frame = JSON(parsing: bytes[...]) else { return close(1008, "invalid frame") }
        let id = frame["id"]?.text ?? "invalid"
        let method = frame["method"]?.text ?? ""
        let params = frame["params"] ?? .members([])
        let isOpen = session.withLock(\.isOpen)
        if !isOpen, method != "connect" || bytes.count > 65_536 { return close(1008, "invalid handshake") }
        let fault =
            GatewaySchemas.fault(inRequest: frame, version: version).map { "invalid request frame: \($0)" }
            ?? GatewaySchemas.fault(in: params, of: method, version: version).map {
                "invalid \(method) params: \($0)"
            }
        // A call is noted once it has had its effect, so that what a test does next meets a gateway that has taken it, and
        // before it is answered, so that a test that waits for the answer finds it among the requests.
        let request = GatewayEmulator.Request(method: method, params: params, fault: fault)
        guard isOpen else {
            gateway.note(request)
            guard let fault else { return connect(params, id, version) }
            refuse(id, "INVALID_REQUEST", fault)
            return close(1008, "invalid handshake")
        }
        session.withLock { $0.held = [] }
        if let fault {
            refuse(id, "INVALID_REQUEST", fault)
        } else {
            call(method, params, id, version)
        }
        gateway.note(request)
        // On the thread of the connection: what others send meanwhile comes behind it.
        let held = session.withLock { session in
            defer { session.held = nil }
            return session.held ?? []
        }
        for bytes in held { write(bytes) }
    }

    // MARK: The handshake

    private func connect(_ params: JSON, _ id: String, _ version: Int) {
        if let error = gateway.state.withLock({ $0.refusals.isEmpty ? nil : $0.refusals.removeFirst() }) {
            refuse(id, error)
            return close(1008, "refused")
        }
        guard let least = params["minProtocol"]?.int, let most = params["maxProtocol"]?.int,
            (least...most).contains(version)
        else {
            refuse(
                id, "INVALID_REQUEST", "protocol mismatch", .object(["expectedProtocol": .int(version)]))
            return close(1002, "protocol mismatch")
        }
        if let (code, detail) = faultOfDevice(params) {
            refuse(id, code, detail.lowercased(), .object(["code": .string(detail)]))
            return close(1008, "unauthorized")
        }
        let device = params["device"]?["id"]?.text ?? ""
        if gateway.state.withLock({ $0.manner.wantsApproval && !$0.approved.contains(device) }) {
            refuse(
                id, "NOT_PAIRED", "pairing required",
                .object([
                    "code": .string("PAIRING_REQUIRED"), "requestId": .string("r-1"),
                    "reason": .string("not-paired"),
                ]))
            return close(1008, "pairing required")
        }
        let wanted = Set((params["scopes"]?.elements ?? []).compactMap(\.text))
        let isUpgrade = gateway.state.withLock { state in
            state.manner.guardsUpgrades && state.granted[device].map { !wanted.isSubset(of: $0) } ?? false
        }
        if isUpgrade {
            refuse(
                id, "NOT_PAIRED", "pairing required",
                .object([
                    "code": .string("PAIRING_REQUIRED"), "requestId": .string("r-2"),
                    "reason": .string("scope-upgrade"),
                ]))
            return close(1008, "pairing required")
        }
        welcome(params, device, id, version)
    }

    private func welcome(_ params: JSON, _ device: String, _ id: String, _ version: Int) {
        let (manner, token): (GatewayEmulator.Manner, String?) = gateway.state.withLock { state in
            state.approved.insert(device)
            guard state.manner.issuesTokens else { return (state.manner, nil) }
            let token = state.deviceTokens[device] ?? "device-token-\(state.deviceTokens.count + 1)"
            state.deviceTokens[device] = token
            return (state.manner, token)
        }
        let asked = (params["scopes"]?.elements ?? []).compactMap(\.text)
        let granted = device.isEmpty ? [] : asked.filter { manner.scopes.contains($0) }
        session.withLock { ($0.isOpen, $0.scopes) = (true, granted) }
        gateway.state.withLock { $0.granted[device, default: []].formUnion(granted) }
        gateway.state.withLock { $0.doors[ObjectIdentifier(self)] = self }
        let auth = JSON.object([
            "role": .string("operator"), "scopes": .array(granted.map { .string($0) }),
            "deviceToken": token.map { .string($0) },
        ])
        answer(id, Self.hello(manner, auth: version == 3 && token == nil ? nil : auth))
    }

    private static func hello(_ manner: GatewayEmulator.Manner, auth: JSON?) -> JSON {
        .object([
            "type": .string("hello-ok"), "protocol": .int(manner.version),
            "server": .object(["version": .string("2026.8.1"), "connId": .string("c-1")]),
            "features": .object(["methods": .array([]), "events": .array([])]),
            "snapshot": .object([
                "presence": .array([]), "health": .members([]), "uptimeMs": .int(1000),
                "stateVersion": .object(["presence": .int(1), "health": .int(1)]),
                "sessionDefaults": .object([
                    "defaultAgentId": .string("main"), "mainKey": .string("main"),
                    "mainSessionKey": .string("agent:main:main"), "scope": .string("per-sender"),
                ]),
            ]),
            "auth": auth,
            "policy": .object([
                "maxPayload": .int(26_214_400), "maxBufferedBytes": .int(52_428_800),
                "tickIntervalMs": .int(manner.tick),
            ]),
            "somethingNew": .object(["a": .null]),
        ])
    }

    /// What is wrong with the token or with the proof; nil: nothing.
    private func faultOfDevice(_ params: JSON) -> (code: String, detail: String)? {
        let token = params["auth"]?["token"]?.text
        let (shared, issued, time) = gateway.state.withLock { state in
            let id = params["device"]?["id"]?.text ?? ""
            return (state.manner.token, state.deviceTokens[id], state.clock)
        }
        if let shared, token != shared, token != issued || issued == nil {
            return ("INVALID_REQUEST", token == nil ? "AUTH_TOKEN_MISSING" : "AUTH_TOKEN_MISMATCH")
        }
        guard let device = params["device"] else { return nil }
        guard device["nonce"]?.text == session.withLock(\.nonce) else {
            return ("INVALID_REQUEST", "DEVICE_AUTH_NONCE_MISMATCH")
        }
        guard abs((device["signedAt"]?.int).map(Int64.init) ?? 0 - time) < 1 << 62,
            let signed = device["signedAt"]?.int, abs(Int64(signed) - time) <= 120_000
        else { return ("INVALID_REQUEST", "DEVICE_AUTH_SIGNATURE_EXPIRED") }
        return faultOfSignature(params, device, token ?? "")
    }

    private func faultOfSignature(
        _ params: JSON, _ device: JSON, _ token: String
    ) -> (code: String, detail: String)? {
        guard let raw = Self.bytes(device["publicKey"]?.text),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: raw)
        else { return ("INVALID_REQUEST", "DEVICE_AUTH_PUBLIC_KEY_INVALID") }
        let hash = SHA256.hash(data: raw).map { String(format: "%02x", $0) }.joined()
        guard hash == device["id"]?.text else { return ("INVALID_REQUEST", "DEVICE_AUTH_DEVICE_ID_MISMATCH") }
        let client = params["client"] ?? .null
        let scopes = (params["scopes"]?.elements ?? []).compactMap(\.text).joined(separator: ",")
        let parts = [
            "v3", hash, client["id"]?.text, client["mode"]?.text, params["role"]?.text, scopes,
            device["signedAt"]?.int.map { "\($0)" }, token, device["nonce"]?.text,
            client["platform"]?.text?.lowercased(), client["deviceFamily"]?.text?.lowercased(),
        ].map { $0 ?? "" }
        // The older form has neither platform nor family; real gateways try both.
        let older = gateway.state.withLock(\.manner.acceptsOldProofs) ? [["v2"] + parts[1..<9]] : []
        let forms = ([parts] + older).map { Data($0.joined(separator: "|").utf8) }
        guard let signature = Self.bytes(device["signature"]?.text),
            forms.contains(where: { key.isValidSignature(signature, for: $0) })
        else { return ("INVALID_REQUEST", "DEVICE_AUTH_SIGNATURE_INVALID") }
        return nil
    }

    private static func bytes(_ text: String?) -> Data? {
        guard let text, !text.contains("=") else { return nil }
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }

    // MARK: Calls

    private func call(_ method: String, _ params: JSON, _ id: String, _ version: Int) {
        guard let schema = GatewaySchemas.methods[method] else {
            return refuse(id, "INVALID_REQUEST", "unknown method: \(method)")
        }
        if let scope = schema.scope, !hasScope(scope) {
            guard version >= 4 else { return refuse(id, "INVALID_REQUEST", "missing scope: \(scope)") }
            return refuse(
                id, "FORBIDDEN", "missing scope: \(scope)",
                .object(["code": .string("MISSING_SCOPE"), "missingScope": .string(scope)]))
        }
        let failure: JSON? = gateway.state.withLock { state in
            guard state.failures[method]?.isEmpty == false else { return nil }
            return state.failures[method]?.removeFirst()
        }
        if let failure { return refuse(id, failure) }
        if gateway.state.withLock({ $0.manner.swallows.contains(method) }) {
            _ = gateway.schedule(method, params)
        } else {
            perform(method, params, id, version)
        }
    }

    private func hasScope(_ scope: String) -> Bool {
        let scopes = session.withLock(\.scopes)
        return scopes.contains("operator.admin") || scopes.contains(scope)
            || scope == "operator.read" && scopes.contains("operator.write")
    }

    private func perform(_ method: String, _ params: JSON, _ id: String, _ version: Int) {
        // Clients may say "main"; the gateway answers with the canonical key.
        let key = params["sessionKey"]?.text.map { $0 == "main" ? "agent:main:main" : $0 } ?? ""
        let run = params["runId"]?.text ?? ""
        switch method {
        case "chat.send":
            let taken = gateway.take(params, from: key)
            answer(id, taken)
            if taken["status"]?.text == "started", let run = taken["runId"]?.text { gateway.advance(run) }
        case "chat.history": answer(id, history(of: key, version))
        case "chat.abort":
            let isAborted = gateway.abort(run)
            answer(id, .object(["ok": .bool(true), "aborted": .bool(isAborted), "runIds": .array([])]))
        case "agent.wait":
            let state = gateway.state.withLock { $0.runs[run]?.state }
            let status = state == nil || state == "running" ? "timeout" : state == "error" ? "error" : "ok"
            answer(id, .object(["runId": .string(run), "status": .string(status)]))
        case "agent": performAgent(params, id)
        case _ where method.hasPrefix("cron."):
            guard let payload = gateway.schedule(method, params) else {
                return refuse(id, "INVALID_REQUEST", "no such job, or not of that revision")
            }
            answer(id, payload)
        case "send":
            answer(
                id,
                .object([
                    "runId": params["idempotencyKey"], "messageId": .string("m-1"),
                    "channel": params["channel"] ?? .string("last"),
                ]))
        case "sessions.list":
            let keys = gateway.state.withLock { $0.transcripts.keys.sorted() }
            answer(
                id,
                .object([
                    "ts": .int(1), "count": .int(keys.count),
                    "sessions": .array(
                        keys.map { .object(["key": .string($0), "kind": .string("direct")]) }),
                ]))
        case "agents.list":
            answer(id, .object(["agents": .array([.object(["id": .string("main")])])]))
        default: answer(id, .object(["ok": .bool(true)]))
        }
    }

    /// Answers twice under the same id: that the run is accepted, and how it ended.
    private func performAgent(_ params: JSON, _ id: String) {
        let run = params["idempotencyKey"]?.text ?? ""
        answer(
            id,
            .object(["runId": .string(run), "status": .string("accepted"), "acceptedAt": .int(1)]))
        let taken = gateway.take(params, from: params["sessionKey"]?.text ?? "agent:main:main")
        let second: @Sendable () -> Void = { [self] in
            let text = gateway.state.withLock { $0.runs[run]?.text ?? "" }
            answer(
                id,
                .object([
                    "runId": .string(run), "status": .string("ok"), "summary": .string("completed"),
                    "result": .object(["payloads": .array([.object(["text": .string(text)])])]),
                ]))
        }
        guard taken["status"]?.text != "ok" else { return second() }
        gateway.state.withLock { $0.secondAnswers[run] = second }
        if taken["status"]?.text == "started" { gateway.advance(run) }
    }

    private func history(of key: String, _ version: Int) -> JSON {
        gateway.state.withLock { state in
            let active = state.runs.filter { $0.value.session == key && $0.value.state == "running" }.keys
            return .object([
                "sessionKey": .string(key), "messages": .array(state.transcripts[key] ?? []),
                "sessionInfo": version >= 4
                    ? .object([
                        "hasActiveRun": .bool(!active.isEmpty),
                        "activeRunIds": .array(active.map { .string($0) }),
                    ]) : nil,
            ])
        }
    }
}
