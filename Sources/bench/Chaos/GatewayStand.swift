import CronBench
import Glibc
import Host
import Synchronization
import TestSupport
import Tracking

/// The emulated gateway of the tests as a process of its own, which can be killed: `bench gateway-stand FOLDER PORT`.
///
/// It writes each message down before anybody hears of it, and begins with what an earlier process wrote. Replies take their
/// time, and connections are cut now and then.
enum GatewayStand {
    /// A message of a session, as it stands in the file.
    struct Entry: Codable {
        var session: String
        var role: String
        var text: String
        var run: String?
        var at: Int64
    }

    /// The file in `folder` that the messages are written to.
    static func file(in folder: String) -> String { folder + "/transcript" }

    /// Every message so far, oldest first; a line that was cut off by a kill is none.
    static func entries(in folder: String) -> [Entry] {
        let text = (try? SmallFile.text(file(in: folder), limit: 1 << 28)) ?? ""
        return text.split(separator: "\n").compactMap { try? JSON.decode(Entry.self, from: $0.utf8) }
    }

    /// The reply to the prompt of a run.
    static func reply(to run: String) -> String { "gate-reply \(run) is whole." }

    /// Serves until it is killed.
    static func run(arguments: [String]) async throws {
        guard arguments.count == 2, let port = Int(arguments[1]) else {
            throw BenchProcess.Failed(program: "bench gateway-stand FOLDER PORT")
        }
        let file = try Descriptor.open(
            Self.file(in: arguments[0]), O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
        let kept = entries(in: arguments[0]).map {
            GatewayEmulator.Entry(session: $0.session, role: $0.role, text: $0.text, run: $0.run, at: $0.at)
        }
        var manner = GatewayEmulator.Manner()
        (manner.issuesTokens, manner.keepsTime) = (false, true)
        manner.makeReply = { run in
            let words = Self.reply(to: run).split(separator: " ").map { $0 + " " }
            var reply = GatewayEmulator.Reply(pauseAfter: 1)
            reply.pieces = words.dropLast().map(String.init) + ["whole."]
            return reply
        }
        let broken = Mutex<String?>(nil)
        let gateway = try await GatewayEmulator(manner, port: port, kept: kept) { entry in
            let line = Entry(
                session: entry.session, role: entry.role, text: entry.text, run: entry.run, at: entry.at)
            do {
                try file.writeAll(Array(try JSON.encode(line)) + [0x0A])
            } catch {
                broken.withLock { $0 = "\(error)" }
            }
        }
        var random = SeededNumbers(seed: UInt64.random(in: 0 ... .max))
        while broken.withLock({ $0 }) == nil {
            try await Task.sleep(for: .milliseconds(Int.random(in: 30...500, using: &random)))
            if Int.random(in: 0..<20, using: &random) == 0 { gateway.cut() }
            if gateway.isPaused { gateway.proceed() }
        }
        throw BenchProcess.Failed(program: broken.withLock { $0 } ?? "gateway-stand")
    }
}
