import Delivery
import Ledger

/// A route with the places of its parts.
struct RouteField {
    let field: Field
    let route: Route
    let names: [Field]
    /// Whether something in it could not be read, and was reported.
    let hasFault: Bool
    /// Whether nothing stands in its `to`, that is there.
    let namesNobody: Bool
}

extension ConfigurationReader {
    /// The words that a route may name.
    static let routeWords = RouteWord.allCases

    /// The routes; nil when they are no list of maps.
    ///
    /// Their hours are on the clocks of `zone`.
    func readRoutes(_ field: Field, in zone: String) -> [RouteField]? {
        guard let fields = field.list() else { return nil }
        let routes = fields.compactMap { readRoute($0, in: zone) }
        return routes.count == fields.count ? routes : nil
    }

    /// The longest that a route has its channels wait for others.
    private static let longestWait = Duration.seconds(7 * 86_400)

    /// A route, also after faults in it were reported: what is good of it is held against the channels.
    private func readRoute(_ field: Field, in zone: String) -> RouteField? {
        let before = field.faults.problems.count
        guard
            let fields = field.record(
                keys: ["when", "to", "match", "during", "after"], instead: CommonMistakes.route)
        else { return nil }
        if fields["when"] == nil || fields["to"] == nil {
            field.fault("a route needs when: and to:", hint: "write { when: [failed], to: [desk] }")
        }
        let known = Self.routeWords.map(\.rawValue)
        let wordFields = fields["when"]?.list(of: known) ?? []
        let names = fields["to"]?.list() ?? []
        let words = wordFields.compactMap {
            $0.choice(of: known).flatMap { RouteWord(rawValue: $0) }
        }
        let texts = names.compactMap { $0.word() }
        var route = Route(when: Set(words), to: texts)
        route.about = fields["match"].map { readMatchers($0) } ?? []
        route.during = fields["during"].flatMap { readHours($0, in: zone) }
        route.after = fields["after"]?.hold(.duration(), upTo: Self.longestWait)
            .flatMap { Duration(json: $0) }
        return RouteField(
            field: field, route: route, names: names,
            hasFault: field.faults.problems.count > before,
            namesNobody: fields["to"]?.holdsNothing ?? false)
    }

    /// The rules by which a failure keeps others quiet.
    func readInhibitions(_ field: Field) -> [Inhibition] {
        (field.list() ?? []).compactMap { rule in
            guard let fields = rule.record(keys: ["failing", "silences", "equal"]) else { return nil }
            guard let failing = fields["failing"], let silences = fields["silences"] else {
                rule.fault(
                    "a rule needs failing: and silences:",
                    hint: "write { failing: [job=ping], silences: [event=failed], equal: [host] }")
                return nil
            }
            let equal = (fields["equal"]?.list() ?? []).compactMap { $0.word() }
            return Inhibition(
                failing: readMatchers(failing), silences: readMatchers(silences), equal: equal)
        }
    }

    /// Conditions such as `job=backup`; each fault is reported at its place.
    private func readMatchers(_ field: Field) -> [Matcher] {
        let parts = field.isList ? field.list() ?? [] : [field]
        if parts.isEmpty { field.fault("there is no matcher", hint: MatcherError.none.hint) }
        return parts.compactMap { part in
            guard let text = part.word() else { return nil }
            do throws(MatcherError) {
                return try Matcher(text)
            } catch {
                part.fault("\(error)", hint: error.hint)
                return nil
            }
        }
    }

    /// The routing, checked against the channels; without routes the default one leads to every channel.
    ///
    /// - Parameters:
    ///   - fields: the routes; nil: there are none.
    ///   - settings: the channels that could be read, in their order.
    ///   - channels: the names of all channels.
    /// - Returns: what they come to; faults in them are reported.
    func checkRoutes(
        _ fields: [RouteField]?, of settings: [ChannelSetting], channels: Set<String>
    ) -> Routing {
        let ordered = settings.map(\.name)
        guard let fields, let last = fields.last else {
            return .standard(to: ordered)
        }
        let routing = Routing(routes: fields.map(\.route))
        for problem in routing.problems(channels: channels) {
            switch problem {
            // A word that could not be read may have been the one that is missing.
            case .failureWithoutRoute, .failureUnderConditions:
                guard !fields.contains(where: \.hasFault) else { continue }
                last.field.fault("\(problem)")
            case .unknownChannel(let name, let index):
                let field = fields[index].names.first { $0.scalar == name } ?? fields[index].field
                field.fault(
                    "there is no channel \"\(name)\"", hint: Field.meant(name, of: channels.sorted()))
            case .noChannels(let index) where fields[index].namesNobody:
                fields[index].field.fault("\(problem)")
            case .noEvents(let index), .noChannels(let index):
                if !fields[index].hasFault { fields[index].field.fault("\(problem)") }
            }
        }
        guard !fields.contains(where: \.hasFault) else { return routing }
        let fallbacks = Set(settings.compactMap(\.safety.fallback))
        for name in ordered
        where !fallbacks.contains(name) && !fields.contains(where: { $0.route.to.contains(name) }) {
            last.field.warn(
                "no route leads to the channel \"\(name)\"; it never rings",
                hint: "name it in the to: of a route, or remove the channel")
        }
        for field in fields where field.route.after != nil {
            for name in field.names {
                guard settings.contains(where: { $0.name == name.scalar && $0.form.kind.isLevel }) else {
                    continue
                }
                name.warn(
                    "channel \"\(name.scalar ?? "")\" never waits: it shows everything at once",
                    hint: "name it in a route without after:")
            }
        }
        for field in fields where field.route.when.contains(.progress) {
            for name in field.names {
                guard let setting = settings.first(where: { $0.name == name.scalar }),
                    !type(of: setting.form).takesProgress
                else { continue }
                name.warn(
                    "channel \"\(setting.name)\" gets no progress: it sends each thing once",
                    hint:
                        "progress is shown where a notification can be edited or replaced, and sent to programs: "
                        + Self.editing)
            }
        }
        return routing
    }

    /// The kinds of channel that take progress.
    private static var editing: String {
        let kinds = ChannelForms.all.filter { form in form.takesProgress }.map { form in form.kind }
        return kinds.map(\.rawValue).joined(separator: ", ")
    }
}
