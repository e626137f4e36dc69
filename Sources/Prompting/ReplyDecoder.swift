/// Reads the bytes of one provider's reply, however they are cut, and reports what they mean.
///
/// Anybody may have written the bytes. After a last event nothing more is reported.
package protocol ReplyDecoder: Sendable {
    /// Reads the next bytes and calls `report` with what they complete, in order.
    mutating func receive(_ bytes: ArraySlice<UInt8>, _ report: (ReplyEvent) -> Void)

    /// The bytes ended: reports the end, or that the reply was cut off, unless it is known already.
    mutating func end(_ report: (ReplyEvent) -> Void)
}

/// What every decoder keeps of a reply: how large it is, whether it said anything, whether it ended.
struct ReplyCount {
    /// The most bytes of text, thinking and arguments together.
    static let limit = 30 << 20

    private(set) var isOver = false
    private(set) var hasOutput = false
    private(set) var hasStarted = false
    private var bytes = 0

    /// Reports an event that is not the last; a reply that becomes too long ends here.
    mutating func report(_ event: ReplyEvent, _ report: (ReplyEvent) -> Void) {
        guard !isOver else { return }
        switch event {
        case .started:
            report(hasStarted ? .activity : event)
            hasStarted = true
        case .text(let text):
            guard !text.isEmpty else { return }
            let part = fitting(text)
            if !part.isEmpty {
                hasOutput = true
                report(.text(part))
            }
            if bytes > Self.limit { fail(ReplyFailure(.replyTooLong(limit: Self.limit)), report) }
        case .thinking(let text):
            guard count(text.utf8.count, report) else { return }
            report(event)
        case .toolCall:
            hasOutput = true
            report(event)
        default: report(event)
        }
    }

    /// Counts bytes that are kept and not reported yet; false when the reply ended because of them.
    mutating func count(_ more: Int, _ report: (ReplyEvent) -> Void) -> Bool {
        guard !isOver else { return false }
        bytes += more
        guard bytes > Self.limit else { return true }
        fail(ReplyFailure(.replyTooLong(limit: Self.limit)), report)
        return false
    }

    /// Reports a failure as the last event; `saidNothing` where what was reported explains only the failure.
    mutating func fail(
        _ failure: ReplyFailure, saidNothing: Bool = false, _ report: (ReplyEvent) -> Void
    ) {
        guard !isOver else { return }
        isOver = true
        var failure = failure
        failure.hasOutput = hasOutput && !saidNothing
        report(.failed(failure))
    }

    /// Reports the end as the last event.
    mutating func finish(_ finish: Finish, _ report: (ReplyEvent) -> Void) {
        guard !isOver else { return }
        isOver = true
        report(.finished(finish))
    }

    /// The part of `text` that fits into the limit: a reply that is too long is kept up to there.
    private mutating func fitting(_ text: String) -> String {
        let room = Self.limit - bytes
        bytes += text.utf8.count
        guard text.utf8.count > room else { return text }
        var part = ""
        for character in text {
            guard part.utf8.count + character.utf8.count <= room else { break }
            part.append(character)
        }
        return part
    }
}
