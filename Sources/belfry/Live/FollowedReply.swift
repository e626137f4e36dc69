import API
import APIClient
import Tracking

/// The reply that the run writes which is watched alone.
struct FollowedReply {
    private let client: DaemonClient
    private let run: WireRun
    /// Nil: it is not being written, or nobody knows yet.
    private var output: ReplyOutput?
    /// Whether its output is a reply; nil: nobody has asked.
    private var isReply: Bool?

    init(of run: WireRun, _ client: DaemonClient) {
        (self.run, self.client) = (run, client)
    }

    /// Whether there may be more to read.
    var isOpen: Bool { output?.hasEnded == false }

    /// The run is in this phase: reads its output from here on where that is a reply.
    mutating func begin(with phase: String?) {
        guard output == nil, phase == ReplyPhase.writing, let name = run.name.flatMap({ RunName($0) }) else {
            return
        }
        // A job of another kind may have a phase of that name.
        let isReply = isReply ?? (run.kind == "reply" || isPrompt)
        self.isReply = isReply
        if isReply { output = ReplyOutput(of: name, client) }
    }

    private var isPrompt: Bool {
        let job: WireJob? = try? client.ask(Endpoints.job(run.job))
        return job?.kind == "prompt"
    }

    /// What came since the last call, and with `toEnd` the rest of the reply of a run that has ended; nil: nothing.
    ///
    /// One that can't be read is no reason not to follow its run.
    mutating func read(toEnd: Bool = false) -> String? {
        guard let output else { return nil }
        var text = ""
        do throws(APIError) {
            while true {
                try output.receive(timeout: toEnd ? .milliseconds(500) : .zero)
                let more = output.drain()
                text += more
                if output.hasEnded || more.isEmpty && !toEnd { break }
            }
        } catch {
            self.output = nil
        }
        return text.isEmpty ? nil : text
    }
}
