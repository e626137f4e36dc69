package import Tracking

/// A channel that somebody describes by a kind, or by pasting an address: what can be read from that.
///
/// What else the kind needs is asked for by ``requiredFields``.
package struct ChannelDraft: Hashable, Sendable {
    /// The `kind:` of its form.
    package var kind: String
    /// Its settings besides the kind, in the form that the configuration file has; no secret is among them.
    package var settings = JSON.members([])
    /// The secrets of its settings, by key: they go into files of their own.
    package var secrets: [String: String] = [:]

    fileprivate init(kind: String) { self.kind = kind }

    /// Why a text describes no channel.
    package enum Refusal: Error, Hashable, Sendable {
        /// It is neither a kind nor an address; and the kinds there are.
        case unknownKind(String, among: [String])
        /// An address of a scheme that belongs to no form.
        case unknownScheme(String)
        /// An address in which a part is missing, as the form has it.
        case incomplete(String)
        /// An address with a part that would have to be left out, and what to do instead.
        case unfit(String)
    }

    /// Reads a kind (`ntfy`), the address of a service (`https://hooks.slack.com/...`, `mailto:me@example.org`), or one
    /// in the form of Apprise (`tgram://TOKEN/CHAT`).
    /// - Throws: ``Refusal``; it never holds a part of the address but its scheme.
    package init(_ text: String) throws(Refusal) {
        let text = Self.unwrapped(text)
        guard let colon = text.firstIndex(of: ":") else {
            let kinds = ChannelForms.all.map { $0.kind.rawValue }
            guard kinds.contains(text) else {
                // It may be an address, and hold a token.
                if text.contains(where: { "./@".contains($0) }) { throw Self.withoutScheme }
                throw .unknownKind(text, among: kinds)
            }
            self.init(kind: text)
            return
        }
        let scheme = text[..<colon].lowercased()
        let rest = text[text.index(after: colon)...]
        switch scheme {
        case "http", "https": try self.init(web: text)
        case "mailto" where !rest.hasPrefix("//"): try self.init(mail: rest)
        default:
            // A host with its port, or a login.
            if !rest.hasPrefix("//"), text.contains(where: { "./@".contains($0) }) {
                throw Self.withoutScheme
            }
            guard rest.hasPrefix("//"), let parts = AppriseAddress(scheme, rest.dropFirst(2)) else {
                throw .unknownScheme(String(CleanText.line(scheme, limit: 20)))
            }
            self = try parts.draft()
        }
    }

    private static let withoutScheme = Refusal.unfit(
        "an address begins with its scheme: https:// before a host, mailto: before a mail address")

    /// Without what comes along when an address is copied: blanks, quotes and angle brackets around it.
    private static func unwrapped(_ text: String) -> String {
        var text = text[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        for (first, last) in [("<", ">"), ("\"", "\""), ("'", "'")]
        where text.count > 2 && text.hasPrefix(first) && text.hasSuffix(last) {
            text = text.dropFirst().dropLast()
        }
        return String(text)
    }

    /// The settings of a kind of channel; none of one that does not exist.
    package static func fields(ofKind kind: String) -> [FormField] {
        ChannelForms.all.first { $0.kind.rawValue == kind }.map { $0.fields + ChannelSafety.fields(of: $0) }
            ?? []
    }

    /// The form of its kind.
    package var form: (any ChannelForm.Type)? { ChannelForms.all.first { $0.kind.rawValue == kind } }

    /// The settings that its form can't do without and that it has not.
    package var missing: [FormField] {
        (form?.requiredFields ?? []).filter { settings[$0.name] == nil && secrets[$0.name] == nil }
    }

    /// The channel in the form that the configuration file has, without its secrets.
    package var described: JSON {
        guard case .members(let members) = settings else { return settings }
        return .members([JSON.Member("kind", .string(kind))] + members)
    }

    /// A name for it, where nobody chose one: its kind, or another with a number where `taken` holds that.
    package func name(besides taken: Set<String>) -> String {
        if !taken.contains(kind) { return kind }
        return (2...).lazy.map { "\(kind)-\($0)" }.first { !taken.contains($0) } ?? kind
    }
}

extension ChannelDraft {
    /// What the address of a page or a hook belongs to; any other address gets webhooks.
    private init(web text: String) throws(Refusal) {
        let address: HTTPAddress
        do throws(FormError) {
            address = try HTTPAddress(text)
        } catch {
            switch error {
            case .secretInURL:
                throw .unfit(
                    "the address has a name or a password before the @, which could be read: leave it out")
            case .badHost:
                throw .unfit(
                    "the address has no valid host; other letters than a to z are written in their ASCII form (xn--)"
                )
            default: throw .unfit("\(error)")
            }
        }
        let path = address.target.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        let host = address.host
        switch true {
        case host == "hooks.slack.com": self.init(post: "slack", text)
        case Self.is(host, of: ["discord.com", "discordapp.com"]) && path.starts(with: ["api", "webhooks"]):
            guard path.count == 4 else {
                throw .incomplete("a webhook of Discord is https://discord.com/api/webhooks/ID/TOKEN")
            }
            self.init(post: "discord", text, on: host == "discord.com" ? nil : address)
        case Self.is(
            host,
            of: [
                "webhook.office.com", "outlook.office.com", "outlook.office365.com", "logic.azure.com",
                "api.powerplatform.com",
            ]):
            self.init(post: "teams", text, on: address)
        case host == "ntfy.sh":
            guard path.count == 1 else { throw .incomplete("a topic of ntfy is https://ntfy.sh/my-topic") }
            self.init(kind: "ntfy", url: text)
        case host == "hc-ping.com":
            guard let key = path.first else { throw .incomplete("a ping is https://hc-ping.com/KEY") }
            self.init(kind: "ping")
            secrets["key"] = key
        case host == "api.telegram.org":
            self.init(kind: "telegram")
            if let bot = path.first, bot.hasPrefix("bot") { secrets["token"] = String(bot.dropFirst(3)) }
            let chat = address.target.split(separator: "?").dropFirst().first?.split(separator: "&")
                .first { $0.hasPrefix("chat_id=") }
            if let chat { settings["chat"] = .string(chat.dropFirst(8).percentDecoded) }
        case host == "events.pagerduty.com" || host == "events.eu.pagerduty.com":
            self.init(kind: "pagerduty")
            if host != "events.pagerduty.com" { settings["url"] = .string(address.shown) }
        // Its hooks have an id of 26 letters and digits.
        case path.count >= 2 && path[path.count - 2] == "hooks" && Self.isMattermostID(path[path.count - 1]):
            self.init(post: "slack", text, on: address)
        case host == "chat.googleapis.com":
            self.init(post: "template", text, on: address)
            settings["body"] = .string(#"{"text": "*{{title}}*\n{{body}}"}"#)
        default:
            if let name = Self.secretName(in: address) {
                throw .unfit(
                    "the address holds a secret (\(name)=), and a webhook's address can be read in the ledger; "
                        + "where that is acceptable: belfry channel add webhook --set url=ADDRESS")
            }
            self.init(kind: "webhook", url: text)
        }
    }

    private static func isMattermostID(_ text: String) -> Bool {
        text.utf8.count == 26
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
    }

    /// The name in the query of what is a secret by its name.
    private static func secretName(in address: HTTPAddress) -> String? {
        let query = address.target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let names = query.split(separator: "&").map { $0.prefix { $0 != "=" }.lowercased() }
        return names.first { secretNames.contains($0) }
    }

    private static let secretNames: Set<String> = [
        "token", "access_token", "auth", "auth_token", "key", "apikey", "api_key", "api-key", "secret",
        "password",
        "passwd", "pw", "sig", "signature",
    ]

    /// `mailto:` and its addresses.
    private init(mail rest: Substring) throws(Refusal) {
        let addresses = rest.prefix { $0 != "?" }.split(separator: ",").map(\.percentDecoded)
        guard !addresses.isEmpty else { throw .incomplete("an address of mail is mailto:me@example.org") }
        self.init(kind: "mail")
        settings["to"] = .array(addresses.map { .string($0) })
    }

    fileprivate init(kind: String, url: String) {
        self.init(kind: kind)
        settings["url"] = .string(url)
    }

    /// A service that gave out the address `text` for posting, which is a secret; its host is only named where it is not
    /// the usual one.
    fileprivate init(post kind: String, _ text: String, on host: HTTPAddress? = nil) {
        self.init(kind: kind)
        secrets[PostAddress.key] = text
        if let host { settings["url"] = .string(host.shown) }
    }

    private static func `is`(_ host: String, of domains: [String]) -> Bool {
        domains.contains { host == $0 || host.hasSuffix(".\($0)") }
    }
}

/// An address in the form of Apprise: `scheme://user:password@host:port/path?key=value`.
///
/// - Source: Apprise 1.9, the pages of its services.
private struct AppriseAddress {
    let scheme: String
    var user: String?
    var password: String?
    var host: String
    var path: [String]
    var query: [String: String] = [:]

    /// - Returns: `nil` where there is no host.
    init?(_ scheme: String, _ rest: Substring) {
        self.scheme = scheme
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let front = parts.first else { return nil }
        var words = front.split(separator: "/").map(String.init)
        guard var host = words.first else { return nil }
        words.removeFirst()
        if let at = host.lastIndex(of: "@") {
            let login = host[..<at].split(separator: ":", maxSplits: 1).map { $0.percentDecoded }
            user = login.first
            password = login.dropFirst().first
            host = String(host[host.index(after: at)...])
        }
        guard !host.isEmpty else { return nil }
        self.host = host
        path = words
        for pair in parts.dropFirst().first?.split(separator: "&") ?? [] {
            let sides = pair.split(separator: "=", maxSplits: 1)
            if sides.count == 2 { query[sides[0].lowercased()] = sides[1].percentDecoded }
        }
    }

    /// Each service that is reached by HTTP has a scheme of its own for TLS, with an `s` behind it.
    private var web: String { scheme.hasSuffix("s") ? "https" : "http" }
    /// The folder of the server in which a service is, where the token is the last part of the path.
    private var folder: String { path.dropLast().map { "/\($0)" }.joined() }

    func draft() throws(ChannelDraft.Refusal) -> ChannelDraft {
        switch scheme {
        case "slack":
            guard path.count >= 2 else { throw .incomplete("slack://A/B/C, the three parts of its webhook") }
            let tokens = [host] + path.prefix(2)
            return ChannelDraft(
                post: "slack", "https://hooks.slack.com/services/" + tokens.joined(separator: "/"))
        case "discord":
            guard let token = path.first else { throw .incomplete("discord://ID/TOKEN") }
            return ChannelDraft(post: "discord", "https://discord.com/api/webhooks/\(host)/\(token)")
        case "ntfy", "ntfys":
            guard password == nil else {
                throw .unfit("ntfy is asked with a token, not with a password: make one in its settings")
            }
            let url = path.first.map { "\(web)://\(host)/\($0)" } ?? "https://ntfy.sh/\(host)"
            var draft = ChannelDraft(kind: "ntfy", url: url)
            draft.secrets["token"] = user
            return draft
        case "gotify", "gotifys":
            guard let token = path.last else { throw .incomplete("gotifys://HOST/TOKEN") }
            var draft = ChannelDraft(kind: "gotify", url: "\(web)://\(host)\(folder)")
            draft.secrets["token"] = token
            return draft
        case "tgram":
            guard let chat = path.first else { throw .incomplete("tgram://TOKEN/CHAT") }
            guard path.count == 1 else { throw .unfit("a channel has one chat: add one channel for each") }
            var draft = ChannelDraft(kind: "telegram")
            draft.secrets["token"] = host
            draft.settings["chat"] = .string(chat)
            return draft
        case "mmost", "mmosts":
            guard let token = path.last else { throw .incomplete("mmosts://HOST/TOKEN") }
            let address = "\(web)://\(host)\(folder)/hooks/\(token)"
            guard let server = try? HTTPAddress(address) else { throw .incomplete("mmosts://HOST/TOKEN") }
            return ChannelDraft(post: "slack", address, on: server)
        case "matrix", "matrixs":
            guard password == nil else {
                throw .unfit(
                    "Matrix is asked with an access token, not with a password: matrixs://TOKEN@HOST/!ROOM")
            }
            guard let user, path.count == 1, let room = path.first?[...].percentDecoded,
                room.hasPrefix("!") || room.hasPrefix("#")
            else { throw .incomplete("matrixs://TOKEN@HOST/!ROOM, one room a channel") }
            var draft = ChannelDraft(kind: "matrix", url: "\(web)://\(host)")
            draft.settings["room"] = .string(room)
            draft.secrets["token"] = user
            return draft
        case "pagerduty":
            var draft = ChannelDraft(kind: "pagerduty")
            draft.secrets["key"] = user ?? host
            return draft
        case "workflow", "workflows":
            guard path.count == 2 else { throw .incomplete("workflows://HOST/WORKFLOW/SIGNATURE") }
            let address =
                "https://\(host)/workflows/\(path[0])/triggers/manual/paths/invoke"
                + "?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=\(path[1])"
            guard let server = try? HTTPAddress(address) else {
                throw .incomplete("workflows://HOST/WORKFLOW/SIGNATURE")
            }
            return ChannelDraft(post: "teams", address, on: server)
        case "msteams":
            throw .unfit("Microsoft retired these addresses: make a workflow in Teams, and paste its address")
        case "mailto", "mailtos": return try mail()
        case "json", "jsons":
            guard user == nil, query.isEmpty else {
                throw .unfit("a webhook is signed instead of a login, and sends no other headers")
            }
            return ChannelDraft(kind: "webhook", url: "\(web)://\(host)/" + path.joined(separator: "/"))
        default: throw .unknownScheme(CleanText.line(scheme, limit: 20))
        }
    }

    /// A mail server with its login; without `to`, mails go to whom they come from.
    private func mail() throws(ChannelDraft.Refusal) -> ChannelDraft {
        guard let user, let password else { throw .incomplete("mailtos://USER:PASSWORD@HOST?to=ADDRESS") }
        let name = host.prefix { $0 != ":" }
        let address = query["from"] ?? (user.contains("@") ? user : "\(user)@\(name)")
        let recipients = query["to"]?.split(separator: ",").map(String.init) ?? [address]
        var draft = ChannelDraft(kind: "mail")
        draft.settings["to"] = .array(recipients.map { .string($0) })
        draft.settings["from"] = .string(address)
        let server = query["smtp"] ?? host
        // The port at which encryption begins at once.
        draft.settings["url"] = .string((server.hasSuffix(":465") ? "smtps://" : "smtp://") + server)
        draft.settings["user"] = .string(user)
        draft.secrets[MailServer.passwordKey] = password
        return draft
    }
}

extension ChannelForm {
    /// The settings that the form can't do without: it names them itself, one after the other.
    package static var requiredFields: [FormField] {
        var (found, values): ([FormField], _) = ([], FormValues())
        while true {
            do throws(FormError) {
                _ = try Self(values)
                return found
            } catch {
                guard case .missing(let key) = error, !found.contains(where: { $0.name == key }),
                    let field = fields.first(where: { $0.name == key })
                else { return found }
                found.append(field)
                values[key] = field.shape.sample
            }
        }
    }
}

extension FormField.Shape {
    /// A value that any form accepts, to find out what else it needs.
    fileprivate var sample: FormValues.Value? {
        switch self {
        case .word: .word("x")
        case .words, .list: .words(["x"])
        case .address: (try? HTTPAddress("https://example.org/")).map { .address($0) }
        case .mailServer: .word("smtps://example.org")
        case .duration: .duration(.seconds(1))
        case .exceptions: .exceptions([])
        case .secrets: .secrets([.file("/x")])
        }
    }
}

extension Substring {
    /// With the bytes that `%` and two digits stand for; as it is where that is no text.
    fileprivate var percentDecoded: String {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self) ?? String(self)
    }
}
