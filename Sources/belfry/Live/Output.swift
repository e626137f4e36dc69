import API
import APIClient
import Host
import Tracking

/// What a run prints.
enum Output {
    /// Copies the output of an attempt to standard output, byte for byte; with `follow` until it has ended.
    ///
    /// It goes to `write` instead where that is given; `announce` is called before the first byte of a further attempt.
    ///
    /// Without `attempt` it is the newest one, and with `follow` those after it, too, until the run has ended. A
    /// daemon that is restarted in between is found again, and no byte is lost or doubled; with an `awayNote`, which is
    /// printed then, however long that takes. Where the daemon kept
    /// not all of it, standard error says how much is missing.
    ///
    /// - Returns: How many bytes were copied.
    @discardableResult
    static func copy(
        of run: RunName, attempt: Int? = nil, from client: DaemonClient, follow: Bool,
        write: ([UInt8]) -> Void = { StandardOutput.write($0) },
        announce: (Int) -> Void = { StandardError.print("belfry: attempt \($0)") },
        awayNote: String? = nil,
        interrupted: () throws(APIError) -> Void = {}
    ) throws(APIError) -> Int {
        var copied = 0
        var place = Place(attempt: attempt)
        var reconnection = Reconnection(note: awayNote)
        while true {
            do throws(APIError) {
                let stream = try open(run, client, from: place, follow: follow)
                reconnection.succeeded()
                place.begin(stream.head)
                let before = place.offset
                try drain(stream, &place, write, announce, interrupted)
                copied += place.offset - before
                // An answer also ends where bytes were not kept; only an empty one says that there are no more.
                guard place.offset == before else { continue }
                if !follow || attempt != nil { return copied }
                let known: WireRun = try client.ask(Endpoints.run(run))
                if let next = known.attempt, let last = place.attempt, next > last {
                    place = Place(attempt: last + 1, isNext: true)
                } else if known.state.isEnded {
                    return copied
                }
            } catch {
                // The next attempt was counted, and will never start.
                if place.isNext, error.code == .noSuchAttempt { return copied }
                guard follow, error.code.row.exitCode == 3 else { throw error }
                try reconnection.wait()
            }
        }
    }

    /// How far the output is copied.
    private struct Place {
        /// Nil: the newest one.
        var attempt: Int?
        /// It follows one that was shown.
        var isNext = false
        var isAnnounced = false
        var offset = 0

        /// Goes on where the answer begins, and says what is missing before it.
        mutating func begin(_ head: HTTPAnswerHead) {
            attempt = head[OutputStream.attemptField].flatMap { Int($0) } ?? attempt
            guard let start = head[OutputStream.offsetField].flatMap({ Int($0) }), start > offset else {
                return
            }
            StandardError.print("belfry: \(start - offset) bytes of the output were not kept")
            offset = start
        }
    }

    private static func open(
        _ run: RunName, _ client: DaemonClient, from place: Place, follow: Bool
    ) throws(APIError) -> AnswerStream {
        var query = LogsQuery()
        query.offset = place.offset
        query.attempt = place.attempt.map { Int64($0) }
        query.follow = follow
        return try client.open(Endpoints.logs(run, query: query))
    }

    private static func drain(
        _ stream: AnswerStream, _ place: inout Place, _ write: ([UInt8]) -> Void,
        _ announce: (Int) -> Void, _ interrupted: () throws(APIError) -> Void
    ) throws(APIError) {
        while true {
            switch try stream.next(timeout: .seconds(1)) {
            case .bytes(let bytes):
                if place.isNext, !place.isAnnounced, let attempt = place.attempt {
                    announce(attempt)
                    place.isAnnounced = true
                }
                write(bytes)
                place.offset += bytes.count
            case .ended: return
            case .nothing: break
            }
            try interrupted()
        }
    }
}
