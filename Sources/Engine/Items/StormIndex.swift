import Grouping
import Ledger
import Timeline

/// The storms there are, found by their jobs and by what the failures have in common.
///
/// A copy of what the items of storms hold: these are awake as long as there is one.
struct StormIndex {
    private var storms: [Int: Storm] = [:]
    private var byJob: [String: Int] = [:]
    private var byCause: [FailureCause: Int] = [:]
    /// The jobs that may soon be listed, and are shown by themselves so far.
    private(set) var forming: Set<String> = []

    /// The number of the storm, or of what may become one, that a job is in.
    func number(of job: String) -> Int? { byJob[job] }

    /// The storm that a failure of this cause joins at this moment; nil: it begins another.
    func open(_ cause: FailureCause, at now: Moment) -> Int? {
        byCause[cause].flatMap { storms[$0]?.isOpen(at: now) == true ? $0 : nil }
    }

    /// What the failures of a storm have in common.
    func cause(of number: Int) -> FailureCause? { storms[number]?.cause }

    /// The jobs that are in a storm, or in what may become one.
    var jobs: Set<String> { Set(byJob.keys) }

    /// The jobs of a storm, in the order of their first failures.
    func jobs(of number: Int) -> [String] { storms[number]?.members.map(\.job) ?? [] }

    /// Whether it is shown as one.
    func isFormed(_ number: Int) -> Bool { storms[number]?.isFormed ?? false }

    /// The lowest numbers that are free.
    func free(_ count: Int) -> [Int] {
        var free: [Int] = []
        var number = 1
        while free.count < count {
            if storms[number] == nil { free.append(number) }
            number += 1
        }
        return free
    }

    /// Whether an item must be at hand though no event names it.
    func keepsAwake(_ item: KeptItem) -> Bool {
        if item.flushAt != nil || item.isAtWork { return true }
        guard case .job(let job) = item.key else { return false }
        return forming.contains(job)
    }

    /// Takes over what the record of an item holds.
    mutating func read(_ record: ItemRecord) {
        guard case .storm(let number) = record.key else { return }
        set(KeptItem(record, bot: OwnThread.bot).storm, for: number)
    }

    /// Takes over what an item holds now; nil: its number is free.
    ///
    /// - Complexity: O(jobs of the storm).
    mutating func set(_ storm: Storm?, for number: Int) {
        if let old = storms[number] {
            for member in old.members where byJob[member.job] == number {
                byJob[member.job] = nil
                forming.remove(member.job)
            }
            if byCause[old.cause] == number { byCause[old.cause] = nil }
        }
        storms[number] = storm
        guard let storm else { return }
        for member in storm.members {
            byJob[member.job] = number
            if !storm.isFormed { forming.insert(member.job) }
        }
        byCause[storm.cause] = number
    }
}
