package import Grouping
package import Timeline

/// Which channels are notified of what: all routes together.
///
/// Every route that names an event counts, not only the first; a channel is notified once.
package struct Routing: Hashable, Sendable {
    /// The routes, in the order of the config file.
    package let routes: [Route]
    /// Whether nobody wrote routes: then everything goes to every channel but for what is ``Routine``.
    package let isDefault: Bool
    /// The routes that lead somewhere, by the words that they name.
    private let index: [RouteWord: MatchIndex]
    /// Whether any route has its channels wait.
    let hasWaits: Bool

    /// Routes as they were read; see ``problems(channels:)``.
    package init(routes: [Route]) {
        self.init(routes, isDefault: false)
    }

    private init(_ routes: [Route], isDefault: Bool) {
        self.routes = routes
        self.isDefault = isDefault
        hasWaits = routes.contains { $0.after != nil }
        var index: [RouteWord: MatchIndex] = [:]
        for (place, route) in routes.enumerated() where !route.to.isEmpty {
            for word in route.when { index[word, default: MatchIndex()].add(route.about, at: place) }
        }
        self.index = index
    }

    /// The default route, where nobody wrote one, to these channels.
    package static func standard(to channels: [String]) -> Routing {
        Routing([Route(when: Set(RouteWord.allCases), to: channels)], isDefault: true)
    }

    /// With a route of its own for a channel that was made on the command line.
    ///
    /// Without words it is the default route where nobody wrote one, else one for what people want to know.
    package func adding(_ channel: String, when words: Set<RouteWord>) -> Routing {
        if words.isEmpty, isDefault, let standard = routes.first {
            let all = Route(when: standard.when, to: standard.to + [channel])
            return Routing([all] + routes.dropFirst(), isDefault: true)
        }
        let route = Route(when: words.isEmpty ? Self.usual : words, to: [channel])
        return Routing(routes + [route], isDefault: isDefault)
    }

    /// Without what leads to the channel.
    package func removing(_ channel: String) -> Routing {
        let others = routes.map { route in
            var route = route
            route.to.removeAll { $0 == channel }
            return route
        }
        return Routing(others.filter { !$0.to.isEmpty }, isDefault: isDefault)
    }

    /// What people want to know of where nobody chose.
    private static let usual: Set<RouteWord> = [
        .failed, .recovered, .lost, .missed, .message, .question, .test,
    ]

    /// What is wrong with the routes, given the channels there are; empty when nothing is.
    package func problems(channels: Set<String>) -> [RoutingError] {
        var problems: [RoutingError] = []
        for (index, route) in routes.enumerated() {
            if route.when.isEmpty { problems.append(.noEvents(route: index)) }
            if route.to.isEmpty { problems.append(.noChannels(route: index)) }
            for name in route.to where !channels.contains(name) {
                problems.append(.unknownChannel(name, route: index))
            }
        }
        let failures = routes.filter { $0.when.contains(.failed) && !$0.to.isEmpty }
        if failures.isEmpty { problems.append(.failureWithoutRoute) }
        if !failures.isEmpty, failures.allSatisfy(\.isConditional) {
            problems.append(.failureUnderConditions)
        }
        return problems
    }

    /// The channels notified of an event of `type`, as `run.failed`, in the order of the routes.
    ///
    /// A lost or stuck run without a route of its own goes where failures go, and so does trouble with a channel, the
    /// ledger or the clock, what was left out of the configuration, a budget that runs out, jobs of gateways and what
    /// must report in time; a channel is never notified of its own trouble. A question without a route goes where
    /// messages go, or else failures: somebody waits for its answer.
    /// - Parameters:
    ///   - type: an event's type; one that no route can name reaches nobody.
    ///   - troubled: the channel that the event is about.
    /// - Returns: names of channels, each once.
    package func channels(for type: String, about troubled: String? = nil) -> [String] {
        var (names, isKnown): ([String], Set<String>) = ([], [])
        for place in routes(for: type, RouteWord(eventType: type), where: { _ in true }) {
            for name in routes[place].to where name != troubled && isKnown.insert(name).inserted {
                names.append(name)
            }
        }
        return names
    }

    /// The channels notified of a matter, by the routes whose conditions hold at that moment.
    package func channels(for matter: Matter, at now: Moment) -> [String] {
        var names: [String] = []
        for place in leading(matter, at: now) {
            for name in routes[place].to where name != matter.troubled && !names.contains(name) {
                names.append(name)
            }
        }
        return names
    }

    /// How long a channel waits for somebody to see a matter elsewhere: the least of the routes that lead there now.
    package func wait(for matter: Matter, to channel: String, at now: Moment) -> Duration {
        guard hasWaits else { return .zero }
        return leading(matter, at: now).filter { routes[$0].to.contains(channel) }
            .map { routes[$0].after ?? .zero }.min() ?? .zero
    }

    /// The places of the routes that lead somewhere for a matter now.
    private func leading(_ matter: Matter, at now: Moment) -> [Int] {
        let word = matter.word ?? RouteWord(eventType: matter.type)
        let event = word?.rawValue
        return routes(for: matter.type, word, about: matter.topic) { place in
            // A part at a time: a whole route would be copied.
            for index in routes[place].about.indices
            where !routes[place].about[index].matches(matter.topic, on: "", event: event) {
                return false
            }
            return routes[place].during?.contains(now) ?? true
        }
    }

    /// The places of the routes that count for an event of this type, by the rules of ``channels(for:about:)``; those that
    /// can hold for a topic, where there is one.
    private func routes(
        for type: String, _ word: RouteWord?, about topic: Topic? = nil, where holds: (Int) -> Bool
    ) -> [Int] {
        guard let word else { return [] }
        func leading(_ word: RouteWord) -> [Int] {
            guard let topic else {
                return routes.indices.filter {
                    routes[$0].when.contains(word) && !routes[$0].to.isEmpty && holds($0)
                }
            }
            var found: [Int] = []
            index[word]?.forEach(about: topic) { if holds($0) { found.append($0) } }
            return found
        }
        var found = leading(word)
        guard found.isEmpty else { return found }
        let isTrouble =
            [.lost, .stuck, .channel, .ledger, .clock, .gateway, .expect].contains(word)
            || ["config.partial", "job.leftOut", "bot.budget"].contains(type)
        if found.isEmpty, word == .question { found = leading(.message) }
        if found.isEmpty, isTrouble || word == .question { found = leading(.failed) }
        return found
    }

    /// What any of `channels` asks to hear of jobs.
    package func hears(_ channels: Set<String>) -> Set<JobNews> {
        var news = Set(
            routes.filter { !channels.isDisjoint(with: $0.to) }.flatMap { $0.when.compactMap(\.news) })
        if !routes.contains(where: { $0.when.contains(.lost) && !$0.to.isEmpty }), news.contains(.failed) {
            news.insert(.lost)
        }
        return news
    }

    /// The words of all routes that name the channel.
    package func words(to channel: String) -> Set<RouteWord> {
        routes.filter { $0.to.contains(channel) }.reduce(into: []) { $0.formUnion($1.when) }
    }

}

/// One line of `routes:`: what happens, and the channels that are notified.
package struct Route: Hashable, Sendable {
    /// What must happen; one of these is enough.
    package var when: Set<RouteWord>
    /// The names of the channels, in order.
    package var to: [String]
    /// What it must be about; all of these hold.
    package var about: [Matcher] = []
    /// The times of the day at which the route leads anywhere; nil: always.
    package var during: DailyHours?
    /// How long its channels wait for somebody to see the matter elsewhere; nil: not at all.
    package var after: Duration?

    /// A route without conditions.
    package init(when: Set<RouteWord>, to: [String]) {
        self.when = when
        self.to = to
    }

    /// Whether it does not lead to its channels in every case.
    package var isConditional: Bool { !about.isEmpty || during != nil }
}

/// Why a list of routes is refused.
package enum RoutingError: Error, Hashable, Sendable {
    /// No route is there for failures: a job could fail without notifying anyone.
    case failureWithoutRoute
    /// Each route for failures has conditions: where none holds, nobody would be notified.
    case failureUnderConditions
    /// The route at `index` (from 0) names a channel that does not exist.
    case unknownChannel(String, route: Int)
    /// The route at `index` (from 0) has no word in `when`.
    case noEvents(route: Int)
    /// The route at `index` (from 0) has no channel in `to`.
    case noChannels(route: Int)
}

extension RoutingError: CustomStringConvertible {
    /// One sentence, with what to do.
    package var description: String {
        switch self {
        case .failureWithoutRoute:
            "no route covers failures, so a job could fail without notifying anyone; add one with `when: [failed]`"
        case .failureUnderConditions:
            "each route for failures has conditions, so a job could fail without notifying anyone; add one with "
                + "`when: [failed]` and no conditions"
        case .unknownChannel(let name, _):
            "there is no channel \"\(name)\"; describe it under `channels:`"
        case .noEvents:
            "the route lists no events; name them in `when:`"
        case .noChannels:
            "the route names no channel; name one in `to:`"
        }
    }
}

/// The words of a route's `when`.
package enum RouteWord: String, Hashable, Codable, Sendable, CaseIterable {
    /// `run.started`.
    case started
    /// `run.progress`.
    case progress
    /// `run.blocked`.
    case blocked
    /// `run.completed`.
    case completed
    /// `run.failed`; a timeout is one, with the reason `timeout`.
    case failed
    /// `run.recovered`.
    case recovered
    /// `run.canceled`.
    case canceled
    /// `run.missed`.
    case missed
    /// `run.skipped`.
    case skipped
    /// `run.lost`.
    case lost
    /// `run.late`.
    case late
    /// `run.slow`.
    case slow
    /// `run.stuck`.
    case stuck
    /// `run.flapping`.
    case flapping
    /// `message.group`.
    case message
    /// Every `question.` type.
    case question
    /// Every `channel.` type.
    case channel
    /// Every `config.` type, and `job.leftOut`.
    case config
    /// Every `ledger.` type.
    case ledger
    /// Every `clock.` type.
    case clock
    /// Every `bot.` type.
    case bot
    /// `gateway.job`.
    case gateway
    /// Every `expect.` type.
    case expect
    /// `test`.
    case test

    /// The word for an event's type, as `run.failed`; `nil` for a type no route can name.
    package init?(eventType: String) {
        let parts = eventType.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts.first, parts.count) {
        case ("run", 2): self.init(run: String(parts[1]))
        case ("message", 2) where parts[1] == "group": self = .message
        case ("question", 2): self = .question
        case ("channel", 2): self = .channel
        case ("config", 2): self = .config
        case ("job", 2) where parts[1] == "leftOut": self = .config
        case ("ledger", 2): self = .ledger
        case ("clock", 2): self = .clock
        case ("bot", 2): self = .bot
        case ("gateway", 2): self = .gateway
        case ("expect", 2): self = .expect
        case ("test", 1): self = .test
        default: return nil
        }
    }

    /// What it asks to hear of jobs; `nil` for a word about something else, or not shown by an item yet.
    package var news: JobNews? { JobNews(rawValue: rawValue) }

    private init?(run type: String) {
        guard let word = RouteWord(rawValue: type) else { return nil }
        switch word {
        case .message, .question, .channel, .config, .ledger, .clock, .bot, .gateway, .expect, .test:
            return nil
        case .started, .progress, .blocked, .completed, .failed, .recovered, .canceled, .missed, .skipped,
            .lost, .late, .slow, .stuck, .flapping:
            self = word
        }
    }
}
