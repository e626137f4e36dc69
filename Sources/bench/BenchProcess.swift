import Glibc
import Host

/// A program that a bench measures against: its output in a pipe, its complaints dropped.
final class BenchProcess {
    /// It could not be started, or ended as it should not.
    struct Failed: Error, CustomStringConvertible {
        var program: String
        var description: String { "\(program) can't be run; install the Debian package that has it" }
    }

    private let program: String
    private(set) var pid: pid_t = 0

    /// Its number.
    var processID: Int32 { pid }
    private var output: Int32 = -1

    /// Starts `program`, found in PATH, with `environment` on top of ours.
    init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        self.program = program
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Failed(program: program) }
        defer { close(ends[1]) }
        output = ends[0]
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        unsafe posix_spawn_file_actions_addclose(&actions, ends[0])
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let variables = Machine.environment.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        var words: [UnsafeMutablePointer<CChar>?] =
            unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        var entries: [UnsafeMutablePointer<CChar>?] = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer { unsafe (words + entries).forEach { unsafe free($0) } }
        guard unsafe posix_spawnp(&pid, program, &actions, nil, &words, &entries) == 0 else {
            throw Failed(program: program)
        }
    }

    deinit {
        close(output)
    }

    /// The first line it prints.
    func firstLine() throws -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(output, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        throw Failed(program: program)
    }

    /// Waits until it ends; its exit status.
    func status() -> Int32 {
        var status: Int32 = 0
        unsafe waitpid(pid, &status, 0)
        return status >> 8
    }

    /// Ends it.
    func end() {
        kill(pid, SIGKILL)
        _ = status()
    }
}
