import Delivery
import Engine
import Foundation
import Glibc
import Host
import Ledger
import LedgerSQLite
import Logging
import TestSupport
import Testing
import Timeline
import WardenProtocol

/// A moment of the day these tests play on, `2026-03-03`, in UTC: `at("10:00:30")`.
func at(_ time: String) -> Moment {
    guard let moment = try? Moment(iso8601: "2026-03-03T\(time)Z") else {
        preconditionFailure("\(time) is no time of day")
    }
    return moment
}

/// A log that nobody reads.
let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Fresh ids, as the daemon makes them.
let freshID: @Sendable () -> String = { UniqueID.v4() }

/// The zones of this machine.
let machineZones: @Sendable (String) -> ZoneRules? = { name in try? ZoneFiles().rules(of: name) }

extension TemporaryFolder {
    /// Opens the ledger in this folder, or makes it.
    func ledger() throws -> SQLiteLedger { try SQLiteLedger(path: file("ledger.db")) }
}

extension JobSpec {
    /// A job that runs `command` at the times of `cron`, in UTC.
    static func cron(_ name: String, _ cron: String, _ command: String = "true") -> JobSpec {
        JobSpec(
            name: name, action: .shell(command), schedule: ScheduleSpec(kind: .cron, text: cron, zone: "UTC"))
    }

    /// A job that runs `command` when somebody asks.
    static func manual(_ name: String, _ command: String = "true") -> JobSpec {
        JobSpec(
            name: name, action: .shell(command), schedule: ScheduleSpec(kind: .manual, text: "", zone: "UTC"))
    }

    /// A job of another kind of schedule, in UTC.
    static func timed(_ name: String, _ kind: ScheduleSpec.Kind, _ text: String = "") -> JobSpec {
        JobSpec(
            name: name, action: .shell("true"), schedule: ScheduleSpec(kind: kind, text: text, zone: "UTC"))
    }

    /// The same with other policies.
    func with(_ change: (inout JobSpec) -> Void) -> JobSpec {
        var spec = self
        change(&spec)
        return spec
    }
}

extension NewEvent {
    /// The reason that the event's row has.
    var reason: String? { fact.columns.reason }

    /// What a run's end records of its failure.
    var message: String? {
        switch fact {
        case .runCompleted(let end), .runFailed(let end), .runCanceled(let end), .runLost(let end),
            .runSkipped(let end):
            end.message
        default: nil
        }
    }
}

/// Files are read as the daemon reads them.
let machineFiles = RunFiles(
    readSecret: { try SmallFile.text($0) },
    changeTime: { Moment(microseconds: try SmallFile.changeTime($0)) },
    readOutput: { try OutputLog(path: $0).read(from: 0, limit: $1).bytes })

/// The same on a disk that fails where outputs are.
let unreadableOutputs = RunFiles(
    readSecret: { try SmallFile.text($0) },
    changeTime: { Moment(microseconds: try SmallFile.changeTime($0)) },
    readOutput: { path, _ in throw HostError.system(call: "pread", code: EIO, path: path) })

/// A webhook's body, as its receiver reads it.
struct ReceivedBody: Decodable {
    struct Contents: Decodable {
        var reason: String
        var item: Item?
        var run: Run?
        var outageSeconds: Int?
    }
    struct Item: Decodable {
        var key: String
        var count: Int
        var last: [Said]
    }
    struct Said: Decodable { var text: String }
    struct Run: Decodable {
        var name: String?
        var state: String
        var count: Int?
    }

    var type: String
    var data: Contents

    /// Reads a body's text.
    init(_ text: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(text))
    }
}

extension OutboxRecord {
    /// What the entry says.
    var said: ReceivedBody { get throws { try ReceivedBody(body) } }
}
