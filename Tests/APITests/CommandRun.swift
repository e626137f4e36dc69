import Host
import TestSupport

/// The built `belfry` without a daemon, in a folder of its own.
struct CommandRun {
    let folder: TemporaryFolder

    init() throws(HostError) { folder = try TemporaryFolder() }

    /// Runs `belfry` with `arguments`, a part of a shell's line, in a machine whose zone is UTC.
    func belfry(_ arguments: String, input: String = "") async throws -> House.Answer {
        try SmallFile.replace(folder.file("in"), with: Array(input.utf8))
        let program = try BuiltProgram.path("belfry")
        let status = try await Shell.run(
            "TZ=UTC '\(program)' \(arguments) < in > out 2> err", in: folder.path)
        return House.Answer(status: status, output: try text("out"), errors: try text("err"))
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try SmallFile.read(folder.file(name), limit: 1 << 24), as: UTF8.self)
    }
}
