import Timeline

/// The items that rest until a moment, because the far end refused them for now.
struct SurfaceRests {
    /// The longest that a refusal for now puts an item off.
    private static let longest: Duration = .seconds(3600)

    private var ends: [String: Moment] = [:]
    /// How often in a row something was refused for now.
    private var refusals = 0

    /// Until when the item rests; nil: it does not.
    func end(of item: String, at now: Moment) -> Moment? {
        // One that lies further ahead was set before the clock was set back.
        guard let end = ends[item], end > now, end - now <= Self.longest else { return nil }
        return end
    }

    /// Has the item rest: as long as the far end asked for, else twice as long after each refusal in a row.
    ///
    /// Returns until when.
    mutating func begin(_ item: String, asked: Duration?, at now: Moment) -> Moment {
        refusals += 1
        let end = now + min(asked ?? .seconds(1 << min(refusals - 1, 6)), Self.longest)
        ends[item] = end
        return end
    }

    /// The item was shown after all.
    mutating func end(_ item: String) { ends[item] = nil }

    /// The far end takes things: the next refusal is the first in a row.
    mutating func restart() { refusals = 0 }
}
