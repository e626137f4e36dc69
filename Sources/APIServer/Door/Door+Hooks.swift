import API
import Crypto
import Engine
import Glibc
import Host
import Ledger
import Logging
import Timeline
import Tracking
import WebhookChannel

// Hooks: a service starts a job.
extension Door {
    /// The largest body of a hook, which is the run's input.
    static let hookLimit = 1 << 20

    /// A request that starts a job by a hook; nil: it is another one.
    ///
    /// It is let in by a token of the job, or by a signature, which is checked once the body is there.
    func hook(_ head: RequestHead) async throws(APIError) -> Admission? {
        let parts = head.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[1] == "v1", parts[2] == "hooks",
            let job = PercentCoding.decode(parts[3])
        else { return nil }
        guard head.method == "POST" else {
            try take(for: head.remote)
            throw APIError(.badMethod, hint: "It takes POST.")
        }
        let tokens = try await handler.reading(await control.ledger.tokens()).filter { $0.job == job }
        if let secret = DoorToken.carried(by: head) {
            let digest = DoorToken.digest(of: secret)
            guard let token = tokens.first(where: { $0.signature == nil && $0.digest == digest }) else {
                try take(for: head.remote)
                throw Self.noHook
            }
            try take(for: Self.hookVisitor(token.name))
            let mark = head["webhook-id"] ?? head["idempotency-key"] ?? DoorToken.make()
            return Admission(bodyLimit: Self.hookLimit) { [self] body in
                await start(job, token: token.name, mark: mark, body)
            }
        }
        let claimed = tokens.filter { token in
            token.signature.map { HookProof.isClaimed($0, by: head) } ?? false
        }
        guard !claimed.isEmpty else {
            try take(for: head.remote)
            throw Self.noHook
        }
        // Whoever guesses has used up what its address may ask for before much of it is read.
        try look(at: head.remote)
        return Admission(bodyLimit: Self.hookLimit) { [self] body in
            await start(job, provenBy: claimed, head, body)
        }
    }

    /// Whose budget the hooks of a token are taken from: services call from many addresses.
    private static func hookVisitor(_ token: String) -> String { "token " + token }

    private static let noHook = APIError(
        .noToken, "no token of the job, and no signature of one",
        hint: "Make one with: belfry token add NAME --job JOB, or --signed github")

    private func start(
        _ job: String, provenBy tokens: [TokenRecord], _ head: RequestHead, _ body: [UInt8]
    ) async -> APIResponse {
        for token in tokens {
            guard let signature = token.signature else { continue }
            let path = handler.hookSecretPath(token.name)
            guard let secret = try? SmallFile.text(path) else {
                control.logger.error(
                    "the secret of a hook can't be read", metadata: ["token": "\(token.name)"])
                continue
            }
            let proof = HookProof(signature: signature, secret: secret)
            guard let mark = proof.mark(of: head, body: body, now: control.clock.now) else { continue }
            do throws(APIError) { try take(for: Self.hookVisitor(token.name)) } catch {
                return .failure(error)
            }
            if signature == .slack, let challenge = Self.challenge(in: body) { return challenge }
            return await start(job, token: token.name, mark: mark, body)
        }
        do throws(APIError) { try take(for: head.remote) } catch { return .failure(error) }
        return .failure(
            APIError(
                .noToken, "the signature does not fit, or is older than five minutes",
                hint: "Compare the secret of the service with: belfry token list"))
    }

    /// Slack asks once whether somebody is there who knows the secret.
    private static func challenge(in body: [UInt8]) -> APIResponse? {
        guard let json = JSON(parsing: body[...]), json["type"]?.text == "url_verification",
            let text = json["challenge"]?.text
        else { return nil }
        return .whole(status: 200, contentType: "text/plain", bytes: Array(text.utf8))
    }

    /// Starts the job once for a delivery, with the body as the input of its program.
    private func start(_ job: String, token: String, mark: String, _ body: [UInt8]) async -> APIResponse {
        // Nothing of a name or an id that somebody else chose is part of a path.
        let delivery = String(DoorToken.digest(of: "\(token) \(mark)").prefix(32))
        do throws(APIError) {
            try await handler.asking(await control.whenLoaded())
            try keep(body, of: delivery)
            let run = try await handler.asking(await control.run(job, byHook: delivery))
            control.logger.info(
                "a hook started a run", metadata: ["token": "\(token)", "run.id": "\(run.id)"])
            let answer = JSON.object(["run": .string(run.name), "state": .string(run.state.rawValue)])
            return .whole(status: 202, contentType: "application/json", bytes: answer.bytes)
        } catch {
            return .failure(error)
        }
    }

    private func keep(_ body: [UInt8], of delivery: String) throws(APIError) {
        let path = handler.identity.places.hookInput(delivery)
        do {
            try PrivateFolder.make(SmallFile.parent(of: path), within: handler.identity.state)
            handler.forgetOldInputs(before: control.clock.now - .seconds(7 * 86_400))
            try SmallFile.replace(path, with: body, isDurable: true)
        } catch {
            control.logger.error("the body of a hook can't be kept", metadata: ["reason": "\(error)"])
            throw APIError(.internalFault, "the body could not be kept")
        }
    }
}

extension DaemonHandler {
    /// The file of the secret that hooks are signed with.
    func hookSecretPath(_ token: String) -> String { "\(identity.state)/secrets/hook-\(token).secret" }

    /// Removes that file, where there is one.
    func removeHookSecret(of token: String) throws(APIError) {
        let path = hookSecretPath(token)
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw APIError(.internalFault, "the token is removed, but the file \(path) is not")
        }
    }

    /// Removes the inputs of runs that began long ago, and have ended since or never will.
    func forgetOldInputs(before moment: Moment) {
        let folder = identity.places.hookFolder
        for name in (try? Folder.names(in: folder)) ?? [] {
            let path = "\(folder)/\(name)"
            guard let changed = try? SmallFile.changeTime(path), changed < moment.microseconds else {
                continue
            }
            unsafe unlink(path)
        }
    }
}

/// What proves that a hook is from who knows the secret, and by what its repetition is known.
struct HookProof: Sendable {
    /// How far a sender's clock may be from ours, either way.
    static let tolerance = Duration.seconds(300)

    let signature: HookSignature
    let secret: String

    /// Whether a request claims to be signed in this way.
    static func isClaimed(_ signature: HookSignature, by head: RequestHead) -> Bool {
        switch signature {
        case .standard: head[StandardWebhook.signatureHeader] != nil
        case .github: head["x-hub-signature-256"] != nil
        case .gitlab: head["x-gitlab-token"] != nil
        case .slack: head["x-slack-signature"] != nil
        }
    }

    /// The mark of the delivery, the same for each repetition of it; nil: nobody who knows the secret sent this now.
    ///
    /// Where a service does not sign its id, the mark is what it does sign: a listener could send the same under another
    /// id.
    func mark(of head: RequestHead, body: [UInt8], now: Moment) -> String? {
        switch signature {
        case .standard: standard(head, body, now)
        case .github: github(head, body)
        case .gitlab: gitlab(head)
        case .slack: slack(head, body, now)
        }
    }

    private func standard(_ head: RequestHead, _ body: [UInt8], _ now: Moment) -> String? {
        let names = [
            StandardWebhook.idHeader, StandardWebhook.timestampHeader, StandardWebhook.signatureHeader,
        ]
        let fields = names.compactMap { name in head[name].map { (name, $0) } }
        guard let secrets = try? WebhookSecret.list(secret) else { return nil }
        return try? StandardWebhook.verify(
            headers: Dictionary(fields) { first, _ in first }, body: body, secrets: secrets, now: now
        ).id
    }

    /// - Source: docs.github.com, "Validating webhook deliveries".
    private func github(_ head: RequestHead, _ body: [UInt8]) -> String? {
        guard let field = head["x-hub-signature-256"], field.hasPrefix("sha256="),
            isCode(field.dropFirst(7), of: body)
        else { return nil }
        return String(field)
    }

    /// - Source: docs.gitlab.com, "Webhooks": secret token, `Idempotency-Key`.
    private func gitlab(_ head: RequestHead) -> String? {
        guard let field = head["x-gitlab-token"],
            DoorToken.digest(of: field) == DoorToken.digest(of: secret)
        else { return nil }
        return head["idempotency-key"] ?? head["x-gitlab-event-uuid"] ?? DoorToken.make()
    }

    /// - Source: api.slack.com, "Verifying requests from Slack".
    private func slack(_ head: RequestHead, _ body: [UInt8], _ now: Moment) -> String? {
        guard let field = head["x-slack-signature"], field.hasPrefix("v0="),
            let stamp = head["x-slack-request-timestamp"], let seconds = Int64(stamp),
            seconds.magnitude < 1 << 40
        else { return nil }
        let sentAt = Moment(seconds: seconds)
        guard sentAt >= now - Self.tolerance, sentAt <= now + Self.tolerance,
            isCode(field.dropFirst(3), of: Array("v0:\(stamp):".utf8) + body)
        else { return nil }
        // Slack signs a retry again; the event's id in what it signs stays.
        if let event = JSON(parsing: body[...])?["event_id"]?.text { return "event \(event)" }
        return String(field)
    }

    /// Whether these hexadecimal digits are the authentication code of `content`; compared in constant time.
    private func isCode(_ digits: Substring, of content: [UInt8]) -> Bool {
        guard let code = Self.bytes(ofHex: digits) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            code, authenticating: content, using: SymmetricKey(data: Array(secret.utf8)))
    }

    private static func bytes(ofHex digits: Substring) -> [UInt8]? {
        let values = digits.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard values.count == 64, digits.utf8.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}
