import Delivery
import DesktopChannel
import Foundation
import Grouping
import Logging
import TestSupport
import Testing
import Timeline

/// A desktop channel at work, and what it reports.
final class Scene {
    let desktop: Desktop
    let clock = ManualClock(now: Moment(seconds: 1_750_000_000))
    private var reports: AsyncStream<SurfaceSignal>.Iterator

    /// Runs a channel that looks for its bus at `address` while `body` looks on.
    ///
    /// `deadline` is how long it waits for each answer: a busy machine's may take longer than the usual 2 s, and what is
    /// to be done then waits for the clock, which stands still.
    static func run(
        at address: String, deadline: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
        _ body: (Scene) async throws -> Void
    ) async throws {
        let scene = Scene(address: address, deadline: deadline)
        let desktop = scene.desktop
        try await withThrowingTaskGroup { group in
            group.addTask { try await desktop.run() }
            try await body(scene)
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
    }

    private init(address: String, deadline: Duration) {
        desktop = Desktop(
            name: "desk", form: DesktopForm(deadline: deadline),
            bus: SessionBus(environment: ["DBUS_SESSION_BUS_ADDRESS": address], userID: 4_000_000_000),
            clock: clock, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        reports = desktop.signals.makeAsyncIterator()
    }

    /// The next thing the channel reports.
    func next(isolation: isolated (any Actor)? = #isolation) async -> SurfaceSignal? {
        await reports.next(isolation: isolation)
    }

    /// The generation of the next report, which must be that a server is there.
    func nextGeneration(isolation: isolated (any Actor)? = #isolation) async throws -> String {
        let report = await next()
        guard case .available(let generation) = report else {
            throw Unexpected(report: report)
        }
        return generation
    }
}

struct Unexpected: Error {
    var report: SurfaceSignal?
}

/// A notice of bot `ops`, for the tests to change.
func makeNotice(_ title: String = "Backup", _ body: String = "", revision: Int = 1) -> Notice {
    Notice(
        item: .job("home-backup"), revision: revision, title: title, body: body, tag: "job:home-backup",
        bot: "ops", ring: true, reason: .first)
}

extension TemporaryFolder {
    /// What the file `name` holds; `nil` when there is none.
    func text(_ name: String) throws -> String? {
        guard FileManager.default.fileExists(atPath: file(name)) else { return nil }
        return try String(contentsOfFile: file(name), encoding: .utf8)
    }
}
