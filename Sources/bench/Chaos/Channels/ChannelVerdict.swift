import CronBench
import Delivery
import FoundationEssentials
import Ledger
import LedgerSQLite
import Synchronization
import Timeline
import Tracking

/// What arrived at the receivers, channel by channel.
final class DeliveryBook: Sendable {
    /// What came of one run's end over one channel.
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
        /// The newest message of each thread that a channel has accepted.
        var newest: [String: Int] = [:]
        var requests = 0
        var faults: [String] = []
    }

    private let state = Mutex(State())

    /// What arrived over the channel, by the names of runs.
    func arrivals(of channel: String) -> [String: Arrival] { state.withLock { $0.arrivals[channel] ?? [:] } }

    /// The newest message of the job's thread that the channel has accepted; 0: none.
    func newest(of job: String, on channel: String) -> Int {
        state.withLock { $0.newest["\(channel) \(job)"] ?? 0 }
    }

    /// How many requests there were, the refused ones too.
    var requests: Int { state.withLock(\.requests) }

    /// What came out of its order, or was not to be understood.
    var faults: [String] { state.withLock(\.faults) }

    private func fault(_ text: String) { state.withLock { $0.faults.append(text) } }

    /// Notes a request over the channel, whose id is in the header of that name; nil: the form has none.
    func receive(_ message: ArraySlice<UInt8>, over channel: String, idHeader: String?, isAccepted: Bool) {
        let text = String(decoding: message, as: UTF8.self)
        let (head, body) = Self.parts(of: text)
        var id: String?
        if let idHeader {
            id = Self.header(idHeader, in: head) ?? Self.structuredID(in: body)
            if id == nil { return fault("\(channel): a request has no id: \(head.prefix(300))") }
        }
        // The head of a CloudEvent depends on its mode, which an edit may change.
        note(
            Self.decoded(text), id, body: channel == "events" ? [] : Array(body.utf8), channel,
            isAccepted: isAccepted)
    }

    /// Notes what was sent over the channel.
    func note(
        _ text: String, _ id: String?, body: [UInt8], _ channel: String, isAccepted: Bool
    ) {
        state.withLock { $0.requests += 1 }
        let isEnd = text.contains("run.completed") || text.contains(" done")
        if isEnd, let run = Self.runs(in: text, after: ChannelHome.mark).first {
            end(of: run, id, body: body, channel, isAccepted)
        } else if let newest = Self.runs(in: text, after: ChannelHome.word).max(by: { $0.number < $1.number })
        {
            said(newest, channel, isAccepted)
        } else if !isEnd, let run = Self.runs(in: text, after: "").first {
            // Of one run the beginning comes before the end.
            let isLate = state.withLock { ($0.arrivals[channel]?[run.name]?.accepted ?? 0) > 0 }
            if isLate { fault("\(channel): the start of \(run.name) came after its end") }
        } else if !["job-", "test", "channel."].contains(where: text.lowercased().contains) {
            fault("\(channel): a request is about nothing: \(text.prefix(300))")
        }
    }

    private typealias Run = (name: String, job: String, number: Int)

    private func end(
        of run: Run, _ id: String?, body: [UInt8], _ channel: String, _ isAccepted: Bool
    ) {
        state.withLock { state in
            var arrival = state.arrivals[channel]?[run.name] ?? Arrival()
            if arrival.body.isEmpty { arrival.body = body }
            if arrival.body != body { arrival.isAltered = true }
            if let id { arrival.ids.insert(id) }
            if isAccepted { arrival.accepted += 1 }
            state.arrivals[channel, default: [:]][run.name] = arrival
        }
    }

    /// Of one thread nothing comes after what was said later.
    private func said(_ run: Run, _ channel: String, _ isAccepted: Bool) {
        let key = "\(channel) \(run.job)"
        state.withLock { state in
            if let newest = state.newest[key], newest > run.number {
                state.faults.append("\(channel): the message of \(run.name) came after that of #\(newest)")
            }
            if isAccepted { state.newest[key] = max(state.newest[key] ?? 0, run.number) }
        }
    }

    /// The names of runs behind the mark.
    private static func runs(in text: String, after mark: String) -> [Run] {
        text.utf8.ranges(of: "\(mark)job-".utf8).compactMap { range in
            let digits = text[range.upperBound...].prefix { $0.isNumber }
            let rest = text[digits.endIndex...]
            guard rest.first == "#" else { return nil }
            let number = rest.dropFirst().prefix { $0.isNumber }
            return Int(number).map { ("job-\(digits)#\($0)", "job-\(digits)", $0) }
        }
    }

    /// A mail with its first part as it is read; anything else as it is.
    private static func decoded(_ text: String) -> String {
        let mark = "Content-Transfer-Encoding: base64\r\n\r\n"
        guard let begin = text.utf8.firstRange(of: mark.utf8),
            let end = text.utf8[begin.upperBound...].firstRange(of: "\r\n--".utf8),
            let bytes = Data(
                base64Encoded: String(text[begin.upperBound..<end.lowerBound]).filter { !$0.isWhitespace })
        else { return text }
        return text[..<begin.lowerBound] + String(decoding: bytes, as: UTF8.self)
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
        for line in home.program.accepted {
            book.note(
                String(line.notice), line.id, body: Array(line.notice.utf8), "program", isAccepted: true)
        }
        let ledger = try SQLiteLedger(path: home.folder + "/state/ledger.sqlite")
        let completed = try await ledger.runs(RunFilter()).filter { $0.state == .completed }
        let rows = try await ledger.outbox(states: [], limit: .max)
        await ledger.close()
        runs = completed.count
        for run in completed where !Self.hasName(run) { faults.append("the report of \(run.name) is lost") }
        for row in rows where [.dead, .expired, .discarded, .pending, .waiting].contains(row.state) {
            faults.append("\(row.channel): \(row.type) is \(row.state.rawValue): \(row.lastError ?? "")")
        }
        for channel in ChannelHome.standing + [ChannelHome.fleeting] {
            let isStanding = channel != ChannelHome.fleeting
            let rows = rows.filter { $0.channel == channel }
            entries += rows.count
            judge(
                channel, completed, rows.filter { $0.type == "run.completed" }, book, isStanding: isStanding)
            guard isStanding else { continue }
            let starts = Dictionary(grouping: rows.filter { $0.type == "run.started" }) { $0.run ?? "" }
            for run in completed where starts[run.id]?.count != 1 {
                faults.append(
                    "\(channel): the start of \(run.name) has \(starts[run.id]?.count ?? 0) entries")
            }
            for job in ChannelHome.talkers {
                let last = completed.filter { $0.job == job }.compactMap(\.ordinal).max() ?? 0
                let newest = book.newest(of: job, on: channel)
                if newest < last {
                    faults.append(
                        "\(channel): the message of \(job)#\(last) never came, #\(newest) is the newest")
                }
            }
        }
        faults += book.faults
    }

    private static func hasName(_ run: RunRecord) -> Bool {
        run.live?.message == "\(ChannelHome.mark)\(run.name):"
    }

    private mutating func judge(
        _ channel: String, _ completed: [RunRecord], _ rows: [OutboxRecord], _ book: DeliveryBook,
        isStanding: Bool
    ) {
        var arrivals = book.arrivals(of: channel)
        let rowsOf = Dictionary(grouping: rows) { $0.run ?? "" }
        for run in completed {
            let rows = rowsOf[run.id] ?? []
            if rows.count > 1 { faults.append("\(channel): \(run.name) has \(rows.count) entries") }
            guard let row = rows.first else {
                if isStanding { faults.append("\(channel): \(run.name) has no entry") }
                continue
            }
            if row.state != .delivered { faults.append("\(channel): \(run.name) is \(row.state.rawValue)") }
            // It is in no body.
            if !Self.hasName(run) {
                arrivals[run.name] = nil
                continue
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
