import Delivery
package import Prompting
import Synchronization
import Tracking

/// A provider's API as one bot uses it: its backend, with the key.
package struct BotEndpoint: Sendable {
    /// The bot's name.
    package let bot: String
    /// Where the provider is, how it is spoken to, and which model is asked.
    package let backend: BotBackend
    /// The key; nil where the provider wants none.
    package let key: BotKey?

    /// An endpoint; without a key unless given.
    package init(bot: String, _ backend: BotBackend, key: BotKey? = nil) {
        self.bot = bot
        self.backend = backend
        self.key = key
    }

    /// Whom a connection may reach.
    var reach: HTTPReach { backend.reach }
    /// What the provider understands.
    var dialect: BotBackend.Dialect { backend.dialect }

    /// Who failed, where something does.
    package var place: ReplyFailure.Place { .init(bot: bot, provider: reach.url.host) }

    /// Where prompts are sent to.
    var promptURL: String {
        switch dialect {
        case .anthropic: base + AnthropicRequest.path
        case .openAI: base + ChatRequest.path
        }
    }

    /// Where the models are listed.
    var modelsURL: String {
        switch dialect {
        case .anthropic: base + AnthropicRequest.modelsPath
        case .openAI: base + ChatRequest.modelsPath
        }
    }

    /// The base address without slashes at its end; Anthropic's version belongs to the paths.
    private var base: String {
        var text = reach.url.text[...]
        while text.hasSuffix("/") { text.removeLast() }
        if dialect == .anthropic, text.hasSuffix("/v1") { text.removeLast(3) }
        return String(text)
    }

    /// The body of the request of a prompt; `sizeName` is how an OpenAI-compatible server calls the largest size of a
    /// reply.
    func body(_ prompt: Prompt, sizeName: ChatRequest.SizeName) -> [UInt8] {
        switch dialect {
        case .anthropic: AnthropicRequest.body(prompt).bytes
        case .openAI: ChatRequest.body(prompt, sizeName: sizeName).bytes
        }
    }

    /// The stream of one event that says the same as a reply in one object, which servers send that do not know streams;
    /// nil: the body is none.
    func chunk(of body: [UInt8]) -> [UInt8]? {
        guard dialect == .openAI, let json = JSON(parsing: body[...], repairing: true),
            ChatDecoder.isWhole(json)
        else { return nil }
        return Array("data: ".utf8) + json.bytes + Array("\n\ndata: [DONE]\n\n".utf8)
    }

    /// What reads the reply.
    func decoder(_ prompt: Prompt) -> any ReplyDecoder {
        switch dialect {
        case .anthropic: AnthropicDecoder(model: prompt.model)
        case .openAI: ChatDecoder(model: prompt.model)
        }
    }
}

/// How OpenAI-compatible servers call the largest size of a reply, as far as their refusals have shown it.
package final class SizeNames: Sendable {
    private struct Place: Hashable {
        var url: String
        var model: String
    }

    private let known = Mutex<[Place: ChatRequest.SizeName]>([:])

    /// Nothing is known.
    package init() {}

    /// How the endpoint calls it for this model.
    func name(at endpoint: BotEndpoint, model: String) -> ChatRequest.SizeName {
        known.withLock { $0[Place(url: endpoint.promptURL, model: model)] ?? .maxTokens }
    }

    /// Notes the other name where `failure` refuses this one; whether the request may be repeated with it.
    func learn(from failure: ReplyFailure, at endpoint: BotEndpoint, model: String) -> Bool {
        guard endpoint.dialect == .openAI,
            failure.refusedParameter == ChatRequest.SizeName.maxTokens.rawValue
        else { return false }
        let place = Place(url: endpoint.promptURL, model: model)
        return known.withLock { $0.updateValue(.maxCompletionTokens, forKey: place) == nil }
    }
}

/// The key of a provider: goes into a header, and nowhere else.
package struct BotKey: Sendable {
    /// The key itself.
    let text: String

    /// Reads a key, without the white space around it; nil when it is empty or can't stand in a header.
    package init?(_ text: String) {
        let scalars = text.unicodeScalars
        let inner = scalars.drop { $0.properties.isWhitespace }
        guard let last = inner.lastIndex(where: { !$0.properties.isWhitespace }) else { return nil }
        let key = inner[...last]
        guard key.allSatisfy({ (0x21...0x7E).contains($0.value) }) else { return nil }
        self.text = String(Substring(key))
    }

    /// `text` without the key.
    func redact(_ text: String) -> String { text.replacing(self.text, with: "…") }
}

extension BotKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Nothing of the key.
    package var description: String { "a key" }

    /// The same: no debugger's print-out shows the key.
    package var debugDescription: String { description }

    /// Nothing to look into.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
