package import Tracking

/// A reply while it comes: its text so far, and how far it is as a live state shows it.
package struct ReplyProgress: Hashable, Sendable {
    /// How often the words are counted out loud at most.
    package static let interval = Duration.milliseconds(250)
    /// Before anything has come.
    package static let waiting = ProgressReport(phase: "waiting for the reply")

    /// What was said so far.
    package private(set) var text = ""
    /// The tokens used so far; nil: nothing is known yet.
    package private(set) var usage: TokenUsage?
    private var phase = ""
    private var words = 0
    private var isInWord = false

    /// Nothing so far.
    package init() {}

    /// Takes the next event up; whether the phase is another one now.
    package mutating func note(_ event: ReplyEvent) -> Bool {
        let before = phase
        switch event {
        case .thinking: phase = "thinking"
        case .text(let piece):
            phase = ReplyPhase.writing
            count(piece)
            text += piece
        case .calling(let name): phase = "tool \(CleanText.line(name, limit: 40))"
        case .toolCall(let call): phase = "tool \(CleanText.line(call.name, limit: 40))"
        case .usage(let usage): self.usage = usage
        case .started, .activity, .finished, .failed: break
        }
        return phase != before
    }

    /// How far it is; nil while nothing has come.
    package var report: ProgressReport? {
        guard !phase.isEmpty else { return nil }
        let message = words == 0 ? nil : "\(words) word\(words == 1 ? "" : "s")"
        return ProgressReport(phase: phase, message: phase == ReplyPhase.writing ? message : nil)
    }

    private mutating func count(_ piece: String) {
        for byte in piece.utf8 {
            let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
            if !isSpace, !isInWord { words += 1 }
            isInWord = !isSpace
        }
    }
}
