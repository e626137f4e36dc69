import Foundation
import Grouping
import Ledger
import LedgerSQLite
import Synchronization
import TestSupport
import Testing

@Suite struct `a ledger whose process was killed` {
    @Test func `holds every list that was answered, and every list whole`() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let ledger = try SQLiteLedger(path: path + "/ledger.db")
            let answered = try Answers(path: path + "/answers")
            await withTaskGroup(of: Void.self) { group in
                for caller in 0..<16 {
                    group.addTask {
                        for step in 0..<10_000 {
                            let name = "\(caller)-\(step)"
                            _ = try? await ledger.commit([
                                .insertMessage(.sample(name)), .event(),
                                .setFact(name: "caller\(caller)", value: name), .event(),
                            ])
                            // The sixteen callers are in the middle of their commits when this is done.
                            if answered.note(name) == 500 { kill(getpid(), SIGKILL) }
                        }
                    }
                }
            }
        }
        let answers = try String(contentsOfFile: folder.file("answers"), encoding: .utf8).split(
            separator: "\n")
        #expect(answers.count >= 500)
        let ledger = try SQLiteLedger(path: folder.file("ledger.db"))
        let stored = Set(try await ledger.messages(bot: nil, search: nil, limit: .max).map(\.message.id))
        #expect(stored.isSuperset(of: answers.map(String.init)))
        #expect(try await ledger.lastEvent() == Int64(2 * stored.count))
        for caller in 0..<16 {
            let steps = stored.filter { $0.hasPrefix("\(caller)-") }.count
            let last = steps == 0 ? nil : "\(caller)-\(steps - 1)"
            #expect(try await ledger.fact(named: "caller\(caller)") == last)
        }
        await ledger.close()
    }
}

/// What was answered before the end, kept outside of the process.
private final class Answers: Sendable {
    private let file: FileHandle
    private let count = Mutex(0)

    init(path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
            throw CocoaError(.fileWriteUnknown)
        }
        file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    /// Returns how many there are now.
    func note(_ name: String) -> Int {
        count.withLock { count in
            file.write(Data("\(name)\n".utf8))
            count += 1
            return count
        }
    }
}
