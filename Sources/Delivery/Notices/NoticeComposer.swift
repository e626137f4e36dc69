package import Grouping
import Timeline
import Tracking

/// Puts a version of an item into words.
package enum NoticeComposer {
    /// The notice for a version of an item; that of a job has `jobIcon`, or else the one that fits the news.
    package static func compose(
        _ item: ItemSnapshot, manner: BotManner = BotManner(), jobIcon: String? = nil
    ) -> Notice {
        let item = manner.hidesText ? item.withoutTexts : item
        var notice = Notice(
            item: item.key, revision: item.revision, title: "", body: "", urgency: item.urgency,
            tag: item.key.description, bot: item.bot, ring: item.reason.rings,
            reason: item.reason)
        switch item.content {
        case .messages(let count, let last):
            let usual = item.urgency == .critical ? IconName.criticalMessage : IconName.message
            notice.icon = manner.icon ?? usual
            var last = last
            if let limit = manner.previewCharacters {
                for index in last.indices { last[index].text = Preview.cut(last[index].text, to: limit) }
            }
            speak(of: last, count: count, to: &notice)
            if manner.answers { notice.actions.append(reply) }
        case .job(let report):
            notice.icon = jobIcon ?? IconName.of(report.news)
            var report = report
            if let limit = manner.previewCharacters { report.fact.cutTexts(to: limit) }
            speak(of: report, to: &notice)
        case .storm(let report):
            let isOver = report.failing == 0
            notice.title = report.title
            notice.body = report.lines.joined(separator: "\n")
            notice.icon = IconName.of(isOver ? .recovered : .failed)
            mark(isOver ? .recovered : .failed, in: &notice)
        case .question(let question):
            notice.icon = question.appearance?.icon ?? manner.icon ?? IconName.question
            notice.soundName = question.appearance?.soundName
            ask(question, in: &notice)
        }
        notice.soundName =
            notice.ring
            ? notice.soundName ?? manner.sounds[SoundKind(item.content)] ?? manner.soundName
                ?? sound(for: item.content) : nil
        return notice
    }

    private static func sound(for content: ItemSnapshot.Content) -> String {
        if case .question = content { return "dialog-question" }
        guard case .job(let report) = content else { return "message-new-instant" }
        switch report.news {
        case .failed, .lost, .missed: return "dialog-warning"
        case .blocked: return "dialog-question"
        case .started, .progress, .completed, .recovered, .canceled, .skipped: return "complete"
        }
    }
}

extension ItemSnapshot {
    /// The same where nobody may read over a shoulder: that there is something, and of whom, but not what.
    fileprivate var withoutTexts: ItemSnapshot {
        var item = self
        switch item.content {
        case .messages(let count, var last):
            for index in last.indices {
                (last[index].text, last[index].title) = ("A new message", nil)
                last[index].appearance.links = nil
            }
            item.content = .messages(count: count, last: Array(last.suffix(1)))
        case .job(var report):
            (report.fact.text, report.fact.phase) = (nil, nil)
            item.content = .job(report)
        case .storm(var report):
            report.text = nil
            item.content = .storm(report)
        case .question(var question):
            // Without its text nobody can answer it by a button.
            (question.text, question.choices, question.takesText) = ("A question waits for you.", [], false)
            item.content = .question(question)
        }
        return item
    }
}

// Questions.

extension NoticeComposer {
    private static let reply = NoticeAction(key: NoticeAction.replyKey, label: "Reply")

    /// The most characters of a question that are shown.
    private static let questionLimit = 1000

    private static func ask(_ question: Question, in notice: inout Notice) {
        let asker = Preview.cut(question.asker, to: 60)
        notice.title = asker == belfry ? "Question" : "\(asker) asks"
        let lines = [Preview.shape(question.text, to: questionLimit), question.deadlineWords]
        notice.body = lines.compactMap(\.self).joined(separator: "\n")
        // A button can't take a text.
        if question.takesText {
            notice.withoutReply = question.command
        } else {
            notice.withoutButtons = question.command
        }
        notice.category = question.appearance?.category ?? "x-belfry.question"
        notice.actions = zip(question.buttonKeys, question.choices).map {
            NoticeAction(key: $0, label: Preview.cut($1, to: 60))
        }
        if question.takesText { notice.actions.append(reply) }
        // It stays until it is closed.
        notice.expireAfter = .zero
    }
}

// Threads.

/// A bot's messages that one channel alone shows: a thread for each channel.
package enum DirectThread {
    private static let prefix = "to "

    /// The name of the thread of a channel.
    package static func name(of channel: String) -> String { prefix + channel }

    /// Whether that is the name of such a thread, which needs not be shown: there is no other on its channel.
    package static func isName(_ thread: String) -> Bool { thread.hasPrefix(prefix) }
}

/// What was kept back from a channel for a while, in messages of Belfry's own: a thread for each channel.
package enum DigestThread {
    private static let prefix = "digest "

    /// The name of the thread of a channel: one for programs, which people are not shown.
    package static func name(of channel: String) -> String { prefix + channel }

    /// Whether that is the name of such a thread.
    package static func isName(_ thread: String) -> Bool { thread.hasPrefix(prefix) }
}

extension NoticeComposer {
    /// Whose messages are scripts' own words, and no Markdown.
    static let belfry = "belfry"

    private static func speak(of last: [Message], count: Int, to notice: inout Notice) {
        var name = Preview.cut(notice.bot, to: 60)
        if case .thread(let bot, let thread) = notice.item, thread != "main", !DirectThread.isName(thread),
            bot != belfry || !DigestThread.isName(thread)
        {
            name += " · " + Preview.cut(thread, to: 60)
        }
        if count == 1, let message = last.last {
            notice.title = message.title.map { title(of: name, $0) } ?? name
            notice.body = message.text
            notice.markup = notice.bot == belfry ? nil : .markdown
        } else {
            notice.title = "\(name) · \(count) new"
            let more = count > last.count ? ["\(count - last.count) earlier"] : []
            notice.body = (more + last.map(line)).joined(separator: "\n")
            notice.markup = notice.bot == belfry ? nil : .markdownLines
        }
        notice.actions = [NoticeAction(key: NoticeAction.defaultKey, label: "Mark as read")]
        guard let look = last.last?.appearance else { return }
        notice.icon = look.icon ?? notice.icon
        notice.soundName = look.soundName
        notice.category = look.category ?? "im.received"
        notice.expireAfter = look.expireAfter
        notice.links = look.links.map(PageLink.fitting)
    }

    /// Whoever sets a title still says who speaks; Belfry's own word needs no such introduction.
    private static func title(of name: String, _ title: String) -> String {
        name == belfry ? title : "\(name): \(title)"
    }

    private static func line(_ message: Message) -> String {
        message.title.map { "\($0): \(message.text)" } ?? message.text
    }
}

// Jobs.

extension NoticeComposer {
    private static func speak(of report: JobReport, to notice: inout Notice) {
        let isAtWork = !report.fact.state.isEnded
        notice.title = title(report)
        notice.body = lines(report).joined(separator: "\n")
        mark(report.news, in: &notice)
        notice.value = isAtWork ? percent(report) : nil
        // A result that only ends what was shown of its run is as routine as that.
        notice.isTransient = isAtWork && report.news != .blocked || notice.reason == .settled
    }

    private static func mark(_ news: JobNews, in notice: inout Notice) {
        notice.news = news
        notice.category = "x-belfry.job.\(news.rawValue)"
    }

    private static func title(_ report: JobReport) -> String {
        switch report.news {
        // The same while a run lasts.
        case .started, .progress: report.job
        case .blocked: "\(report.job) waits for you"
        case .completed: "\(report.job) done"
        case .failed where report.sameFailures > 1: "\(report.job) failed \(report.sameFailures) times"
        case .failed where report.fact.state == .timedOut: "\(report.job) timed out"
        case .failed: report.fact.hasCrashed ? "\(report.job) crashed" : "\(report.job) failed"
        case .lost: "\(report.job) was lost"
        case .recovered: "\(report.job) recovered"
        case .canceled: "\(report.job) was cancelled"
        case .missed: "\(report.job) missed \(slots(report.fact.slots))"
        case .skipped: "\(report.job) skipped \(slots(report.fact.slots))"
        }
    }

    private static func lines(_ report: JobReport) -> [String] {
        let fact = report.fact
        switch report.news {
        case .started, .progress, .blocked:
            let past = report.sameFailures > 0 ? ["failed \(times(report.sameFailures)) before"] : []
            let line = [position(report), fact.outlook].compactMap(\.self).filter { !$0.isEmpty }
            return (line.isEmpty ? [] : [line.joined(separator: " · ")]) + past
        case .recovered:
            let long = report.outage.flatMap { $0 < .seconds(1) ? nil : $0.words }
            guard report.failures > 0 else { return long.map { ["after \($0)"] } ?? [] }
            let outage = long.map { " (\($0))" } ?? ""
            return ["after \(report.failures) failure\(report.failures == 1 ? "" : "s")\(outage)"]
        case .completed:
            let parts = [fact.took.map { "in \($0.words)" }, fact.text]
            return [parts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " · ")].filter {
                !$0.isEmpty
            }
        case .failed, .lost, .canceled, .missed, .skipped:
            let other = report.failures > report.sameFailures
            let count = other ? "\(report.failures) failures in a row, not all alike" : nil
            return [fact.text, fact.endingWords, count].compactMap(\.self).filter { !$0.isEmpty }
        }
    }

    /// How far a run is, and what it says: `50% · packing file 6 of 12`; without either, that it runs, and for how long it
    /// had when that was shown: `running for 8 s`.
    private static func position(_ report: JobReport) -> String {
        let said = LiveState.saying(phase: report.fact.phase ?? "", message: report.fact.text ?? "")
        let parts = [report.news == .blocked ? nil : percent(report).map { "\($0)%" }, said]
        let text = parts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " · ")
        guard text.isEmpty, report.news != .blocked else { return text }
        if let lasted = report.fact.lasted, lasted >= .seconds(1) { return "running for \(lasted.words)" }
        return report.news == .started ? "started" : "running"
    }

    /// Whole percent, rounded down, so that 100 is said at the end only; 0.29 is 29 all the same.
    private static func percent(_ report: JobReport) -> Int? {
        report.fact.progress.flatMap { part in
            part.isFinite ? Int((min(max(part, 0), 1) * 1_000_000).rounded()) / 10_000 : nil
        }
    }

    private static func slots(_ count: Int) -> String { count == 1 ? "a slot" : "\(count) slots" }

    private static func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }
}

extension JobFact {
    /// Shortens its texts to at most `limit` characters each.
    fileprivate mutating func cutTexts(to limit: Int) {
        (text, phase) = (text.map { Preview.cut($0, to: limit) }, phase.map { Preview.cut($0, to: limit) })
    }

    /// Whether a signal ended it that a fault of the program raises.
    fileprivate var hasCrashed: Bool { state == .failed && (signal.map(SignalName.isCrash) ?? false) }

    /// How it ended and when the next run comes: `exit code 3 after 12 s, next try 03:00`; `nil` when the state says it
    /// all.
    fileprivate var endingWords: String? {
        let words = [ending, next.map { "next try \($0.words(at: at))" }].compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// What a shell means by an exit code, where the run itself left no words; nil: nothing.
    private func shellWords(for code: Int) -> String? {
        guard text?.isEmpty ?? true else { return nil }
        switch code {
        case 126: return "command not executable (exit code 126)"
        case 127: return "command not found (exit code 127)"
        default: return nil
        }
    }

    private var ending: String? {
        let after = took.flatMap { $0 < .seconds(1) ? nil : " after \($0.words)" } ?? ""
        switch (state, reason) {
        case (.timedOut, _): return limit.map { "stopped at its limit of \($0.limitWords)" } ?? reason?.words
        case (.failed, _) where signal != nil:
            let name = signal.map(SignalName.text) ?? ""
            return (hasCrashed ? name : "ended by \(name)") + after
        // Its own sentence says it all.
        case (_, .notFound), (_, .notExecutable), (_, .badDirectory), (_, .badUser), (_, .spawnFailed):
            return text?.isEmpty ?? true ? reason?.words : nil
        case (.failed, .exitCode), (.failed, nil):
            return exitCode.map { (shellWords(for: $0) ?? "exit code \($0)") + after } ?? reason?.words
        default: return reason?.words
        }
    }
}

// Storms.

extension StormReport {
    /// `12 jobs failed on host db1`, `9 of 12 jobs still fail`, `12 jobs recovered`; in the singular for one job.
    var title: String {
        let shared = labelName.flatMap { name in labelValue.map { " on \(name) \($0)" } } ?? ""
        let all = total == 1 ? "1 job" : "\(total) jobs"
        if failing == 0 { return "\(all) recovered\(shared)" }
        if failing < total {
            return "\(failing) of \(total) jobs still \(failing == 1 ? "fails" : "fail")\(shared)"
        }
        let lost = total == 1 ? "was lost" : "were lost"
        return "\(all) \(isLost ? lost : "failed")\(shared)"
    }

    /// The text of the failure, and the names of the jobs.
    var lines: [String] {
        let shown = jobs.prefix(Self.names)
        let rest = max(failing, jobs.count) - shown.count
        let names = shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        return [failing == 0 ? nil : text, names].compactMap(\.self).filter { !$0.isEmpty }
    }

    private static let names = 8
}
