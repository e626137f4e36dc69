import Grouping
import Ledger

extension ConfigurationReader {
    /// A bot, or nil after every fault in it was reported.
    func readBot(_ key: Field, _ value: Field) -> Configuration.Bot? {
        guard let name = key.text() else { return nil }
        if let fault = JobName.fault(in: name) { key.fault("\"\(name)\" is no bot's name: \(fault)") }
        var bot = Configuration.Bot(name: name, policy: ThreadPolicy(), soundName: nil, place: key.place)
        guard let fields = value.record(keys: ["backend", "notifications"]) else { return nil }
        if let backend = fields["backend"]?.record(keys: ["kind"]), let kind = backend["kind"] {
            _ = kind.choice(of: ["command"], later: ["openclaw", "anthropic", "openai"])
        }
        if let notifications = fields["notifications"] { readNotifications(notifications, into: &bot) }
        return bot
    }

    private func readNotifications(_ field: Field, into bot: inout Configuration.Bot) {
        let fields = field.record(
            keys: ["sound", "wait", "ringAgainAfter", "preview"],
            later: ["quiet", "budget", "level", "digest", "icon"])
        guard let fields else { return }
        bot.soundName = fields["sound"]?.word()
        if let wait = fields["wait"]?.duration() { bot.policy.wait = wait }
        if let again = fields["ringAgainAfter"]?.duration() { bot.policy.ringAgainAfter = again }
        if let preview = fields["preview"]?.number(in: 10...500) { bot.policy.previewCharacters = preview }
    }
}
