// What a person reads of a failure.
extension ReplyFailure {
    /// Who failed: the bot's name, and what it talks to, as a host or a program.
    package struct Place: Hashable, Sendable {
        /// The bot's name.
        package var bot: String
        /// The host or the program, without path, user or secret.
        package var provider: String
        /// Whether it is a program.
        package var isProgram: Bool

        /// A bot and what it talks to, a host unless said otherwise.
        package init(bot: String, provider: String, isProgram: Bool = false) {
            self.bot = bot
            self.provider = provider
            self.isProgram = isProgram
        }
    }

    /// What failed, on what, and why: one sentence without a full stop.
    ///
    /// Of ``detail`` only what the provider says about the prompt is in it, never what it says about a key.
    package func sentence(at place: Place) -> String {
        "\(place.bot): \(place.provider) \(problem)"
    }

    private var code: String { status.map { " (\($0))" } ?? "" }
    private var because: String { detail.isEmpty ? "" : ": \(detail)" }

    private var problem: String {
        switch kind {
        case .auth: "refused the key\(code)"
        case .model(let name, _): "has no model \(name)\(code)"
        case .address: "has nothing at this address\(code)"
        case .badRequest: "rejected the request\(code)\(because)"
        case .promptTooLong: "rejected the prompt as too long\(code)\(because)"
        case .budget: "has no credit left for this key\(code)\(because)"
        case .rateLimited(let after):
            "received too many requests\(code)" + (after.map { "; it asks to wait \($0.coarse)" } ?? "")
        case .overloaded: "is overloaded\(code)"
        case .server: "failed\(code)\(because)"
        case .network: "cannot be reached\(because)"
        case .refusedAddress: "has an address that is not allowed\(because)"
        case .silent(let time): "sent nothing for \(time.coarse)"
        case .deadline(let time): "did not complete the reply within \(time.coarse)"
        case .truncated: "ended the reply in the middle\(because)"
        case .malformed: "sent an answer that cannot be read\(code)\(because)"
        case .replyTooLong(let limit): "sent a reply of more than \(limit >> 20) MiB"
        case .refused: "declined to reply\(because)"
        case .endedEarly(.maxTokens): "ended the reply at its largest size"
        case .endedEarly(.contextFull): "ended the reply because the model has no room for more"
        case .endedEarly(.filter): "ended the reply because of its content filter"
        case .program(let exit):
            (exit.map { "ended with exit code \($0)" } ?? "was ended by a signal") + because
        }
    }

    /// What to do about it; nil where only waiting helps.
    package func hint(at place: Place) -> String? {
        switch kind {
        case .auth where place.isProgram: "log in with \(place.provider), or set bots.\(place.bot).key"
        case .malformed where place.isProgram: "check the command and the output of bots.\(place.bot).backend"
        case .auth: "check bots.\(place.bot).key"
        case .model(_, let known):
            known.isEmpty
                ? "check bots.\(place.bot).model"
                : "set bots.\(place.bot).model to one of: \(Self.listed(known))"
        case .address: "check bots.\(place.bot).url"
        case .badRequest: nil
        case .promptTooLong: "shorten the prompt, or start the conversation again"
        case .budget: "check the account's credit and spending limits"
        case .rateLimited, .overloaded, .server, .truncated: nil
        case .network: "check bots.\(place.bot).url and the network"
        case .refusedAddress: "name the address under bots.\(place.bot).allow"
        case .silent, .deadline: "check whether \(place.provider) is busy or the model is still loading"
        case .malformed: "check that bots.\(place.bot).url is the address of the API"
        case .replyTooLong: "set bots.\(place.bot).maxTokens"
        case .endedEarly(.maxTokens): "raise bots.\(place.bot).maxTokens"
        case .endedEarly(.contextFull): "shorten the prompt, or start the conversation again"
        case .refused, .endedEarly(.filter), .program: nil
        }
    }

    private static func listed(_ names: [String]) -> String {
        let shown = 10
        let more = names.count > shown ? " and \(names.count - shown) more" : ""
        return names.prefix(shown).joined(separator: ", ") + more
    }
}

extension Duration {
    /// Whole seconds below two minutes, whole minutes below two hours, whole hours else; rounded up.
    fileprivate var coarse: String {
        let (whole, part) = components
        let seconds = max(whole + (part > 0 ? 1 : 0), 0)
        if seconds < 120 { return "\(seconds) s" }
        if seconds < 7200 { return "\((seconds + 59) / 60) min" }
        return "\((seconds + 3599) / 3600) h"
    }
}
