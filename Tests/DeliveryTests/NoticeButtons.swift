import Grouping
import Testing
import Timeline
import Tracking

@testable import Delivery

@Suite struct `the buttons of a notice` {
    private func keys(
        _ content: ItemSnapshot.Content, _ key: ItemKey, bot: String = "ops",
        _ change: (inout NoticeOffer) -> Void
    ) -> [String] {
        let item = ItemSnapshot(
            key: key, revision: 1, bot: bot, urgency: .normal, reason: .first, at: Moment(seconds: 0),
            content: content)
        var (notice, offer) = (NoticeComposer.compose(item), NoticeOffer())
        change(&offer)
        NoticeComposer.addButtons(to: &notice, of: item, offering: offer)
        return notice.actions.map(\.key).filter { $0 != NoticeAction.defaultKey }
    }

    private func report(_ news: JobNews, _ state: RunState) -> ItemSnapshot.Content {
        .job(
            JobReport(job: "backup", news: news, fact: JobFact(run: 3, state: state, at: Moment(seconds: 0))))
    }

    @Test func `fit what happened to a job`() {
        let rows: [(JobNews, RunState, [String])] = [
            (.started, .running, ["cancel", "log"]),
            (.progress, .running, ["cancel", "log"]),
            (.blocked, .blocked, ["cancel", "log"]),
            (.failed, .failed, ["log", "run-again", "snooze", "mark-read", "mute"]),
            (.lost, .lost, ["log", "run-again", "snooze", "mark-read", "mute"]),
            (.missed, .missed, ["run-again", "mark-read"]),
            (.completed, .completed, ["log", "run-again"]),
            (.canceled, .canceled, ["log", "run-again"]),
        ]
        for (news, state, wanted) in rows {
            #expect(
                keys(report(news, state), .job("backup")) { ($0.hasTerminal, $0.isRepeatable) = (true, true) }
                    == wanted, "\(news)")
            let bare = wanted.filter { $0 != "log" && $0 != "run-again" }
            #expect(keys(report(news, state), .job("backup")) { _ in } == bare, "\(news)")
        }
        #expect(!keys(report(.failed, .failed), .job("backup"), bot: "belfry") { _ in }.contains("mute"))
    }

    @Test func `offer a talk only with a bot that answers, where there is a terminal`() {
        let message = Message(id: "m", bot: "ops", thread: "main", text: "hi", at: Moment(seconds: 0))
        let content = ItemSnapshot.Content.messages(count: 1, last: [message])
        let key = ItemKey.thread(bot: "ops", thread: "main")
        #expect(keys(content, key) { $0.answers = true } == ["mark-read", "snooze", "mute"])
        #expect(keys(content, key) { $0.hasTerminal = true } == ["mark-read", "snooze", "mute"])
        #expect(
            keys(content, key) { ($0.answers, $0.hasTerminal) = (true, true) }
                == ["reply", "open", "mark-read", "snooze", "mute"])
    }

    @Test func `leave those of a question alone`() {
        let question = Question(
            id: "q", bot: "ops", text: "?", choices: ["a", "b"], askedAt: Moment(seconds: 0))
        #expect(
            keys(.question(question), .question("q")) { $0.hasTerminal = true } == ["answer-1", "answer-2"])
    }

    @Test func `come in pages where a server has room for three`() {
        let all = ["default", "a", "b", "c", "d", "e"].map { NoticeAction(key: $0, label: $0) }
        func page(_ place: Int, _ room: Int?) -> [String] {
            NoticeAction.page(of: all, from: place, room: room).map(\.key)
        }
        #expect(page(0, nil) == ["default", "a", "b", "c", "d", "e"])
        #expect(page(0, 5) == ["default", "a", "b", "c", "d", "e"])
        #expect(page(0, 3) == ["default", "a", "b", "more-2"])
        #expect(page(2, 3) == ["default", "c", "d", "e"])
        #expect(page(0, 2) == ["default", "a", "more-1"])
        #expect(page(1, 2) == ["default", "b", "more-2"])
        #expect(page(4, 2) == ["default", "e"])
        #expect(page(-3, 3) == ["default", "a", "b", "more-2"])
        #expect(page(99, 3) == ["default"])
        #expect(NoticeAction.place(behind: "more-2") == 2)
        #expect(NoticeAction.place(behind: "more-x") == nil && NoticeAction.place(behind: "a") == nil)
    }

    @Test func `that open a terminal for a reply go where one can be typed`() {
        var notice = Notice(
            item: .thread(bot: "ops", thread: "main"), revision: 1, title: "ops", body: "hi", tag: "t",
            bot: "ops",
            ring: true, reason: .first)
        notice.actions = [
            NoticeAction(key: NoticeAction.replyKey, label: "Reply"),
            NoticeAction(key: "reply", label: "Reply"),
        ]
        func shown(_ capabilities: Set<String>) -> [String] {
            DesktopForm().render(notice, for: DesktopServer(name: nil, capabilities: capabilities)).actions
        }
        #expect(shown(["actions", "inline-reply"]) == ["inline-reply", "Reply"])
        #expect(shown(["actions"]) == ["reply", "Reply"])
        #expect(shown(["inline-reply"]) == [])
    }

    @Test func `do without that of a click on the body where it would be one more`() {
        var notice = Notice(
            item: .job("a"), revision: 1, title: "a", body: "", tag: "t", bot: "ops", ring: true,
            reason: .failed)
        notice.actions = ["default", "mark-read"].map { NoticeAction(key: $0, label: $0) }
        let keys = ["Xfce Notify Daemon", "dunst"].map { name in
            DesktopForm().render(notice, for: DesktopServer(name: name, capabilities: ["actions"])).actions
        }
        #expect(keys == [["mark-read", "mark-read"], ["default", "default", "mark-read", "mark-read"]])
    }

    @Test func `are cut off nowhere`() {
        let room = ["gnome-shell", "Notification Daemon", "Plasma", "dunst", "Xfce Notify Daemon", nil].map {
            DesktopServer(name: $0, capabilities: []).buttonRoom
        }
        #expect(room == [3, 3, nil, nil, nil, nil])
    }

    @Test func `and its texts are as long as its job wants`() {
        var fact = JobFact(run: 3, state: .failed, at: Moment(seconds: 0))
        fact.text = "the disk /mnt/backup is full"
        let item = ItemSnapshot(
            key: .job("backup"), revision: 1, bot: "ops", urgency: .normal, reason: .failed,
            at: Moment(seconds: 0), content: .job(JobReport(job: "backup", news: .failed, fact: fact)))
        func body(_ change: (inout BotManner) -> Void) -> String {
            var manner = BotManner()
            change(&manner)
            return NoticeComposer.compose(item, manner: manner).body
        }
        #expect(body { _ in } == "the disk /mnt/backup is full")
        #expect(body { $0.previewCharacters = 12 } == "the disk…")
        #expect(body { $0.hidesText = true } == "")
    }

    @Test func `and sounds are sent by name or by path`() {
        var notice = Notice(
            item: .job("a"), revision: 1, title: "a", body: "", tag: "t", bot: "ops", ring: true,
            reason: .failed)
        func sounds(_ name: String) -> [String: DesktopNotification.Hint] {
            notice.soundName = name
            let hints = DesktopForm().render(notice, for: DesktopServer(name: nil, capabilities: [])).hints
            return Dictionary(uniqueKeysWithValues: hints.filter { $0.name.contains("sound") })
        }
        #expect(sounds("bell") == ["sound-name": .string("bell")])
        #expect(sounds("/usr/share/sounds/a b.oga") == ["sound-file": .string("/usr/share/sounds/a b.oga")])
        notice.ring = false
        #expect(sounds("/usr/share/sounds/a.oga") == ["suppress-sound": .bool(true)])
    }
}
