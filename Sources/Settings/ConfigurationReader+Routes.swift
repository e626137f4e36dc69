import Delivery

extension ConfigurationReader {
    /// A route, or nil after every fault in it was reported.
    func readRoute(_ field: Field) -> Route? {
        guard let fields = field.record(keys: ["when", "to"], later: ["bots", "jobs", "labels", "urgency"]),
            let when = fields["when"], let to = fields["to"]
        else {
            if field.isMap {
                field.fault(
                    "a route says when and to whom", mend: "write { when: [failed], to: [desk] }")
            }
            return nil
        }
        guard let words = when.list(), let names = to.words() else { return nil }
        return Route(when: Set(words.compactMap { $0.choice(of: RouteWord.self) }), to: names)
    }

    /// The routing, held against the channels; without any route, everything goes to every channel.
    func checkRoutes(_ parts: Parts, hasJobs: Bool, _ faults: Field.Faults) -> Routing {
        let names = parts.channels.map(\.name)
        guard let routesField = parts.routesField else {
            return Routing(routes: [Route(when: Set(RouteWord.allCases), to: names)])
        }
        let routing = Routing(routes: parts.routes.map(\.route))
        guard faults.problems.isEmpty else { return routing }
        for problem in routing.problems(channels: Set(names)) {
            switch problem {
            case .failureWithoutRoute: routesField.fault("\(problem)")
            case .unknownChannel(_, let index), .nothingToTell(let index), .nobodyToTell(let index):
                parts.routes[index].field.fault("\(problem)")
            }
        }
        return routing
    }
}
