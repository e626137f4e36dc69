import API
import APIClient
import Host
import Timeline

/// Asks a question and waits until it is closed, however often the daemon stops meanwhile.
struct QuestionWaiter {
    let client: DaemonClient
    let request: AskRequest
    /// Called with the question once it is asked.
    var asked: (WireQuestion) -> Void = { _ in }

    /// Whether it waits for a daemon that has stopped to come back.
    var isPatient = true

    /// The question as it was closed.
    ///
    /// As long as this process lives the question stays open: the daemon withdraws it when the connection ends, and a
    /// daemon that starts again is asked again under the same id.
    /// - Throws: why the daemon does not ask it.
    func wait() throws(APIError) -> WireQuestion {
        var (isSent, isAsked) = (false, false)
        var reconnection = Reconnection(note: "belfry: the daemon has stopped; waiting for it to come back")
        while true {
            do throws(APIError) {
                let stream = try client.open(Endpoints.askQuestion(body: request))
                var parser = ServerSentEventParser()
                reconnection.succeeded()
                while case .bytes(let bytes) = try arrival(of: stream) {
                    for event in try parser.receive(bytes) where event.name == QuestionStream.eventName {
                        let question = try WireCoding.decode(WireQuestion.self, from: Array(event.data.utf8))
                        if question.state != "open" { return question }
                        if !isAsked { asked(question) }
                        (isSent, isAsked) = (true, true)
                    }
                }
            } catch {
                // A request that was sent and not answered may have been asked, and nobody else waits for it.
                if error.code == .connectionLost { isSent = true }
                guard isPatient, isSent, mayPass(error) else { throw error }
            }
            guard isPatient else { throw APIError(.connectionLost, "the daemon has stopped") }
            try reconnection.wait()
        }
    }

    /// The question as it is when it is closed, or at this time since boot; it stays open then.
    ///
    /// - Throws: why the daemon does not ask it.
    func look(until end: Duration) throws(APIError) -> WireQuestion {
        let stream = try client.open(Endpoints.askQuestion(body: request))
        var parser = ServerSentEventParser()
        var last: WireQuestion?
        while last == nil || Duration.sinceBoot < end {
            let left = last == nil ? nil : max(.zero, end - .sinceBoot)
            let arrival: AnswerStream.Arrival
            do throws(APIError) {
                arrival = try stream.next(timeout: left)
            } catch {
                // It is in the ledger, whatever became of the daemon.
                guard let last else { throw error }
                return last
            }
            switch arrival {
            case .bytes(let bytes):
                for event in try parser.receive(bytes) where event.name == QuestionStream.eventName {
                    let question = try WireCoding.decode(WireQuestion.self, from: Array(event.data.utf8))
                    if question.state != "open" { return question }
                    last = question
                }
            case .ended:
                guard let last else { throw APIError(.connectionLost, "the daemon has stopped") }
                return last
            case .nothing: break
            }
        }
        guard let last else { throw APIError(.noAnswer) }
        return last
    }

    /// What comes next; a signal that does not end this process changes nothing.
    private func arrival(of stream: AnswerStream) throws(APIError) -> AnswerStream.Arrival {
        while true {
            let arrival = try stream.next(timeout: nil)
            if arrival != .nothing { return arrival }
        }
    }

    private func mayPass(_ error: APIError) -> Bool {
        error.code.row.exitCode == 3 || [.timedOut, .tooBusy, .ledgerRefused].contains(error.code)
    }
}
