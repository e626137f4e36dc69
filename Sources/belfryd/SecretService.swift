import DBus
import DesktopChannel
import Glibc
import Host

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
