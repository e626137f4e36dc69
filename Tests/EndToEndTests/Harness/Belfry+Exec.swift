import Foundation
import TestSupport

extension Belfry {
    /// Runs `sh -c` in this home with `belfry` in its PATH, standard input from nowhere; what it answered.
    func shell(_ text: String) async throws -> Answer {
        let name = UUID().uuidString
        let (output, errors) = (folder.file(name + ".out"), folder.file(name + ".err"))
        let process = try startShell(text, output: output, errors: errors)
        guard let code = await process.status() else { throw Feed.Ended() }
        func bytes(_ path: String) -> [UInt8] {
            [UInt8](FileManager.default.contents(atPath: path) ?? Data())
        }
        return Answer(
            code: code, bytes: bytes(output), errors: String(decoding: bytes(errors), as: UTF8.self))
    }

    /// Starts `sh -c` as ``shell(_:)`` does, and does not wait.
    func startShell(_ text: String, output: String, errors: String) throws -> ChildProcess {
        let path = try BuiltProgram.path("belfry")
        var environment = environment
        let programs = URL(fileURLWithPath: path).deletingLastPathComponent().path
        environment["PATH"] = programs + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        let process = try ChildProcess(
            "sh", ["-c", text], environment: environment, folder: folder.path,
            streams: .files(output: output, errors: errors))
        try process.closeInput()
        return process
    }

    /// The names of the runs that are waiting in the spool, begun or ended.
    var spooled: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: statePath + "/spool")) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted()
    }
}
