package import Delivery
package import Ledger
package import Tracking

/// The JSON Schema of the configuration file, for editors.
///
/// Made from the tables that the file is read by: the fields of a job and of a bot, the settings of each form, the kinds
/// of schedules, the words of routes. A key that is added there is in it.
///
/// - Source: JSON Schema, draft 2020-12.
package struct ConfigurationSchema {
    private let forms: [any ChannelForm.Type]
    private let fields: JobFields

    /// The schema of a file with these forms of channels and fields of jobs.
    package init(forms: [any ChannelForm.Type] = ChannelForms.all, fields: JobFields = .standard) {
        (self.forms, self.fields) = (forms, fields)
    }

    /// The whole schema as one line of text.
    package var text: String { String(decoding: json.bytes, as: UTF8.self) }

    /// The whole schema.
    package var json: JSON {
        let sections: KeyValuePairs<String, JSON?> = [
            "zone": SchemaParts.word("The time zone of schedules that name none; default: the host's."),
            "bots": SchemaParts.map(of: bot, "The senders of messages, by name."),
            "jobs": SchemaParts.map(of: job, "What runs, and when, by name.", not: JobName.reserved.sorted()),
            "channels": SchemaParts.map(of: channel, "Where notifications go, by name."),
            "routes": SchemaParts.list(of: route, "Which events go to which channels."),
            "inhibit": SchemaParts.list(of: inhibition, "Failures that keep others quiet."),
            "listen": listen,
        ]
        return .object([
            "$schema": .string("https://json-schema.org/draft/2020-12/schema"),
            "title": .string("The configuration of Belfry"),
            "type": SchemaParts.orNothing("object"), "additionalProperties": .bool(false),
            "properties": .object(sections),
        ])
    }

    // MARK: The door

    private var listen: JSON {
        let tls = SchemaParts.object(
            [
                .init("certificate", SchemaParts.word("The certificate and those above it, a file in PEM.")),
                .init("key", SchemaParts.word("Its key, a file in PEM.")),
            ], required: ["certificate", "key"])
        var schema = SchemaParts.object(
            [
                .init("address", SchemaParts.word("An address of this machine with a port: 127.0.0.1:8427.")),
                .init("tls", tls.described("Serves HTTPS; other machines can connect only then.")),
                .init("url", SchemaParts.word("How people reach it; links lead there.")),
            ], required: ["address"])
        schema["type"] = SchemaParts.orNothing("object")
        return schema.described("Where the API is served over TCP; nowhere unless given.")
    }

    // MARK: Jobs

    private var job: JSON {
        var properties: [JSON.Member] = [.init("schedule", ScheduleSchema.json)]
        for key in fields.keys where key != "schedule" {
            if let row = fields.rows.first(where: { $0.key == key }) {
                properties.append(.init(key, row.schema))
            } else {
                let inner = fields.rows.filter { $0.key.hasPrefix(key + ".") }
                let members = inner.map { JSON.Member(String($0.key.dropFirst(key.count + 1)), $0.schema) }
                properties.append(.init(key, Self.map(of: members, shorthand: JobFields.shorthands[key])))
            }
        }
        var schema = SchemaParts.object(properties, required: ["schedule"])
        schema["oneOf"] = .array(JobFields.actions.map { .object(["required": .array([.string($0)])]) })
        return schema
    }

    /// A map, or the text of the one member that it can't do without.
    private static func map(of members: [JSON.Member], shorthand: String?) -> JSON {
        guard let shorthand else { return SchemaParts.object(members) }
        var schema = SchemaParts.object(members, required: [shorthand])
        schema["type"] = .array([.string("string"), .string("object")])
        schema["minLength"] = .int(1)
        return schema
    }

    // MARK: Bots

    private var bot: JSON {
        let kinds = SchemaParts.words(BotFields.backends)
        let notifications =
            BotFields.notifications.map { row in
                JSON.Member(row.key, row.form.schema.described(row.doc))
            } + BotFields.others.map { JSON.Member($0.key, $0.schema.described($0.doc)) }
        let backend = BotFields.backend.map { JSON.Member($0.key, $0.schema.described($0.doc)) }
        let map = SchemaParts.object([.init("kind", kinds)] + backend, required: ["kind"])
        var schema = SchemaParts.object(
            [
                .init(
                    "backend",
                    JSON.object(["anyOf": .array([kinds, map])]).described("What answers messages.")),
                .init(
                    "notifications",
                    SchemaParts.object(notifications).described("How messages of this bot are shown.")),
            ] + backend)
        schema["type"] = SchemaParts.orNothing("object")
        return schema
    }

    // MARK: Channels and routes

    private var channel: JSON { .object(["oneOf": .array(forms.map(settings))]) }

    private func settings(of form: any ChannelForm.Type) -> JSON {
        let kind = JSON.object(["const": .string(form.kind.rawValue)])
        let settings = (form.fields + ChannelSafety.fields(of: form)).map { field in
            JSON.Member(field.name, field.shape.schema.described("\(field.meaning), as \(field.example)"))
        }
        return SchemaParts.object(
            [.init("kind", kind)] + settings, required: ["kind"] + form.requiredFields.map(\.name))
    }

    private var inhibition: JSON {
        func matchers(_ doc: String) -> JSON { SchemaParts.list(of: SchemaParts.word(), doc, least: 1) }
        return SchemaParts.object(
            [
                .init("failing", matchers("What must fail, such as job=ping.")),
                .init("silences", matchers("What is kept quiet meanwhile, such as event=failed.")),
                .init(
                    "equal", SchemaParts.list(of: SchemaParts.word(), "Labels that both have alike.")),
            ], required: ["failing", "silences"])
    }

    private var route: JSON {
        let words = SchemaParts.words(ConfigurationReader.routeWords.map(\.rawValue))
        return SchemaParts.object(
            [
                .init("when", SchemaParts.list(of: words, "The events; one of them is enough.", least: 1)),
                .init("to", SchemaParts.list(of: SchemaParts.word(), "The names of channels.", least: 1)),
                .init(
                    "match",
                    SchemaParts.list(
                        of: SchemaParts.word(), "What it must be about, such as job=backup or host=db1.",
                        least: 1)),
                .init("during", SchemaParts.hours.described("The hours in which the route applies.")),
                .init(
                    "after",
                    JobForm.duration().schema.described(
                        "How long its channels wait for somebody to see it elsewhere, such as 15m.")),
            ], required: ["when", "to"])
    }
}

/// The schema of when a job runs.
enum ScheduleSchema {
    static var json: JSON {
        let text = JSON.object([
            "type": .string("string"),
            "pattern": .string(
                #"^((CRON_)?TZ=\S+\s+)?(\S+\s+){4,6}\S+$|^@[a-z]+( \S+)?$|^(manual|startup)$"#),
        ])
        let kinds = ConfigurationReader.scheduleKinds.map { kind in
            let known = ConfigurationReader.companionKeys.filter { key in
                kind == "every" && ConfigurationReader.calendarKeys.contains(key)
                    || ConfigurationReader.companions[kind]?.contains(key) == true
            }
            let members = [JSON.Member(kind, value(of: kind))] + known.map { .init($0, companion($0)) }
            return SchemaParts.object(members, required: [kind])
        }
        let one = [text] + kinds
        let several = SchemaParts.list(of: .object(["anyOf": .array(one)]), least: 1)
        return JSON.object(["anyOf": .array(one + [several])]).described(
            "When it runs: a cron expression, manual, startup, one of the maps, or a list of these.")
    }

    private static func value(of kind: String) -> JSON {
        switch kind {
        case "every", "after": JobForm.interval.schema
        case "startup": JobForm.flag.schema
        default: SchemaParts.word()
        }
    }

    private static func companion(_ key: String) -> JSON {
        switch key {
        case "gap": SchemaParts.words(ConfigurationReader.gapWords)
        case "fold": SchemaParts.words(ConfigurationReader.foldWords)
        case "delay": JobForm.interval.schema
        default: SchemaParts.word()
        }
    }
}
