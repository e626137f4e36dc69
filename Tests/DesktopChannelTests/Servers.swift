import Delivery
import DesktopChannel
import Grouping
import TestSupport
import Testing

/// What distinguishes the servers that people have, as far as it decides what happens to a notice.
///
/// - Source: GNOME/gnome-shell 8f78208, KDE/plasma-workspace 0eb6cba, dunst-project/dunst 312ed56, emersion/mako c4df229,
///   ErikReider/SwayNotificationCenter b8017a4, xfce-mirror/xfce4-notifyd cc5428c.
struct Habits: Sendable, CustomTestStringConvertible {
    let name: String
    /// Whether a tag replaces what an earlier life of ours has shown.
    var replacesByTag = false
    /// Whether it draws a bar, and does so beside the text.
    var drawsBar = true
    var hasValue = true
    var takesReplies = false
    var showsThreeButtons = false
    /// The most notices of one sender.
    var keeps: Int?
    /// Whether the same content twice is refused.
    var refusesTheSame = false
    var hidesOnLockScreen = false

    var testDescription: String { name }

    static let all = [
        Habits(
            name: "gnome", drawsBar: false, showsThreeButtons: true, keeps: 10, hidesOnLockScreen: true),
        Habits(name: "kde", drawsBar: false, takesReplies: true, refusesTheSame: true),
        Habits(name: "dunst", replacesByTag: true),
        Habits(name: "mako", replacesByTag: true),
        Habits(name: "swaync", replacesByTag: true, takesReplies: true),
        Habits(name: "xfce", drawsBar: false, hasValue: false),
    ]
}

@Suite(.timeLimit(.minutes(5))) struct `a server like` {
    private func scene(
        _ habits: Habits, _ body: (Scene, NotificationServer, String) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address, "--like", habits.name)
        try await Scene.run(at: bus.address) { scene in
            try await body(scene, server, try await scene.nextGeneration())
        }
    }

    @Test(arguments: Habits.all)
    func `each shows one notice however often it changes`(habits: Habits) async throws {
        try await scene(habits) { scene, server, _ in
            var remote: RemoteID?
            for revision in 1...4 {
                let notice = makeNotice("Backup", "part \(revision)", revision: revision)
                let shown = try await scene.desktop.show(notice, replacing: remote)
                #expect(remote == nil || shown == remote)
                remote = shown
            }
            #expect(try await server.shown() == ["Backup|part 4"])
        }
    }

    @Test(arguments: Habits.all)
    func `each is never sent an id of another life, and only tags find what that showed`(
        habits: Habits
    ) async throws {
        try await scene(habits) { scene, server, _ in
            let old = try await scene.desktop.show(makeNotice("Backup", "old"), replacing: nil)
            let stranger = RemoteID(generation: "another", id: old.id)
            _ = try await scene.desktop.show(makeNotice("Backup", "new"), replacing: stranger)
            _ = try await server.next()
            #expect(try await server.next()?.replacesID == 0)
            #expect(
                try await server.shown()
                    == (habits.replacesByTag ? ["Backup|new"] : ["Backup|old", "Backup|new"])
            )
        }
    }

    @Test(arguments: Habits.all)
    func `each reports a button, and then that it closed what the button was on`(
        habits: Habits
    ) async throws {
        try await scene(habits) { scene, server, _ in
            var notice = makeNotice()
            notice.actions = ["a", "b", "c", "d", "e"].map { NoticeAction(key: $0, label: $0) }
            let remote = try await scene.desktop.show(notice, replacing: nil)
            let call = try #require(try await server.next())
            let wanted = habits.showsThreeButtons ? ["a", "b", "more-2"] : ["a", "b", "c", "d", "e"]
            #expect(call.actions.enumerated().filter { $0.offset % 2 == 0 }.map(\.element) == wanted)
            try server.press("b", of: call.id)
            #expect(await scene.next() == .action(remote, key: "b"))
            #expect(await scene.next() == .closed(remote, .dismissed, revision: 1))
        }
    }

    @Test(arguments: Habits.all)
    func `each takes the same content again for what is shown already`(habits: Habits) async throws {
        try await scene(habits) { scene, server, _ in
            let first = try await scene.desktop.show(makeNotice("Backup", "same"), replacing: nil)
            let second = try await scene.desktop.show(
                makeNotice("Backup", "same", revision: 2), replacing: first)
            #expect(first == second)
            var other = makeNotice("Backup", "same")
            (other.item, other.tag) = (.job("other"), "job:other")
            guard habits.refusesTheSame else {
                _ = try await scene.desktop.show(other, replacing: nil)
                #expect(try await server.shown().count == 2)
                return
            }
            let error = await #expect(throws: DeliveryError.self) {
                try await scene.desktop.show(other, replacing: nil)
            }
            #expect(error?.reason == .throttled)
        }
    }

    @Test(arguments: Habits.all)
    func `each says what it makes room for, which is still unread`(habits: Habits) async throws {
        try await scene(habits) { scene, server, _ in
            var first: RemoteID?
            for number in 1...11 {
                var notice = makeNotice("Job \(number)", "failed")
                (notice.item, notice.tag) = (.job("job\(number)"), "job:job\(number)")
                let remote = try await scene.desktop.show(notice, replacing: nil)
                first = first ?? remote
            }
            #expect(try await server.shown().count == habits.keeps ?? 11)
            if habits.keeps != nil {
                #expect(await scene.next() == .closed(try #require(first), .expired, revision: 1))
            }
        }
    }

    @Test(arguments: Habits.all)
    func `each shows how far a run is, drawn or as text`(habits: Habits) async throws {
        try await scene(habits) { scene, server, _ in
            var notice = makeNotice("backup", "50% · packing · about 6 s left")
            (notice.value, notice.news, notice.urgency) = (50, .progress, .low)
            _ = try await scene.desktop.show(notice, replacing: nil)
            let call = try #require(try await server.next())
            #expect(call.summary == "backup")
            #expect(call.hints["value"] == (habits.hasValue ? "i:50" : nil))
            let bar = habits.drawsBar ? "" : "████████░░░░░░░░\n"
            #expect(call.body == bar + "50% · packing · about 6 s left")
        }
    }

    @Test(arguments: Habits.all)
    func `each gets hints of the types that all servers read`(habits: Habits) async throws {
        try await scene(habits) { scene, server, _ in
            var notice = makeNotice("Backup", "<b>&")
            notice.soundName = "/usr/share/sounds/a.oga"
            _ = try await scene.desktop.show(notice, replacing: nil)
            let call = try #require(try await server.next())
            #expect(call.hints["urgency"] == "y:1" && call.hints["desktop-entry"] == "s:belfry")
            #expect(call.hints["x-kde-origin-name"] == "s:ops")
            #expect(call.hints["transient"] == nil, "xfce looks only whether it is there")
            #expect(call.hints["sound-file"] == "s:/usr/share/sounds/a.oga", "GNOME reads no address")
            #expect(call.hints["x-gnome-privacy-scope"] == (habits.hidesOnLockScreen ? "s:user" : nil))
            #expect(call.body == "&lt;b&gt;&amp;" || call.body == "&lt;b&gt;&", "\(call.body)")
        }
    }

    @Test(arguments: Habits.all)
    func `each has a typed reply where it takes one`(habits: Habits) async throws {
        try await scene(habits) { scene, server, _ in
            var notice = makeNotice()
            notice.actions = [
                NoticeAction(key: NoticeAction.replyKey, label: "Reply"),
                NoticeAction(key: NoticeButton.reply.rawValue, label: "Reply"),
            ]
            let remote = try await scene.desktop.show(notice, replacing: nil)
            let call = try #require(try await server.next())
            #expect(call.actions == [habits.takesReplies ? "inline-reply" : "reply", "Reply"])
            guard habits.takesReplies else { return }
            #expect(call.hints["x-kde-reply-placeholder-text"] == "s:Reply to ops")
            try server.reply("yes; rm -rf", to: call.id)
            #expect(await scene.next() == .reply(remote, text: "yes; rm -rf"))
        }
    }

    @Test(arguments: Habits.all)
    func `each says nothing new when what it never showed is closed`(habits: Habits) async throws {
        try await scene(habits) { scene, server, generation in
            let remote = try await scene.desktop.show(makeNotice(), replacing: nil)
            await scene.desktop.close(RemoteID(generation: generation, id: "999"))
            await scene.desktop.close(RemoteID(generation: generation, id: "no number"))
            await scene.desktop.close(remote)
            #expect(await scene.next() == .closed(remote, .closedByUs, revision: nil))
            #expect(try await server.shown().isEmpty)
        }
    }
}
