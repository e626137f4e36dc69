import API
import Bots
import Delivery
import Engine
import GatewayClient
import Ledger
import Logging
import OpenClaw
import Prompting
import Timeline

extension GatewayPool {
    /// The pool of the daemon with this state folder; how each gateway is goes to `links`.
    ///
    /// What their schedulers show goes to `board`.
    static func inState(
        _ state: String, clock: any WallClock, keys: BotKeys, links: BotLinks, board: GatewayBoard,
        readHistory: @escaping @Sendable (GatewayLink, [String], String?) async -> Void
    ) -> GatewayPool {
        let follower = GatewayFollower(
            clock: clock,
            desk: GatewayFollower.Desk(
                isWatched: { board.isWatched($0) }, requests: { board.lookRequests() },
                noteState: { board.note($0, bots: $1, isOnline: $2) },
                noteLook: { board.note($0, of: $1) }, readHistory: readHistory))
        return GatewayPool(
            folder: state + "/gateways", version: Version.text, clock: clock,
            reread: { keys.reread($0) },
            report: { bot, place, news in links.note(bot, news.map { BotLink($0, of: bot, at: place) }) },
            follow: follower.follow)
    }
}

/// Reads what was said to synced bots elsewhere, whenever their gateway is connected and something may be new.
struct SyncedThreads: Sendable {
    let history: GatewayHistory
    let sent: SentPrompts
    let activeConfiguration: ActiveConfiguration
    let logger: Logger

    /// Reads the conversation of each of the bots that is synced; of one session alone where it is named.
    func read(_ link: GatewayLink, _ bots: [String], _ session: String?) async {
        guard let hello = await link.online(within: .zero) else { return }
        for bot in bots {
            guard let gateway = activeConfiguration.configuration.bots[bot]?.contact?.gateway,
                gateway.session == .synced
            else { continue }
            let key = gateway.conversation(in: hello)
            guard session == nil || session == key else { continue }
            // What can't be read now is read with the next connection, or the next message.
            guard let answer = try? await link.call(.history(of: key)) else { continue }
            do throws(LedgerError) {
                try await history.take(
                    SessionHistory(answer), of: bot, in: key, sent: sent.prompts(in: key),
                    ahead: await link.clockAhead)
            } catch {
                logger.warning(
                    "messages sent to a bot elsewhere can't be recorded",
                    metadata: ["bot": "\(bot)", "reason": "\(error)"])
            }
        }
    }
}

extension GatewayAccess {
    /// The gateways of the daemon's bots.
    static func of(
        _ links: GatewayPool, board: GatewayBoard, keeper: GatewayKeeper,
        _ activeConfiguration: ActiveConfiguration
    ) -> GatewayAccess {
        let administrator = GatewayAdministrator(links)
        let place: @Sendable (String) -> String = { bot in
            activeConfiguration.configuration.bots[bot]?.contact?.gateway?.place ?? ""
        }
        return GatewayAccess(
            board: board, keeper: keeper,
            look: { bot throws(GatewayRefusal) in
                do throws(GatewayAdministrator.Refusal) {
                    return try await administrator.look(bot, at: place(bot))
                } catch {
                    throw GatewayRefusal(error)
                }
            },
            setEnabled: { bot, job, isEnabled throws(GatewayRefusal) in
                do throws(GatewayAdministrator.Refusal) {
                    try await administrator.setEnabled(isEnabled, job, of: bot, at: place(bot))
                } catch {
                    throw GatewayRefusal(error)
                }
            })
    }
}

extension GatewayRefusal {
    fileprivate init(_ refusal: GatewayAdministrator.Refusal) {
        self.init(refusal.text, hint: refusal.hint, isUnknown: refusal.isUnknown)
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
                reach: gateway.reach, token: contact.secrets[BotInUse.key].first,
                authority: gateway.authority)
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
            let hint = "; \(trouble.hint(of: bot))"
            self.init(
                trouble: BotView(
                    trouble.needsPerson ? .blocked : .offline, reason: trouble.word,
                    text: trouble.sentence(of: bot, at: place) + hint, since: since),
                since: since)
        }
    }
}
