import CronBench
import Delivery
import Ledger
import LedgerSQLite
import Synchronization
import Timeline
import Tracking

/// What arrived at the receivers, channel by channel.
final class DeliveryBook: Sendable {
    /// What came of one run over one channel.
    struct Arrival: Sendable {
        /// The ids under which it came.
        var ids: Set<String> = []
        var accepted = 0
        fileprivate var body: [UInt8] = []
        /// Whether it came again with other bytes.
        var isAltered = false
    }

    private struct State {
        var arrivals: [String: [String: Arrival]] = [:]
        /// The highest run of each job that a channel has accepted.
        var newest: [String: Int] = [:]
        var faults: [String] = []
    }

    private let state = Mutex(State())

    /// What arrived over the channel, by the names of runs.
    func arrivals(of channel: String) -> [String: Arrival] { state.withLock { $0.arrivals[channel] ?? [:] } }

    /// What came out of its order, or was not to be understood.
    var faults: [String] { state.withLock(\.faults) }

    /// Notes a request over the channel, whose id is in the header of that name; nil: the form has none.
    func take(_ message: ArraySlice<UInt8>, over channel: String, idHeader: String?, isAccepted: Bool) {
        // A mail's lines may be folded.
        let text = String(decoding: message, as: UTF8.self).replacing("=\r\n", with: "")
        guard let begin = text.firstRange(of: ChannelHome.mark),
            let end = text[begin.upperBound...].firstIndex(of: ":")
        else {
            if text.lowercased().contains("test") { return }
            return state.withLock {
                $0.faults.append("\(channel): a request names no run: \(text.prefix(300))")
            }
        }
        let (head, body) = Self.parts(of: text)
        var id: String?
        if let idHeader {
            id = Self.header(idHeader, in: head) ?? Self.structuredID(in: body)
            guard id != nil else {
                return state.withLock { $0.faults.append("\(channel): a request has no id") }
            }
        }
        note(
            String(text[begin.upperBound..<end]), id, body: channel == "events" ? [] : Array(body.utf8),
            channel,
            isAccepted)
    }

    /// Notes what a run's delivery over the channel was.
    func note(_ run: String, _ id: String?, body: [UInt8], _ channel: String, _ isAccepted: Bool) {
        let parts = run.split(separator: "#")
        guard parts.count == 2, let ordinal = Int(parts[1]) else {
            return state.withLock { $0.faults.append("\(channel): \"\(run)\" is no run") }
        }
        let key = "\(channel) \(parts[0])"
        state.withLock { state in
            if let newest = state.newest[key], newest > ordinal {
                state.faults.append("\(channel): \(run) came after #\(newest) was accepted")
            }
            var arrival = state.arrivals[channel]?[run] ?? Arrival()
            if arrival.body.isEmpty { arrival.body = body }
            if arrival.body != body { arrival.isAltered = true }
            if let id { arrival.ids.insert(id) }
            if isAccepted {
                arrival.accepted += 1
                state.newest[key] = max(state.newest[key] ?? 0, ordinal)
            }
            state.arrivals[channel, default: [:]][run] = arrival
        }
    }

    private static func parts(of text: String) -> (head: Substring, body: Substring) {
        guard let end = text.utf8.firstRange(of: "\r\n\r\n".utf8) else { return (text[...], "") }
        return (text[..<end.lowerBound], text[end.upperBound...])
    }

    private static func header(_ name: String, in head: Substring) -> String? {
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ":") }
        return line.map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
    }

    /// The id of a CloudEvent in the structured mode.
    private static func structuredID(in body: Substring) -> String? {
        guard body.hasPrefix(#"{"specversion""#), let begin = body.firstRange(of: #""id":""#) else {
            return nil
        }
        return String(body[begin.upperBound...].prefix { $0 != "\"" })
    }
}

/// What the ledger and the receivers show when all has been sent.
struct ChannelVerdict {
    private(set) var runs = 0
    private(set) var entries = 0
    /// How many deliveries were accepted, and how many of them had been before.
    private(set) var accepted = 0
    private(set) var repeated = 0
    private(set) var faults: [String] = []

    /// Reads the ledger of a home whose daemon has stopped.
    init(of home: ChannelHome, _ book: DeliveryBook) async throws {
        for line in home.programLines where line.run != line.id {
            book.note(line.run, line.id, body: [], "program", true)
        }
        let ledger = try SQLiteLedger(path: home.folder + "/state/ledger.sqlite")
        let completed = try await ledger.runs(RunFilter()).filter { $0.state == .completed }
        let rows = try await ledger.outbox(states: [], limit: .max)
        await ledger.close()
        runs = completed.count
        let ofChannel = Dictionary(grouping: rows.filter { $0.type == "run.completed" }, by: \.channel)
        for channel in ChannelHome.standing {
            judge(channel, completed, ofChannel[channel] ?? [], book, isStanding: true)
        }
        judge(
            ChannelHome.fleeting, completed, ofChannel[ChannelHome.fleeting] ?? [], book, isStanding: false)
        faults += book.faults
    }

    private mutating func judge(
        _ channel: String, _ completed: [RunRecord], _ rows: [OutboxRecord], _ book: DeliveryBook,
        isStanding: Bool
    ) {
        entries += rows.count
        var arrivals = book.arrivals(of: channel)
        let rowsOf = Dictionary(grouping: rows) { $0.run ?? "" }
        for run in completed {
            let rows = rowsOf[run.id] ?? []
            if rows.count > 1 { faults.append("\(channel): \(run.name) has \(rows.count) entries") }
            guard let row = rows.first else {
                if isStanding { faults.append("\(channel): \(run.name) has no entry") }
                continue
            }
            if row.state != .delivered {
                faults.append(
                    "\(channel): \(run.name) is \(row.state.rawValue) after \(row.attempts) attempts: "
                        + (row.lastError ?? ""))
            }
            guard let arrival = arrivals.removeValue(forKey: run.name), arrival.accepted > 0 else {
                faults.append("\(channel): \(run.name) was never accepted")
                continue
            }
            accepted += arrival.accepted
            repeated += arrival.accepted - 1
            // A mail's id has its host behind it.
            let others = arrival.ids.filter { !$0.hasPrefix(row.id) && !$0.hasPrefix("<\(row.id)") }
            if !others.isEmpty { faults.append("\(channel): \(run.name) came as \(others), too") }
            if arrival.isAltered { faults.append("\(channel): \(run.name) came again with other bytes") }
        }
        for run in arrivals.keys { faults.append("\(channel): \(run) arrived, and no entry is of it") }
    }
}
