import Host
import Performing
import Timeline
import WardenProtocol

/// How attempts ended that nobody has acknowledged: in memory, in the record files of the runtime folder, and in the state
/// once no daemon has fetched them for a while.
final class Outcomes {
    /// An attempt that ended.
    struct Ended {
        var record: ExitRecord
        var reports = KeptReports()
        /// Whether the state has it, so that it survives a restart of the machine.
        var isSaved = false
    }

    /// The record files.
    var store: RecordStore
    /// Whether there is a state to save in.
    private let hasState: Bool
    private var ended: [RunKey: Ended] = [:]
    /// Not before then, since boot, is the state folder tried again after it refused an outcome.
    private var saveNotBefore = Duration.zero

    init(store: RecordStore, hasState: Bool) {
        self.store = store
        self.hasState = hasState
    }

    var isEmpty: Bool { ended.isEmpty }

    subscript(key: RunKey) -> Ended? { ended[key] }

    /// All of them, in the order in which they ended.
    var inOrder: [Ended] { ended.values.sorted { $0.record.endedAt < $1.record.endedAt } }

    func add(_ entry: Ended) { ended[entry.record.key] = entry }

    /// Adds what an earlier warden saved in the state.
    func readSaved() {
        for outcome in store.allSaved() {
            var entry = ended[outcome.key] ?? Ended(record: outcome)
            entry.isSaved = true
            ended[outcome.key] = entry
        }
    }

    /// The daemon has it in its ledger: forgets the attempt.
    func acknowledge(_ key: RunKey) {
        guard let entry = ended.removeValue(forKey: key) else { return }
        store.remove(key, isSaved: entry.isSaved)
    }

    /// When to save what no daemon fetched since `awaySince`, since boot; nil: nothing is to be saved.
    func saveDeadline(awaySince: Duration?) -> Duration? {
        guard hasState, let awaySince, ended.values.contains(where: { !$0.isSaved }) else { return nil }
        return max(awaySince + .seconds(2), saveNotBefore)
    }

    /// Writes outcomes that nobody has acknowledged to the disk.
    func save() {
        guard hasState else { return }
        for (key, entry) in ended where !entry.isSaved {
            if store.save(entry.record) {
                ended[key]?.isSaved = true
            } else {
                saveNotBefore = .sinceBoot + .seconds(60)
            }
        }
    }
}

/// What a run reported while no daemon was connected: the newest 64 messages, at most 64 KiB.
///
/// Reports are levels: the last ones show where the run is, so the oldest are dropped first.
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

    mutating func drain() -> [[UInt8]] {
        defer { self = KeptReports() }
        return frames
    }
}
