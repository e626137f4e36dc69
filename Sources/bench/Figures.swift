import Glibc
import Host

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
