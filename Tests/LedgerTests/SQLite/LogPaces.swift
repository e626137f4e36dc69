import Testing

@testable import LedgerSQLite

@Suite struct `the log` {
    /// How many commits of `pages` pages are made before the log is moved.
    private func commits(
        of pages: Int, isIdle: Bool = false, isShort: Bool = false, isTight: Bool = false
    ) -> Int {
        var pace = LogPace()
        var count = 1
        while !pace.note(pages, isIdle: isIdle, isShort: isShort, isTight: { isTight }) { count += 1 }
        return count
    }

    @Test func `is moved when nobody waits, and in any case before it is large`() {
        #expect(commits(of: 10, isIdle: true) == LogPace.idlePages / 10)
        #expect(commits(of: 10) == LogPace.mostPages / 10)
    }

    @Test func `is moved soon where the disk has no room for it, and begins anew then`() {
        #expect(commits(of: 8, isShort: true) == LogPace.shortPages / 8)
        #expect(commits(of: 8, isTight: true) == LogPace.tightPages / 8)
        var pace = LogPace()
        for _ in 1...3 {
            let isMoved = (1...4).map { _ in
                pace.note(8, isIdle: false, isShort: true, isTight: { false })
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
                4, isIdle: false, isShort: false,
                isTight: {
                    questions += 1
                    return pages > roomLasts
                })
        }
        #expect(pages <= roomLasts + LogPace.roomEvery)
        #expect(questions == 2)
    }
}
