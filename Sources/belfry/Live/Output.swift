import API
import APIClient
import Tracking

/// What a run prints.
enum Output {
    /// Copies the output of `run` to standard output, byte for byte; with `follow` until the run has ended.
    ///
    /// A daemon that is restarted in between is found again, and no byte is lost or doubled. Where the daemon
    /// kept not all of it, standard error says how much is missing.
    static func copy(
        of run: RunName, from client: DaemonClient, follow: Bool,
        interrupted: () throws(APIError) -> Void = {}
    ) throws(APIError) {
        var offset = 0
        var reconnection = Reconnection()
        while true {
            do throws(APIError) {
                let stream = try open(run, client, from: offset, follow: follow)
                reconnection.succeeded()
                let start = stream.head["belfry-offset"].flatMap(Int.init) ?? offset
                if start > offset {
                    StandardError.print("belfry: \(start - offset) bytes of the output were not kept")
                    offset = start
                }
                let before = offset
                try drain(stream, &offset, interrupted)
                // An answer also ends where bytes were not kept; only an empty one says that all was told.
                guard offset == before else { continue }
                if !follow { return }
                if try hasEnded(run, client) { return }
            } catch {
                guard follow, error.code.row.exitCode == 3 else { throw error }
                try reconnection.wait()
            }
        }
    }

    private static func open(
        _ run: RunName, _ client: DaemonClient, from offset: Int, follow: Bool
    ) throws(APIError) -> AnswerStream {
        var query = Query()
        query["offset"] = String(offset)
        if follow { query["follow"] = "1" }
        return try client.open(.logs(job: run.job, ordinal: run.ordinal), query: query)
    }

    private static func hasEnded(_ run: RunName, _ client: DaemonClient) throws(APIError) -> Bool {
        try client.ask(.run(job: run.job, ordinal: run.ordinal), as: WireRun.self).state.isEnded
    }

    private static func drain(
        _ stream: AnswerStream, _ offset: inout Int, _ interrupted: () throws(APIError) -> Void
    ) throws(APIError) {
        while true {
            switch try stream.next(timeout: .seconds(1)) {
            case .bytes(let bytes):
                StandardOutput.write(bytes)
                offset += bytes.count
            case .ended: return
            case .nothing: break
            }
            try interrupted()
        }
    }
}
