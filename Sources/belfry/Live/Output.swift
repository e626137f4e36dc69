import API
import APIClient

/// What a run prints.
enum Output {
    /// Copies the output of `run` to standard output, byte for byte; with `follow` until the run has ended.
    ///
    /// A daemon that is restarted in between is found again, and no byte is lost or doubled.
    static func copy(
        of run: RunName, from client: DaemonClient, follow: Bool, interrupted: () throws -> Void = {}
    ) throws {
        var offset = 0
        var reconnection = Reconnection()
        while true {
            do throws(APIError) {
                var query = Query()
                query["offset"] = String(offset)
                if follow { query["follow"] = "1" }
                let stream = try client.open(.logs(job: run.job, ordinal: run.ordinal), query: query)
                reconnection.succeeded()
                if try drain(stream, &offset, interrupted) { return }
            } catch {
                guard follow, error.code.row.exitCode == 3 else { throw error }
                try reconnection.wait()
            }
        }
    }

    private static func drain(
        _ stream: AnswerStream, _ offset: inout Int, _ interrupted: () throws -> Void
    ) throws(APIError) -> Bool {
        while true {
            switch try stream.next(timeout: .seconds(1)) {
            case .bytes(let bytes):
                StandardOutput.write(bytes)
                offset += bytes.count
            case .ended: return true
            case .nothing: break
            }
            do {
                try interrupted()
            } catch {
                throw error as? APIError ?? APIError(.internalFault)
            }
        }
    }
}
