import API
import Cron
import Engine
import Ledger
import Timeline
import Tracking

extension WireJob {
    /// The job as the API shows it.
    init(_ entry: ScheduledJob, lastRun: WireRun?) {
        let record = entry.record
        let spec = record.spec
        self.init(
            name: spec.name, origin: record.origin.rawValue, bot: spec.bot, kind: spec.action.kind,
            schedule: WireSchedule(spec.schedule, entry.schedule, entry.zones, since: record.since),
            revision: record.revision,
            policies: WirePolicies(JobFields.standard.policies(of: spec)))
        if let spread = spec.spread {
            policies.values["spreadOffsetMs"] = SlotDelay.spread(spread, of: spec.name).json
        }
        at = record.place
        if let pause = record.pause {
            paused = .since(Timestamp(pause.since), note: pause.note)
        } else {
            nextAt = Timestamp(entry.next, in: entry.zones.first)
        }
        self.lastRun = lastRun
        (command, shell, prompt, cwd) = (spec.command, spec.shell, spec.prompt, spec.directory)
        env = Self.names(spec.environment, spec.secretFiles)
        if let request = spec.request {
            (url, method, expect) = (request.url, request.effectiveMethod, request.expect)
            headers = Self.names(request.headers, request.secretFiles)
        }
    }

    /// The names of values that stay in the daemon; nil: there are none.
    private static func names(_ texts: [String: String], _ files: [String: String]) -> [String]? {
        let names = Array(texts.keys) + Array(files.keys)
        return names.isEmpty ? nil : names.sorted()
    }
}

extension WireSchedule {
    /// A stored schedule and what it was read as, by the rules of `zones`; active `since` then.
    fileprivate init(
        _ spec: ScheduleSpec, _ schedule: Schedule, _ zones: ScheduleZones, since: Moment
    ) {
        let rules = zones[schedule.zoneName]
        let words = schedule == .manual ? nil : schedule.words(in: rules)
        switch schedule {
        case .several(let list):
            self.init(
                several: zip(spec.members ?? [], list.members).map {
                    WireSchedule($0, $1, zones, since: since)
                })
        // With its first day, also where that follows from when the job was made.
        case .calendar(let grid, _): self.init(kind: spec.kind.rawValue, text: grid.rule.text)
        case .cron, .every, .after, .at, .startup, .manual:
            self.init(kind: spec.kind.rawValue, text: spec.text)
        }
        (zone, self.words) = (schedule.zoneName, words)
        if case .every(_, let anchor) = schedule { from = Timestamp(anchor) }
        if let phrase = spec.phrase {
            self.phrase = phrase
            note = (try? PhraseAnswer(phrase, now: since, in: rules))?.note
        }
    }
}
