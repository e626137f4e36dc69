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
            revision: record.revision, policies: JobFields.standard.policies(of: spec))
        if let spread = spec.spread {
            policies["spreadOffsetMs"] = JobValue.duration(SlotDelay.spread(spread, of: spec.name)).inJSON
        }
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
        (command, shell, cwd) = (spec.command, spec.shell, spec.directory)
        let names = Array(spec.environment.keys) + Array(spec.secretFiles.keys)
        env = names.isEmpty ? nil : names.sorted()
    }
}
