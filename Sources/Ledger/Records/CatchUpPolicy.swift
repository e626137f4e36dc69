/// What happens to slots that passed while nobody could decide them.
package struct CatchUpPolicy: Hashable, Sendable, Codable {
    package enum Mode: String, Hashable, Sendable, Codable, CaseIterable {
        /// None of them runs.
        case none
        /// The newest one within ``CatchUpPolicy/within`` runs.
        case latest
        /// All of them within ``CatchUpPolicy/within`` run, at most ``CatchUpPolicy/burst``, the oldest first.
        case all
    }

    package var mode: Mode
    /// Older slots are missed in any case.
    package var within: Duration
    /// How many slots run at most for one gap, the newest ones; 1 to ``greatestBurst``.
    ///
    /// For ``Mode/all`` alone.
    package var burst: Int

    package init(mode: Mode, within: Duration, burst: Int = standardBurst) {
        self.mode = mode
        self.within = within
        self.burst = burst
    }

    /// The latest within 24 hours.
    package static let standard = CatchUpPolicy(mode: .latest, within: .seconds(86_400))
    package static let standardBurst = 1000
    /// What one job may catch up always fits into one transaction.
    package static let greatestBurst = 5000

    /// Reads a stored policy; the first version had no burst.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        mode = try values.decode(Mode.self, forKey: .mode)
        within = try values.decode(Duration.self, forKey: .within)
        burst = try values.decodeIfPresent(Int.self, forKey: .burst) ?? Self.standardBurst
    }

    private enum CodingKeys: String, CodingKey { case mode, within, burst }
}
