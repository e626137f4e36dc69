import API
import APIClient
import ArgumentParser
import Delivery
import Host
import Timeline

/// What every import takes.
struct ImportOptions: ParsableArguments {
    @Flag(help: "Add the jobs; without --apply they are only shown.")
    var apply = false

    @Flag(name: .shortAndLong, help: "Show each job in full: its settings, notes and next 10 times.")
    var verbose = false

    @Option(help: ArgumentHelp("Show times after this time (default: now).", valueName: "iso"))
    var from: String?

    @Option(
        help: ArgumentHelp("The bot that the jobs belong to.", valueName: "bot"), completion: Completions.bots
    )
    var bot: String?
    @OptionGroup var common: CommonOptions

    /// Where the shown times begin.
    func start() throws(APIError) -> Moment {
        try from.map { (text) throws(APIError) in try Zones.moment(text, of: "--from") } ?? .now
    }

    /// Shows the jobs and, where that was asked for, adds them; `disable` says what to do with the originals.
    ///
    /// - Throws: ``ExitCode`` 1 when a job of `--apply` was refused or could not be added.
    func finish(_ jobs: [ImportedJob], disable: ([ImportedJob]) -> String) throws {
        guard apply, !jobs.isEmpty else {
            try common.screen.list(jobs.map(ImportedJob.Shown.init), asJSON: common.json) { screen in
                show(jobs, on: screen)
            }
            return
        }
        let client = try common.client()
        var results: [ImportedJob] = []
        for var job in jobs {
            if job.refusal == nil {
                do throws(APIError) {
                    _ = try client.ask(Endpoints.addJob(body: job.draft(bot: bot)))
                    job.isAdded = true
                } catch {
                    // Without a daemon none of the others can be added either.
                    guard error.code.row.exitCode != 3 else { throw error }
                    job.refusal = error.sentence
                }
            }
            results.append(job)
        }
        let added = results.filter(\.isAdded)
        try common.screen.list(results.map(ImportedJob.Shown.init), asJSON: common.json) { screen in
            for result in results {
                let outcome = result.isAdded ? "added" : "not added: \(result.refusal ?? "")"
                screen.print("\(result.name) (\(result.place)): \(outcome)")
            }
            if !added.isEmpty { screen.print(disable(added)) }
        }
        if added.count < jobs.count { throw ExitCode(1) }
    }

    /// A line for each job, what is different from the original, and each note once; with `--verbose` all of it.
    private func show(_ jobs: [ImportedJob], on screen: Screen) {
        guard !jobs.isEmpty else { return screen.print("nothing to import") }
        let good = jobs.filter { $0.refusal == nil }
        if verbose {
            for job in jobs { screen.print(job.text + "\n") }
        } else {
            var table = TextTable(["NAME", "TIMES", "COMMAND"])
            for job in jobs {
                let outcome = job.refusal.map { "not added: \($0)" } ?? job.written ?? job.action
                table.add([
                    "\(job.name)", "\(PlainText.preview(job.original, limit: 40))",
                    "\(PlainText.preview(outcome))",
                ])
            }
            screen.print(table, empty: "")
            Self.printDifferences(of: good, on: screen)
            Self.printNotes(of: good, on: screen)
            screen.print("")
        }
        let details = verbose ? "" : " -v shows all of each job."
        screen.print("\(good.count) of \(jobs.count) can be added; add them with --apply.\(details)")
    }

    /// The first times of each job that differ from the original's; of those that differ by their zone only the first job's.
    static func printDifferences(of jobs: [ImportedJob], on screen: Screen) {
        let different = jobs.filter { !$0.differences.isEmpty }
        var zones: Set<String> = []
        for first in different where first.hasOtherZone && zones.insert(first.zone.name).inserted {
            let group = different.filter { $0.hasOtherZone && $0.zone.name == first.zone.name }
            let subject = "\(names(group.map(\.name))) \(group.count > 1 ? "differ" : "differs")"
            let example = group.count > 1 ? "; \(first.name), for example" : ""
            screen.print("\n\(subject) from the original by the zone \(first.zone.name)\(example):")
            printTimes(of: first, on: screen)
        }
        for job in different where !job.hasOtherZone {
            screen.print("\n\(job.name) differs from the original:")
            printTimes(of: job, on: screen)
        }
    }

    private static func printTimes(of job: ImportedJob, on screen: Screen) {
        for line in job.differences.prefix(mostDifferences) { screen.print(line) }
        let rest = job.differences.count - mostDifferences
        if rest > 0 { screen.print("    and \(rest) more; -v shows all") }
    }

    /// Each note once, with the jobs it is about where these are not all.
    private static func printNotes(of jobs: [ImportedJob], on screen: Screen) {
        var order: [String] = []
        var names: [String: [String]] = [:]
        for job in jobs {
            for note in job.notes {
                if names[note] == nil { order.append(note) }
                names[note, default: []].append(job.name)
            }
        }
        if !order.isEmpty { screen.print("") }
        for note in order {
            let whose = names[note] ?? []
            let subject = whose.count == jobs.count ? "" : " (\(Self.names(whose)))"
            StandardOutput.print(prose: PlainText.oneLine("note\(subject): \(note)"))
        }
    }

    /// The first names, and how many more there are.
    private static func names(_ all: [String]) -> String {
        let rest = all.count - mostNames
        return all.prefix(mostNames).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    /// How many times are shown that differ from the original's.
    private static let mostDifferences = 3

    /// How many jobs a note names.
    private static let mostNames = 5

    /// The daemon's channel for mail, one that gets failures before others; nil: it has none that can be used, or does not
    /// answer.
    func mailChannel() -> MailChannel? {
        let channels = (try? common.client().ask(Endpoints.channels())) ?? []
        let mail = channels.filter { $0.kind == MailForm.kind.rawValue && $0.state != "leftOut" }
            .map { channel in
                MailChannel(
                    name: channel.name,
                    getsFailures: channel.when?.contains(RouteWord.failed.rawValue) ?? false)
            }
        return mail.first(where: \.getsFailures) ?? mail.first
    }

    /// Who the jobs will run as.
    func rights() -> ImportRights {
        ImportRights(system: common.system, status: try? common.client().ask(Endpoints.status()))
    }
}

/// Numbers of lines for people.
enum LineNumbers {
    /// `1-3, 7, 9-12`: neighbours as a range; of very many ranges the first, and how many lines more.
    static func text(_ numbers: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for number in Set(numbers).sorted() {
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        let rest = ranges.dropFirst(mostRanges).reduce(0) { $0 + $1.count }
        let shown = ranges.prefix(mostRanges).map { range in
            range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
        }
        return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    private static let mostRanges = 20
}

/// Whom imported jobs run as, and whether they can run as somebody else.
struct ImportRights {
    /// Who runs this program.
    let own: UserTable.Entry?
    /// The user of jobs that name none.
    let runner: String?
    /// Whether a job can name another user.
    let canSwitch: Bool

    /// The rights that a daemon's warden gives; without a daemon those of a `system` daemon, or one's own.
    init(system: Bool, status: WireStatus?) {
        own = UserTable.own
        // A daemon and its warden run as the same user, also while the warden is not there yet.
        let owner = (status?.warden?.pid ?? status?.pid).flatMap(Self.owner)
        runner = owner ?? (system ? "root" : own?.name)
        canSwitch = owner == "root" || owner == nil && system
    }

    /// The user to set for a job that runs as `name`, nil where it would anyway, or why it can't.
    func user(_ name: String?) -> (user: String?, refusal: String?) {
        guard let name, name != runner else { return (nil, nil) }
        guard !canSwitch else { return (name, nil) }
        return (nil, "it runs as \(name), and this daemon's jobs run as \(runner ?? "you")")
    }

    /// The user whose process it is.
    private static func owner(_ pid: Int32) -> String? {
        guard let text = try? SmallFile.text("/proc/\(pid)/status") else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("Uid:") }
        guard
            let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ UInt32($0) })
        else {
            return nil
        }
        return Account.name(of: number)
    }
}
