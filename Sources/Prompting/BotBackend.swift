package import Delivery
package import Tracking

/// How a bot is asked: by whose API, which model, and at what price; valid by construction, and without its key.
package struct BotBackend: Hashable, Sendable {
    /// What the provider understands.
    package enum Dialect: String, Hashable, Sendable, CaseIterable {
        /// Anthropic's Messages API.
        case anthropic
        /// OpenAI's chat completions API, which many servers have.
        case openAI = "openai"

        /// Where the provider is unless it is said; nil: it must be said.
        package var standardURL: String? { self == .anthropic ? "https://api.anthropic.com" : nil }
    }

    /// What the provider understands.
    package var dialect: Dialect
    /// The base address, and whom a connection may reach.
    package var reach: HTTPReach
    /// The model, as the provider calls it.
    package var model: String
    /// Who the bot is and how it behaves; nil for nothing.
    package var system: String?
    /// The path of a file that it is shown with each prompt; nil for none.
    package var memory: String?
    /// Whether it is shown what was said before.
    package var keepsSession = true
    /// The most tokens of a reply.
    package var maxTokens: Int
    /// How many tokens the model reads and writes at a time; nil: nobody said.
    package var context: Int?
    /// What tokens cost; nil: nobody said.
    package var price: TokenPrice?
    /// What the bot may cost; nil: there is no limit.
    package var budget: Budget?

    /// The tokens of a reply where nothing is said.
    package static let standardTokens = 4096

    /// The most bytes of what was said before that fit into a prompt: three for a token that the reply leaves.
    package var talkLimit: Int {
        guard let context else { return Conversation.byteLimit }
        return min(max(context - maxTokens, context / 4) * 3, 1 << 20)
    }

    /// A bot without system text, price and budget.
    package init(
        _ dialect: Dialect, reach: HTTPReach, model: String, maxTokens: Int = Self.standardTokens
    ) {
        self.dialect = dialect
        self.reach = reach
        self.model = model
        self.maxTokens = maxTokens
    }

    /// What the bot is asked when somebody says `turns` to it, and its memory file holds `memory`.
    package func prompt(_ turns: [SpokenTurn], memory: String? = nil) -> Prompt {
        let parts = [system, MemoryFile.section(memory)].compactMap(\.self)
        return Prompt(
            model: model, system: parts.isEmpty ? nil : parts.joined(separator: "\n\n"), turns: turns,
            maxTokens: maxTokens)
    }
}

/// A file that a bot is shown with each prompt.
package enum MemoryFile {
    /// The most bytes of it.
    package static let limit = 64 * 1024

    /// What it says, as a bot is shown it; nil: there is nothing to show.
    package static func section(_ text: String?) -> String? {
        text.flatMap { $0.isEmpty ? nil : "<memory>\n\($0)\n</memory>" }
    }
}

/// What tokens cost, in USD per million.
package struct TokenPrice: Hashable, Sendable {
    /// Tokens that are read.
    package var input: Double
    /// Tokens that are written.
    package var output: Double

    /// A price of each kind, 0 or more.
    package init(input: Double, output: Double) {
        self.input = input
        self.output = output
    }

    /// What a usage costs in USD.
    ///
    /// A token written to the cache costs a quarter more than one that is read, one found there a tenth.
    /// - Source: Anthropic, "Prompt caching", 5-minute cache.
    package func cost(of usage: TokenUsage) -> Double {
        let read = Double(usage.input) + 1.25 * Double(usage.cacheWrite) + 0.1 * Double(usage.cacheRead)
        return (read * input + Double(usage.output) * output) / 1_000_000
    }
}

extension BotUsage {
    /// The largest cost that is believed, in USD.
    private static let mostUSD = 1e9

    /// What a provider reported, with its cost: the provider's own, or else by the price; nil: there is none.
    package init(_ usage: TokenUsage, price: TokenPrice?) {
        let parts = TokenUsage(
            input: usage.input.asTokens, cacheWrite: usage.cacheWrite.asTokens,
            cacheRead: usage.cacheRead.asTokens, output: usage.output.asTokens)
        let cost = usage.costUSD ?? price?.cost(of: parts)
        self.init(
            inputTokens: parts.input + parts.cacheWrite + parts.cacheRead, cachedTokens: parts.cacheRead,
            outputTokens: parts.output,
            costMicros: cost.map { cost in
                cost > 0 ? Int64((min(cost, Self.mostUSD) * 1_000_000).rounded()) : 0
            })
    }
}

extension Int {
    /// As a count of tokens: none below 0, and not more than is believed, for a provider or a program may send anything.
    var asTokens: Int { Swift.min(Swift.max(self, 0), 1_000_000_000_000) }
}

/// What a bot may use in a month of the calendar; what is reached first ends it.
package struct Budget: Hashable, Sendable {
    /// The most, in USD; nil: no limit.
    package var usd: Double?
    /// The most tokens, read and written; nil: no limit.
    package var tokens: Int?

    /// A monthly budget, each part above 0.
    package init(usd: Double? = nil, tokens: Int? = nil) {
        self.usd = usd
        self.tokens = tokens
    }

    /// The most in millionths of a USD; nil: no limit.
    package var micros: Int64? { usd.map { Int64(($0 * 1_000_000).rounded()) } }
}

/// A bot as it is configured now.
package struct BotInUse: Hashable, Sendable {
    /// How it is asked; nil: it has no provider.
    package var backend: BotBackend?
    /// The program that replies in a provider's place; nil: none does.
    package var program: BotProgram?
    /// The tools that it may call, by name; `run_job:NAME` is the one of that job alone.
    package var tools: [String] = []
    /// The bots that it may hand subtasks to, by name.
    package var team: [String] = []
    /// The folders that its tools may read, by their absolute paths.
    package var folders: [String] = []
    /// What of the web its tools reach.
    package var web = BotWeb()
    /// How many turns its reply may take in which it calls tools, the last one included.
    package var maxTurns = Self.standardTurns
    /// The agent behind a gateway that replies in a provider's place; nil: none does.
    package var gateway: BotGateway?
    /// What its key is; the list is empty where the provider wants none.
    package var secrets: FormSecrets
    /// Why it can't be asked though it is configured; nil: it can.
    package var fault: String?

    /// What it may cost; nil: there is no limit.
    package var budget: Budget? { backend?.budget ?? program?.budget }

    /// The path of the file that it is shown with each prompt; nil for none.
    package var memory: String? { backend?.memory ?? program?.memory }

    /// Whether it knows what was said before.
    ///
    /// A gateway keeps what was said itself.
    package var keepsSession: Bool {
        backend?.keepsSession ?? program?.keepsSession ?? (gateway == nil)
    }

    /// The folders that its tools may read: those of its sandbox, where it is a program.
    package var readable: [String] { (program?.sandbox).map { $0.read + $0.write } ?? folders }

    /// Whether it may write its memory, which then need not be there.
    package var keepsMemory: Bool { tools.contains("memory") }

    /// Whether it may call any tool.
    package var hasTools: Bool { !tools.isEmpty || !team.isEmpty }

    /// The name of the key among the secrets.
    package static let key = "key"
    /// The name of the key of its search among the secrets.
    package static let searchKey = "web.search.key"
    /// The turns of a reply where nothing is said.
    package static let standardTurns = 20

    /// A bot with its provider.
    package init(_ backend: BotBackend?, secrets: FormSecrets = FormSecrets(), fault: String? = nil) {
        self.backend = backend
        self.secrets = secrets
        self.fault = fault
    }
}

/// A bot that is an agent behind an OpenClaw gateway.
package struct BotGateway: Hashable, Sendable {
    /// Where its prompts belong.
    package enum Session: String, Hashable, Sendable, CaseIterable {
        /// The agent's main conversation; replies also go to where it was last spoken to.
        case synced
        /// The agent's main conversation; replies come to Belfry alone.
        case direct
        /// A conversation of its own for each run.
        case isolated
    }

    /// Where the gateway is, with `http` for `ws`, and at which addresses it may be.
    package var reach: HTTPReach
    /// The file of the certificates that it is checked by; nil: those that the machine trusts.
    package var authority: String?
    /// The agent; nil: the gateway's own choice.
    package var agent: String?
    /// Where its prompts belong.
    package var session = Session.synced

    /// What a bot's backend of this kind is called.
    package static let kind = "openclaw"

    /// An agent of the gateway; the default one, and its main conversation, unless set otherwise.
    package init(reach: HTTPReach) { self.reach = reach }

    /// The gateway's host, with its port.
    package var place: String {
        (reach.url.host.contains(":") ? "[\(reach.url.host)]" : reach.url.host) + ":\(reach.url.port)"
    }

    /// The gateway at a `ws` or `wss` address: this machine may be reached in any case, and others as `allow` says.
    ///
    /// - Throws: as `HTTPAddress` and `HTTPReach` do.
    package static func reach(_ text: String, allow: [AddressException]) throws(FormError) -> HTTPReach {
        let address = try address(text)
        let isName = AddressRange.bytes(of: address.host) == nil && address.host != "localhost"
        if !address.isSecure, isName, allow.isEmpty { throw .plainHTTP(host: address.host) }
        var allow = allow
        for own in ["127.0.0.0/8", "::1/128"] { allow.append(try AddressException(own)) }
        if address.host == "localhost" { allow.append(.host("localhost")) }
        return try HTTPReach(url: address, allow: allow)
    }

    private static func address(_ text: String) throws(FormError) -> HTTPAddress {
        let lower = text.prefix(6).lowercased()
        guard lower.hasPrefix("ws://") || lower == "wss://" else {
            throw .unknownScheme(0..<min(text.utf8.count, 6))
        }
        return try HTTPAddress("http" + text.dropFirst(2))
    }

    /// Whether an agent may have this name.
    package static func isAgent(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7A, 0x2D, 0x5F: true
                default: false
                }
            }
    }
}

/// What of the web a bot's tools reach.
package struct BotWeb: Hashable, Sendable {
    /// What `fetch_url` may reach although it is not public, or in plain http.
    package var allow: [AddressException] = []
    /// Who searches the web for it; nil: nobody does.
    package var search: WebSearch?

    /// Public pages alone, and nobody who searches, unless they are set.
    package init() {}
}

/// A service that searches the web.
package struct WebSearch: Hashable, Sendable {
    /// What the service understands.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Brave's Search API.
        case brave
        /// The JSON of a SearXNG instance.
        case searxng

        /// Where the service is unless it is said; nil: it must be said.
        package var standardURL: String? { self == .brave ? "https://api.search.brave.com" : nil }
    }

    /// What the service understands.
    package var kind: Kind
    /// Its address, and whom a connection may reach.
    package var reach: HTTPReach

    /// A service at an address.
    package init(_ kind: Kind, reach: HTTPReach) { (self.kind, self.reach) = (kind, reach) }

    /// The address of a search for `words`; at most `count` results are wanted.
    package func address(of words: String, count: Int) -> String {
        let query = "q=" + Self.escaped(words)
        switch kind {
        case .brave: return reach.url.appending("/res/v1/web/search") + "?\(query)&count=\(count)"
        case .searxng: return reach.url.appending("/search") + "?\(query)&format=json"
        }
    }

    /// The text with all but letters, digits and a few marks written as `%XX`.
    ///
    /// - Source: RFC 3986, section 2.3.
    private static func escaped(_ text: String) -> String {
        text.utf8.reduce(into: "") { text, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += byte < 16 ? "%0" + digits : "%" + digits
            }
        }
    }
}
