import Delivery
import Grouping
import Testing
import Timeline
import Tracking

private let start = Moment(seconds: 1_700_000_000)

private func thread(
    _ texts: [String], count: Int, thread: String = "main", reason: RingReason = .first,
    change: (inout Message) -> Void = { _ in }
) -> ItemSnapshot {
    let last = texts.map { text in
        var message = Message(id: text, bot: "ops", thread: thread, text: text, at: start)
        change(&message)
        return message
    }
    return ItemSnapshot(
        key: .thread(bot: "ops", thread: thread), revision: 7, bot: "ops", urgency: .normal, reason: reason,
        at: start, content: .messages(count: count, last: last))
}

private func job(
    _ news: JobNews, _ fact: JobFact, same: Int = 0, all: Int = 0, outage: Duration? = nil,
    reason: RingReason = .failed
) -> ItemSnapshot {
    let report = JobReport(
        job: "backup", news: news, fact: fact, sameFailures: same, failures: all, outage: outage)
    return ItemSnapshot(
        key: .job("backup"), revision: 3, bot: "ops", urgency: .normal, reason: reason, at: start,
        content: .job(report))
}

@Suite struct `the notice of a thread` {
    @Test func `with one message is that message`() {
        let notice = NoticeComposer.compose(thread(["all fine"], count: 1))
        #expect(notice.title == "ops")
        #expect(notice.body == "all fine")
        #expect(notice.tag == "thread:ops/main")
        #expect(notice.revision == 7)
        #expect(notice.actions == [NoticeAction(key: NoticeAction.defaultKey, label: "Mark as read")])
    }

    @Test func `with five counts them and shows the last three, newest last`() {
        let notice = NoticeComposer.compose(thread(["c", "d", "e"], count: 5))
        #expect(notice.title == "ops · 5 new")
        #expect(notice.body == "2 earlier\nc\nd\ne")
    }

    @Test func `names a thread that is not the main one`() {
        #expect(
            NoticeComposer.compose(thread(["a", "b"], count: 2, thread: "deploys")).title
                == "ops · deploys · 2 new")
    }

    @Test func `of a digest has the digest's title alone`() {
        var message = Message(id: "d", bot: "belfry", thread: "digest desk", text: "a\nb", at: start)
        message.title = "While it was quiet: 2 things"
        func title(_ bot: String, count: Int) -> String {
            NoticeComposer.compose(
                ItemSnapshot(
                    key: .thread(bot: bot, thread: "digest desk"), revision: 1, bot: bot, urgency: .normal,
                    reason: .first, at: start, content: .messages(count: count, last: [message]))
            ).title
        }
        #expect(title("belfry", count: 1) == "While it was quiet: 2 things")
        #expect(title("belfry", count: 2) == "belfry · 2 new")
        #expect(title("ops", count: 1) == "ops · digest desk: While it was quiet: 2 things")
    }

    @Test func `takes a message's title, before the text when there are several`() {
        let one = NoticeComposer.compose(thread(["done"], count: 1) { $0.title = "Deploy" })
        let two = NoticeComposer.compose(thread(["done", "live"], count: 2) { $0.title = "Deploy" })
        #expect(one.title == "ops: Deploy")
        #expect(two.body == "Deploy: done\nDeploy: live")
    }

    @Test func `looks and sounds as its newest message asks, then as its bot does`() {
        let manner = BotManner(soundName: "bell", icon: "robot")
        let plain = NoticeComposer.compose(thread(["a"], count: 1), manner: manner)
        #expect((plain.soundName, plain.icon, plain.category) == ("bell", "robot", "im.received"))
        let look = Appearance(icon: "x", soundName: "y", category: "z", expireAfter: .seconds(5))
        let own = NoticeComposer.compose(thread(["a"], count: 1) { $0.appearance = look }, manner: manner)
        #expect((own.soundName, own.icon, own.category) == ("y", "x", "z"))
        #expect(own.expireAfter == .seconds(5))
    }

    @Test func `leads to the pages of its newest message, unless its text is hidden`() throws {
        let pages = (1...9).map { PageLink(label: "Page \($0)", url: "https://e.org/\($0)") }
        let item = thread(["a"], count: 1) { $0.appearance = Appearance(links: pages) }
        let links = try #require(NoticeComposer.compose(item).links)
        #expect(links.map(\.url) == pages.prefix(PageLink.most).map(\.url))
        var hidden = BotManner()
        hidden.hidesText = true
        #expect(NoticeComposer.compose(item, manner: hidden).links == nil)
        #expect(NoticeComposer.compose(thread(["a"], count: 1)).links == nil)
    }

    @Test func `of a message shows no run at work, whatever category the message names`() {
        let look = Appearance(category: "x-belfry.job.progress")
        let notice = NoticeComposer.compose(thread(["hi"], count: 1) { $0.appearance = look })
        #expect(notice.category == "x-belfry.job.progress" && notice.news == nil && !notice.isLive)
    }

    @Test func `shows a letter where nobody chose an icon`() {
        #expect(NoticeComposer.compose(thread(["a"], count: 1)).icon == "mail-unread")
        var critical = thread(["a"], count: 1)
        critical.urgency = .critical
        #expect(NoticeComposer.compose(critical).icon == "dialog-warning")
        #expect(NoticeComposer.compose(critical, manner: BotManner(icon: "robot")).icon == "robot")
    }

    @Test func `is silent, and without a sound, when its version does not ring`() {
        let notice = NoticeComposer.compose(thread(["a"], count: 1, reason: .tooSoon))
        #expect(!notice.ring)
        #expect(notice.soundName == nil)
        #expect(notice.reason == .tooSoon)
    }
}

@Suite struct `the notice of a job` {
    @Test func `shows progress as a bar and never a hundred before the end`() {
        let fact = JobFact(run: 1, state: .running, progress: 0.999, phase: "copy", text: "a.tar", at: start)
        let notice = NoticeComposer.compose(job(.progress, fact, reason: .progressed))
        #expect(notice.title == "backup")
        #expect(notice.body == "99% · copy: a.tar")
        #expect(notice.value == 99)
        #expect(notice.isTransient)
        #expect(!notice.ring)
    }

    @Test func `shows how long a run has lasted that says nothing of itself`() {
        var fact = JobFact(run: 1, state: .running, at: start)
        #expect(NoticeComposer.compose(job(.started, fact)).body == "started")
        fact.lasted = .seconds(8)
        #expect(NoticeComposer.compose(job(.started, fact)).body == "running for 8 s")
        fact.outlook = "usually 4 min"
        #expect(NoticeComposer.compose(job(.started, fact)).body == "running for 8 s · usually 4 min")
        fact.phase = "copy"
        #expect(NoticeComposer.compose(job(.progress, fact)).body == "copy · usually 4 min")
    }

    @Test func `shows how long it still takes, beside what it does`() {
        var fact = JobFact(run: 1, state: .running, progress: 0.5, phase: "copy", at: start)
        fact.outlook = "about 6 s left"
        #expect(NoticeComposer.compose(job(.progress, fact)).body == "50% · copy · about 6 s left")
        fact.phase = nil
        #expect(NoticeComposer.compose(job(.progress, fact)).body == "50% · about 6 s left")
    }

    @Test(arguments: [(0.0, 0), (0.29, 29), (0.57, 57), (1.0, 100), (-1, 0), (7, 100)])
    func `shows whole percent within bounds`(_ part: Double, _ value: Int) {
        let fact = JobFact(run: 1, state: .running, progress: part, at: start)
        #expect(NoticeComposer.compose(job(.progress, fact)).value == value)
    }

    @Test func `shows how it failed, how often, and shows no bar`() {
        let fact = JobFact(
            run: 3, state: .failed, reason: .exitCode, exitCode: 2, progress: 0.4, text: "disk full",
            at: start)
        let once = NoticeComposer.compose(job(.failed, fact, same: 1, all: 1))
        let again = NoticeComposer.compose(job(.failed, fact, same: 3, all: 4, reason: .sameFailure))
        #expect(once.title == "backup failed")
        #expect(once.body == "disk full\nexit code 2")
        #expect(once.value == nil)
        #expect(once.soundName == "dialog-warning")
        #expect(again.title == "backup failed 3 times")
        #expect(again.body == "disk full\nexit code 2\n4 failures in a row, not all alike")
    }

    @Test func `shows a timeout, a signal and a missing command in words`() {
        func words(_ fact: JobFact) -> [String] {
            let notice = NoticeComposer.compose(job(.failed, fact, same: 1, all: 1))
            return [notice.title] + notice.body.split(separator: "\n").map(String.init)
        }
        var late = JobFact(run: 1, state: .timedOut, reason: .timeout, signal: 15, at: start)
        #expect(words(late) == ["backup timed out", "took longer than its timeout"])
        late.limit = .seconds(3)
        late.took = .seconds(3)
        #expect(words(late) == ["backup timed out", "stopped at its limit of 3 s"])
        late.limit = .milliseconds(300)
        #expect(words(late) == ["backup timed out", "stopped at its limit of 300 ms"])
        let killed = JobFact(run: 1, state: .failed, reason: .signal, signal: 9, at: start)
        #expect(words(killed) == ["backup failed", "ended by SIGKILL"])
        var boom = JobFact(run: 1, state: .failed, reason: .signal, signal: 11, text: "step 3", at: start)
        boom.took = .seconds(2)
        #expect(words(boom) == ["backup crashed", "step 3", "SIGSEGV after 2 s"])
        var missing = JobFact(run: 1, state: .failed, reason: .notFound, at: start)
        #expect(words(missing) == ["backup failed", "command not found"])
        missing.text = "/usr/bin/x does not exist"
        #expect(words(missing) == ["backup failed", "/usr/bin/x does not exist"])
    }

    @Test func `shows the line that explains a failure first, and the code with the next try last`() {
        var fact = JobFact(
            run: 3, state: .failed, reason: .exitCode, exitCode: 3, text: "no tape in the drive", at: start)
        fact.took = .seconds(12)
        // 22:13:20 UTC, and an hour more in Berlin.
        fact.next = NextTry(at: start + .seconds(13_600), offsetSeconds: 3600)
        let notice = NoticeComposer.compose(job(.failed, fact, same: 1, all: 1))
        #expect(notice.body == "no tape in the drive\nexit code 3 after 12 s, next try 03:00")
    }

    @Test(arguments: [
        (60, "22:14:20"), (400, "22:20"), (86_400 + 400, "Wed 22:20"), (7 * 86_400 + 400, "21 Nov 22:20"),
    ])
    func `shows the next try with as much of the date as it needs`(_ seconds: Int64, _ words: String) {
        #expect(NextTry(at: start + .seconds(seconds), offsetSeconds: 0).words(at: start) == words)
    }

    @Test func `shows what a run says while it lasts, under one title`() {
        let begun = JobFact(run: 1, state: .starting, at: start)
        let silent = JobFact(run: 1, state: .running, at: start)
        #expect(NoticeComposer.compose(job(.started, begun)).title == "backup")
        #expect(NoticeComposer.compose(job(.started, begun)).body == "started")
        #expect(NoticeComposer.compose(job(.progress, silent)).title == "backup")
        #expect(NoticeComposer.compose(job(.progress, silent)).body == "running")
    }

    @Test func `says what a shell means by its exit code where nothing was printed`() {
        var fact = JobFact(run: 1, state: .failed, reason: .exitCode, exitCode: 127, at: start)
        #expect(NoticeComposer.compose(job(.failed, fact)).body == "command not found (exit code 127)")
        fact.exitCode = 126
        #expect(NoticeComposer.compose(job(.failed, fact)).body == "command not executable (exit code 126)")
        (fact.exitCode, fact.text) = (127, "sh: 1: resitc: not found")
        #expect(NoticeComposer.compose(job(.failed, fact)).body == "sh: 1: resitc: not found\nexit code 127")
    }

    @Test func `says a count as the tool does`() {
        var fact = JobFact(run: 1, state: .running, progress: 0.5, at: start)
        (fact.phase, fact.text) = ("packing", "packing file 6 of 12")
        #expect(NoticeComposer.compose(job(.progress, fact)).body == "50% · packing file 6 of 12")
    }

    @Test func `shows how long a success took, and its last words`() {
        var fact = JobFact(run: 1, state: .completed, exitCode: 0, text: "12 files", at: start)
        fact.took = .seconds(12)
        let notice = NoticeComposer.compose(job(.completed, fact, reason: .finished))
        #expect(notice.title == "backup done")
        #expect(notice.body == "in 12 s · 12 files")
    }

    @Test func `shows a recovery with the length of the outage`() {
        let fact = JobFact(run: 9, state: .completed, exitCode: 0, at: start)
        let long = job(.recovered, fact, all: 4, outage: .seconds(3 * 3600 + 300), reason: .recovered)
        let notice = NoticeComposer.compose(long)
        #expect(notice.title == "backup recovered")
        #expect(notice.body == "after 4 failures (3 h 5 min)")
        #expect(notice.soundName == "complete")
        let short = job(.recovered, fact, all: 1, outage: .seconds(14), reason: .recovered)
        #expect(NoticeComposer.compose(short).body == "after 1 failure (14 s)")
    }

    @Test func `shows missed slots by their number`() {
        let fact = JobFact(run: nil, state: .missed, reason: .catchUpNone, slots: 12, at: start)
        let notice = NoticeComposer.compose(job(.missed, fact, reason: .missed))
        #expect(notice.title == "backup missed 12 slots")
        #expect(notice.body == "the job does not catch up")
    }
}

@Suite struct `the icon of a job` {
    @Test(arguments: [
        (JobNews.started, RunState.starting, "appointment-soon"), (.progress, .running, "appointment-soon"),
        (.blocked, .blocked, "dialog-question"), (.completed, .completed, "emblem-default"),
        (.recovered, .completed, "emblem-default"), (.failed, .failed, "dialog-error"),
        (.failed, .timedOut, "dialog-error"), (.lost, .lost, "dialog-error"),
        (.missed, .missed, "appointment-missed"), (.canceled, .canceled, "dialog-information"),
    ])
    func `shows what happened, whatever its bot looks like`(
        _ news: JobNews, _ state: RunState, _ icon: String
    ) {
        let fact = JobFact(run: 1, state: state, at: start)
        let manner = BotManner(soundName: "bell", icon: "robot")
        let notice = NoticeComposer.compose(job(news, fact), manner: manner)
        #expect(notice.icon == icon && notice.soundName == "bell")
    }

    @Test func `is the job's own where it has one`() {
        let fact = JobFact(run: 1, state: .failed, at: start)
        #expect(
            NoticeComposer.compose(job(.failed, fact), jobIcon: "drive-harddisk").icon == "drive-harddisk")
        #expect(NoticeComposer.compose(thread(["a"], count: 1), jobIcon: "x").icon == "mail-unread")
    }

    @Test(arguments: [
        ("drive-harddisk", nil), ("/usr/share/pixmaps/a b.png", nil), ("", "can't be empty"),
        ("a\nb", "contains a control character"),
        ("/" + String(repeating: "x", count: 4096), "has more than 4096 bytes"),
        ("icons/a.png", "is neither an icon's name nor an absolute path"),
        ("file:///a.png", "is neither an icon's name nor an absolute path"),
    ])
    func `is a name or an absolute path`(_ text: String, _ fault: String?) {
        #expect(IconName.fault(in: text) == fault)
    }
}

@Suite struct `the popup of a bot's message` {
    private let start = Moment(seconds: 1_700_000_000)

    private func body(
        _ texts: [String], bot: String = "sage", _ capabilities: Set<String> = ["body", "body-markup"]
    ) -> String {
        let last = texts.map { Message(id: $0, bot: bot, thread: "main", text: $0, at: start) }
        let item = ItemSnapshot(
            key: .thread(bot: bot, thread: "main"), revision: 1, bot: bot, urgency: .normal, reason: .first,
            at: start, content: .messages(count: texts.count, last: last))
        let server = DesktopServer(name: "server", capabilities: capabilities)
        return DesktopForm().render(NoticeComposer.compose(item), for: server).body
    }

    private let text = "# News\n- **two** <new>\n- [docs](https://e.org)"

    @Test func `is Markdown as the server's markup`() {
        #expect(body([text]) == "<b>News</b>\n• <b>two</b> &lt;new&gt;\n• docs (https://e.org)")
        let links: Set<String> = ["body", "body-markup", "body-hyperlinks"]
        #expect(body([text], links).hasSuffix("• <a href=\"https://e.org\">docs</a>"))
    }

    @Test func `is plain where the server reads no markup`() {
        #expect(body([text], ["body"]) == "News\n• two <new>\n• docs (https://e.org)")
    }

    @Test func `is a line each where there are several`() {
        #expect(body(["**a**", "# b"]) == "<b>a</b>\n# b")
    }

    @Test func `is for the user alone on GNOME's locked screen`() {
        let item = ItemSnapshot(
            key: .thread(bot: "sage", thread: "main"), revision: 1, bot: "sage", urgency: .normal,
            reason: .first, at: start,
            content: .messages(
                count: 1, last: [Message(id: "1", bot: "sage", thread: "main", text: "a", at: start)]))
        func scope(_ name: String) -> DesktopNotification.Hint? {
            let server = DesktopServer(name: name, capabilities: ["body"])
            return DesktopForm().render(NoticeComposer.compose(item), for: server).hints
                .first { $0.name == "x-gnome-privacy-scope" }?.value
        }
        #expect(scope("gnome-shell") == .string("user"))
        #expect(scope("dunst") == nil)
    }

    @Test func `is left as it is of Belfry's own, which scripts send`() {
        #expect(body(["**a** <b>"], bot: "belfry") == "**a** &lt;b&gt;")
    }
}
