import Delivery
import Glibc
import Logging
import TestSupport
import Testing
import Timeline

@testable import DesktopChannel

@Suite(.timeLimit(.minutes(5))) struct `what happens on the desktop` {
    /// How long a server is waited for that does not answer: enough for a busy machine's that does.
    private static let short = Duration.seconds(30)

    @Test(arguments: [[], ["--unicast"]])
    func `comes back: closed by whom, pressed which`(options: [String]) async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address, options)
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            let remote = try await scene.desktop.show(makeNotice(), replacing: nil)
            try server.press("default", of: 1)
            for reason in 1...5 { try server.close(1, reason: reason) }
            #expect(await scene.next() == .action(remote, key: "default"))
            #expect(await scene.next() == .closed(remote, .expired, revision: 1))
            let reasons: [CloseReason] = [.dismissed, .closedByUs, .undefined, .undefined]
            for reason in reasons { #expect(await scene.next() == .closed(remote, reason, revision: nil)) }
        }
    }

    @Test func `is not believed from somebody who is not the server`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            let remote = try await scene.desktop.show(makeNotice(), replacing: nil)
            let us = try #require(try await server.next()).sender
            let liar = try ChildProcess(
                "dbus-send",
                [
                    "--bus=\(bus.address)", "--dest=\(us)", "--type=signal",
                    "/org/freedesktop/Notifications", "org.freedesktop.Notifications.ActionInvoked",
                    "uint32:1", "string:forged",
                ])
            #expect(await liar.status() == 0)
            try server.press("true", of: 1)
            #expect(await scene.next() == .action(remote, key: "true"))
        }
    }

    @Test func `a server that dies and comes back is a new life: old ids are not used again`() async throws {
        let bus = try await PrivateBus.start()
        let first = try await NotificationServer.start(at: bus.address, "--first-id", "5")
        try await Scene.run(at: bus.address) { scene in
            let before = try await scene.nextGeneration()
            let remote = try await scene.desktop.show(makeNotice(), replacing: nil)
            await first.process.end()
            #expect(await scene.next() == .unavailable("no notification server on the session bus"))
            await #expect(throws: DeliveryError.unreachable(.noServer)) {
                try await scene.desktop.show(makeNotice(revision: 2), replacing: remote)
            }

            let second = try await NotificationServer.start(
                at: bus.address, "--capabilities", "body", "--first-id", "1")
            let after = try await scene.nextGeneration()
            #expect(before != after)
            await scene.desktop.close(remote)
            let shown = try await scene.desktop.show(makeNotice("<b>", "<b>", revision: 2), replacing: remote)
            #expect(shown == RemoteID(generation: after, id: "1"))
            let call = try #require(try await second.next())
            #expect(call.replacesID == 0)
            #expect(call.body == "<b>")
        }
    }

    @Test func `a server that hangs costs one deadline, and its late answer counts`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address, deadline: Self.short) { scene in
            let generation = try await scene.nextGeneration()
            let remote = try await scene.desktop.show(makeNotice("1"), replacing: nil)
            server.process.signal(SIGSTOP)
            for title in ["2", "3"] {
                let error = await #expect(throws: DeliveryError.self) {
                    try await scene.desktop.show(makeNotice(title, revision: 2), replacing: remote)
                }
                #expect(error?.reason == .timeout)
            }
            #expect(await scene.next() == .unavailable("the notification server does not answer"))

            server.process.signal(SIGCONT)
            let item = makeNotice().item
            #expect(await scene.next() == .answered(item, revision: 2, .success(remote)))
            #expect(await scene.next() == .available(generation: generation))
            let again = try await scene.desktop.show(makeNotice("4", revision: 2), replacing: remote)
            #expect(again == remote)
            for title in ["1", "2", "4"] { #expect(try await server.next()?.summary == title) }
        }
    }

    @Test func `a server that only forgets one answer continues with others after a minute`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address, deadline: Self.short) { scene in
            let generation = try await scene.nextGeneration()
            try await server.hold()
            let lost = await #expect(throws: DeliveryError.self) {
                try await scene.desktop.show(makeNotice("1"), replacing: nil)
            }
            #expect(lost?.reason == .timeout)
            #expect(await scene.next() == .unavailable("the notification server does not answer"))
            let end = await scene.clock.nextSleeper()
            #expect(end - scene.clock.now == .seconds(60))
            scene.clock.advance(to: end)
            guard
                case .answered(_, 1, .failure(.retry(.timeout, .some(.seconds(3600)), _, _))) =
                    await scene.next()
            else {
                Issue.record("not put off")
                return
            }
            #expect(await scene.next() == .available(generation: generation))
            try server.release()
            // What it remembers even later is the answer all the same.
            let late = RemoteID(generation: generation, id: "1")
            #expect(await scene.next() == .answered(makeNotice().item, revision: 1, .success(late)))
            #expect(try await scene.desktop.show(makeNotice("2", revision: 2), replacing: late) == late)
        }
    }

    @Test func `an answer of a server that has ended is ignored`() async throws {
        let bus = try await PrivateBus.start()
        let first = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address, deadline: Self.short) { scene in
            let before = try await scene.nextGeneration()
            try await first.hold()
            await #expect(throws: DeliveryError.self) {
                try await scene.desktop.show(makeNotice("1"), replacing: nil)
            }
            #expect(await scene.next() == .unavailable("the notification server does not answer"))
            await first.process.end()
            #expect(await scene.next() == .unavailable("no notification server on the session bus"))
            let second = try await NotificationServer.start(at: bus.address, "--first-id", "9")
            let after = try await scene.nextGeneration()
            #expect(before != after)
            let shown = try await scene.desktop.show(makeNotice("1"), replacing: nil)
            #expect(shown == RemoteID(generation: after, id: "9"))
            #expect(try await second.next()?.replacesID == 0)
        }
    }

    @Test func `a server that hangs and dies makes room for the next`() async throws {
        let bus = try await PrivateBus.start()
        let first = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address, deadline: Self.short) { scene in
            let before = try await scene.nextGeneration()
            first.process.signal(SIGSTOP)
            await #expect(throws: DeliveryError.self) {
                try await scene.desktop.show(makeNotice(), replacing: nil)
            }
            #expect(await scene.next() == .unavailable("the notification server does not answer"))
            await first.process.end()
            #expect(await scene.next() == .unavailable("no notification server on the session bus"))
            let second = try await NotificationServer.start(at: bus.address)
            #expect(try await scene.nextGeneration() != before)
            _ = try await scene.desktop.show(makeNotice(), replacing: nil)
            #expect(try await second.next()?.replacesID == 0)
        }
    }
}

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
