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
        #expect(notice.body == "+2 more\nc\nd\ne")
    }

    @Test func `names a thread that is not the main one`() {
        #expect(
            NoticeComposer.compose(thread(["a", "b"], count: 2, thread: "deploys")).title
                == "ops · deploys · 2 new")
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

    @Test func `shows a letter where nobody chose an icon`() {
        #expect(NoticeComposer.compose(thread(["a"], count: 1)).icon == "mail-unread")
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
        #expect(notice.title == "backup · 99 %")
        #expect(notice.body == "copy: a.tar")
        #expect(notice.value == 99)
        #expect(notice.isTransient)
        #expect(!notice.ring)
    }

    @Test func `shows how long it still takes, beside what it does`() {
        var fact = JobFact(run: 1, state: .running, progress: 0.5, phase: "copy", at: start)
        fact.outlook = "about 6 s left"
        #expect(NoticeComposer.compose(job(.progress, fact)).body == "copy · about 6 s left")
        fact.phase = nil
        #expect(NoticeComposer.compose(job(.progress, fact)).body == "about 6 s left")
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
        let late = JobFact(run: 1, state: .timedOut, reason: .timeout, at: start)
        let killed = JobFact(run: 1, state: .failed, reason: .signal, signal: 9, at: start)
        let missing = JobFact(run: 1, state: .failed, reason: .notFound, at: start)
        #expect(NoticeComposer.compose(job(.failed, late, same: 1, all: 1)).title == "backup timed out")
        #expect(
            NoticeComposer.compose(job(.failed, late, same: 1, all: 1)).body == "took longer than its timeout"
        )
        #expect(NoticeComposer.compose(job(.failed, killed, same: 1, all: 1)).body == "ended by signal 9")
        #expect(
            NoticeComposer.compose(job(.failed, missing, same: 1, all: 1)).body
                == "command not found")
    }

    @Test func `shows a recovery with the length of the outage`() {
        let fact = JobFact(run: 9, state: .completed, exitCode: 0, at: start)
        let long = job(.recovered, fact, all: 4, outage: .seconds(3 * 3600 + 300), reason: .recovered)
        let notice = NoticeComposer.compose(long)
        #expect(notice.title == "backup recovered")
        #expect(notice.body == "down for 3 h 5 min, failed 4 times")
        #expect(notice.soundName == "complete")
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
