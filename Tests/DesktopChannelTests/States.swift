import Delivery
import Logging
import Testing

@testable import DesktopChannel

@Suite struct `the states of a desktop` {
    private let signals: AsyncStream<SurfaceSignal>
    private let continuation: AsyncStream<SurfaceSignal>.Continuation

    init() {
        (signals, continuation) = AsyncStream.makeStream()
    }

    private func makeReports() -> StateReports {
        StateReports(
            to: continuation, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    private func reported() async -> [SurfaceSignal] {
        continuation.finish()
        return await signals.reduce(into: []) { $0.append($1) }
    }

    @Test func `are reported once each, whatever is reported of notices between them`() async {
        var reports = makeReports()
        let remote = RemoteID(generation: "a", id: "1")
        reports.report(.available(generation: "a"))
        reports.send(.action(remote, key: "default"))
        reports.report(.available(generation: "a"))
        reports.send(.action(remote, key: "default"))
        reports.report(.available(generation: "b"))
        #expect(
            await reported() == [
                .available(generation: "a"), .action(remote, key: "default"), .action(remote, key: "default"),
                .available(generation: "b"),
            ])
    }

    @Test func `distinguish a desktop that went away from one that was never there`() {
        var reports = makeReports()
        #expect(reports.away("no bus") == .absent("no bus"))
        reports.report(.unavailable("the server does not start"))
        #expect(reports.away("no bus") == .absent("no bus"))
        reports.report(.available(generation: "a"))
        #expect(reports.away("no bus") == .unavailable("no bus"))
    }
}
