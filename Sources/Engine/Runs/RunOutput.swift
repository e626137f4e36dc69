import Delivery
import Grouping
import Ledger
import Performing
import Prompting
import Timeline
import Tracking

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
        guard let hidden = outlook.hidden else { return nil }
        let part = outlook.spec?.outputMessage
        let reply = end.reply ?? end.partialReply
        let said = reply.map {
            Self.bounded(Self.trimmed(hidden.hide(in: SpokenReply.visible($0.spoken))), of: run)
        }
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

    private static func bounded(_ text: String, of run: RunRecord) -> String {
        guard text.utf8.count > longestReply else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: longestReply)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return text[..<end] + "\n\n[The reply is cut here: the rest is in: belfry run logs \(run.name)]"
    }

    /// The text without blank lines at its beginning and white space at its end.
    private static func trimmed(_ text: String) -> String {
        var rest = text[...]
        while rest.last?.isWhitespace == true { rest.removeLast() }
        let lines = rest.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { $0.allSatisfy(\.isWhitespace) }.joined(separator: "\n")
    }
}

extension MessageRecord {
    /// The fact of this message.
    var fact: Fact.Post { Fact.Post(message.id, bot: message.bot, run: run) }
}
