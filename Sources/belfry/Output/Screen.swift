import API
import Glibc
import Host
import TerminalView
import Timeline

/// Where text for people goes: its colours, and the zone of times.
struct Screen {
    let traits: TerminalTraits
    let zone: ZoneRules
    let now: Moment
    /// The cells of a line on a terminal; nil where there is no terminal.
    let columns: Int?

    init(color: TerminalTraits.Wish, progress: TerminalTraits.Progress = .auto) {
        traits = TerminalTraits(
            progress: progress, color: color, isTerminal: StandardOutput.isTerminal,
            environment: Machine.environment)
        zone = Zones.local
        now = .now
        columns = StandardOutput.isTerminal ? TerminalSize(of: STDOUT_FILENO).columns : nil
    }

    func print(_ text: String) { StandardOutput.print(text) }

    /// Prints prose, on a terminal in lines that fit it; those after the first begin with `hang` blanks.
    func print(_ text: String, hang: Int) {
        guard let columns, columns >= hang + 20 else { return print(text) }
        for line in ColumnFit.wrap(text, hang: hang, columns: columns) { print(line) }
    }

    /// A line of what is known of one thing; none where `text` is nil.
    ///
    /// What may be copied, as a command, is `asIs`: the terminal breaks it where it has to.
    func field(_ name: String, _ text: String?, asIs: Bool = false) {
        guard let text else { return }
        let lead = max(10, name.count + 1)
        let line = paint(name.padded(to: lead), .dim) + PlainText.oneLine(text)
        if asIs { print(line) } else { print(line, hang: lead) }
    }

    /// `text` in a colour, where colours are shown.
    func paint(_ text: String, _ color: TerminalColor) -> String {
        traits.usesColor ? color.sequence + text + TerminalColor.normal.sequence : text
    }

    /// A time in a column or a line: `02:30:05` today, `Mon 23 Nov 02:30` on another day; `-` when there is none.
    ///
    /// Where no terminal shows it, ISO 8601, as ``fullTime(_:of:)``.
    func time(_ timestamp: Timestamp?) -> String {
        written(timestamp, zone) { DisplayTime.short($0, in: zone, at: now) }
    }

    /// A time in the zone of a job, with its offset where that is not the zone of this machine.
    func time(_ timestamp: Timestamp?, of job: WireJob) -> String {
        let rules = rules(of: job)
        return written(timestamp, rules) { moment in
            let offset = rules.name == zone.name ? "" : " (\(DisplayTime.offset(moment, in: rules)))"
            return DisplayTime.short(moment, in: rules, at: now) + offset
        }
    }

    /// A time on its own: `Mon 23 Nov 03:00 (+01:00)`, in the zone of a job where one is given.
    func fullTime(_ timestamp: Timestamp?, of job: WireJob? = nil) -> String {
        fullTime(timestamp, in: job.map(rules) ?? zone)
    }

    /// The same in a zone.
    func fullTime(_ timestamp: Timestamp?, in rules: ZoneRules) -> String {
        written(timestamp, rules) { DisplayTime.full($0, in: rules, at: now) }
    }

    /// The zone of a job's schedule, else that of this machine.
    func rules(of job: WireJob) -> ZoneRules {
        guard let name = job.schedule.zone, name != zone.name else { return zone }
        return Zones.rules(name) ?? zone
    }

    private func written(
        _ timestamp: Timestamp?, _ rules: ZoneRules, _ display: (Moment) -> String
    ) -> String {
        guard let moment = timestamp?.moment else { return "-" }
        // Parts of a second are for programs that read JSON.
        return columns == nil ? Moment(seconds: moment.seconds).iso8601(in: rules) : display(moment)
    }

    /// How far a time is: `in 5m`, `3h ago`.
    func distance(_ timestamp: Timestamp) -> String {
        timestamp.moment > now
            ? "in \(DisplayDuration.text(timestamp.moment - now))"
            : "\(DisplayDuration.text(now - timestamp.moment)) ago"
    }
}
