import API
import APIClient
import Host
import TerminalView
import Tracking

/// The output of a run that answers, read piece by piece by somebody who has other things to do.
final class ReplyOutput {
    private let client: DaemonClient
    private let run: RunName
    private var stream: AnswerStream?
    private var spoken = SpokenStream()
    private var waiting = ""
    private var offset = 0
    private var attempt: Int64?
    /// Short pauses: who reads it has other things to do.
    private var reconnection = Reconnection(longestPause: .milliseconds(500))
    /// Whether anything was said.
    private(set) var hasText = false
    /// What the bot is doing; nil: not known.
    private(set) var phase: String?
    /// Whether the run has ended, and all of its output is read.
    private(set) var hasEnded = false

    init(of run: RunName, _ client: DaemonClient) {
        (self.run, self.client) = (run, client)
    }

    /// Returns what arrived since the last call.
    func drain() -> String {
        defer { waiting = "" }
        return waiting
    }

    /// Waits for more, and no longer than until `other` can be read; not at all once it has ended.
    func receive(timeout: Duration = .milliseconds(500), or other: Int32? = nil) throws(APIError) {
        guard !hasEnded else { return }
        do throws(APIError) {
            let stream = try open()
            switch try stream.next(timeout: timeout, or: other) {
            case .bytes(let bytes):
                offset += bytes.count
                add(spoken.receive(bytes))
            case .nothing: if !hasText { try refresh() }
            case .ended: try end()
            }
            reconnection.succeeded()
        } catch {
            guard error.code.row.exitCode == 3 else { throw error }
            stream = nil
            try reconnection.wait()
        }
    }

    private func add(_ text: String) {
        guard !text.isEmpty else { return }
        hasText = true
        waiting += text
    }

    private func open() throws(APIError) -> AnswerStream {
        if let stream { return stream }
        var query = LogsQuery()
        query.offset = offset
        query.attempt = attempt
        query.follow = true
        let opened = try client.open(Endpoints.logs(run, query: query))
        attempt = opened.head[OutputStream.attemptField].flatMap { Int64($0) } ?? attempt
        stream = opened
        return opened
    }

    /// The answer has ended: the run has, or there is another attempt, or there was a gap.
    private func end() throws(APIError) {
        stream = nil
        let known: WireRun = try client.ask(Endpoints.run(run))
        if let next = known.attempt, let last = attempt, Int64(next) > last {
            add(spoken.finish() + (hasText ? "\n[the reply was cut off; it is starting over]\n" : ""))
            (attempt, offset, spoken) = (Int64(next), 0, SpokenStream())
            try refresh(known)
        } else if known.state.isEnded {
            add(spoken.finish())
            hasEnded = true
        }
    }

    private func refresh(_ known: WireRun? = nil) throws(APIError) {
        let now: WireRun
        if let known { now = known } else { now = try client.ask(Endpoints.run(run)) }
        phase = now.state == .running ? now.live?.phase : RunText.detail(now) ?? now.state.rawValue
    }
}
