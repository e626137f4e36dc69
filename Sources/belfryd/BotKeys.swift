import Delivery
import Prompting
import Settings
import Synchronization

/// The bots whose keys could not be read, to be tried again.
final class BotKeys: Sendable {
    private let waiting = Mutex<[String: Configuration.Bot]>([:])

    /// Notes which of these bots have a key that can't be read.
    func note(_ bots: [Configuration.Bot]) {
        waiting.withLock { waiting in
            waiting = bots.reduce(into: [:]) { if $1.contact?.fault != nil { $0[$1.name] = $1 } }
        }
    }

    /// The bot's provider with its key, if that can be read now.
    func reopen(_ name: String) -> BotInUse? {
        guard let bot = waiting.withLock({ $0[name] }), var contact = bot.contact,
            let keys = try? bot.keySources.map({ try Secrets.read($0) })
        else { return nil }
        contact.secrets = FormSecrets([BotInUse.key: keys])
        contact.fault = nil
        waiting.withLock { $0[name] = nil }
        return contact
    }
}
