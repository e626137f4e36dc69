package import Delivery
import NIOCore
import NIOHTTP1
package import NIOPosix
import NIOSSL
import NIOWebSocket
import OpenClaw
package import Timeline
import Tracking

/// What a link needs to connect.
package struct GatewaySetup: Sendable {
    /// Where the gateway is, and at which addresses it may be.
    package let reach: HTTPReach
    /// The shared token as it is now; nil: none is configured.
    let token: @Sendable () -> String?
    /// What this device is to the gateway.
    let device: DeviceFile
    /// Belfry's version.
    let version: String
    let clock: any WallClock
    let socket: GatewaySocket
    /// What the connection may do.
    let scopes: [String]
    /// Who sends pings and notices silence.
    let watch: LinkWatch

    /// A setup whose connections are made on `group`, and looked after by `watch`, or by one of its own.
    package init(
        reach: HTTPReach, token: @escaping @Sendable () -> String?, device: DeviceFile, version: String,
        clock: any WallClock, group: MultiThreadedEventLoopGroup,
        scopes: [String] = GatewayIdentity.scopes, authority: String? = nil, watch: LinkWatch? = nil
    ) {
        self.scopes = scopes
        self.watch = watch ?? LinkWatch(clock: clock)
        (self.reach, self.token, self.device) = (reach, token, device)
        (self.version, self.clock) = (version, clock)
        socket = GatewaySocket(
            reach: reach, group: group, userAgent: "Belfry/\(version)", authority: authority)
    }
}

/// One open connection: reads frames for its link, and writes what the link sends.
struct GatewayWire {
    /// What the link sends.
    enum Outgoing: Sendable {
        case text([UInt8])
        case ping([UInt8])
        case pong([UInt8])
    }

    private let wire: GatewaySocket.Wire
    private let link: GatewayLink

    init(_ wire: GatewaySocket.Wire, of link: GatewayLink) { (self.wire, self.link) = (wire, link) }

    /// Serves until the connection ends, and returns why it did.
    @concurrent func serve() async -> GatewayTrouble {
        do {
            // What is sent goes to the channel at once: a task that waits for it would cost more than the connection.
            return try await wire.executeThenClose { inbound, _ in
                await link.opened(self)
                let trouble = await read(inbound)
                close(because: trouble)
                return trouble ?? GatewayTrouble(.closed(code: nil, "this side ended it"))
            }
        } catch {
            return GatewaySocket.trouble(of: error)
        }
    }

    /// Takes leave: a gateway that is silent or sent too much is sent the reason, and no answer is awaited.
    func close(because trouble: GatewayTrouble?) {
        let code: WebSocketErrorCode =
            switch trouble?.kind {
            case .silent: .init(codeNumber: 4000)
            case .oversized: .messageTooLarge
            case .malformed, .noGateway: .protocolError
            default: .normalClosure
            }
        var data = wire.channel.allocator.buffer(capacity: 2)
        data.write(webSocketErrorCode: code)
        wire.channel.writeAndFlush(Self.frame(.connectionClose, data), promise: nil)
        wire.channel.close(promise: nil)
    }

    private static func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
    }

    /// Sends a frame, after all that were sent before.
    func send(_ frame: Outgoing) {
        let next =
            switch frame {
            case .text(let bytes): Self.frame(.text, ByteBuffer(bytes: bytes))
            case .ping(let bytes): Self.frame(.ping, ByteBuffer(bytes: bytes))
            case .pong(let bytes): Self.frame(.pong, ByteBuffer(bytes: bytes))
            }
        // What ends the connection is reported by the reader.
        wire.channel.writeAndFlush(next, promise: nil)
    }

    private func read(_ inbound: NIOAsyncChannelInboundStream<WebSocketFrame>) async -> GatewayTrouble? {
        do {
            for try await frame in inbound {
                if let trouble = await receive(frame) { return trouble }
            }
            return Task.isCancelled ? nil : await link.ended(code: nil, "")
        } catch {
            return Task.isCancelled ? nil : await link.failed(GatewaySocket.trouble(of: error))
        }
    }

    private func receive(_ frame: WebSocketFrame) async -> GatewayTrouble? {
        let bytes = Array(frame.unmaskedData.readableBytesView)
        switch frame.opcode {
        case .text, .binary:
            switch Self.parse(bytes) {
            case .success(let frame): return await link.receive(frame)
            case .failure(let error): return GatewayTrouble(.malformed(error.problem))
            }
        case .ping: await link.send(.pong(bytes))
        case .pong: await link.receivePong(bytes)
        case .connectionClose:
            let code = bytes.count >= 2 ? Int(bytes[0]) << 8 | Int(bytes[1]) : nil
            return await link.ended(code: code, String(decoding: bytes.dropFirst(2), as: UTF8.self))
        default: break
        }
        return nil
    }

    /// Apart from what waits, which would keep its room.
    @inline(never)
    private static func parse(_ bytes: [UInt8]) -> Result<GatewayFrame, GatewayFrame.Malformed> {
        Result { () throws(GatewayFrame.Malformed) in try GatewayFrame(bytes[...]) }
    }
}

/// Whether the other side of a connection is alive: what was heard of it, and the pings that ask.
struct GatewayPulse {
    /// How often it is asked, and how long it may take to answer.
    private static let interval = Duration.seconds(30)
    private static let patience = Duration.seconds(5)

    private var heard = Duration.zero
    private var lastPing: Duration?
    private var isOpen = false
    private var number: UInt64 = 0

    /// Something came.
    mutating func heard(at now: Duration) { heard = now }

    /// The bytes of a ping that is due.
    mutating func ping(at now: Duration) -> [UInt8]? {
        guard lastPing.map({ now - $0 >= Self.interval }) ?? true else { return nil }
        number += 1
        (lastPing, isOpen) = (now, true)
        return Array("belfry \(number)".utf8)
    }

    /// How long the ping took that these bytes answer; nil: they answer none.
    mutating func answered(_ bytes: [UInt8], at now: Duration) -> Duration? {
        guard isOpen, let lastPing, bytes.elementsEqual("belfry \(number)".utf8) else { return nil }
        isOpen = false
        return now - lastPing
    }

    /// How long nothing came, where that is too long.
    func silence(at now: Duration, tick: Duration) -> Duration? {
        if isOpen, let lastPing, now - lastPing >= Self.patience, heard <= lastPing { return Self.patience }
        return now - heard >= tick * 2 ? now - heard : nil
    }

    /// When, since boot, to look again.
    func nextCheck(tick: Duration) -> Duration {
        let silent = heard + tick * 2
        guard let lastPing else { return silent }
        // What came after the ping answers it as well: there is nothing more to wait for before the next one.
        return min(silent, lastPing + (isOpen && heard <= lastPing ? Self.patience : Self.interval))
    }
}

/// Opens WebSocket connections to gateways: over TLS where the address says so, and only to addresses that are allowed.
struct GatewaySocket: Sendable {
    typealias Wire = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    /// What came of the request for a WebSocket.
    enum Upgrade: Sendable {
        case opened(Wire)
        case declined
    }

    let reach: HTTPReach
    let group: any EventLoopGroup
    let userAgent: String
    /// The file of the certificates that the gateway is checked by; nil: those that the machine trusts.
    let authority: String?

    /// How long connecting may take, TLS and the upgrade included.
    static let patience = TimeAmount.seconds(10)
    private static let fragments = 4096

    /// Connects.
    func open() async throws(GatewayTrouble) -> Wire {
        do {
            let tls = reach.url.isSecure ? try makeContext() : nil
            let upgrade = try await ClientBootstrap(group: group)
                .connectTimeout(Self.patience)
                // Each connection keeps one: most of what comes is small.
                .channelOption(
                    .recvAllocator,
                    value: AdaptiveRecvByteBufferAllocator(minimum: 256, initial: 512, maximum: 65_536)
                )
                .connect(host: reach.url.host, port: reach.url.port) { [self] channel in
                    channel.eventLoop.makeCompletedFuture {
                        try configure(channel, tls)
                    }
                }
            switch try await upgrade.get() {
            case .opened(let wire): return wire
            case .declined: throw GatewayTrouble(.noGateway("it declined the WebSocket"))
            }
        } catch {
            throw Self.trouble(of: error)
        }
    }

    private func makeContext() throws(GatewayTrouble) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        // Read each time: a certificate is renewed while the daemon runs.
        if let authority { configuration.trustRoots = .file(authority) }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw GatewayTrouble(
                .untrusted("the file \(authority ?? "of the machine") holds no certificate that can be read"))
        }
    }

    private func configure(
        _ channel: any NIOCore.Channel, _ tls: NIOSSLContext?
    ) throws -> EventLoopFuture<Upgrade> {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ConnectionGuard(reach: reach))
        if let tls {
            let isAddress = AddressRange.bytes(of: reach.url.host) != nil
            try pipeline.addHandler(
                NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : reach.url.host))
        }
        let upgrader = NIOTypedWebSocketClientUpgrader<Upgrade>(
            maxFrameSize: GatewayFrame.limit, enableAutomaticErrorHandling: false
        ) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: Self.fragments,
                        maxAccumulatedFrameSize: GatewayFrame.limit))
                return Upgrade.opened(try Wire(wrappingChannelSynchronously: channel))
            }
        }
        var headers = HTTPHeaders()
        let host = reach.url.host.contains(":") ? "[\(reach.url.host)]" : reach.url.host
        headers.add(name: "Host", value: "\(host):\(reach.url.port)")
        headers.add(name: "User-Agent", value: userAgent)
        let target = reach.url.target
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: target.hasPrefix("/") ? String(target) : "/" + target,
            headers: headers)
        let upgrade = NIOTypedHTTPClientUpgradeConfiguration(
            upgradeRequestHead: head, upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.close(promise: nil)
                return channel.eventLoop.makeSucceededFuture(.declined)
            })
        var configuration = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: upgrade)
        // A gateway sends its challenge at once, often in the same packet as its answer.
        configuration.leftOverBytesStrategy = .forwardBytes
        let result = try pipeline.configureUpgradableHTTPClientPipeline(configuration: configuration)
        // A server may accept a connection and say nothing.
        let deadline = channel.eventLoop.scheduleTask(in: Self.patience) {
            channel.pipeline.fireErrorCaught(ChannelError.connectTimeout(Self.patience))
            channel.close(promise: nil)
        }
        result.whenComplete { _ in deadline.cancel() }
        return result
    }

    /// What an error of a connection means.
    static func trouble(of error: any Error) -> GatewayTrouble {
        func line(_ error: any Error) -> String { CleanText.line("\(error)", limit: 200) }
        switch error {
        case let trouble as GatewayTrouble: return trouble
        case let refused as ConnectionGuard.Refused:
            return GatewayTrouble(.refusedAddress(refused.address), .never)
        case let error as NIOConnectionError:
            if let last = error.connectionErrors.last {
                let why = (last.error as? IOError).map { Self.reason($0) } ?? line(last.error)
                return GatewayTrouble(.unreachable(why))
            }
            return GatewayTrouble(.unreachable("its name has no address"))
        case let error as IOError: return GatewayTrouble(.unreachable(Self.reason(error)))
        case ChannelError.connectTimeout: return GatewayTrouble(.unreachable("it did not answer within 10 s"))
        case ChannelError.inappropriateOperationForState, ChannelError.eof, ChannelError.inputClosed:
            return GatewayTrouble(.closed(code: nil, "before the handshake"))
        case NIOSSLError.handshakeFailed(let why): return GatewayTrouble(.untrusted(line(why)))
        case is NIOSSLExtraError: return GatewayTrouble(.untrusted("its name is not in the certificate"))
        case let error as NIOSSLError: return GatewayTrouble(.untrusted(line(error)))
        case NIOWebSocketError.invalidFrameLength: return GatewayTrouble(.oversized)
        case NIOWebSocketFrameAggregator.Error.accumulatedFrameSizeIsTooLarge:
            return GatewayTrouble(.oversized)
        case is NIOWebSocketError, is NIOWebSocketFrameAggregator.Error:
            return GatewayTrouble(.malformed(line(error)))
        case is HTTPParserError, is NIOHTTPClientUpgradeError:
            return GatewayTrouble(.noGateway("it does not answer as a WebSocket server"))
        default: return GatewayTrouble(.closed(code: nil, line(error)))
        }
    }

    private static func reason(_ error: IOError) -> String {
        switch error.errnoCode {
        case 111: "the connection was refused"
        case 113: "there is no route to it"
        case 110: "it did not answer in time"
        default: CleanText.line("\(error)", limit: 120)
        }
    }
}

/// Closes a connection whose address is not allowed, before anything is sent.
private final class ConnectionGuard: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    /// The address that was refused.
    struct Refused: Error {
        let address: String
    }

    private let reach: HTTPReach

    init(reach: HTTPReach) { self.reach = reach }

    func channelActive(context: ChannelHandlerContext) {
        let address = context.channel.remoteAddress?.ipAddress
        guard let bytes = address.flatMap({ AddressRange.bytes(of: $0) }), reach.mayConnect(to: bytes) else {
            context.fireErrorCaught(Refused(address: address ?? "unknown"))
            return context.close(promise: nil)
        }
        context.fireChannelActive()
    }
}
