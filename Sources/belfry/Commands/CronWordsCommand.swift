import API
import ArgumentParser
import Cron
import Host
import Timeline

struct CronWordsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "words",
        abstract: "Turns a phrase into a schedule; exits 1 if it is not understood.",
        discussion: #"  belfry cron words "every weekday at 9:30""#)

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
        let read: PhraseAnswer
        do throws(CronError) {
            read = try PhraseAnswer(phrase, now: .now, in: rules)
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
        let answer = CronPhraseAnswer(phrase, read, in: rules)
        guard !json else {
            StandardOutput.print(try WireCoding.text(answer))
            return
        }
        StandardOutput.print(answer.expression ?? read.schedule.text)
        StandardOutput.print(read.schedule.words(in: rules))
        if let note = read.note { StandardOutput.print("note: \(note)") }
    }
}
