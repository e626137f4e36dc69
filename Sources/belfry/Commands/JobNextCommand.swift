import API
import APIClient
import ArgumentParser
import TerminalView
import Timeline

struct JobNextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Shows when a job runs next.",
        discussion: """
            Times are in the schedule's zone, with offsets. Times that a clock change moves, repeats or skips are \
            marked.

              belfry job next backup -n 10
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument
    @Option(name: .customShort("n"), help: ArgumentHelp("How many slots to show.", valueName: "count"))
    var count = 5

    func validate() throws {
        guard count > 0 else { throw ValidationError("-n is a number from 1 up") }
    }

    func run() throws {
        let client = try common.client()
        var query = NextSlotsQuery()
        query.count = count
        query.notes = !common.json
        let answer = try client.ask(Endpoints.nextSlots(job.name, query: query))
        guard !common.json else {
            StandardOutput.print(try WireCoding.text(answer))
            return
        }
        let slots = if case .slots(let slots) = answer { slots } else { [WireSlot]() }
        let screen = common.screen
        let job = try client.ask(Endpoints.job(job.name))
        let zone = job.schedule.zone.flatMap(Zones.rules) ?? screen.zone
        for slot in slots {
            let distance = slot.isSkipped ? "" : screen.distance(slot.at)
            let line = [distance, slot.note].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ", ")
            screen.print("\(slot.at.moment.iso8601(in: zone))  \(screen.paint(line, .dim))")
        }
        if slots.isEmpty {
            let words = job.schedule.words.map { " (\($0))" } ?? ""
            screen.print(screen.paint("No slot to come\(words).", .dim))
        }
        if job.paused.isPaused { screen.print(screen.paint("It is paused: none of them runs.", .dim)) }
        if let offset = job.policies.spreadOffsetMs, !slots.isEmpty {
            let text = Duration.milliseconds(offset).text
            screen.print(screen.paint("Each starts \(text) later, this job's part of its spread.", .dim))
        }
    }
}
