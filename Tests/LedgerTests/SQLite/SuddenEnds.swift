import Foundation
import Glibc
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

@Suite struct `a ledger whose disk fails to sync` {
    @Test func `reports it, writes nothing more, and keeps what it had`() async throws {
        let folder = try TemporaryFolder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let ledger = try SQLiteLedger(path: path + "/ledger.db")
            try await ledger.commit([.event(), .event()])
            try #require(SyncFault.begin())
            for _ in 0..<3 {
                let error = await #expect(throws: LedgerError.self) { try await ledger.commit([.event()]) }
                guard case .syncFailed = error else {
                    Issue.record("was refused otherwise: \(String(describing: error))")
                    return
                }
            }
            #expect(try await ledger.lastEvent() == 2)
            await ledger.close()
        }
        let ledger = try SQLiteLedger(path: folder.file("ledger.db"))
        #expect(try await ledger.lastEvent() >= 2)
        await ledger.close()
    }
}

/// A disk that dies: from now on every sync of this process fails with EIO.
private enum SyncFault {
    /// One instruction of the kernel's filter language.
    ///
    /// - Source: `struct sock_filter`, linux/filter.h.
    private struct Instruction {
        var code: UInt16
        var ifTrue: UInt8 = 0
        var ifFalse: UInt8 = 0
        var value: UInt32
    }

    #if arch(x86_64)
        private static let (seccomp, fsync, fdatasync) = (317, UInt32(74), UInt32(75))
    #elseif arch(arm64)
        private static let (seccomp, fsync, fdatasync) = (277, UInt32(82), UInt32(83))
    #endif

    /// Installs a filter on all threads; false when the kernel does not allow it.
    ///
    /// - Source: seccomp(2), `SECCOMP_SET_MODE_FILTER` with `SECCOMP_FILTER_FLAG_TSYNC`.
    static func begin() -> Bool {
        let program = [
            Instruction(code: 0x20, value: 0),  // load the call's number
            Instruction(code: 0x15, ifTrue: 2, value: fsync),
            Instruction(code: 0x15, ifTrue: 1, value: fdatasync),
            Instruction(code: 0x06, value: 0x7FFF_0000),  // allow
            Instruction(code: 0x06, value: 0x0005_0000 | UInt32(EIO)),  // fail with EIO
        ]
        // Variadic functions are not imported: called by the addresses the loader knows.
        typealias Control =
            @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt
        typealias Call = @convention(c) (CLong, CLong, CLong, UnsafeRawPointer) -> CLong
        guard let control = unsafe dlsym(nil, "prctl"), let call = unsafe dlsym(nil, "syscall") else {
            return false
        }
        let (prctl, syscall) = unsafe (
            unsafeBitCast(control, to: Control.self), unsafeBitCast(call, to: Call.self)
        )
        let noNewRights: CInt = 38
        guard prctl(noNewRights, 1, 0, 0, 0) == 0 else { return false }
        return unsafe program.withUnsafeBytes { instructions in
            // struct sock_fprog: a count, and the address at the next multiple of eight.
            let header = [program.count, Int(bitPattern: instructions.baseAddress)]
            return unsafe header.withUnsafeBytes { header in
                guard let start = header.baseAddress else { return false }
                return unsafe syscall(seccomp, 1, 1, start) == 0
            }
        }
    }
}
