import Delivery

/// A route with the places of what it says.
struct RouteField {
    let field: Field
    let route: Route
    let names: [Field]
}

extension ConfigurationReader {
    /// Events that nothing makes yet.
    private static let laterWords: [RouteWord] = [.late, .slow, .stuck, .flapping, .question]

    /// The routes that could be read; nil when one could not, or is no list.
    func readRoutes(_ field: Field) -> [RouteField]? {
        guard let fields = field.list() else { return nil }
        let routes = fields.compactMap(readRoute)
        return routes.count == fields.count ? routes : nil
    }

    private func readRoute(_ field: Field) -> RouteField? {
        let before = field.faults.problems.count
        guard let fields = field.record(keys: ["when", "to"], later: ["bots", "jobs", "labels", "urgency"])
        else { return nil }
        if fields["when"] == nil || fields["to"] == nil {
            field.fault("a route says when and to whom", mend: "write { when: [failed], to: [desk] }")
        }
        let wordFields = fields["when"]?.list() ?? []
        let names = fields["to"]?.list() ?? []
        let later = Self.laterWords.map(\.rawValue)
        let known = RouteWord.allCases.map(\.rawValue).filter { !later.contains($0) }
        let words = wordFields.compactMap {
            $0.choice(of: known, later: later).flatMap { RouteWord(rawValue: $0) }
        }
        let texts = names.compactMap { $0.word() }
        guard field.faults.problems.count == before else { return nil }
        return RouteField(field: field, route: Route(when: Set(words), to: texts), names: names)
    }

    /// The routing, held against the channels; who writes no route is told everything everywhere.
    func checkRoutes(_ fields: [RouteField]?, channels: Set<String>, ordered: [String]) -> Routing {
        guard let fields, let last = fields.last else {
            return Routing(routes: [Route(when: Set(RouteWord.allCases), to: ordered)])
        }
        let routing = Routing(routes: fields.map(\.route))
        for problem in routing.problems(channels: channels) {
            switch problem {
            case .failureWithoutRoute: last.field.fault("\(problem)")
            case .unknownChannel(let name, let index):
                let field = fields[index].names.first { $0.scalar == name } ?? fields[index].field
                field.fault(
                    "there is no channel \"\(name)\"", mend: Field.meant(name, of: channels.sorted()))
            case .nothingToTell(let index), .nobodyToTell(let index): fields[index].field.fault("\(problem)")
            }
        }
        for name in ordered where !fields.contains(where: { $0.route.to.contains(name) }) {
            last.field.warn(
                "no route leads to the channel \"\(name)\"; it never rings",
                mend: "name it in the to: of a route, or take the channel away")
        }
        return routing
    }
}
