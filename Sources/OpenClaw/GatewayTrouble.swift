import Tracking

/// Why there is no connection to a gateway, and what follows from it.
package struct GatewayTrouble: Error, Hashable, Sendable {
    /// What is wrong.
    package enum Kind: Hashable, Sendable {
        /// No connection, as the system says.
        case unreachable(String)
        /// The address may not be connected to.
        case refusedAddress(String)
        /// Its certificate can't be trusted.
        case untrusted(String)
        /// Whoever answers is no gateway.
        case noGateway(String)
        /// It did not send its challenge, or did not answer.
        case silent(Duration)
        /// It wants a token, and none is configured.
        case tokenMissing
        /// It refused the token.
        case tokenRefused
        /// It refused the token that it had issued for this device.
        case deviceTokenRefused
        /// A person must approve this device.
        case pairing(request: String?, reason: String?)
        /// It speaks another version of the protocol.
        case version(Int?)
        /// It received too many attempts.
        case rateLimited
        /// It refused the connection for another reason.
        case refused(code: String, String)
        /// It is starting.
        case starting
        /// It announced its end.
        case restarting(String)
        /// Its shared token changed: it must be read again.
        case authChanged
        /// It closed the connection.
        case closed(code: Int?, String)
        /// It sent a frame that is larger than what is read.
        case oversized
        /// It sent what is no frame.
        case malformed(String)
    }

    /// When to connect again.
    package enum Reconnect: Hashable, Sendable {
        /// After a pause that grows.
        case soon
        /// After this long, and then as ``soon``.
        case after(Duration)
        /// Not before somebody changes something and loads it again.
        case never
    }

    /// What is wrong.
    package var kind: Kind
    /// When to connect again.
    package var reconnect: Reconnect

    /// A trouble that a later attempt may not have, unless said otherwise.
    package init(_ kind: Kind, _ reconnect: Reconnect = .soon) {
        self.kind = kind
        self.reconnect = reconnect
    }
}

// What answers and closes mean.
extension GatewayTrouble {
    /// What it means that the gateway refused `connect`.
    ///
    /// - Source: openclaw.md 3.2, the list of codes on which a client stops.
    package init(refusal fault: GatewayFault) {
        let code = fault.detailCode ?? fault.code
        let slowly = Reconnect.after(.seconds(45))
        switch code {
        case _ where fault.pause != nil: self.init(.starting, .after(fault.pause ?? .zero))
        case "AUTH_REQUIRED", "AUTH_TOKEN_MISSING", "AUTH_PASSWORD_MISSING": self.init(.tokenMissing, .never)
        case "AUTH_TOKEN_MISMATCH", "AUTH_PASSWORD_MISMATCH", "AUTH_UNAUTHORIZED",
            "AUTH_BOOTSTRAP_TOKEN_INVALID", "AUTH_SCOPE_MISMATCH":
            self.init(.tokenRefused, .never)
        case "AUTH_DEVICE_TOKEN_MISMATCH": self.init(.deviceTokenRefused, .never)
        case "AUTH_RATE_LIMITED":
            self.init(.rateLimited, .after(max(fault.retryAfter ?? .zero, .seconds(60))))
        case "PAIRING_REQUIRED", "NOT_PAIRED":
            let stays =
                fault.details["pauseReconnect"] == .bool(true)
                && fault.details["recommendedNextStep"]?.text != "wait_then_retry"
            self.init(
                .pairing(
                    request: fault.details["requestId"]?.text.flatMap { Self.word($0) },
                    reason: fault.details["reason"]?.text.flatMap { Self.word($0) }),
                stays ? .never : slowly)
        case "PROTOCOL_MISMATCH":
            self.init(.version(fault.details["expectedProtocol"]?.int), .after(.seconds(420)))
        case _ where fault.details["expectedProtocol"] != nil:
            self.init(.version(fault.details["expectedProtocol"]?.int), .after(.seconds(420)))
        case "CONTROL_UI_DEVICE_IDENTITY_REQUIRED", "DEVICE_IDENTITY_REQUIRED", "CLIENT_VERSION_MISMATCH",
            "PAIRING_REJECTED", "OPERATOR_ACCESS_DENIED":
            self.init(.refused(code: code, fault.message), .never)
        case "INVALID_REQUEST" where fault.message.hasPrefix("invalid connect params"):
            self.init(.refused(code: code, fault.message), .after(.seconds(420)))
        default: self.init(.refused(code: code, fault.message))
        }
    }

    /// What it means that the gateway closed the connection.
    ///
    /// `restart` is what it announced before: when it expects to be there again.
    package init(closeCode code: Int?, reason: String, announced restart: Duration?) {
        let text = CleanText.line(reason, limit: 120)
        switch code {
        case 1012: self.init(.restarting(text), .after(restart ?? .milliseconds(1500)))
        case _ where restart != nil: self.init(.restarting(text), .after(restart ?? .zero))
        case 1002: self.init(.version(nil), .after(.seconds(420)))
        case 1013: self.init(.closed(code: code, text), .after(.seconds(5)))
        case 4001: self.init(.authChanged)
        default: self.init(.closed(code: code, text))
        }
    }

    /// A word that may stand in a command line: it is shown inside of one.
    private static func word(_ text: String) -> String? {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
        return isPlain && (1...80).contains(text.utf8.count) ? text : nil
    }
}

// What a person reads of it.
extension GatewayTrouble {
    /// A word for programs; never changes.
    package var word: String {
        switch kind {
        case .unreachable: "unreachable"
        case .refusedAddress: "refusedAddress"
        case .untrusted: "untrusted"
        case .noGateway: "noGateway"
        case .silent: "silent"
        case .tokenMissing: "tokenMissing"
        case .tokenRefused: "tokenRefused"
        case .deviceTokenRefused: "deviceTokenRefused"
        case .pairing: "pairing"
        case .version: "protocol"
        case .rateLimited: "rateLimited"
        case .refused: "refused"
        case .starting: "starting"
        case .restarting: "restarting"
        case .authChanged: "authChanged"
        case .closed: "closed"
        case .oversized: "oversized"
        case .malformed: "malformed"
        }
    }

    /// Whether it lasts until a person does something.
    package var needsPerson: Bool {
        switch kind {
        case .tokenMissing, .tokenRefused, .deviceTokenRefused, .pairing, .version: true
        default: reconnect == .never
        }
    }

    /// What is wrong, after the gateway's host; without a full stop and without a secret.
    package func sentence(of bot: String, at host: String) -> String {
        if case .pairing(_, let reason) = kind {
            let why = reason.map { $0 == "not-paired" ? "" : " (\($0))" } ?? ""
            return "\(bot): the gateway at \(host) wants this device approved\(why)"
        }
        return "\(bot): the gateway at \(host) \(problem)"
    }

    private var problem: String {
        switch kind {
        case .unreachable(let why): "cannot be reached: \(why)"
        case .refusedAddress(let address): "has an address that is not allowed: \(address)"
        case .untrusted(let why): "has a certificate that cannot be trusted: \(why)"
        case .noGateway(let why): "is not an OpenClaw gateway: \(why)"
        case .silent(let time): "sent nothing for \(time.components.seconds) s"
        case .tokenMissing: "wants a token"
        case .tokenRefused: "refused the token"
        case .deviceTokenRefused: "refused the token that it had issued for this device"
        case .pairing: "wants this device approved"
        case .version(let expected?): "speaks version \(expected) of its protocol, Belfry 3 and 4"
        case .version(nil): "speaks another version of its protocol, Belfry 3 and 4"
        case .rateLimited: "received too many attempts to connect"
        case .refused(let code, let text):
            "refused the connection (\(code))" + (text.isEmpty ? "" : ": \(text)")
        case .starting: "is starting"
        case .restarting(let why): "is restarting" + (why.isEmpty ? "" : ": \(why)")
        case .authChanged: "changed its token"
        case .closed(let code, let text):
            "closed the connection" + (code.map { " (\($0))" } ?? "") + (text.isEmpty ? "" : ": \(text)")
        case .oversized: "sent a frame of more than 25 MiB"
        case .malformed(let why): "sent a frame that cannot be read: \(why)"
        }
    }

    /// What to do about it, or that only waiting helps, as a clause.
    package func hint(of bot: String) -> String { advice(of: bot).clause }

    /// What to do about it, or that only waiting helps.
    package func advice(of bot: String) -> GatewayAdvice {
        let setting = "bots.\(bot)"
        return switch kind {
        case .unreachable:
            .init("check \(setting).url, and that the gateway runs", run: "openclaw gateway status")
        case .refusedAddress: .init("name the address under \(setting).allow")
        case .untrusted:
            .init(
                "use the name that the certificate is for in \(setting).url, or name its issuer in "
                    + "\(setting).ca")
        case .noGateway: .init("check \(setting).url")
        case .tokenMissing: .init("set \(setting).token, for example { file: /path }")
        case .tokenRefused, .deviceTokenRefused:
            .init("check \(setting).token, then", run: "belfry reload")
        case .pairing(let request, _):
            .init(run: request.map { "openclaw devices approve \($0)" } ?? "openclaw devices list")
        case .version: .init("update Belfry, or the gateway")
        case .refused where reconnect == .never:
            .init("see what the gateway logs", run: "openclaw logs --follow; then: belfry reload")
        case .authChanged: .init("update the file of \(setting).token, then", run: "belfry reload")
        case .silent: .init("see whether it hangs", run: "openclaw gateway status")
        case .rateLimited:
            .init(
                "wait a minute; a client may keep trying with a wrong token", run: "openclaw devices list")
        case .refused, .closed(1008, _):
            .init("see what the gateway logs", run: "openclaw logs --follow")
        case .starting: .init("wait; Belfry connects once it is ready")
        case .restarting: .init("wait; Belfry connects once it is back")
        case .closed(1013, _): .init("wait; the gateway is overloaded, and Belfry tries again")
        case .closed:
            .init("wait; Belfry connects again; if it stays so", run: "openclaw gateway status")
        case .oversized: .init("begin a new conversation there (/new): this one holds too much")
        case .malformed: .init("check that nothing between Belfry and the gateway changes what it sends")
        }
    }
}

/// What a person can do about a gateway: something, a command, or both.
package struct GatewayAdvice: Hashable, Sendable {
    private let text: String?
    private let command: String?

    /// What to do, and the command for it, or to run after it; none: it is done without one.
    package init(_ text: String, run command: String? = nil) { (self.text, self.command) = (text, command) }

    /// A command to run.
    package init(run command: String) { (text, self.command) = (nil, command) }

    /// As a part of a sentence: `check bots.opta.token, then: belfry reload`; a command alone stands for itself.
    package var clause: String { [text, command].compactMap(\.self).joined(separator: ": ") }

    /// As a sentence of its own, which ends in a command without a full stop: `Run: openclaw devices list`.
    package var sentence: String {
        guard let text else { return "Run: \(clause)" }
        return text.prefix(1).uppercased() + clause.dropFirst() + (command == nil ? "." : "")
    }
}
