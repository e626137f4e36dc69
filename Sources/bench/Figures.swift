import Glibc
import Host
import Synchronization
import Timeline

/// A set of measured values, smallest first.
struct Figures {
    private let values: [Double]

    init(_ values: [Double]) {
        self.values = values.sorted()
    }

    /// The value below which `part` (0...1) of them lie.
    func at(_ part: Double) -> Double {
        values.isEmpty ? .nan : values[min(values.count - 1, Int(Double(values.count) * part))]
    }

    var median: Double { at(0.5) }

    /// `p50 0.21, p95 0.40, p99 1.12 ms` for values in seconds.
    var milliseconds: String {
        "p50 \((at(0.5) * 1000).short), p95 \((at(0.95) * 1000).short), p99 \((at(0.99) * 1000).short) ms"
    }
}

extension Double {
    /// Three digits that count.
    var short: String {
        guard isFinite else { return "-" }
        let places = self >= 100 ? 0 : self >= 10 ? 1 : self >= 1 ? 2 : 3
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let rounded = (self * scale).rounded() / scale
        return places == 0 ? String(Int(rounded)) : String(rounded)
    }
}

extension String {
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}

/// A stretch of time on a clock that nobody sets, in seconds.
struct Stopwatch {
    private let start = ContinuousClock.now

    var seconds: Double {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}

/// Prints a measured value, its limit, and whether the limit is kept.
func report(_ what: String, _ value: String, limit: String, isKept: Bool) {
    print("  \(what.padded(to: 44)) \(value.padded(to: 40)) limit \(limit)  \(isKept ? "ok" : "MISSED")")
}

extension Machine {
    /// The processor and how many of it there are.
    static var summary: String {
        let text = (try? SmallFile.text("/proc/cpuinfo", limit: 1 << 20)) ?? ""
        let model = text.split(separator: "\n").first { $0.hasPrefix("model name") }
            .flatMap { $0.split(separator: ":").last.map { $0.drop { $0 == " " } } }
        return "\(model ?? "unknown processor"), \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores"
    }
}

/// A folder of its own, removed with everything in it when the bench ends.
final class BenchFolder {
    let path: String
    /// Whether it stays, to be looked at.
    var isKept = false

    /// On the disk, or in memory, where the runtime folder of a real daemon is.
    init(inMemory: Bool = false) throws {
        let place = inMemory ? "/dev/shm" : "/tmp"
        var template = Array("\(place)/belfry-bench.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw HostError.last("mkdtemp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        if isKept { return print("  kept: \(path)") }
        let cleaner = try? BenchProcess("rm", ["-rf", path])
        _ = cleaner?.status()
    }
}

/// A clock whose time is moved by hand.
final class BenchClock: WallClock {
    private struct State {
        var now: Moment
        var sleepers: [UInt64: (until: Moment, wake: CheckedContinuation<Void, Never>)] = [:]
        var lastID: UInt64 = 0
        var watcher: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>

    init(_ now: Moment) {
        state = Mutex(State(now: now))
    }

    var now: Moment { state.withLock { $0.now } }
    var sinceBoot: Duration { now - Moment(seconds: 0) }

    func sleep(until moment: Moment) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, watcher) = state.withLock { state in
                    if state.now >= moment || Task.isCancelled {
                        return (true, nil as CheckedContinuation<Void, Never>?)
                    }
                    state.sleepers[id] = (moment, continuation)
                    defer { state.watcher = nil }
                    return (false, state.watcher)
                }
                if isOver { continuation.resume() }
                watcher?.resume()
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.wake.resume()
        }
        try Task.checkCancellation()
    }

    /// Returns once there is a sleeper.
    func waitForSleeper() async {
        await withCheckedContinuation { continuation in
            let isAsleep = state.withLock { state in
                if !state.sleepers.isEmpty { return true }
                state.watcher = continuation
                return false
            }
            if isAsleep { continuation.resume() }
        }
    }

    func advance(to moment: Moment) {
        let due = state.withLock { state in
            state.now = moment
            let due = state.sleepers.filter { $0.value.until <= moment }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.wake)
        }
        for sleeper in due { sleeper.resume() }
    }
}

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

/// What this process has used of the processors so far.
enum ProcessorTime {
    /// In seconds, of all its threads.
    ///
    /// The corresponding C function is `clock_gettime`.
    static var seconds: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
