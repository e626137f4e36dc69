import API
import APIClient
import ArgumentParser
import TerminalView
import Timeline

struct JobNextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Shows when a job runs next.")

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument
    @Option(name: .customShort("n"), help: ArgumentHelp("How many slots.", valueName: "count"))
    var count = 5

    func validate() throws {
        guard count > 0 else { throw ValidationError("-n is a number from 1 up") }
    }

    func run() throws {
        let client = try common.client()
        var query = Query()
        query["n"] = String(count)
        let slots: [Timestamp] = try client.ask(.nextSlots(job.name), query: query)
        guard !common.json else {
            StandardOutput.print(try WireCoding.text(slots))
            return
        }
        let screen = common.screen
        let job: WireJob = try client.ask(.job(job.name))
        let zone = job.schedule.zone.flatMap(Zones.rules) ?? screen.zone
        for slot in slots {
            screen.print("\(slot.moment.iso8601(in: zone))  \(screen.paint(screen.distance(slot), .dim))")
        }
        if slots.isEmpty { screen.print(screen.paint("No slot to come.", .dim)) }
    }
}
