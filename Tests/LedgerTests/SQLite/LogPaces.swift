import Testing

@testable import LedgerSQLite

@Suite struct `the log` {
    private let start = ContinuousClock.now

    /// How many commits of `pages` pages, `gap` apart, are made before the log is moved.
    private func commits(
        of pages: Int, every gap: Duration, isIdle: Bool = true, isShort: Bool = false, isTight: Bool = false
    ) -> Int {
        var pace = LogPace()
        var count = 1
        while !pace.note(
            pages, at: start + gap * count, isIdle: isIdle, isShort: isShort, isTight: { isTight })
        {
            count += 1
        }
        return count
    }

    @Test func `is moved by a writer at rest, and not between the commits of callers that wait for them`() {
        #expect(commits(of: 10, every: LogPace.rest) == LogPace.restPages / 10)
        #expect(commits(of: 10, every: .milliseconds(1)) == LogPace.mostPages / 10)
        #expect(commits(of: 10, every: LogPace.rest, isIdle: false) == LogPace.mostPages / 10)
    }

    @Test func `is moved soon where the disk has no room for it, and begins anew then`() {
        #expect(commits(of: 8, every: .milliseconds(1), isShort: true) == LogPace.shortPages / 8)
        #expect(commits(of: 8, every: .milliseconds(1), isTight: true) == LogPace.tightPages / 8)
        var pace = LogPace()
        for round in 1...3 {
            let isMoved = (1...4).map { number in
                pace.note(
                    8, at: start + .milliseconds(4 * round + number), isIdle: false, isShort: true,
                    isTight: { false })
            }
            #expect(isMoved == [false, false, false, true])
        }
    }

    @Test func `is moved soon once the disk fills up, though its room is not asked for with each commit`() {
        var pace = LogPace()
        var (questions, pages) = (0, 0)
        let roomLasts = LogPace.tightPages + 8
        var isMoved = false
        while !isMoved {
            pages += 4
            isMoved = pace.note(
                4, at: start + .milliseconds(pages), isIdle: false, isShort: false,
                isTight: {
                    questions += 1
                    return pages > roomLasts
                })
        }
        #expect(pages <= roomLasts + LogPace.roomEvery)
        #expect(questions == 2)
    }
}
