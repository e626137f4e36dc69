package import Tracking

/// What a gateway sends first: what the device must sign.
package struct GatewayChallenge: Hashable, Sendable {
    /// Signed once, so that nobody can repeat the proof.
    package let nonce: String
    /// The gateway's time in milliseconds; signing it makes the difference of the clocks irrelevant.
    package let time: Int64

    /// The payload of the event `connect.challenge`; nil where it is none.
    package init?(_ payload: JSON) {
        guard let nonce = payload["nonce"]?.text, (1...256).contains(nonce.utf8.count),
            let time = payload["ts"]?.double, time >= 0, time < 9e15
        else { return nil }
        self.nonce = nonce
        self.time = Int64(time)
    }
}

/// Who connects, in the words of the protocol: the same on each connection, for the gateway pins them.
package enum GatewayIdentity {
    /// A client that serves others, by the names that both versions know.
    package static let client = "gateway-client"
    package static let mode = "backend"
    package static let role = "operator"
    package static let platform = "linux"
    package static let family = "server"
    /// All that is ever asked for: a later wish needs a person.
    package static let scopes = ["operator.read", "operator.write"]
    /// What a person allows who has a job of the gateway changed: asked for then, on a connection of its own.
    package static let administration = scopes + ["operator.admin"]
}

/// What is signed with the key of the device.
package struct DeviceStatement: Hashable, Sendable {
    /// The device's id: the SHA-256 of its public key, in hexadecimal digits.
    package var device: String
    /// The token that is sent beside it; empty where there is none.
    package var token: String
    package var challenge: GatewayChallenge
    package var client = GatewayIdentity.client
    package var mode = GatewayIdentity.mode
    package var role = GatewayIdentity.role
    package var scopes = GatewayIdentity.scopes
    package var platform = GatewayIdentity.platform
    package var family = GatewayIdentity.family

    /// A statement of this client.
    package init(device: String, token: String, challenge: GatewayChallenge) {
        (self.device, self.token, self.challenge) = (device, token, challenge)
    }

    /// The text in the form 3, which all gateways try first.
    package var text: String {
        let parts = [
            "v3", device, client, mode, role, scopes.joined(separator: ","), String(challenge.time), token,
            challenge.nonce, Self.plain(platform), Self.plain(family),
        ]
        return parts.joined(separator: "|")
    }

    private static func plain(_ text: String) -> String {
        var inner = text[...]
        while inner.first?.isWhitespace == true { inner.removeFirst() }
        while inner.last?.isWhitespace == true { inner.removeLast() }
        return String(
            decoding: inner.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

/// A statement with its signature.
package struct DeviceProof: Hashable, Sendable {
    package var statement: DeviceStatement
    /// The public key and the signature, in base64url without padding.
    package var publicKey: String
    package var signature: String

    /// A proof of this device.
    package init(_ statement: DeviceStatement, publicKey: String, signature: String) {
        (self.statement, self.publicKey, self.signature) = (statement, publicKey, signature)
    }
}

extension GatewayCall {
    /// The first request of a connection.
    package static func connect(_ proof: DeviceProof, version: String) -> GatewayCall {
        let statement = proof.statement
        let token = statement.token
        return GatewayCall(
            "connect",
            [
                "minProtocol": .int(3), "maxProtocol": .int(4),
                "client": .object([
                    "id": .string(statement.client), "displayName": .string("Belfry"),
                    "version": .string(version), "platform": .string(statement.platform),
                    "deviceFamily": .string(statement.family), "mode": .string(statement.mode),
                ]),
                "role": .string(statement.role), "scopes": .array(statement.scopes.map { .string($0) }),
                "caps": .array([]),
                "auth": token.isEmpty ? nil : .object(["token": .string(token)]),
                "device": .object([
                    "id": .string(statement.device), "publicKey": .string(proof.publicKey),
                    "signature": .string(proof.signature), "signedAt": .int(statement.challenge.time),
                    "nonce": .string(statement.challenge.nonce),
                ]),
                "userAgent": .string("belfry/\(version)"),
            ])
    }
}

/// What a gateway accepts a connection with.
package struct GatewayHello: Hashable, Sendable {
    /// The version that both speak.
    package let version: Int
    /// The gateway's own version.
    package let server: String
    /// The scopes that this connection has; nil: the gateway does not say.
    package let scopes: [String]?
    /// The token for this device; nil: the gateway issued none.
    package let deviceToken: String?
    /// How often it shows that it is alive.
    package let tick: Duration
    /// The largest frame that it reads.
    package let maxPayload: Int
    /// The key of the session that is meant where nobody names one.
    package let mainSession: String
    /// The name of that session among those of its agent.
    package let mainKey: String
    /// The agent that is meant where nobody names one.
    package let mainAgent: String

    /// The payload of the answer to `connect`; nil where it is none, or of a version that was not asked for.
    package init?(_ payload: JSON) {
        guard payload["type"]?.text == "hello-ok", let version = payload["protocol"]?.int,
            (3...4).contains(version)
        else { return nil }
        self.version = version
        server = CleanText.line(payload["server"]?["version"]?.text ?? "", limit: 60)
        let auth = payload["auth"]
        scopes = auth?["scopes"].map { $0.elements.compactMap(\.text) }
        deviceToken = auth?["deviceToken"]?.text.flatMap { Self.isToken($0) ? $0 : nil }
        let policy = payload["policy"]
        let tick = policy?["tickIntervalMs"]?.milliseconds ?? .seconds(30)
        self.tick = min(max(tick, .seconds(1)), .seconds(600))
        maxPayload = max(policy?["maxPayload"]?.int ?? GatewayFrame.limit, GatewayFrame.limitBeforeHello)
        let defaults = payload["snapshot"]?["sessionDefaults"]
        mainKey = Self.key(defaults?["mainKey"]) ?? "main"
        mainAgent = Self.key(defaults?["defaultAgentId"]) ?? "main"
        mainSession = Self.key(defaults?["mainSessionKey"]) ?? "agent:\(mainAgent):\(mainKey)"
    }

    /// The scopes that were asked for and are not there; none where the gateway does not say which are.
    package var missingScopes: [String] { missingScopes(of: GatewayIdentity.scopes) }

    /// The same of other scopes.
    package func missingScopes(of wanted: [String]) -> [String] {
        guard let scopes, !scopes.contains("operator.admin") else { return [] }
        return wanted.filter { scope in
            // Who may write may read.
            !scopes.contains(scope) && !(scope == "operator.read" && scopes.contains("operator.write"))
        }
    }

    private static func key(_ json: JSON?) -> String? {
        json?.text.flatMap { (1...512).contains($0.utf8.count) ? $0 : nil }
    }

    private static func isToken(_ text: String) -> Bool {
        (1...4096).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// How long to wait before the next attempt to connect: 800 ms, 1.7 times as long after each failure, at most 15 s, and a
/// fifth more or less by chance.
package struct GatewayBackoff: Hashable, Sendable {
    /// The first pause.
    package static let first = Duration.milliseconds(800)
    /// The longest pause, before chance.
    package static let longest = Duration.seconds(15)
    /// How soon a gateway is tried that asks for less; once at once, then not more often than this.
    package static let shortest = Duration.milliseconds(500)

    private var pause = Self.first
    /// Whether an attempt has failed since the last connection that lasted.
    private var hasFailed = false
    /// When the gateway accepted the connection that there is, since boot; nil: there is none.
    private var openedAt: Duration?

    /// Nothing has failed yet.
    package init() {}

    /// Nothing that happened before counts any more.
    package mutating func reset() { self = Self() }

    /// The gateway has accepted a connection.
    package mutating func opened(at now: Duration) { openedAt = now }

    /// The connection has ended, if there was one.
    ///
    /// The pauses begin again after one that lasted, or that broke off. A gateway that ends each connection soon after its
    /// greeting, such as one whose frames can't be read, is tried less and less often instead.
    package mutating func ended(_ trouble: GatewayTrouble, at now: Duration) {
        guard let openedAt else { return }
        self.openedAt = nil
        let hasBroken =
            switch trouble.kind {
            case .closed(code: nil, _), .unreachable: true
            default: false
            }
        if hasBroken || now - openedAt >= Self.longest { reset() }
    }

    /// How long to wait after this trouble; nil: not to connect again.
    ///
    /// `chance` is 0...1, so that many clients do not all come back at one moment.
    package mutating func wait(after trouble: GatewayTrouble, chance: Double) -> Duration? {
        let scale = 0.8 + 0.4 * min(max(chance, 0), 1)
        defer { hasFailed = true }
        switch trouble.reconnect {
        case .never: return nil
        case .after(let asked): return max(asked, hasFailed ? Self.shortest : .milliseconds(50))
        case .soon:
            defer { pause = min(pause * 1.7, Self.longest) }
            return pause * scale
        }
    }
}

/// Notices where events are missing in what a gateway sent to all.
package struct SequenceWatch: Hashable, Sendable {
    private var last: Int?
    /// How many gaps there were.
    package private(set) var gaps = 0

    /// A watch of one connection: the first number is an arbitrary one.
    package init() {}

    /// Notes an event's number; whether some are missing before it.
    package mutating func note(_ seq: Int?) -> Bool {
        guard let seq else { return false }
        defer { last = seq }
        guard let last, seq > last, seq - last > 1 else { return false }
        gaps += 1
        return true
    }
}
