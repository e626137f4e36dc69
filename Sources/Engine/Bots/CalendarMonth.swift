package import Timeline

/// Names the month of the calendar that a moment lies in: `2026-11`.
package typealias MonthLookup = @Sendable (Moment) -> String

/// A month of the calendar in a zone: what budgets are counted by.
package struct CalendarMonth: Hashable, Sendable {
    private let first: CivilDate

    /// The month that `moment` lies in, by the clocks of `zone`.
    package init(_ moment: Moment, in zone: ZoneRules) {
        var date = CivilTime(moment, in: zone).date
        date.day = 1
        first = date
    }

    /// `2026-11`.
    package var text: String { "\(first.year)-\(first.month < 10 ? "0" : "")\(first.month)" }

    /// `November`.
    package var name: String { Self.names[first.month - 1] }

    /// The month after it.
    package var next: CalendarMonth {
        CalendarMonth(
            first: first.month == 12
                ? CivilDate(year: first.year + 1, month: 1, day: 1)
                : CivilDate(year: first.year, month: first.month + 1, day: 1))
    }

    /// When it begins by the clocks of `zone`.
    package func start(in zone: ZoneRules) -> Moment { zone.instants(of: CivilTime(first)).first }

    private init(first: CivilDate) { self.first = first }

    private static let names = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
        "November", "December",
    ]
}
