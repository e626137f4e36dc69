import APIServer
import DBus
import Delivery
import DesktopChannel
import Engine
import Glibc
import Host
import Ledger
import Prompting
import Settings
import Synchronization
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

/// The keyring of the user's session: GNOME Keyring, KWallet, KeePassXC.
///
/// Nothing is unlocked and nobody is asked: a daemon that opens a password dialog at night helps nobody.
/// - Source: freedesktop.org, Secret Service API 0.2.
enum SecretService {
    /// The attribute whose value names a secret.
    static let attribute = "belfry"
    /// How long a keyring may take for all questions.
    private static let timeout = Duration.seconds(5)
    private static let service = "org.freedesktop.secrets"

    /// The secret of that name.
    ///
    /// - Throws: a sentence that says what to do, and never holds the secret.
    static func read(_ name: String) throws(Failure) -> String {
        let connection = try connect()
        do throws(DBusError) {
            let items = try connection.call(
                method("/org/freedesktop/secrets", "Service", "SearchItems"),
                [.dictionary(key: .string, value: .string, [.init(.string(attribute), .string(name))])])
            let item = try item(named: name, among: items)
            let session = try connection.call(
                method("/org/freedesktop/secrets", "Service", "OpenSession"),
                [.string("plain"), .variant(.string(""))])
            guard let path = session.last?.text else {
                throw DBusError.unexpectedReply("a session without a path")
            }
            return try text(
                of: try connection.call(method(item, "Item", "GetSecret"), [.objectPath(path)]))
        } catch {
            throw failure(error, of: name)
        }
    }

    private static func connect() throws(Failure) -> BlockingConnection {
        let bus = SessionBus(environment: Machine.environment, userID: geteuid())
        var reason = "no address is known"
        for address in bus.addresses {
            do throws(DBusError) {
                return try BlockingConnection(to: address, deadline: timeout)
            } catch {
                // libdbus says the errno's text last, behind a path that is the address's.
                guard case .cannotConnect(_, let message) = error else {
                    reason = "\(address): \(error)"
                    continue
                }
                reason = "\(address): \(message.split(separator: ": ").last ?? "")"
            }
        }
        throw Failure("there is no session bus (\(reason)); on such a machine name a file or a credential")
    }

    private static func method(_ path: String, _ interface: String, _ member: String) -> DBusMethod {
        DBusMethod(
            destination: service, path: path, interface: "org.freedesktop.Secret.\(interface)",
            member: member)
    }

    /// The one item that was found and is not locked.
    private static func item(named name: String, among found: [DBusValue]) throws(DBusError) -> String {
        let lists = found.map(\.paths)
        guard lists.count == 2, let open = lists[0], let locked = lists[1] else {
            throw .unexpectedReply("no two lists of items")
        }
        guard let first = open.first else {
            throw .refused(name: locked.isEmpty ? missing : isLocked, message: "")
        }
        guard open.count == 1 else { throw .refused(name: ambiguous, message: "\(open.count)") }
        return first
    }

    /// What a secret's structure holds: session, parameters, value, type of the value.
    private static func text(of answer: [DBusValue]) throws(DBusError) -> String {
        guard case .structure(let parts)? = answer.first, parts.count == 4,
            case .array(of: .byte, let values) = parts[2]
        else { throw .unexpectedReply("no secret") }
        let bytes = values.map { value -> UInt8 in if case .byte(let byte) = value { byte } else { 0 } }
        return SmallFile.text(of: bytes)
    }

    // MARK: Errors

    private static let isLocked = "org.freedesktop.Secret.Error.IsLocked"
    private static let missing = "org.freedesktop.Secret.Error.NoSuchObject"
    private static let ambiguous = "ambiguous"
    private static let absent = [
        "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
    ]

    private static func failure(_ error: DBusError, of name: String) -> Failure {
        guard case .refused(let kind, let text) = error else { return Failure("\(error)") }
        switch kind {
        case isLocked:
            return Failure("the keyring is locked; unlock it (logging in does), then run belfry reload")
        case missing:
            return Failure(
                "the keyring has no secret with \(attribute)=\(name); store it with: "
                    + "secret-tool store --label \"Belfry \(name)\" \(attribute) \(name)")
        case ambiguous:
            return Failure(
                "the keyring has \(text) secrets with \(attribute)=\(name); remove all but one")
        case let kind where absent.contains(kind):
            return Failure("no keyring runs in the session; start one, such as gnome-keyring or KeePassXC")
        default: return Failure("\(error)")
        }
    }
}

extension DBusValue {
    /// The paths of an array of object paths; nil for anything else.
    fileprivate var paths: [String]? {
        guard case .array(of: .objectPath, let elements) = self else { return nil }
        return elements.compactMap(\.text)
    }
}
