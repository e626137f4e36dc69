import API
import Delivery
import Engine
import GatewayClient
import OpenClaw
import Prompting
import Timeline

extension GatewayPool {
    /// The pool of the daemon with this state folder; how each gateway is goes to `links`.
    static func inState(
        _ state: String, clock: any WallClock, keys: BotKeys, links: BotLinks
    ) -> GatewayPool {
        GatewayPool(
            folder: state + "/gateways", version: Version.text, clock: clock,
            reread: { keys.reread($0) },
            report: { bot, place, news in links.note(bot, news.map { BotLink($0, of: bot, at: place) }) })
    }
}

extension EngineConfiguration {
    /// What the bots need that are agents behind gateways, as far as they can be asked.
    var gatewayWishes: [String: GatewayPool.Wish] {
        bots.compactMapValues { bot in
            guard let contact = bot.contact, contact.fault == nil, let gateway = contact.gateway else {
                return nil
            }
            return GatewayPool.Wish(
                reach: gateway.reach, token: contact.secrets[BotInUse.key].first)
        }
    }
}

extension BotLink {
    /// What the state of a gateway's link means for a bot.
    fileprivate init(_ state: GatewayLink.State, of bot: String, at place: String) {
        switch state {
        case .connecting:
            self.init(
                trouble: BotView(
                    .offline, reason: "connecting", text: "\(bot): connecting to the gateway at \(place)"),
                isSettled: false)
        case .online(let online): self.init(since: online.since, latency: online.latency)
        case .away(let trouble, let since):
            let hint = trouble.hint(of: bot).map { "; \($0)" } ?? ""
            self.init(
                trouble: BotView(
                    trouble.needsPerson ? .blocked : .offline, reason: trouble.word,
                    text: trouble.sentence(of: bot, at: place) + hint, since: since),
                since: since)
        }
    }
}
