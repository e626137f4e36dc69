import Delivery
import GatewayClient
import OpenClaw
import Performing
import Prompting
import Timeline
import Tracking

/// Tests the gateway of a bot step by step.
struct GatewayTrial {
    private let bot: String
    private let gateway: BotGateway
    private let link: GatewayLink

    /// How long the connection may take.
    private static let patience = Duration.seconds(10)

    init(_ bot: String, _ gateway: BotGateway, _ link: GatewayLink) {
        (self.bot, self.gateway, self.link) = (bot, gateway, link)
    }

    /// Notes each step up to the first that fails.
    func run(_ result: inout BotTestResult) async {
        guard let hello = await link.online(within: Self.patience) else {
            return await noteTrouble(&result)
        }
        result.note(
            .connect, .ok, "\(gateway.place), OpenClaw \(hello.server), protocol \(hello.version)")
        let isTLS = gateway.reach.url.isSecure
        result.note(.tls, isTLS ? .ok : .skipped, isTLS ? "the certificate is valid" : "plain ws")
        result.hasAnswered = true
        guard hello.missingScopes.isEmpty else {
            return result.note(
                .key, .failed, "it does not grant \(hello.missingScopes.joined(separator: ", "))",
                hint: "openclaw devices list")
        }
        result.note(.key, .ok, "accepted")
        await noteAgent(&result)
    }

    private func noteTrouble(_ result: inout BotTestResult) async {
        guard case .away(let trouble, _) = await link.state else {
            return result.note(.connect, .failed, "the gateway at \(gateway.place) did not answer")
        }
        let step: BotTestResult.Step
        switch trouble.kind {
        case .untrusted: step = .tls
        case .tokenMissing, .tokenRefused, .deviceTokenRefused, .pairing: step = .key
        default: step = .connect
        }
        let sentence = trouble.sentence(of: bot, at: gateway.place)
        result.note(
            step, .failed, String(sentence.dropFirst(bot.count + 2)), hint: trouble.hint(of: bot))
    }

    /// Whether the gateway has the agent; one that does not list its agents can't be asked for it.
    private func noteAgent(_ result: inout BotTestResult) async {
        guard let agent = gateway.agent else {
            return result.note(.model, .skipped, "the gateway's own choice of agent")
        }
        guard let list = try? await link.call(.agents) else {
            return result.note(.model, .skipped, "the gateway lists no agents")
        }
        let names = (list["agents"]?.elements ?? []).compactMap { $0["id"]?.text }.map {
            CleanText.line($0, limit: 60)
        }
        if names.contains(agent) { return result.note(.model, .ok, "agent \(agent)") }
        result.note(
            .model, .failed, "the gateway has no agent \(agent)",
            hint: "set bots.\(bot).agent to one of: \(names.prefix(10).joined(separator: ", "))")
    }
}
