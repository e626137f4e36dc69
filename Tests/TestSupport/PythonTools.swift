import Foundation
package import Host

/// The Python that runs the doubles in `Tests/Support`, with the packages of its `requirements.txt`.
package enum PythonTools {
    /// The interpreter in `.build/venv`, which is made on first use.
    package static func interpreter() throws -> String {
        try made.get()
    }

    /// The path of a file in `Tests/Support`.
    package static func script(_ name: String) -> String {
        root.appendingPathComponent("Tests/Support/" + name).path
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let made = Result {
        let folder = root.appendingPathComponent(".build/venv")
        let python = folder.appendingPathComponent("bin/python").path
        let wanted = try Data(contentsOf: URL(fileURLWithPath: script("requirements.txt")))
        // The copy is written last: it says that everything in it is installed.
        let stamp = folder.appendingPathComponent("requirements.txt")
        if (try? Data(contentsOf: stamp)) == wanted { return python }
        // Of two test processes that find nothing, one makes it and the other one waits.
        let lock = try Descriptor.open(root.path + "/.build/venv.lock", O_RDWR | O_CREAT, mode: 0o600)
        guard flock(lock.raw, LOCK_EX) == 0 else { throw HostError.last("flock") }
        defer { flock(lock.raw, LOCK_UN) }
        if (try? Data(contentsOf: stamp)) == wanted { return python }
        // Debian's own, as config/test takes: a mixture of two interpreters in one folder works for neither.
        try run("/usr/bin/python3", "-m", "venv", "--clear", folder.path)
        try run(python, "-m", "pip", "install", "--quiet", "-r", script("requirements.txt"))
        try wanted.write(to: stamp)
        return python
    }

    private static func run(_ words: String...) throws {
        let text = words.map { "'\($0)'" }.joined(separator: " ")
        guard try Shell.run(text) == 0 else { throw NotStarted(program: text) }
    }
}

/// Programs that this package builds, as the tests find them: beside the test runner.
package enum BuiltProgram {
    /// The path of the built program `name`; make it a dependency of the test target in the manifest.
    package static func path(_ name: String) throws(HostError) -> String {
        SmallFile.parent(of: try Machine.executablePath()) + "/" + name
    }
}
