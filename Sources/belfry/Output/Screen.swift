import API
import Host
import TerminalView
import Timeline

/// Where text for people goes: its colours, and the zone of times.
struct Screen {
    let traits: TerminalTraits
    let zone: ZoneRules
    let now: Moment

    init(color: TerminalTraits.Wish, progress: TerminalTraits.Progress = .auto) {
        traits = TerminalTraits(
            progress: progress, color: color, isTerminal: StandardOutput.isTerminal,
            environment: Machine.environment)
        zone = Zones.local
        now = .now
    }

    func print(_ text: String) { StandardOutput.print(text) }

    /// A line of what is known of one thing; none where `text` is nil.
    func field(_ name: String, _ text: String?) {
        guard let text else { return }
        print(paint(name.padded(to: max(10, name.count + 1)), .dim) + PlainText.oneLine(text))
    }

    /// `text` in a colour, where colours are shown.
    func paint(_ text: String, _ color: TerminalColor) -> String {
        traits.usesColor ? color.sequence + text + TerminalColor.normal.sequence : text
    }

    /// A time: `02:30:05` within 12 hours of now, else with its date; `-` when there is none.
    func time(_ timestamp: Timestamp?) -> String { time(timestamp, zone) }

    /// A time in the zone of a job, with its offset where that is not the zone of this machine.
    func time(_ timestamp: Timestamp?, of job: WireJob) -> String {
        guard let moment = timestamp?.moment, let name = job.schedule.zone, name != zone.name,
            let rules = Zones.rules(name)
        else { return time(timestamp) }
        let offset = moment.iso8601(in: rules).drop { $0 != "T" }.drop { !"Z+-".contains($0) }
        return "\(time(timestamp, rules)) \(offset)"
    }

    private func time(_ timestamp: Timestamp?, _ zone: ZoneRules) -> String {
        guard let moment = timestamp?.moment else { return "-" }
        let local = CivilTime(moment, in: zone)
        let clock = Self.two(local.hour) + ":" + Self.two(local.minute) + ":" + Self.two(local.second)
        let distance = moment > now ? moment - now : now - moment
        return distance < .seconds(43_200) ? clock : "\(local.date.iso8601) \(clock)"
    }

    /// How far a time is: `in 5m`, `3h ago`.
    func distance(_ timestamp: Timestamp) -> String {
        timestamp.moment > now
            ? "in \(DisplayDuration.text(timestamp.moment - now))"
            : "\(DisplayDuration.text(now - timestamp.moment)) ago"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
