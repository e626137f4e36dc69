import Delivery
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import OpenClaw
import Tracking

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
    /// The file of the certificates that vouch for the gateway; nil: those that the machine trusts.
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
        try pipeline.addHandler(AddressGuard(reach: reach))
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
        case let refused as AddressGuard.Refused:
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
private final class AddressGuard: ChannelInboundHandler, Sendable {
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
