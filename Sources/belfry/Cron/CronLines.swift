import API
import Cron
import Host
import Timeline
import Tracking

/// The answers of `cron next|prev|check --stdin`: a JSON line each, in order, as fast as they come.
///
/// Zones are read once, answers are collected and written whenever standard input has to be waited for.
struct CronLines {
    /// What the command was asked to do with its lines.
    enum Question: Hashable {
        case next
        case previous
        case check
    }

    /// The longest line that is read, in bytes.
    static let lineLimit = 64 * 1024

    let asked: Question
    let options: CronOptions
    var zone: String?
    var from: String?
    var count = 5

    private let shelf = ZoneShelf()

    init(asked: Question, options: CronOptions, zone: String? = nil, from: String? = nil, count: Int = 5) {
        self.asked = asked
        self.options = options
        self.zone = zone
        self.from = from
        self.count = count
    }

    /// Answers until standard input ends, and returns how many lines were refused.
    func answerAll() throws(APIError) -> Int {
        var input = LineInput(limit: Self.lineLimit)
        var output: [UInt8] = []
        var refused = 0
        let now = Moment.now
        while let block = try input.nextBlock() {
            for line in block.split(separator: UInt8(ascii: "\n")) where !line.allSatisfy({ $0 <= 0x20 }) {
                if !answer(line, now: now, into: &output) { refused += 1 }
                flush(&output, keeping: 64 * 1024)
            }
            flush(&output, keeping: 0)
        }
        return refused
    }

    private func flush(_ output: inout [UInt8], keeping limit: Int) {
        guard output.count > limit else { return }
        StandardOutput.write(output)
        output.removeAll(keepingCapacity: true)
    }

    /// Appends the answer to one line; false when it was refused.
    private func answer(_ line: ArraySlice<UInt8>, now: Moment, into output: inout [UInt8]) -> Bool {
        guard let request = CronRequest(line) else {
            let fault = CronLineFault(
                "badJSON", 0..<line.count, "this is not a JSON object of texts, numbers and flags")
            fault.write(id: nil, into: &output)
            return false
        }
        do throws(CronLineFault) {
            try answer(request, now: now, into: &output)
            return true
        } catch {
            error.write(id: request.id, into: &output)
            return false
        }
    }

    private func answer(
        _ request: CronRequest, now: Moment, into output: inout [UInt8]
    ) throws(CronLineFault) {
        guard let text = request.expression else { throw CronLineFault("empty", 0..<0, "expr is missing") }
        var options = options
        if request.isLenient { options.isLenient = true }
        guard asked != .check else { return try check(text, request, options, into: &output) }
        let expression: CronExpression
        do throws(CronError) {
            expression = try CronExpression(text, options: options) { shelf.rules($0) != nil }
        } catch {
            throw CronLineFault(error.faults)
        }
        let rules = try rules(request, expression)
        let isForward = try isForward(request)
        let start = try start(request, rules, now)
        let count = request.count ?? count
        guard count > 0 else { throw CronLineFault("outOfRange", 0..<0, "n is a number from 1 up") }
        let found =
            isForward
            ? expression.occurrences(after: start, in: rules)
            : expression.occurrences(before: start, in: rules)
        begin(request, "occurrences", into: &output)
        for (place, moment) in found.prefix(count).enumerated() {
            output += place > 0 ? ",\"".utf8 : "\"".utf8
            output += moment.iso8601(in: rules).utf8
            output.append(UInt8(ascii: "\""))
            flush(&output, keeping: 1 << 20)
        }
        output += "]}\n".utf8
    }

    private func check(
        _ text: String, _ request: CronRequest, _ options: CronOptions, into output: inout [UInt8]
    ) throws(CronLineFault) {
        let isEvent: Bool
        do throws(CronError) {
            isEvent = try CronFields.event(text) != nil
        } catch {
            throw CronLineFault(error.faults)
        }
        var warnings: [CronWarning] = []
        if !isEvent {
            let check = CronCheck(text, options: options, zoneName: request.zone ?? zone) {
                shelf.rules($0) != nil
            }
            guard let expression = check.expression else { throw CronLineFault(check.faults) }
            _ = try rules(request, expression)
            warnings = check.warnings
        }
        begin(request, "warnings", into: &output)
        for (place, warning) in warnings.enumerated() {
            if place > 0 { output.append(UInt8(ascii: ",")) }
            CronLineFault.write(CronAnswer.Remark(warning), into: &output)
        }
        output += "]}\n".utf8
    }

    private func begin(_ request: CronRequest, _ member: String, into output: inout [UInt8]) {
        output += "{\"id\":".utf8
        output += request.id
        output += ",\"\(member)\":[".utf8
    }

    private func rules(
        _ request: CronRequest, _ expression: CronExpression
    ) throws(CronLineFault) -> ZoneRules {
        guard let name = expression.zoneName ?? request.zone ?? zone else { return shelf.local }
        guard let rules = shelf.rules(name) else {
            throw CronLineFault("unknownZone", 0..<0, "no zone \"\(name)\"")
        }
        return rules
    }

    private func isForward(_ request: CronRequest) throws(CronLineFault) -> Bool {
        switch request.direction {
        case nil: return asked == .next
        case "next": return true
        case "prev": return false
        case let word?:
            throw CronLineFault("notUnderstood", 0..<0, "direction is next or prev, not \"\(word)\"")
        }
    }

    private func start(
        _ request: CronRequest, _ rules: ZoneRules, _ now: Moment
    ) throws(CronLineFault) -> Moment {
        guard let text = request.from ?? from else { return now }
        do throws(TimelineError) {
            return try Moment(iso8601: text, in: rules)
        } catch {
            throw CronLineFault("badMoment", error.range, "from: \(error.message)", fix: error.fix)
        }
    }
}

/// Zones read once and kept, also those that do not exist.
private final class ZoneShelf {
    private var zones: [String: ZoneRules?] = [:]
    lazy var local = Zones.local

    func rules(_ name: String) -> ZoneRules? {
        if let known = zones[name] { return known }
        let rules = Zones.rules(name)
        zones[name] = .some(rules)
        return rules
    }
}

/// A line of `cron next|prev|check --stdin`.
struct CronRequest {
    static let null = Array("null".utf8)

    /// The id as it was written, `null` when there is none.
    private(set) var id = Self.null
    private(set) var expression: String?
    private(set) var zone: String?
    private(set) var from: String?
    private(set) var count: Int?
    private(set) var direction: String?
    private(set) var isLenient = false

    /// Reads one JSON object; `nil` when `line` is anything else, or a member is of another type.
    init?(_ line: ArraySlice<UInt8>) {
        var reader = JSONReader(line, depth: 0)
        let isWhole = reader.object { name, reader in
            reader.skipSpace()
            let start = reader.place
            guard let value = reader.value() else { return false }
            return read(name, value, line[start..<reader.place])
        }
        guard isWhole, reader.isAtEnd else { return nil }
    }

    private mutating func read(_ name: String, _ value: JSON, _ written: ArraySlice<UInt8>) -> Bool {
        switch (name, value) {
        case ("id", _): id = Array(written)
        case (_, .null): break
        case ("expr", .string(let text)): expression = text
        case ("zone", .string(let text)): zone = text
        case ("from", .string(let text)): from = text
        case ("direction", .string(let text)): direction = text
        case ("n", .number(let digits)):
            count = Int(digits)
            return count != nil
        case ("lenient", .bool(let flag)): isLenient = flag
        case ("expr", _), ("zone", _), ("from", _), ("direction", _), ("n", _), ("lenient", _): return false
        default: break
        }
        return true
    }
}

/// Why a line of `--stdin` is refused, and how that is written.
struct CronLineFault: Error {
    /// The places are those in the expression, except where the kind says otherwise.
    let remarks: [CronAnswer.Remark]

    init(_ faults: [CronFault]) { remarks = faults.map { CronAnswer.Remark($0) } }

    init(_ kind: String, _ range: Range<Int>, _ message: String, fix: String? = nil) {
        remarks = [CronAnswer.Remark(kind: kind, range: range, message: message, fix: fix)]
    }

    /// Appends `{"id":...,"error":{...}}` and a line end; `errors` too where there are several.
    func write(id: [UInt8]?, into output: inout [UInt8]) {
        output += "{\"id\":".utf8
        output += id ?? CronRequest.null
        for (name, shown) in [("error", remarks.prefix(1)), ("errors", remarks[...])] {
            if name == "errors" && remarks.count < 2 { continue }
            output += ",\"\(name)\":".utf8
            if name == "errors" { output.append(UInt8(ascii: "[")) }
            for (place, remark) in shown.enumerated() {
                if place > 0 { output.append(UInt8(ascii: ",")) }
                Self.write(remark, into: &output)
            }
            if name == "errors" { output.append(UInt8(ascii: "]")) }
        }
        output += "}\n".utf8
    }

    /// Appends the JSON object of a warning or an error.
    static func write(_ remark: CronAnswer.Remark, into output: inout [UInt8]) {
        // It holds no number but whole ones.
        output += (try? JSON.encode(remark)) ?? []
    }
}
