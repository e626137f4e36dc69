import Delivery
import GatewayClient
import Host
import NIOCore
import NIOPosix
import OpenClaw
import Synchronization
import TestSupport
import Timeline
import Tracking

/// A link to an emulated gateway, and the states that it reports.
final class LinkScene: Sendable {
    let gateway: GatewayEmulator
    let link: GatewayLink
    let folder: TemporaryFolder
    private let task: Task<Void, Never>
    private let states: AsyncStream<GatewayLink.State>
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    init(
        _ manner: GatewayEmulator.Manner = .init(), token: String? = "shared-token", url: String? = nil,
        clock: (any WallClock)? = nil, folder: TemporaryFolder? = nil, authority: String? = nil,
        scopes: [String] = GatewayIdentity.scopes, tokenFile: String? = nil,
        prepare: (GatewayEmulator) throws -> Void = { _ in }
    ) async throws {
        gateway = try await GatewayEmulator(manner)
        try prepare(gateway)
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        let reach = try HTTPReach(
            url: HTTPAddress(url ?? "http://127.0.0.1:\(gateway.port)"),
            allow: [AddressException("127.0.0.1/32"), .host("localhost")])
        let (states, reported) = AsyncStream.makeStream(of: GatewayLink.State.self)
        self.states = states
        let link = GatewayLink(
            GatewaySetup(
                reach: reach,
                token: { tokenFile.map { (try? SmallFile.text($0)) ?? "" } ?? token },
                device: DeviceFile(folder: folder.file("gateways"), host: "gw", port: 1), version: "1.0",
                clock: try clock ?? SystemClock(), group: group, scopes: scopes, authority: authority)
        ) { reported.yield($0) }
        self.link = link
        task = Task { await link.run() }
    }

    deinit {
        task.cancel()
        group.shutdownGracefully { _ in }
    }

    /// The next state of which `isMeant` holds, once it is reported.
    func state(_ isMeant: (GatewayLink.State) -> Bool) async throws -> GatewayLink.State {
        for await state in states where isMeant(state) { return state }
        throw CancellationError()
    }

    /// What is known of the gateway, once it is connected.
    func online() async throws -> GatewayLink.Online {
        guard case .online(let online) = try await state({ if case .online = $0 { true } else { false } })
        else { throw CancellationError() }
        return online
    }

    /// The next trouble, once there is one.
    func trouble() async throws -> GatewayTrouble {
        guard case .away(let trouble, _) = try await state({ if case .away = $0 { true } else { false } })
        else { throw CancellationError() }
        return trouble
    }
}

/// How an emulated gateway behaves that is not as usual.
func manner(_ change: (inout GatewayEmulator.Manner) -> Void) -> GatewayEmulator.Manner {
    var manner = GatewayEmulator.Manner()
    change(&manner)
    return manner
}

/// Moves the clock to the next moment that somebody sleeps to, again and again, until it is cancelled.
func pace(_ clock: ManualClock) -> Task<Void, Never> {
    Task {
        while !Task.isCancelled {
            let until = await clock.nextSleeper()
            if until > clock.now { clock.advance(to: until) }
        }
    }
}

/// A value of JSON text that the test itself wrote.
func json(_ text: String) -> JSON { JSON(parsing: Array(text.utf8)[...]) ?? .null }
