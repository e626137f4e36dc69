import Cron
package import Delivery
import Grouping
package import Ledger
package import Performing
import Prompting
import Timeline
package import Tracking

/// How a run ended: state and reason.
package struct RunOutcome: Hashable, Sendable {
    package var state: RunState
    package var reason: RunReason?

    package init(_ state: RunState, _ reason: RunReason? = nil) {
        self.state = state
        self.reason = reason
    }

    /// The outcome of an attempt's record.
    package init(_ record: ExitRecord) {
        switch record.cause {
        case .timeout: self.init(.timedOut, .timeout)
        case .canceled: self.init(.canceled, .canceled)
        case .lost: self.init(.lost, .wardenLost)
        case .exited where record.fault != nil: self.init(.failed, record.fault?.reason)
        case .exited where record.signal != nil: self.init(.failed, .signal)
        case .exited where record.hasNoStatus: self.init(.completed, .exitUnknown)
        case .exited where record.exitCode == 0: self.init(.completed)
        case .exited: self.init(.failed, .exitCode)
        }
    }

    /// The fact of this end.
    ///
    /// A run that timed out has failed, with the reason `timeout`.
    package func fact(
        of run: Fact.Run, message: String? = nil, circumstances: Fact.End.Circumstances = .init()
    ) -> Fact {
        let end = Fact.End(run, reason: reason, message: message, circumstances: circumstances)
        return switch state {
        case .completed: .runCompleted(end)
        case .canceled: .runCanceled(end)
        case .lost: .runLost(end)
        default: .runFailed(end)
        }
    }
}

extension ExitRecord {
    /// The survivors as the ledger keeps them; nil: none.
    package var leftProcesses: [LeftProcess]? {
        survivors.isEmpty ? nil : survivors.map { LeftProcess(pid: $0.pid, name: $0.name) }
    }
}

/// Whether a run that did not do what it should is tried again, and when.
///
/// Pure: the same failure of the same run always waits equally long.
struct RetryChance {
    /// What the run executes.
    var spec: JobSpec
    /// The job's next slot: no attempt begins at or after it; nil: none is to come.
    var nextSlot: Moment?

    /// No wait of a job's own is longer.
    static let longestWait: Duration = .seconds(3600)

    /// The longest wait that a provider may ask for: its limits end with a month at the latest.
    static let longestAsked: Duration = .seconds(31 * 86_400)

    /// When the attempt after this `outcome` may begin; nil: there is none.
    ///
    /// A performer that names its `fault` knows better whether it may pass, and when. A reply that was cut off before its
    /// bot said anything waits as one whose bot can't be reached. `waited` is how long ago the run was queued, where that
    /// is not the time by the clock on the wall.
    func moment(
        after outcome: RunOutcome, of run: RunRecord, exitCode: Int?, fault: AttemptFault? = nil,
        isCutBeforeOutput: Bool = false, at now: Moment, waited: Duration? = nil
    ) -> Moment? {
        guard run.endAsked == nil, fault?.mayPass ?? mayPass(outcome, exitCode) else { return nil }
        let isAway = ReplyRun.isAway(run, fault, isCutBeforeOutput: isCutBeforeOutput)
        let hasExpired = ReplyRun.hasExpired(
            run, fault, isCutBeforeOutput: isCutBeforeOutput, waited: waited ?? now - run.queuedAt)
        guard isAway ? !hasExpired : run.tries < attempts(after: fault) else { return nil }
        var asked = min(fault?.wait ?? .zero, Self.longestAsked)
        // Who said something is not left without an answer for longer than a message waits.
        if spec.thread != nil {
            asked = min(asked, max(.zero, ReplyRun.messageExpiry - (waited ?? now - run.queuedAt)))
        }
        return isInTime(now + max(asked, Self.wait(after: run.tries, of: run.id, spec)))
    }

    /// How often the run is tried in all: a prompt whose job asks for no retries has those of a reply where its bot's
    /// provider says that the fault may pass.
    private func attempts(after fault: AttemptFault?) -> Int {
        guard let fault, fault.mayPass, fault.isOfProvider, spec.retriesAsReply else { return spec.attempts }
        return ReplyRun.attempts
    }

    /// The moment, if the next slot does not come first.
    func isInTime(_ moment: Moment) -> Moment? {
        if let nextSlot, moment >= nextSlot { return nil }
        return moment
    }

    /// Whether the same may end otherwise if it is done again.
    private func mayPass(_ outcome: RunOutcome, _ exitCode: Int?) -> Bool {
        switch outcome.state {
        case .timedOut: return true
        case .lost: return spec.retriesLost
        case .failed: break
        default: return false
        }
        switch outcome.reason {
        case .notFound, .notExecutable, .badDirectory, .badUser: return false
        case .exitCode:
            guard case .shell = spec.action else { return true }
            // sh(1): a command of the text was found and can't be executed, or was not found.
            return exitCode != 126 && exitCode != 127
        default: return true
        }
    }

    /// The most that the attempt after this one of `spec` waits: a stored moment beyond that was written by a
    /// clock that was set since.
    static func longestWait(after attempt: Int, of spec: JobSpec?) -> Duration {
        guard let spec else { return longestWait }
        return max(whole(after: attempt, of: spec), RunDecider.leftoverInterval)
    }

    /// The job's wait, doubled with each attempt.
    private static func whole(after attempt: Int, of spec: JobSpec) -> Duration {
        let longestWait = spec.thread == nil ? longestWait : ReplyRun.longestWait
        var whole = min(spec.retriesAsReply ? ReplyRun.backoff : spec.backoff, longestWait)
        for _ in 1..<max(1, attempt) where whole < longestWait { whole = min(whole * 2, longestWait) }
        return whole
    }

    /// Of the whole wait between one and two halves by the run's own id, so that what failed together does not come
    /// back together.
    static func wait(after attempt: Int, of run: String, _ spec: JobSpec) -> Duration {
        let whole = whole(after: attempt, of: spec)
        // A person waits: one bot's replies never come back together.
        if spec.thread != nil { return whole }
        return whole / 2 + whole / 2 * share(run, attempt)
    }

    /// A number from 0 to 1 that looks random: FNV-1a, stirred as SplitMix64 does it.
    private static func share(_ run: String, _ attempt: Int) -> Double {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in run.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = hash &+ UInt64(attempt) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((hash ^ (hash >> 31)) >> 11) / Double(1 << 53)
    }
}

extension JobSpec {
    /// Whether it is a prompt of a job that says nothing of retries.
    var retriesAsReply: Bool { prompt != nil && thread == nil && attempts == 1 && !isTriedOnce }
}

/// What is known of a run's job when one of its attempts has ended.
struct Outlook {
    /// What the run executes; nil: no such revision is stored.
    var spec: JobSpec?
    /// Whether and until when the run may be tried again; nil: it is not.
    var chance: RetryChance?
    /// The job's next slot; nil: none is to come.
    var next: NextTry?
    /// What must not be shown of what the run printed; nil: none of it may be.
    var hidden: HiddenTexts? = HiddenTexts()
    /// The beginning of what a completed run printed, where all of it becomes a message.
    var output: [UInt8] = []

    /// Whether the run asks its bot for a reply.
    var isPrompt: Bool {
        switch spec?.action {
        case .prompt: true
        case .command, .shell, .url, nil: false
        }
    }
}

/// What a run that did not complete printed last.
struct LastOutput {
    /// The last lines, as they are stored; nil: none.
    let tail: String?
    /// The line that explains best why it failed.
    let cause: String?

    init(_ record: ExitRecord, _ outlook: Outlook) {
        let bytes = outlook.hidden == nil ? [] : record.outputTail
        let hidden = outlook.hidden ?? HiddenTexts()
        let output = LastLines(bytes, hiding: hidden)
        tail = output.text()
        let errors = LastLines(bytes.isEmpty ? [] : record.errorTail, hiding: hidden)
        cause =
            outlook.hidden == nil && !record.outputTail.isEmpty
            ? HiddenTexts.reason : FailureLine.find(in: output, errors: errors)
    }
}

extension AttemptFault {
    /// Its sentence without what must not be shown: a program may have printed it.
    func shown(_ outlook: Outlook) -> String { outlook.hidden?.hide(in: text) ?? HiddenTexts.reason }
}

extension Outlook {
    /// The same of a run that is not tried again.
    var withoutChance: Outlook {
        var outlook = self
        outlook.chance = nil
        return outlook
    }
}

extension RunOutcome {
    /// What else is known of this end; of a completed run its row says it all.
    func circumstances(_ record: ExitRecord?, _ outlook: Outlook) -> Fact.End.Circumstances {
        guard state != .completed else { return Fact.End.Circumstances() }
        return Fact.End.Circumstances(
            took: record.map { $0.end - $0.startedAt },
            limit: state == .timedOut ? outlook.spec?.timeout : nil,
            next: state.isFailure ? outlook.next : nil)
    }
}

/// What a completed run printed, or its bot replied, as a message of its job's bot in the thread of the job's name.
struct OutputPost {
    let record: MessageRecord

    /// The message that the run's spec asks for; nil: it asks for none, there is nothing to say, or none of it may be shown.
    init?(_ run: RunRecord, _ end: ExitRecord, _ outlook: Outlook) {
        // The bot that asked for it gets it.
        guard let hidden = outlook.hidden, run.kind != .delegated else { return nil }
        // A person who asked reads the reply in any case.
        if end.isReplyQuiet, outlook.spec?.thread == nil { return nil }
        let part = outlook.spec?.outputMessage
        let reply = end.reply ?? end.partialReply
        let said = reply.map { Self.said($0, hidden, of: run) }
        guard var text = said ?? part.flatMap({ Self.text($0, end, outlook.output, hidden, of: run) }),
            !text.isEmpty
        else { return nil }
        if end.partialReply != nil { text += "\n\n[The reply ends here: \(end.fault?.text ?? "cancelled")]" }
        // A run has one message at most, so that its own id names it.
        let message = Message(
            id: run.id, bot: run.bot, thread: outlook.spec?.thread ?? run.job, text: text, at: end.end,
            urgency: end.replyPriority.flatMap(Urgency.init) ?? .normal,
            title: end.replyTitle.map { hidden.hide(in: $0) }, run: run.name)
        record = MessageRecord(message: message, run: run.id)
    }

    private static func text(
        _ part: OutputMessage, _ end: ExitRecord, _ output: [UInt8], _ hidden: HiddenTexts, of run: RunRecord
    ) -> String? {
        let last = LastLines(end.outputTail, hiding: hidden)
        switch part {
        case .lastLine: return last.text(most: 1)
        case .tail: return last.text()
        case .all:
            // A text to hide that the limit cuts in two is left out with what follows it.
            let isCut = end.outputBytes > output.count
            let bytes = isCut ? hidden.hideCut(in: output) : hidden.hide(in: output)
            let spoken = String(decoding: bytes, as: UTF8.self).spoken
            // What is not spoken may have stood inside a text to hide.
            let text = trimmed(hidden.hide(in: spoken))
            guard !text.isEmpty else { return last.text() }
            return isCut
                ? "\(text)\n… \(end.outputBytes - output.count) bytes more: belfry run logs \(run.name)"
                : text
        }
    }

    /// The most bytes of a reply that are one message: its run's output keeps all of it.
    static let longestReply = 1 << 20

    /// What of a reply is its message; of a very long one no more is looked at than could be.
    private static func said(_ reply: String, _ hidden: HiddenTexts, of run: RunRecord) -> String {
        let isCut = reply.utf8.count > 2 * longestReply
        let start =
            isCut
            ? String(decoding: hidden.hideCut(in: Array(reply.utf8.prefix(2 * longestReply))), as: UTF8.self)
            : reply
        return bounded(trimmed(hidden.hide(in: SpokenReply.visible(start.spoken))), isCut: isCut, of: run)
    }

    private static func bounded(_ text: String, isCut: Bool, of run: RunRecord) -> String {
        let note = "\n\n[The reply is cut here; belfry run logs \(run.name) has more of it]"
        guard text.utf8.count > longestReply else { return isCut ? text + note : text }
        var end = text.utf8.index(text.startIndex, offsetBy: longestReply)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return text[..<end] + note
    }

    /// The text without blank lines at its beginning and white space at its end.
    private static func trimmed(_ text: String) -> String {
        var rest = text[...]
        while rest.last?.isWhitespace == true { rest.removeLast() }
        while let end = rest.utf8.firstIndex(of: UInt8(ascii: "\n")), rest[..<end].allSatisfy(\.isWhitespace)
        {
            rest = rest[rest.utf8.index(after: end)...]
        }
        return String(rest)
    }
}

extension MessageRecord {
    /// The fact of this message, which a channel alone may be meant to show.
    func fact(to channel: String? = nil) -> Fact.Post {
        Fact.Post(message.id, bot: message.bot, run: run, to: channel)
    }
}
