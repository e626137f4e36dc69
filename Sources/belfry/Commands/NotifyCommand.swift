import API
import APIClient
import ArgumentParser
import Glibc

struct NotifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Sends a notification.",
        discussion: """
            Use - to read the text from standard input.

              belfry notify "The tape is full" --bot ops --urgency critical
              make 2>&1 | tail -5 | belfry notify - --title "Build" --replace build
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The text; - reads it from standard input.")
    var text: String
    @Option(help: ArgumentHelp("The title.", valueName: "text"))
    var title: String?
    @Option(help: ArgumentHelp("The bot that sends it.", valueName: "bot"), completion: Completions.bots)
    var bot: String?
    @Option(help: ArgumentHelp("The bot's thread that it belongs to.", valueName: "thread"))
    var thread: String?
    @Option(
        help: ArgumentHelp("The urgency: low, normal or critical.", valueName: "urgency"),
        completion: .list(["low", "normal", "critical"]))
    var urgency: String?
    @Option(help: ArgumentHelp("The name of an icon.", valueName: "name"))
    var icon: String?
    @Option(help: ArgumentHelp("The name of a sound, or none.", valueName: "name"))
    var sound: String?
    @Option(help: ArgumentHelp("A category such as im.received.", valueName: "name"))
    var category: String?
    @Option(help: ArgumentHelp("Replace the notification sent earlier with this key.", valueName: "key"))
    var replace: String?
    @Option(
        help: ArgumentHelp("Withdraw it after this time.", valueName: "duration"),
        transform: DurationArgument.read)
    var expire: DurationArgument?

    func run() throws {
        var request = NotifyRequest(text: text == "-" ? try StandardInput.text(limit: 64 * 1024) : text)
        request.title = title
        request.bot = bot
        request.thread = thread
        request.urgency = urgency
        request.icon = icon
        request.sound = sound
        request.category = category
        request.replace = replace
        request.expireMs = expire?.milliseconds
        let message: WireMessage = try common.client().ask(Endpoints.notify(body: request))
        if common.json { StandardOutput.print(try WireCoding.text(message)) }
    }
}
