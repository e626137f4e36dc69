import Timeline
package import Tracking

extension GatewayWatch {
    /// All that is known, to be kept over a restart.
    package var json: JSON {
        .object([
            "version": .int(1), "since": since.map(Self.json), "cursor": cursor.map(Self.json),
            "seen": .array(seen.sorted().map { .string($0) }),
            "jobs": .members(known.sorted { $0.key < $1.key }.map { JSON.Member($0.key, $0.value.json) }),
        ])
    }

    /// What was kept; nil where it is none.
    package init?(_ json: JSON) {
        guard json["version"]?.int == 1, case .members(let jobs)? = json["jobs"] else { return nil }
        self.init()
        since = Self.moment(json["since"])
        cursor = Self.moment(json["cursor"])
        seen = Set((json["seen"]?.elements ?? []).compactMap(\.text))
        for job in jobs { known[job.name] = Known(job.value) }
    }

    fileprivate static func json(_ moment: Moment) -> JSON { .int(moment.microseconds) }

    fileprivate static func moment(_ json: JSON?) -> Moment? {
        json?.int.map { Moment(microseconds: Int64($0)) }
    }
}

extension GatewayWatch.Known {
    fileprivate var json: JSON {
        .object([
            "name": .string(name), "schedule": .string(mark), "isEnabled": .bool(isEnabled),
            "runsOnce": .bool(runsOnce), "staggerMs": .int(stagger.milliseconds),
            "limitMs": .int(limit.milliseconds), "next": next.map(GatewayWatch.json),
            "lastRun": lastRun.map(GatewayWatch.json), "runningSince": runningSince.map(GatewayWatch.json),
            "alarms": .array(alarms.map(\.rawValue).sorted().map { .string($0) }),
            "errors": .int(reportedErrors),
        ])
    }

    fileprivate init(_ json: JSON) {
        name = json["name"]?.text ?? ""
        mark = json["schedule"]?.text ?? ""
        isEnabled = json["isEnabled"] == .bool(true)
        runsOnce = json["runsOnce"] == .bool(true)
        stagger = json["staggerMs"]?.milliseconds ?? .zero
        limit = json["limitMs"]?.milliseconds ?? .seconds(3600)
        next = GatewayWatch.moment(json["next"])
        lastRun = GatewayWatch.moment(json["lastRun"])
        runningSince = GatewayWatch.moment(json["runningSince"])
        alarms = Set((json["alarms"]?.elements ?? []).compactMap(\.text).compactMap(GatewayAlarm.init))
        reportedErrors = json["errors"]?.int ?? 0
    }
}
