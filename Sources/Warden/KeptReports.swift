import Performing
import WardenProtocol

/// What a run reported while no daemon was connected: the newest 64 messages, at most 64 KiB.
///
/// Reports are levels: the last ones say where the run is, so the oldest are dropped first.
struct KeptReports {
    private static let most = 64
    private static let mostBytes = 64 << 10

    private(set) var frames: [[UInt8]] = []
    private var bytes = 0

    var isEmpty: Bool { frames.isEmpty }

    mutating func add(_ message: WardenMessage) {
        let frame = message.frame
        frames.append(frame)
        bytes += frame.count
        while frames.count > Self.most || bytes > Self.mostBytes { bytes -= frames.removeFirst().count }
    }

    mutating func takeAll() -> [[UInt8]] {
        defer { self = KeptReports() }
        return frames
    }
}
