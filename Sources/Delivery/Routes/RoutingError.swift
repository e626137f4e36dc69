/// Why a list of routes is refused.
package enum RoutingError: Error, Hashable, Sendable {
    /// No route is there for failures: a job could fail without notifying anyone.
    case failureWithoutRoute
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
        case .unknownChannel(let name, _):
            "there is no channel \"\(name)\"; describe it under `channels:`"
        case .noEvents:
            "the route lists no events; name them in `when:`"
        case .noChannels:
            "the route names no channel; name one in `to:`"
        }
    }
}
