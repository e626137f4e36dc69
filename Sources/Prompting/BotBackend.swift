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
    package func prompt(_ turns: [Turn], memory: String? = nil) -> Prompt {
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
