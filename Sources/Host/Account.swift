import CLinux
import Glibc

/// A user of this machine.
package struct Account: Hashable, Sendable {
    /// Its name.
    package var name: String
    /// Its number.
    package var userID: UInt32
    /// The number of its first group.
    package var groupID: UInt32
    /// Its home folder.
    package var home: String
    /// Its shell.
    package var shell: String

    /// Reads a line of passwd(5); nil when it is none.
    package init?(line: some StringProtocol) {
        let fields = line.split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count >= 7, !fields[0].isEmpty, let userID = UInt32(fields[2]),
            let groupID = UInt32(fields[3])
        else { return nil }
        name = String(fields[0])
        self.userID = userID
        self.groupID = groupID
        home = fields[5].isEmpty ? "/" : String(fields[5])
        shell = fields[6].isEmpty ? "/bin/sh" : String(fields[6])
    }

    /// What `/etc/passwd` calls the user of this number; the number where it does not.
    package static func name(of userID: UInt32) -> String {
        let text = (try? SmallFile.text("/etc/passwd", limit: 16 << 20)) ?? ""
        let account = text.split(separator: "\n").lazy.compactMap { Account(line: $0) }.first {
            $0.userID == userID
        }
        return account?.name ?? String(userID)
    }

    /// The account of this name or number; nil when there is none.
    ///
    /// Looks into `/etc/passwd`, then asks `getent`, which knows users of a directory server, 5 s at most.
    /// Not by the C library: what it loads to answer may block for ever, or be missing in a static program.
    package static func find(_ word: String) throws(HostError) -> Account? {
        let text = (try? SmallFile.text("/etc/passwd", limit: 16 << 20)) ?? ""
        for line in text.split(separator: "\n") {
            if let account = Account(line: line), account.isCalled(word) { return account }
        }
        guard !word.hasPrefix("-"), unsafe access(getent, X_OK) == 0 else { return nil }
        return try ask(word).split(separator: "\n").lazy.compactMap { Account(line: $0) }.first
    }

    private static let getent = "/usr/bin/getent"

    private func isCalled(_ word: String) -> Bool { name == word || String(userID) == word }

    private static func ask(_ word: String) throws(HostError) -> String {
        let (pid, answer) = try startGetent(word)
        defer {
            kill(pid, SIGKILL)
            while waitpid(pid, nil, 0) < 0, errno == EINTR {}
        }
        var waiting = pollfd(fd: answer.raw, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waiting, 1, 5_000) > 0 else {
            throw .system(call: "getent", code: ETIMEDOUT, path: nil)
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        guard case .bytes(let count) = try answer.read(into: &buffer) else { return "" }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Our copy of the pipe's other end is closed on return, so that the answer ends with the program.
    private static func startGetent(_ word: String) throws(HostError) -> (pid: Int32, answer: Descriptor) {
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let pipe = try Descriptor.pipe(nonblockingRead: true)
        let pid = try ChildProgram(
            path: getent, arguments: ["getent", "passwd", word], environment: [:], folder: "/",
            descriptors: [nothing, pipe.write, nothing]
        ).start()
        return (pid, pipe.read)
    }
}
