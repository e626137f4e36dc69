import TestSupport

/// A command that prints one JSON object a line as long as it lives, such as `belfry events --json`.
final class Feed: Sendable {
    private let process: ChildProcess

    init(_ process: ChildProcess) {
        self.process = process
    }

    /// The next object that fits; those before it are passed over.
    ///
    /// - Throws: ``Ended`` when the command ends first.
    func next(where fits: (JSON) -> Bool = { _ in true }) async throws -> JSON {
        for await line in process.lines {
            let object = try JSON(line)
            if fits(object) { return object }
        }
        throw Ended()
    }

    /// The next `count` objects that fit, with those between them left out.
    func next(_ count: Int, where fits: (JSON) -> Bool) async throws -> [JSON] {
        var found: [JSON] = []
        while found.count < count { found.append(try await next(where: fits)) }
        return found
    }

    /// The next event of a type, of one job when it is named.
    func event(_ type: String, of job: String? = nil) async throws -> JSON {
        try await next { $0["type"].text == type && (job == nil || $0["job"].text == job) }
    }

    /// All objects up to its end.
    func rest() async throws -> [JSON] {
        var found: [JSON] = []
        for await line in process.lines { found.append(try JSON(line)) }
        return found
    }

    /// Waits until it ends by itself; its exit code.
    func code() async -> Int32? { await process.status() }

    /// The stream ended before what the test waited for came; also when the test's time was over.
    struct Ended: Error {}
}
