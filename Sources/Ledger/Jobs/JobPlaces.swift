import Delivery
import Grouping
import Tracking

// The places of fields that a key path can't name.
extension JobPlace {
    /// What a wrapped command was started with, `always` or `failure`, is not a job's.
    static let wish = JobPlace(
        get: { spec in (spec.notify?.named).map { .array($0.map { .string($0.rawValue) }) } },
        set: { spec, value in
            guard case .array(let words)? = value else { return spec.notify = nil }
            let named = Set(words.compactMap(\.text).compactMap(RouteWord.init(rawValue:)))
            spec.notify = named.isEmpty ? .never : .only(named)
        })

    static let labels = JobPlace(
        get: { spec in
            spec.labels.isEmpty
                ? nil : .members(spec.labels.sorted { $0.key < $1.key }.map { .init($0, .string($1)) })
        },
        set: { spec, value in
            guard case .members(let members) = value else { return spec.labels = [:] }
            for member in members { spec.labels[member.name] = member.value.text }
        })

    /// A draft sets those it names, `null` removes one.
    static let sounds = JobPlace(
        get: { spec in
            spec.sounds.isEmpty
                ? nil : .members(spec.sounds.sorted { $0.key < $1.key }.map { .init($0, .string($1)) })
        },
        set: { spec, value in
            guard case .members(let members) = value else { return spec.sounds = [:] }
            for member in members { spec.sounds[member.name] = member.value.text }
        })

    /// A draft sets the variables it names, `null` removes one.
    static let environment = JobPlace(
        get: { spec in
            let texts = spec.environment.mapValues { JSON.string($0) }
            let files = spec.secretFiles.mapValues { JSON.members([.init("file", .string($0))]) }
            let all = texts.merging(files) { $1 }.sorted { $0.key < $1.key }
            return .members(all.map { .init($0, $1) })
        },
        set: { spec, value in
            guard case .members(let members) = value else {
                return (spec.environment, spec.secretFiles) = ([:], [:])
            }
            for member in members {
                spec.environment[member.name] = member.value.text
                spec.secretFiles[member.name] = member.value["file"]?.text
            }
        })

    /// The address of a request; the rest of one that the job has stays.
    static let address = JobPlace(
        get: { ($0.request?.url).map { .string($0) } },
        set: { spec, value in
            guard let url = value?.text else { return }
            var request = spec.request ?? URLAction(url: url)
            request.url = url
            spec.request = request
        })

    /// A part of a request; without one, of no meaning.
    static func request<Part: JobPart>(
        _ path: any WritableKeyPath<URLAction, Part?> & Sendable
    ) -> JobPlace {
        JobPlace(
            get: { $0.request?[keyPath: path].json },
            set: { if let part = Part?(json: $1) { $0.request?[keyPath: path] = part } })
    }

    /// A draft sets the headers it names, `null` removes one.
    static let headers = JobPlace(
        get: { spec in
            guard let request = spec.request else { return nil }
            return texts(request.headers, files: request.secretFiles)
        },
        set: { spec, value in
            guard case .members(let members) = value else {
                spec.request?.headers = [:]
                spec.request?.secretFiles = [:]
                return
            }
            for member in members {
                spec.request?.headers[member.name] = member.value.text
                spec.request?.secretFiles[member.name] = member.value["file"]?.text
            }
        })

    /// Texts by their names, those in files as `{ file: PATH }`; nil: there are none.
    private static func texts(_ texts: [String: String], files: [String: String]) -> JSON? {
        let files = files.mapValues { JSON.members([.init("file", .string($0))]) }
        let all = texts.mapValues { JSON.string($0) }.merging(files) { $1 }.sorted { $0.key < $1.key }
        return all.isEmpty ? nil : .members(all.map { .init($0, $1) })
    }

    /// Only `all` has a burst.
    static let burst = JobPlace(
        get: { $0.catchUp.mode == .all ? .int($0.catchUp.burst) : nil },
        set: { if let burst = $1?.int { $0.catchUp.burst = burst } })

    /// One attempt is never repeated, also when it is lost.
    static let attempts = JobPlace(
        get: { .int($0.attempts) },
        set: { spec, value in
            spec.attempts = value?.int ?? spec.attempts
            spec.isTriedOnce = value?.int == 1
            if spec.attempts == 1 { spec.retriesLost = false }
        })

    /// Another key has the same max, where there was one.
    static let concurrencyKey = JobPlace(
        get: { ($0.concurrency?.key).map { .string($0) } },
        set: { spec, value in
            let max = spec.concurrency?.max ?? 1
            spec.concurrency = (value?.text).map { ConcurrencyKey(key: $0, max: max) }
        })

    static let outputMessage = JobPlace(
        get: { $0.outputMessage.map { _ in .string("output") } },
        set: { spec, value in spec.outputMessage = value == nil ? nil : spec.outputMessage ?? .lastLine })

    /// Of no meaning without a message.
    static let messagePart = JobPlace(
        get: { ($0.outputMessage?.rawValue).map { .string($0) } },
        set: { spec, value in
            if let part = (value?.text).flatMap(OutputMessage.init), spec.outputMessage != nil {
                spec.outputMessage = part
            }
        })

    /// Of no meaning without a key.
    static let concurrencyMax = JobPlace(
        get: { ($0.concurrency?.max).map { .int($0) } },
        set: { if let max = $1?.int { $0.concurrency?.max = max } })

    static let urgency = JobPlace(
        get: { ($0.urgency?.rawValue).map { .string($0) } },
        set: { $0.urgency = ($1?.text).flatMap(Urgency.init) })

    static let umask = JobPlace(
        get: { $0.rules.umask.map { .string("0" + String($0, radix: 8)) } },
        set: { $0.rules.umask = $1?.int })

    static func limit(_ limit: JobLimit) -> JobPlace {
        JobPlace(
            get: { ($0.rules.limits?[limit]).map { .int($0) } },
            set: {
                if let most = $1?.int {
                    $0.rules.limits = ($0.rules.limits ?? [:]).merging([limit: most]) { $1 }
                }
            })
    }

    /// False and absent are the same.
    static let pty = JobPlace(
        get: { .bool($0.rules.hasTerminal == true) },
        set: { $0.rules.hasTerminal = $1 == .bool(true) ? true : nil })

    /// The API shows its kind alone.
    static let input = JobPlace(
        get: { $0.rules.input.map { .string($0.kind) } },
        set: { spec, value in
            if value == nil { spec.rules.input = nil }
            if let text = value?["text"]?.text { spec.rules.input = .text(text) }
            if let path = value?["file"]?.text { spec.rules.input = .file(path) }
        })
}
