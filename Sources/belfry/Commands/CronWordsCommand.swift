import API
import ArgumentParser
import Cron
import Host
import Timeline

struct CronWordsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "words",
        abstract: "Turns an English phrase into a schedule; exits 1 if it is not understood.",
        discussion: #"""
            Prints the schedule, what it means and its next 3 times. A phrase with two
            readings is refused with both. English only.

              belfry cron words "every weekday at 9:30"
              belfry cron words "mon-fri 8 to 18 every half hour in Berlin"
            """#)

    @Argument(help: ArgumentHelp("The phrase, quoted or not.", valueName: "phrase"))
    var phraseWords: [String]
    @Option(
        help: ArgumentHelp(
            "The time zone, such as Europe/Berlin (default: this machine's).", valueName: "zone"))
    var zone: String?
    @Flag(help: "Print JSON instead of text.")
    var json = false

    func run() throws {
        let phrase = phraseWords.joined(separator: " ")
        guard let rules = zone.map(Zones.rules) ?? Zones.local else { throw Zones.refusal(zone ?? "") }
        let now = Moment(seconds: Moment.now.seconds)
        let read: PhraseAnswer
        do throws(CronError) {
            read = try PhraseAnswer(phrase, now: now, in: rules, zones: Zones.ofPhrases, allowsSeveral: true)
        } catch {
            if json {
                StandardOutput.print(try WireCoding.text(CronPhraseAnswer(error)))
            } else {
                StandardError.print(error.drawing)
                if (try? CronExpression(phrase)) != nil {
                    StandardError.print("This is an expression already: belfry cron explain \"\(phrase)\"")
                }
            }
            throw ExitCode(1)
        }
        if zone != nil, read.zone.name != rules.name {
            throw ValidationError(
                "the phrase names the time zone \(read.zone.name), and --zone is \(rules.name)")
        }
        let answer = CronPhraseAnswer(phrase, read, after: now)
        guard !json else {
            StandardOutput.print(try WireCoding.text(answer))
            return
        }
        let schedules = [read.schedule] + read.others
        for schedule in schedules {
            var text = schedule.text
            if case .cron(let expression, let zone) = schedule {
                text = (read.namesZone ? "CRON_TZ=\(zone) " : "") + expression.description
            }
            StandardOutput.print(text)
        }
        for schedule in schedules {
            StandardOutput.print(CronPhraseAnswer.words(schedule, in: read.zone, countedFrom: now))
        }
        for time in answer.occurrences ?? [] { StandardOutput.print("  \(time)") }
        for note in read.notes + (answer.remarks ?? []) { StandardOutput.print("note: \(note)") }
    }
}
