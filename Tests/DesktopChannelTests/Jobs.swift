import DBus
import Delivery
import DesktopChannel
import Grouping
import TestSupport
import Testing

/// Runs at work on Plasma, and on docks.
@Suite(.timeLimit(.minutes(5))) struct `a run at work` {
    private func makeRun(_ percent: Int?, _ text: String, revision: Int) -> Notice {
        var notice = makeNotice("backup", text, revision: revision)
        (notice.value, notice.news, notice.icon) = (percent, .progress, "appointment-soon")
        return notice
    }

    @Test func `is a job of Plasma, with its time and its buttons, and the result a notification`()
        async throws
    {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address, "--like", "kde", "--jobs", "V2")
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            let first = try await scene.desktop.show(
                makeRun(50, "50% · packing · about 6 s left\nfailed once before", revision: 1), replacing: nil
            )
            let request = try #require(try await server.next("requestView"))
            #expect(request.summary == "belfry" && request.id == 3)
            #expect(request.hints["title"] == "s:backup" && request.hints["transient"] == "b:true")
            let update = try #require(try await server.next("update"))
            #expect(update.appName == request.appName)
            #expect(
                update.hints == [
                    "title": "s:backup", "infoMessage": "s:50% · packing · about 6 s left", "percent": "u:50",
                    "suspended": "b:false",
                ])
            for (member, key) in [
                ("cancelRequested", "cancel"), ("suspendRequested", "pause"), ("resumeRequested", "resume"),
            ] {
                try server.signal(member, ofJob: request.appName)
                #expect(await scene.next() == .action(first, key: key))
            }

            var paused = makeRun(60, "60% · paused", revision: 2)
            paused.actions = [NoticeAction(key: "resume", label: "Resume")]
            #expect(try await scene.desktop.show(paused, replacing: first) == first)
            let next = try #require(try await server.next("update"))
            #expect(next.hints["suspended"] == "b:true" && next.hints["percent"] == "u:60")
            // An older version never takes the place of a newer one.
            #expect(try await scene.desktop.show(makeRun(55, "55%", revision: 1), replacing: first) == first)

            var done = makeNotice("backup done", "in 12 s", revision: 3)
            done.news = .completed
            let result = try await scene.desktop.show(done, replacing: first)
            #expect(try await server.next("terminate")?.id == 0)
            let shown = try #require(try await server.next())
            #expect(shown.summary == "backup done" && shown.replacesID == 0 && result.id == "\(shown.id)")
        }
    }

    @Test func `is a job of an older Plasma, too`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address, "--like", "kde", "--jobs", "V1")
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            let remote = try await scene.desktop.show(makeRun(50, "50%", revision: 1), replacing: nil)
            let request = try #require(try await server.next("requestView"))
            #expect(request.summary == "Belfry" && request.id == 3)
            #expect(try await server.next("setInfoMessage")?.body == "backup: 50%")
            #expect(try await server.next("setPercent")?.body == "50")
            await scene.desktop.close(remote)
            #expect(try await server.next("terminate")?.appName == request.appName)
        }
    }

    @Test func `is a notification where nobody shows jobs, and its result takes its place`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address, "--like", "dunst")
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            let run = try await scene.desktop.show(makeRun(50, "50%", revision: 1), replacing: nil)
            let done = try await scene.desktop.show(makeNotice("backup done", revision: 2), replacing: run)
            #expect(run == done)
            #expect(try await server.shown() == ["backup done|"])
        }
    }

    @Test func `and unread messages are on the icon of a dock, each change once`() async throws {
        let bus = try await PrivateBus.start()
        let eye = try await DBusConnection.connect(to: bus.address, deadline: .seconds(60))
        try await eye.subscribe(
            to: DBusMatch(interface: "com.canonical.Unity.LauncherEntry"), deadline: .seconds(60))
        let server = try await NotificationServer.start(at: bus.address, "--like", "gnome")
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            let dock = Dock(eye)
            await scene.desktop.showBadge(0)
            await scene.desktop.showBadge(3)
            await scene.desktop.showBadge(3)
            #expect(
                try await dock.next() == [
                    "count": .int64(3), "count-visible": .bool(true), "progress": .double(0),
                    "progress-visible": .bool(false),
                ])
            let first = try await scene.desktop.show(makeRun(50, "50%", revision: 1), replacing: nil)
            #expect(try await dock.next()["progress"] == .double(0.5))
            var other = makeRun(100, "100%", revision: 1)
            (other.item, other.tag) = (.job("other"), "job:other")
            let second = try await scene.desktop.show(other, replacing: nil)
            #expect(try await dock.next()["progress"] == .double(0.75))
            await scene.desktop.close(second)
            #expect(try await dock.next()["progress"] == .double(0.5))
            _ = try await scene.desktop.show(makeNotice("backup done", revision: 2), replacing: first)
            #expect(try await dock.next()["progress-visible"] == .bool(false))
        }
        withExtendedLifetime(server) {}
    }
}

/// What a dock reads.
private final class Dock {
    private var signals: AsyncStream<DBusSignal>.Iterator

    init(_ connection: DBusConnection) { signals = connection.signals.makeAsyncIterator() }

    /// What the next signal says of Belfry's icon.
    func next(isolation: isolated (any Actor)? = #isolation) async throws -> [String: DBusValue] {
        while let signal = await signals.next(isolation: isolation) {
            guard signal.member == "Update" else { continue }
            #expect(signal.arguments.first == .string("application://belfry.desktop"))
            guard case .dictionary(_, _, let entries)? = signal.arguments.last else { continue }
            return entries.reduce(into: [:]) { found, entry in
                if case .variant(let value) = entry.value { found[entry.key.text ?? ""] = value }
            }
        }
        throw Unexpected(report: nil)
    }
}
