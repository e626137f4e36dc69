import API
import Cron
import Engine
import Ledger
import Timeline

extension WireJob {
    /// The job as the API shows it.
    init(_ entry: ScheduledJob, lastRun: WireRun?) {
        let record = entry.record
        let spec = record.spec
        let isManual = spec.schedule.kind == .manual
        var (text, anchor): (String, Timestamp?) = (spec.schedule.text, nil)
        switch entry.schedule {
        case .every(_, let moment): anchor = Timestamp(moment)
        // With its first day, also where that follows from when the job was made.
        case .calendar(let grid, _): text = grid.rule.text
        case .cron, .after, .at, .startup, .manual: break
        }
        self.init(
            name: spec.name, origin: record.origin.rawValue, bot: spec.bot, kind: spec.action.kind,
            schedule: WireSchedule(
                kind: spec.schedule.kind.rawValue, text: text,
                zone: entry.schedule.zoneName, words: isManual ? nil : entry.schedule.words(in: entry.rules)),
            revision: record.revision, policies: WirePolicies(spec))
        schedule.from = anchor
        if let phrase = spec.schedule.phrase {
            schedule.phrase = phrase
            schedule.note = (try? PhraseAnswer(phrase, now: record.since, in: entry.rules))?.note
        }
        at = record.place
        if let pause = record.pause {
            paused = .since(Timestamp(pause.since), note: pause.note)
        } else {
            nextAt = Timestamp(entry.next, in: entry.rules)
        }
        self.lastRun = lastRun
        switch spec.action {
        case .command(let command): self.command = command
        case .shell(let text): shell = text
        }
        cwd = spec.directory
        env = spec.environment.isEmpty ? nil : spec.environment.keys.sorted()
    }
}

extension WirePolicies {
    /// The policies of a job.
    init(_ spec: JobSpec) {
        self.init(
            overlap: spec.overlap.rawValue,
            catchUp: WireCatchUp(
                mode: spec.catchUp.mode.rawValue, withinMs: spec.catchUp.within.milliseconds),
            timeoutMs: spec.timeout?.milliseconds, graceMs: spec.grace.milliseconds,
            attempts: spec.attempts)
        onLost = spec.retriesLost
        backoffMs = spec.backoff.milliseconds
        leftovers = WireLeftovers(
            waitMs: spec.leftovers.wait.milliseconds, then: spec.leftovers.then.rawValue)
        priority = spec.priority
        concurrency = spec.concurrency.map { WireConcurrency(key: $0.key, max: $0.max) }
        if spec.catchUp.mode == .all { catchUp.burst = spec.catchUp.burst }
        if let spread = spec.spread {
            spreadMs = spread.milliseconds
            spreadOffsetMs = SlotDelay.spread(spread, of: spec.name).milliseconds
        }
        guard let rules = spec.process else { return }
        user = rules.user
        umask = rules.umask.map { "0" + String($0, radix: 8) }
        nice = rules.nice
        stdin =
            switch rules.input {
            case .text: "text"
            case .file: "file"
            case nil: nil
            }
        limits = rules.limits.map { limits in
            Dictionary(uniqueKeysWithValues: limits.map { ($0.key.rawValue, $0.value) })
        }
    }
}
