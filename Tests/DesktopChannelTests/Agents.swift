import Delivery
import DesktopChannel
import Glibc
import Host
import Logging
import TestSupport
import Testing
import Timeline

private let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

/// A daemon's side of agents: its hub and one channel, until `body` returns.
private final class DaemonSide {
    let channel: AgentDesktop
    /// A channel of another user.
    let other: AgentDesktop
    private var reports: AsyncStream<SurfaceSignal>.Iterator

    static func run(
        in folder: TemporaryFolder, isolation: isolated (any Actor)? = #isolation,
        _ body: (DaemonSide) async throws -> Void
    ) async throws {
        let hub = AgentHub(path: folder.file("agents.sock"), logger: quiet, userName: { _ in "anna" })
        let clock = ManualClock(now: Moment(seconds: 1_750_000_000))
        let side = DaemonSide(
            AgentDesktop(name: "desk", form: DesktopForm(), user: "anna", hub: hub, clock: clock),
            AgentDesktop(name: "other", form: DesktopForm(), user: "bob", hub: hub, clock: clock))
        let (channel, other) = (side.channel, side.other)
        let serving = Task { try await hub.run() }
        defer { serving.cancel() }
        try await withThrowingTaskGroup { group in
            group.addTask { try await channel.run() }
            group.addTask { try await other.run() }
            try await body(side)
            // As a daemon stops: its channels end when no agent is connected, so that none is asked to close anything.
            serving.cancel()
            _ = await serving.result
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
    }

    private init(_ channel: AgentDesktop, _ other: AgentDesktop) {
        (self.channel, self.other) = (channel, other)
        reports = channel.signals.makeAsyncIterator()
    }

    /// The next report.
    func next(isolation: isolated (any Actor)? = #isolation) async -> SurfaceSignal? {
        await reports.next(isolation: isolation)
    }

    /// The generation of the first report that a server is there; the channel began without one.
    func generation(isolation: isolated (any Actor)? = #isolation) async throws -> String {
        while let report = await next() {
            switch report {
            case .available(let generation): return generation
            case .absent, .unavailable: continue
            default: throw Unexpected(report: report)
            }
        }
        throw CancellationError()
    }
}

@Suite(.timeLimit(.minutes(5))) struct `the desktop of another user` {
    /// An agent at work on a desktop of its own while `body` looks on.
    private func withAgent(
        in folder: TemporaryFolder, bus address: String, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Void
    ) async throws {
        let clock = try SystemClock()
        let agent = DesktopAgent(instance: UniqueID.v4(), clock: clock, logger: quiet) { channel in
            Desktop(
                name: channel, form: DesktopForm(deadline: .seconds(60)),
                bus: SessionBus(environment: ["DBUS_SESSION_BUS_ADDRESS": address], userID: 4_000_000_000),
                clock: clock, logger: quiet)
        }
        let path = folder.file("agents.sock")
        try await withThrowingTaskGroup { group in
            group.addTask { try await agent.run(at: path) }
            try await body()
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
    }

    @Test func `is shown what is for it by its agent, which reports what happens there`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let folder = try TemporaryFolder()
        try await withAgent(in: folder, bus: bus.address) {
            try await DaemonSide.run(in: folder) { daemon in
                let generation = try await daemon.generation()
                var notice = makeNotice("Backup", "done")
                notice.actions = [.init(key: "default", label: "Open")]
                let remote = try await daemon.channel.show(notice, replacing: nil)
                #expect(remote == RemoteID(generation: generation, id: "1"))
                #expect(try await server.next()?.summary == "Backup")
                try server.press("default", of: 1)
                #expect(await daemon.next() == .action(remote, key: "default"))
                notice.revision = 2
                #expect(try await daemon.channel.show(notice, replacing: remote) == remote)
                #expect(try await server.next()?.replacesID == 1)
                await daemon.channel.close(remote)
                #expect(await daemon.next() == .closed(remote, .closedByUs, revision: nil))
            }
        }
    }

    @Test func `loses and doubles nothing when the daemon starts again`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let folder = try TemporaryFolder()
        try await withAgent(in: folder, bus: bus.address) {
            var remote: RemoteID?
            try await DaemonSide.run(in: folder) { daemon in
                _ = try await daemon.generation()
                remote = try await daemon.channel.show(makeNotice(), replacing: nil)
                #expect(try await server.next()?.replacesID == 0)
            }
            let shown = try #require(remote)
            try server.press("default", of: 1)
            try await DaemonSide.run(in: folder) { daemon in
                #expect(try await daemon.generation() == shown.generation)
                #expect(await daemon.next() == .action(shown, key: "default"))
                // It does not know that it was shown.
                #expect(try await daemon.channel.show(makeNotice(revision: 2), replacing: nil) == shown)
                #expect(try await server.next()?.replacesID == 1)
                // And nothing was reported twice.
                try server.press("later", of: 1)
                #expect(await daemon.next() == .action(shown, key: "later"))
            }
        }
    }

    @Test func `waits for an agent, and for the next one`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let folder = try TemporaryFolder()
        try await DaemonSide.run(in: folder) { daemon in
            let missing = "belfry agent does not run in the session of anna"
            #expect(await daemon.next() == .unavailable("nobody shows it: \(missing)"))
            await #expect(throws: DeliveryError.unreachable(.noServer, detail: missing)) {
                _ = try await daemon.channel.show(makeNotice(), replacing: nil)
            }
            var generation = ""
            try await withAgent(in: folder, bus: bus.address) { generation = try await daemon.generation() }
            #expect(await daemon.next() == .unavailable("nobody shows it any more: \(missing)"))
            try await withAgent(in: folder, bus: bus.address) {
                #expect(try await daemon.generation() == generation)
                _ = try await daemon.channel.show(makeNotice(), replacing: nil)
                #expect(try await server.next()?.summary == "Backup")
            }
        }
    }

    @Test func `is none of an agent whose user the channel does not name`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let folder = try TemporaryFolder()
        try await withAgent(in: folder, bus: bus.address) {
            try await DaemonSide.run(in: folder) { daemon in
                _ = try await daemon.generation()
                await #expect(throws: DeliveryError.self) {
                    _ = try await daemon.other.show(makeNotice("For bob"), replacing: nil)
                }
                _ = try await daemon.channel.show(makeNotice("For anna"), replacing: nil)
                #expect(try await server.next()?.summary == "For anna")
            }
        }
    }

    @Test func `takes four connections of a user, and no more`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let folder = try TemporaryFolder()
        try await withAgent(in: folder, bus: bus.address) {
            try await DaemonSide.run(in: folder) { daemon in
                _ = try await daemon.generation()
                var links: [AgentLink] = []
                for place in 2...5 {
                    let link = try AgentLink(try LocalSocket.connect(folder.file("agents.sock")))
                    links.append(link)
                    let (ends, end) = AsyncStream.makeStream(of: Never.self)
                    try link.start(named: "test") { _ in
                        true
                    } ended: {
                        end.finish()
                    }
                    // The last is closed at once; the test waits for that.
                    if place == 5 { for await _ in ends {} }
                }
                _ = try await daemon.channel.show(makeNotice(), replacing: nil)
                #expect(try await server.next()?.summary == "Backup")
                for link in links { link.close() }
            }
        }
    }

    @Test func `lets go of what its agent does not answer when the channel ends`() async throws {
        let folder = try TemporaryFolder()
        let hub = AgentHub(path: folder.file("agents.sock"), logger: quiet, userName: { _ in "anna" })
        let channel = AgentDesktop(
            name: "desk", form: DesktopForm(), user: "anna", hub: hub,
            clock: ManualClock(now: Moment(seconds: 1_750_000_000)))
        var reports = channel.signals.makeAsyncIterator()
        let serving = Task { try await hub.run() }
        let showing = Task { try await channel.run() }
        defer { serving.cancel() }
        // An agent that is connected, and shows nothing.
        let (link, frames) = try await connect(to: folder.file("agents.sock"))
        defer { link.close() }
        var frame = frames.makeAsyncIterator()
        #expect(await frame.next()?.kind == .serve)
        var presence = AgentFrame(.report, channel: "desk")
        presence.report = AgentReport(.available(generation: "1"))
        link.send(presence)
        while let report = await reports.next(), report != .available(generation: "1") {}
        let shown = Task { try await channel.show(makeNotice(), replacing: nil) }
        #expect(await frame.next()?.kind == .show)
        showing.cancel()
        await #expect(
            throws: DeliveryError.unreachable(.disconnected, detail: "the channel is no longer served")
        ) { _ = try await shown.value }
        #expect(await frame.next()?.kind == .leave)
    }

    @Test func `hears who an agent is once a connection`() async throws {
        let folder = try TemporaryFolder()
        try await DaemonSide.run(in: folder) { _ in
            let (link, frames) = try await connect(to: folder.file("agents.sock"))
            var frame = frames.makeAsyncIterator()
            #expect(await frame.next()?.kind == .serve)
            var hello = AgentFrame(.hello)
            hello.instance = "another"
            link.send(hello)
            while await frame.next() != nil {}
        }
    }

    /// A connection that has said hello, with what comes over it; the place may not be open yet.
    private func connect(to path: String) async throws -> (AgentLink, AsyncStream<AgentFrame>) {
        var socket: Descriptor?
        while socket == nil {
            socket = try? LocalSocket.connect(path)
            await Task.yield()
        }
        let link = try AgentLink(try #require(socket))
        let (frames, frame) = AsyncStream.makeStream(of: AgentFrame.self)
        try link.start(named: "test") {
            frame.yield($0)
            return true
        } ended: {
            frame.finish()
        }
        var hello = AgentFrame(.hello)
        hello.instance = "one"
        link.send(hello)
        return (link, frames)
    }
}
