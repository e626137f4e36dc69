import APIServer
import Delivery
import Engine
import Glibc
import Host
import Ledger
import Prompting
import Settings
import Synchronization
import Timeline
import Tracking

/// The bots whose keys could not be read, to be tried again.
final class BotKeys: Sendable {
    private let waiting = Mutex<[String: Configuration.Bot]>([:])
    private let sources = Mutex<[String: [SecretSource]]>([:])

    /// Notes which of these bots have a key that can't be read.
    func note(_ bots: [Configuration.Bot]) {
        sources.withLock { sources in
            sources = bots.reduce(into: [:]) { $0[$1.name] = $1.keySources }
        }
        waiting.withLock { waiting in
            waiting = bots.reduce(into: [:]) { if $1.contact?.fault != nil { $0[$1.name] = $1 } }
        }
    }

    /// The bot's key as its place has it now; nil: it has none, or it can't be read.
    func reread(_ name: String) -> String? {
        sources.withLock { $0[name]?.first }.flatMap { try? Secrets.read($0) }
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

extension BotMaking {
    /// Bots of the ledger in this state folder: read as those of a file, with keys in `secrets/bot-NAME.key`.
    static func inState(_ state: String, zones: ZoneCache) -> BotMaking {
        let folder = state + "/secrets"
        let path: @Sendable (String) -> String = { "\(folder)/bot-\($0).key" }
        return BotMaking(
            read: { entry, key, leavesOut in
                try profile(of: entry, leavesOut: leavesOut, zones) { source in
                    if let key, source == .file(path(entry.name)) { return key }
                    return try Secrets.read(source)
                }
            },
            keyPath: path,
            draftKey: { key, path in
                try PrivateFolder.make(folder, within: state)
                try SmallFile.replace(draft(of: path), with: Array((key + "\n").utf8), isDurable: true)
            },
            keepDraft: { path in
                guard unsafe rename(draft(of: path), path) == 0 else { throw HostError.last("rename", path) }
                try SmallFile.syncFolder(of: path)
            },
            dropDraft: { _ = unsafe unlink(draft(of: $0)) },
            removeKey: { path in
                guard unsafe unlink(path) == 0 || errno == ENOENT else {
                    throw Failure(HostError.last("unlink", path).reason)
                }
            })
    }

    /// Where a key is until the settings that name it are in the ledger.
    private static func draft(of path: String) -> String { path + ".new" }

    private static func profile(
        of entry: BotEntry, leavesOut: Bool, _ zones: ZoneCache,
        readSecret: @escaping (SecretSource) throws -> String
    ) throws -> BotProfile {
        var reader = ConfigurationReader(
            hostZone: zones.hostName, zone: { zones.rules(of: $0) }, readSecret: readSecret)
        reader.leavesOutBots = leavesOut
        reader.tools = ToolTable.standard.names
        // Those of the files are looked for when work is handed to them.
        reader.isOtherBot = { _ in true }
        let text = JSON.object(["bots": .members([.init(entry.name, entry.settings)])])
        do throws(SettingsError) {
            let source = SourceText(name: entry.name, text: String(decoding: text.bytes, as: UTF8.self))
            guard let bot = try reader.read(source).bots.first else { throw SettingsError(problems: []) }
            var profile = BotProfile(bot)
            profile.place = BotProfile.commandLine
            return profile
        } catch {
            // The line of a text that nobody wrote helps nobody.
            let sentences = error.problems.map {
                [$0.message, $0.hint].compactMap(\.self).joined(separator: "; ")
            }
            throw Failure(sentences.isEmpty ? "it describes no bot" : sentences.joined(separator: ". And "))
        }
    }
}
