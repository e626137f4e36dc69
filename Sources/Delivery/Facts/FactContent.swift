/// What the columns of an event's row hold: what events are found by.
package struct FactColumns: Hashable, Sendable {
    /// Why, as an enum's text.
    package var reason: String?
    /// The name of the job.
    package var job: String?
    /// The id of the run.
    package var run: String?
    /// The name of the bot.
    package var bot: String?
    /// The id of the message, or the text form of the item's key.
    package var subject: String?
    /// The name of the channel.
    package var channel: String?

    /// The columns of a row; what is left out is empty.
    package init(
        reason: String? = nil, job: String? = nil, run: String? = nil, bot: String? = nil,
        subject: String? = nil, channel: String? = nil
    ) {
        self.reason = reason
        self.job = job
        self.run = run
        self.bot = bot
        self.subject = subject
        self.channel = channel
    }
}

/// What a fact holds: the columns of its row, and the payload, which is stored as JSON beside them.
package protocol FactContent: Hashable, Sendable {
    /// What the columns can't hold; `Never`: they hold everything.
    associatedtype Payload: Codable = Never

    /// The content of a row; without a payload it has what the columns hold.
    init(_ columns: FactColumns, _ payload: Payload?)
    /// The columns of its row.
    var columns: FactColumns { get }
    /// What is stored beside the columns; `nil`: nothing.
    var payload: Payload? { get }
}

extension FactContent where Payload == Never {
    /// The columns hold everything.
    package var payload: Never? { nil }
}

extension FactContent {
    /// The payload as something to encode.
    fileprivate var encodable: (any Encodable)? { payload.map { $0 as any Encodable } }
}

extension FactColumns: FactContent {
    /// The columns alone.
    package init(_ columns: FactColumns, _ payload: Never?) { self = columns }
    /// The columns alone.
    package var columns: FactColumns { self }
}

/// Where the payload of a stored fact comes from.
package protocol FactPayloadSource {
    /// The payload; `nil` when there is none, or none of that type.
    mutating func payload<Payload: Decodable>(_: Payload.Type) -> Payload?
}

/// A source without any payload.
///
/// It has a size: the thread sanitizer looks at the memory of what is passed `inout`, and an empty value has none.
private struct NoPayload: FactPayloadSource {
    private let size: UInt8 = 0

    func payload<Payload: Decodable>(_: Payload.Type) -> Payload? { nil }
}

extension Fact {
    /// The columns of the fact's row.
    package var columns: FactColumns { content.columns }

    /// What is stored beside the columns; `nil`: nothing.
    package var payload: (any Encodable)? { content.encodable }

    /// The fact of a type that the columns alone describe.
    package init(_ type: EventType, _ columns: FactColumns) {
        var nothing = NoPayload()
        self.init(type, columns, from: &nothing)
    }
}

extension EventType {
    /// What its facts hold beside the columns, as ``Fact`` reads it; none where the columns hold everything.
    ///
    /// A type may have several: facts about a run, and facts about a job without one.
    package var payloads: [any Decodable.Type] {
        var probe = PayloadProbe()
        for columns in [FactColumns(), FactColumns(run: "")] { _ = Fact(self, columns, from: &probe) }
        return probe.found
    }
}

/// A source that has nothing, and keeps what it was asked for.
private struct PayloadProbe: FactPayloadSource {
    var found: [any Decodable.Type] = []

    mutating func payload<Payload: Decodable>(_: Payload.Type) -> Payload? {
        if Payload.self != Never.self, !found.contains(where: { $0 == Payload.self }) {
            found.append(Payload.self)
        }
        return nil
    }
}
