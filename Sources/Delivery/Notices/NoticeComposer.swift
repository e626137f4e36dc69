package import Grouping
import Tracking

/// Puts a version of an item into words.
package enum NoticeComposer {
    /// The notice for a version of an item; that of a job has `jobIcon`, or else the one that fits the news.
    package static func compose(
        _ item: ItemSnapshot, manner: BotManner = BotManner(), jobIcon: String? = nil
    ) -> Notice {
        var notice = Notice(
            item: item.key, revision: item.revision, title: "", body: "", urgency: item.urgency,
            tag: item.key.description, bot: item.bot, ring: item.reason.rings,
            reason: item.reason)
        switch item.content {
        case .messages(let count, let last):
            notice.icon = manner.icon ?? IconName.message
            speak(of: last, count: count, to: &notice)
        case .job(let report):
            notice.icon = jobIcon ?? IconName.of(report.news)
            speak(of: report, to: &notice)
        case .storm(let report):
            let isOver = report.failing == 0
            notice.title = report.title
            notice.body = report.lines.joined(separator: "\n")
            notice.icon = IconName.of(isOver ? .recovered : .failed)
            notice.category = "x-belfry.job.\(isOver ? "recovered" : "failed")"
        }
        notice.soundName =
            notice.ring ? notice.soundName ?? manner.soundName ?? sound(for: item.content) : nil
        return notice
    }

    private static func sound(for content: ItemSnapshot.Content) -> String {
        guard case .job(let report) = content else { return "message-new-instant" }
        switch report.news {
        case .failed, .lost, .missed: return "dialog-warning"
        case .blocked: return "dialog-question"
        case .started, .progress, .completed, .recovered, .canceled, .skipped: return "complete"
        }
    }
}

// Threads.

extension NoticeComposer {
    private static func speak(of last: [Message], count: Int, to notice: inout Notice) {
        var name = Preview.cut(notice.bot, to: 60)
        if case .thread(_, let thread) = notice.item, thread != "main" {
            name += " · " + Preview.cut(thread, to: 60)
        }
        if count == 1, let message = last.last {
            notice.title = message.title.map { title(of: name, $0) } ?? name
            notice.body = message.text
        } else {
            notice.title = "\(name) · \(count) new"
            let more = count > last.count ? ["+\(count - last.count) more"] : []
            notice.body = (more + last.map(line)).joined(separator: "\n")
        }
        notice.actions = [NoticeAction(key: NoticeAction.defaultKey, label: "Mark as read")]
        guard let look = last.last?.appearance else { return }
        notice.icon = look.icon ?? notice.icon
        notice.soundName = look.soundName
        notice.category = look.category ?? "im.received"
        notice.expireAfter = look.expireAfter
    }

    /// Whoever sets a title still says who speaks; Belfry's own word needs no such introduction.
    private static func title(of name: String, _ title: String) -> String {
        name == "belfry" ? title : "\(name): \(title)"
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
        notice.category = "x-belfry.job.\(report.news.rawValue)"
        notice.value = isAtWork ? percent(report) : nil
        notice.isTransient = isAtWork && report.news != .blocked
    }

    private static func title(_ report: JobReport) -> String {
        switch report.news {
        case .started: "\(report.job) started"
        case .progress: percent(report).map { "\(report.job) · \($0) %" } ?? "\(report.job) is running"
        case .blocked: "\(report.job) waits for you"
        case .completed: "\(report.job) completed"
        case .failed where report.sameFailures > 1: "\(report.job) failed \(report.sameFailures) times"
        case .failed: report.fact.state == .timedOut ? "\(report.job) timed out" : "\(report.job) failed"
        case .lost: "\(report.job) was lost"
        case .recovered: "\(report.job) recovered"
        case .canceled: "\(report.job) was cancelled"
        case .missed: "\(report.job) missed \(slots(report.fact.slots))"
        case .skipped: "\(report.job) skipped \(slots(report.fact.slots))"
        }
    }

    private static func lines(_ report: JobReport) -> [String] {
        let fact = report.fact
        let said = [fact.phase, fact.text].compactMap(\.self).filter { !$0.isEmpty }
        switch report.news {
        case .started, .progress, .blocked:
            let past = report.sameFailures > 0 ? ["failed \(times(report.sameFailures)) before"] : []
            let line = [said.joined(separator: ": "), fact.outlook ?? ""].filter { !$0.isEmpty }
            return (line.isEmpty ? [] : [line.joined(separator: " · ")]) + past
        case .recovered:
            let down = report.outage.map { "down for \($0.words)" }
            return [[down, "failed \(times(report.failures))"].compactMap(\.self).joined(separator: ", ")]
        case .completed:
            return fact.text.map { [$0] } ?? []
        case .failed, .lost, .canceled, .missed, .skipped:
            let other = report.failures > report.sameFailures
            let count = other ? "\(report.failures) failures in a row, not all alike" : nil
            return [fact.text, fact.endingWords, count].compactMap(\.self).filter { !$0.isEmpty }
        }
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
    /// How it ended: `exit code 1`, `took longer than its timeout`; `nil` when the state says it all.
    fileprivate var endingWords: String? {
        if let signal { return "ended by signal \(signal)" }
        if reason == .exitCode || reason == nil, let exitCode { return "exit code \(exitCode)" }
        return reason?.words
    }
}
